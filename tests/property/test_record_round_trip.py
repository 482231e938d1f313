"""Laws of record files: reading changes nothing and never fails, and a change touches only what it must."""

from __future__ import annotations

import re

from hypothesis import example, given, reject
from hypothesis import strategies as st

from onrecord.adapters.yaml_reader import RuamelReader
from onrecord.domain.errors import OnRecordError
from onrecord.domain.front_matter import Value, YamlReading, read_flat, write_line
from onrecord.domain.limits import TEXT_MAX_BYTES
from onrecord.domain.markdown import BOM, FileParts
from onrecord.domain.plain_yaml import read_plain
from onrecord.domain.record import read_record, render_record, replace_keys, replace_text

YAML = RuamelReader()
PATH = "memories/default/note.md"
LINE = re.compile("[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

SCRIPTS = st.sampled_from(
    [
        "tea",
        "咖啡 冲泡",
        "Straße",
        "हिन्दी",
        "😀👩‍🔬",
        "e\u0301",
        "a\u2028b",
        "a\u0085b",
        "\ufeff",
        "it's",
        'say "x"',
        "a: b",
        "a #b",
        "x\ty",
        "-",
        "2024",
        "1.50",
        "true",
        "No",
        "~",
        "12e3",
        "0x1f",
        "back\\slash",
        "2026-11-30T07:00:00.000000Z",
        "\u007f",
        "\u00a0",
        "@x",
        "%x",
        "[x]",
        "{x}",
        "",
        " x ",
    ]
)
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.one_of(SCRIPTS, st.text(CHARACTERS, max_size=30))
BODIES = st.one_of(
    TEXTS,
    st.lists(
        st.sampled_from(
            ["# Tea\n", "one\r\n", "two\r", "\n", "---\n", "...\n", "- a\n", "咖啡\n", "x", "\x0c", "\u2028", "😀"]
        )
    ).map("".join),
)

NAMES = st.one_of(
    st.sampled_from(["title", "tags", "source_ref", "mood", "x-y_9"]),
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{5,9}", fullmatch=True),
)
SCALARS = st.one_of(
    TEXTS, st.booleans(), st.integers(-(10**17), 10**17), st.integers(-9_000_000, 9_000_000).map(lambda n: n / 1000)
)
JSON_VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from('abc\x7f"'), inner, max_size=3)
    ),
    max_leaves=6,
)
MAPS = st.dictionaries(st.text(st.characters(max_codepoint=127), max_size=4), JSON_VALUES, max_size=3)
VALUES: st.SearchStrategy[Value] = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), MAPS)
KEYS = st.dictionaries(NAMES, VALUES, max_size=6)

