"""What people do to a note by hand, or with another editor, that must never make it vanish: 23 files as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HandEdit:
    """One edited file.

    `code` is a problem that has to be named (an info counts), `word` occurs once in the file and has to be found.
    """

    name: str
    data: bytes
    code: str
    word: str


def _edit(name: str, text: str, code: str, word: str) -> HandEdit:
    return HandEdit(name, text.encode(), code, word)


HAND_EDITS = (
    _edit(
        "unterminated_quote",
        '---\ntitle: "Brewing\ntags: [tea]\n---\nThe samovar boils slowly.\n',
        "front_matter_broken",
        "samovar",
    ),
    _edit(
        "tab_indent",
        "---\ntitle: Brewing\ntags:\n\t- gyokuro\n---\nShade-grown leaves.\n",
        "front_matter_broken",
        "gyokuro",
    ),
    _edit(
        "list_at_the_parents_indent",
        "---\ntitle: Brewing\ntags:\n- tea\n- kitchen\n---\nThe samovar boils slowly.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "three_space_indent",
        "---\ntitle: Brewing\ntags:\n   - tea\n   - kitchen\n---\nThe samovar boils slowly.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "block_scalar",
        "---\ntitle: |\n  Brewing\nsource_ref: >-\n  the blue book,\n  page nine\n---\nThe samovar boils slowly.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "flow_map",
        "---\ntitle: Brewing\nmeta: {shelf: two, row: 3}\n---\nThe samovar boils slowly.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit("empty_tags", "---\ntitle: Brewing\ntags:\n---\nThe samovar boils slowly.\n", "field_normalised", "samovar"),
    _edit("numeric_title", "---\ntitle: 1984\n---\nThe samovar boils slowly.\n", "field_normalised", "samovar"),
    _edit(
        "numeric_tag",
        "---\ntitle: Brewing\ntags: [1984, tea]\n---\nThe samovar boils slowly.\n",
        "field_normalised",
        "samovar",
    ),
    _edit(
        "duplicate_key",
        "---\ntitle: Brewing\ntitle: Quincunx\n---\nWater first.\n",
        "front_matter_duplicate_key",
        "quincunx",
    ),
    HandEdit(
        "byte_order_mark",
        b"\xef\xbb\xbf---\ntitle: Brewing\n---\nThe samovar boils slowly.\n",
        "byte_order_mark",
        "samovar",
    ),
    HandEdit("latin_1_byte", b"---\ntitle: Brewing\n---\nOpen the cr\xe9mant first.\n", "not_utf8", "crémant"),
    _edit(
        "text_for_a_number",
        "---\ntitle: Brewing\nconfidence: unshakable\n---\nWater first.\n",
        "field_invalid",
        "unshakable",
    ),
    _edit("plain_note", "The samovar boils slowly.\n", "front_matter_missing", "samovar"),
    _edit(
        "integer_event_time",
        "---\ntitle: Brewing\nevent_time: 1700000000\n---\nThe samovar boils slowly.\n",
        "field_invalid",
        "samovar",
    ),
    _edit(
        "free_form_workspace",
        "---\ntitle: Brewing\nworkspace: Tea & Sons (Zürich), back room!\n---\nThe samovar boils slowly.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "line_separator_in_title",
        "---\ntitle: Brewing\u2028slowly\n---\nThe samovar boils.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "next_line_in_title",
        "---\ntitle: Brewing\u0085slowly\n---\nThe samovar boils.\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "crlf",
        "---\r\ntitle: Brewing\r\ntags: [tea]\r\n---\r\nThe samovar\r\nboils slowly.\r\n",
        "front_matter_foreign",
        "samovar",
    ),
    _edit(
        "missing_closing_fence",
        "---\ntitle: Brewing\n\nThe samovar boils slowly.\n",
        "front_matter_unclosed",
        "samovar",
    ),
    _edit("closed_by_dots", "---\ntitle: Brewing\n...\nThe samovar boils slowly.\n", "front_matter_foreign", "samovar"),
    _edit(
        "lone_cr_and_form_feed",
        "---\ntitle: Brewing\n---\nThe kettle\rand the samovar\x0cboil slowly.\n",
        "control_character",
        "samovar",
    ),
    _edit(
        "anchors_and_merge_keys",
        "---\ntitle: Brewing\nusual: &usual {type: recipe}\n<<: *usual\ntags: [*usual, zarzuela]\n---\nWater first.\n",
        "field_invalid",
        "zarzuela",
    ),
)
