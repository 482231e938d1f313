"""Blocks and numbers as bytes: what is packed comes back the same, and other bytes are damage."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.domain.errors import DamagedError
from onrecord.domain.postings import REPEAT_SHIFT
from onrecord.storage.sqlite.packing import pack_block, pack_numbers, unpack_block, unpack_numbers

Rows = dict[int, tuple[int, int, set[int]]]  # by document: line, packed posting, repeats

postings = st.dictionaries(
    st.integers(1, 400) | st.integers(1, 2**32 - 1),
    st.tuples(
        st.integers(0, 3) | st.integers(0, 2**16 - 1),
        st.integers(0, 2**25 - 1),
        st.sets(st.integers(0, 2**24 - 1), max_size=3),
    ),
    min_size=1,
    max_size=600,
)


def encode(rows: Rows) -> bytes:
    ordered = sorted(rows)
    return pack_block(
        array("I", ordered),
        array("I", [rows[document][1] for document in ordered]),
        array("H", [rows[document][0] for document in ordered]),
        array("Q", [document << REPEAT_SHIFT | what for document in ordered for what in sorted(rows[document][2])]),
    )


@given(postings)
def test_a_block_holds_exactly_what_was_packed(rows: Rows) -> None:
    documents, packed, lines, repeats = unpack_block(encode(rows))
    assert list(documents) == sorted(rows)
    assert [documents.typecode, lines.typecode, packed.typecode, repeats.typecode] == ["I", "H", "I", "Q"]
    found = dict(zip(documents, zip(lines, packed, strict=True), strict=True))
    assert found == {document: (line, what) for document, (line, what, _) in rows.items()}
    assert list(repeats) == [
        document << REPEAT_SHIFT | what for document in sorted(rows) for what in sorted(rows[document][2])
    ]


def make_dense(count: int) -> Rows:
    return {document: (document % 9, 0x1502 | document % 3 << 16, {1, 513}) for document in range(1, count + 1)}


def test_a_long_block_takes_a_fraction_of_its_arrays() -> None:
    assert len(encode(make_dense(512))) < 512 * (4 + 4 + 2 + 2 * 8) / 5


def test_planes_of_zeros_take_no_space() -> None:
    assert len(encode({document: (0, 5, set()) for document in range(1, 21)})) == 6 + 20 + 20


@pytest.mark.parametrize("count", [3, 300])
def test_a_block_cut_short_or_longer_is_damage(count: int) -> None:
    whole = encode(make_dense(count))
    for damaged in (b"", whole[:3], whole[:9], whole[:-9], b"\0" * len(whole), None, "text", 5):
        with pytest.raises(DamagedError):
            unpack_block(damaged)  # type: ignore[arg-type]


@given(st.sets(st.integers(1, 300) | st.integers(1, 2**40)))
def test_numbers_come_back_in_order(numbers: set[int]) -> None:
    assert unpack_numbers(pack_numbers(numbers)) == sorted(numbers)


def test_numbers_near_each_other_take_a_byte_each() -> None:
    assert len(pack_numbers(range(1, 1_001))) == 1_000


@pytest.mark.parametrize("packed", [b"\x80", b"\1\xff", "text", None])
def test_numbers_cut_short_are_damage(packed: object) -> None:
    with pytest.raises(DamagedError):
        unpack_numbers(packed)  # type: ignore[arg-type]
