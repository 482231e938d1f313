"""Laws of transcripts: every turn comes back exactly, whatever it says, and any bytes are read."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.domain.instants import Instant, from_unix_us
from onrecord.domain.transcript import ROLES, Turn, parse_transcript, render_block, render_head

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
MARKERS = st.sampled_from(
    [
        "> ",
        "\n",
        "\n\n",
        "^t-0000000000",
        "> [!user] <!-- {} -->",
        "<!--",
        "-->",
        "\r",
        "\u2028",
        "---\n",
        "咖啡",
        "😀",
        "{",
        '"',
        "\\u003c",
    ]
)
TEXTS = st.lists(st.one_of(MARKERS, st.text(CHARACTERS, max_size=5)), max_size=8).map("".join)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
TURNS = st.builds(
    Turn,
    source=st.just("cli"),
    session=st.just("a b"),
    turn=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8),
    role=st.sampled_from(ROLES),
    text=TEXTS,
    origin=st.sampled_from(["", "user", "agent"]),
    speaker=NAMES,
    time=st.one_of(st.none(), st.integers(0, 2**50).map(from_unix_us)),
    tool=NAMES,
    mime=st.sampled_from(["", "text/plain"]),
    name=NAMES,
)
HEAD = render_head(
    record_id="9h1m2k8w4x6z",
    source="cli",
    session="a b",
    part=1,
    workspace="default",
    by="0123456789abcdef:1",
    recorded_at=Instant("2026-11-30T07:00:00.000000Z"),
    origin="user",
)


@given(st.lists(TURNS, max_size=4, unique_by=lambda turn: turn.turn))
def test_every_turn_comes_back_exactly(turns: list[Turn]) -> None:
    data = HEAD + b"".join(render_block(turn) for turn in turns)
    parsed = parse_transcript(data)
    assert [block.turn for block in parsed.turns] == turns
    assert not parsed.problems


def _cut_label(block: bytes) -> bytes:
    """Return a block from its META on: LABEL is for the eye and may be anything, comments included."""
    header, _, quoted = block.partition(b"\n")
    return header.rpartition(b"<!--")[2] + quoted


@given(st.lists(st.one_of(TURNS.map(render_block), TEXTS.map(str.encode), st.binary(max_size=20)), max_size=5))
@example(
    [
        block := b'> [!user] <!-- {"role":"user","turn":"0"} -->\n> \n\n^t-2xd3br12hq\n\n',
        b"> [!user] <!-- {} -->",
        block,
    ]
)
def test_blocks_and_foreign_spans_are_the_whole_body_of_any_bytes(pieces: list[bytes]) -> None:
    data = HEAD + b"".join(pieces)
    parsed = parse_transcript(data)
    spans = [(block.at, block.size_bytes) for block in parsed.turns] + [
        (span.at, span.size_bytes) for span in parsed.foreign
    ]
    place = len(HEAD)
    for at, size_bytes in sorted(spans):
        assert at == place
        place += size_bytes
    assert place == len(data)
    for block in parsed.turns:
        assert _cut_label(render_block(block.turn)) == _cut_label(data[block.at : block.at + block.size_bytes])


@given(st.one_of(st.binary(max_size=200), TEXTS.map(str.encode)))
def test_any_bytes_are_read_without_failing(data: bytes) -> None:
    parsed = parse_transcript(data)
    assert len(parsed.problems) >= len(parsed.foreign)