# Lines and groups of lines as people write them; each is whole, so most sequences of them are sound YAML.
HAND_LINES = st.sampled_from(
    [
        "title: x\n",
        "title: it's  # mine\n",
        "tags:\n  - a\n  - 'b''c'\n",
        "tags:\n- a\n# inner\n- 007\n\n",
        "# remark\n",
        "\n",
        "  # indented remark\n",
        'mood: "a: b"\n',
        "source_ref: |\n  two\n\n  lines\n\n",
        "source_ref: >-\n  folded\n  text\n# after\n",
        "links: [\n  a,\n  b ]\n",
        "evidence: [a,  'b', \"c\"]\n",
        'aliases: "one\n  two"\n',
        "meta: {a: 1, b: [x]}\n",
        "kb: True\n",
        "event_time: 2024-05-01\n",
        "confidence: .50\n",
        "nothing:\n",
        "nothing: ~\n",
        "Some Key: v\n",
        "标签: 茶\n",
        "k: a b  c\n",
        "v: -.5\n",
        "v: +1\n",
        "v: 0o17\n",
        "v: 1e3\n",
        "v: [null, ~, True, 1.0]\n",
        "w:   spaced   \n",
        "dup: 1\ndup: 2\n",
        "sep: a\u2028b\u0085c\n",
        'u: "\\ud83d\\ude00\\/"\n',
        "? q\n: r\n",
        "keep: |+\n  x\n\n",
        "deep:\n  a:\n    - b: c\n",
    ]
)
ODD_PIECES = st.sampled_from(
    [
        "'",
        '"',
        "&a ",
        "*a",
        "!t ",
        "!!str ",
        "[",
        "]",
        "{",
        "}",
        "\t",
        "%YAML 1.1\n",
        "- ",
        "? ",
        ": ",
        "\\",
        "\x07",
        "\ufeff",
        "|9\n",
        ">\n",
        "\\U00110000",
        "---x\n",
        "... y\n",
        "\ud800",
        "<<: *a\n",
        "0123456789012345678901234567890\n",
        "\x85",
        "\r",
    ]
)
# One key a line, the value bare, in a list, or in quotes that may not fit: what the quick readers see most.
BARE_LINES = st.tuples(
    st.one_of(NAMES, SCRIPTS),
    st.sampled_from([": ", ":  ", ":", ": # ", ":\n- ", ":\n  - x\n  - ", ": [", ": '", ': "']),
    TEXTS,
    st.sampled_from(["", "", "]", "'", '"', " # c", " ", ", y]", "\n  - z"]),
).map(lambda parts: f"{''.join(parts)}\n")
BLOCKS = st.one_of(
    st.lists(BARE_LINES, max_size=4).map("".join),
    st.lists(HAND_LINES, max_size=7).map("".join),
    st.lists(st.one_of(HAND_LINES, ODD_PIECES), max_size=7).map("".join),
    KEYS.map(lambda keys: "".join(f"{write_line(key, value)}\n" for key, value in keys.items())),
)
NEWLINES = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def draw_file(draw: st.DrawFn) -> bytes:
    """Draw a record file: with or without mark, front matter, final terminator; at times not UTF-8."""
    block, body, newline = draw(BLOCKS), draw(BODIES), draw(NEWLINES)
    closing = draw(st.sampled_from(["---\n", "---\n", "---\n", "...\n", "--- \t\n", "", "---"]))
    opening = draw(st.sampled_from(["---\n", "---\n", "---\n", "--- \n", "", "----\n"]))
    text = (opening + block + closing).replace("\n", newline) + body
    if draw(st.integers(0, 19)) == 19:
        return text.encode("utf-16", "replace")
    mark = draw(st.sampled_from(["", "", "", BOM]))
    stray = draw(st.sampled_from([b"", b"", b"", b"", b"\xe9", b"\xff\xfe"]))
    return (mark + text).encode(errors="replace") + stray


FILES = draw_file()
BIG = b"---\ntitle: big\n---\n" + "咖啡 tea\r\n".encode() * (TEXT_MAX_BYTES // 12)


def put_together(parts: FileParts) -> bytes:
    return f"{BOM if parts.has_bom else ''}{parts.head}{parts.text}{parts.terminator}".encode()


@given(st.one_of(st.binary(max_size=300), FILES))
@example(b"")
@example(b"---")
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf---\n---")
@example(BIG)
def test_any_bytes_are_read_without_failing_and_without_loss(data: bytes) -> None:
    record = read_record(data, PATH, YAML)
    parts = record.parts
    if parts.encoding == "utf-8":
        assert put_together(parts) == data
        assert parts.text.encode() + parts.terminator.encode() == data[parts.body_at :]
    assert record.title
    assert record.searchable_text.startswith(record.text)
    assert read_record(data, PATH, YAML) == record


@given(FILES, BODIES)
@example(BIG, "new")
@example(b"old", "---\ntitle: y\n---\nnew")
@example(b"---\nold", "x\n---\nnew")
@example(b"---\ntitle: x\n---", "new")
@example(b"---\r---\r0\n", "\nnew")
def test_replacing_the_text_changes_nothing_else(data: bytes, text: str) -> None:
    before = read_record(data, PATH, YAML)
    try:
        changed = replace_text(data, text)
    except OnRecordError:
        assert before.parts.encoding != "utf-8"
        return
    after = read_record(changed, PATH, YAML)
    assert after.text == text
    assert (after.reading, after.keys, after.parts.has_bom) == (before.reading, before.keys, before.parts.has_bom)
    if before.parts.head and after.parts.body:
        assert changed[: before.parts.body_at] == data[: before.parts.body_at]
    if before.parts.terminator and not text.endswith(("\r", "\n")):
        assert after.parts.terminator == before.parts.terminator


@given(FILES, NAMES, st.one_of(st.none(), VALUES))
def test_replacing_a_key_changes_only_its_lines_and_is_read_back(data: bytes, key: str, value: Value) -> None:
    before = read_record(data, PATH, YAML)
    try:
        changed = replace_keys(data, {key: value}, YAML)
    except OnRecordError:
        return
    if changed == data:
        return
    after = read_record(changed, PATH, YAML)
    assert not before.is_broken
    assert (after.parts.body, after.parts.has_bom) == (before.parts.body, before.parts.has_bom)
    others = {name: item for name, item in before.reading.values.items() if name != key}
    assert {name: item for name, item in after.reading.values.items() if name != key} == others
    assert (after.reading.values.get(key) == value) if value is not None else key not in after.present_keys
    _check_lines(before.parts.block or "", after.parts.block or "", key, value is None)


def _check_lines(old: str, new: str, key: str, is_removed: bool) -> None:
    """The new lines are the old ones, but for those of one key, or those of the key alone where it occurs twice."""
    before, after = LINE.findall(old), LINE.findall(new)
    if is_removed:
        kept = iter(before)
        assert all(line in kept for line in after)
        return
    at = next(place for place, line in enumerate(after) if line.lstrip(" ").startswith((f"{key}:", f'"{key}":')))
    places = [
        place for place, line in enumerate(after) if line.lstrip(" ").startswith(f"{key}:") and place <= len(before)
    ]
    for at in places:
        head, tail = after[:at], after[at + 1 :]
        gone = before[at : len(before) - len(tail)]
        if before[:at] == head and (not tail or before[-len(tail) :] == tail) and len(head) + len(tail) <= len(before):
            assert not gone or list(YAML.read("".join(gone)).values) == [key]
            return
    raise AssertionError((old, new, at))


@given(KEYS)
def test_what_the_writer_writes_both_readers_read_alike(keys: dict[str, Value]) -> None:
    block = "".join(f"{write_line(key, value)}\n" for key, value in keys.items())
    flat, yaml = read_flat(block), YAML.read(block)
    assert flat is not None, block
    assert dict(flat.values) == keys
    _check_alike(flat, yaml)


@given(
    st.dictionaries(
        TEXTS,
        st.recursive(
            st.one_of(
                TEXTS,
                st.none(),
                st.booleans(),
                st.integers(-(10**17), 10**17),
                st.floats(allow_nan=False, allow_infinity=False),
            ),
            lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
            max_leaves=6,
        ),
        max_size=4,
    )
)
def test_any_map_is_one_line_that_is_read_back(meta: dict[str, Value]) -> None:
    try:
        line = write_line("meta", meta)
    except OnRecordError:
        reject()
    assert "\n" not in line
    assert YAML.read(f"{line}\n").values["meta"] == meta


def _check_alike(one: YamlReading, other: YamlReading) -> None:
    assert repr(dict(one.values)) == repr(dict(other.values))
    assert dict(one.spellings) == dict(other.spellings)
    assert [one.locate(key) for key in one.values] == [other.locate(key) for key in other.values]
    assert not other.problems


@given(st.one_of(BLOCKS, st.lists(st.one_of(TEXTS, ODD_PIECES, HAND_LINES), max_size=6).map("".join)))
@example("a: 'b\n")
@example("key: #c\n")
def test_what_the_quick_readers_take_the_yaml_reader_reads_alike(block: str) -> None:
    for quick in (read_flat(block), read_plain(block)):
        if quick is not None:
            _check_alike(quick, YAML.read(block))


@given(KEYS, BODIES)
def test_a_new_record_is_read_back_as_it_was_given(keys: dict[str, Value], text: str) -> None:
    try:
        data = render_record(keys, text)
    except OnRecordError:
        reject()
    record = read_record(data, PATH, YAML)
    assert record.text == text
    assert dict(record.reading.values) == keys
    assert not record.problems or {problem.code for problem in record.problems} <= {
        "control_character",
        "field_normalised",
        "byte_order_mark",
    }
