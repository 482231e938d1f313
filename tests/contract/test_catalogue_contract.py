"""The laws of the catalogue: heads, turns, keys, files and counts, whatever the driver."""

from __future__ import annotations

import pytest

from onrecord.domain.filenames import fold_path
from onrecord.domain.ids import EntryRef, Seq
from onrecord.ports.index import Document, IndexBatch, Mention
from tests.indexes import OTHER, OWN, Driver, make_id, make_stamp, make_turn, make_version


def test_a_head_comes_back_as_it_was_given(driver: Driver) -> None:
    version = make_version(
        "a", "a secret", seq=0, title="Título 題", tags=("x", "Y"), also_in=("work", "home"), key="k"
    )
    turn = make_turn("s", 1, "hello", seq=1)
    driver.apply(version, turn)
    with driver.index.read() as reader:
        assert reader.list_versions(make_id("a")) == [version.head]
        assert reader.find_turn("chat", "s", "turn-1") == turn.head


def test_ids_are_found_by_prefix_in_order(driver: Driver) -> None:
    driver.apply(*(make_version(name, "text", seq=seq) for seq, name in enumerate(("abcd2", "abcd1", "abce", "b"))))
    driver.apply(make_version("abcd1", "text", seq=9, version=2), make_turn("abcd3", 1, "turn", seq=10))
    with driver.index.read() as reader:
        every = [make_id(name) for name in ("abcd1", "abcd2", "abcd3")]
        assert list(reader.find_ids("abcd", 10)) == every
        assert list(reader.find_ids("abcd", 2)) == every[:2]
        assert list(reader.find_ids("zzzz", 2)) == []


def test_the_shown_version_is_the_greatest_that_is_not_displaced(driver: Driver) -> None:
    driver.apply(make_version("a", "one", seq=0), make_version("a", "retired", seq=1, version=2, status="retired"))
    driver.apply(make_version("a", "x", seq=2, version=3, is_displaced=True), make_turn("a", 5, "a turn", seq=3))
    with driver.index.read() as reader:
        current = reader.get_current(make_id("a"))
        assert current is not None
        assert (current.version, current.status) == (2, "retired")
        assert [head.version for head in reader.list_versions(make_id("a"))] == [1, 2, 3]
        assert reader.get_current(make_id("nothing")) is None


def test_equal_texts_are_found_among_current_versions_of_the_workspace(driver: Driver) -> None:
    driver.apply(
        make_version("c", "same", seq=0),
        make_version("b", "same", seq=1),
        make_version("a", "same", seq=2, workspace="work"),
        make_version("d", "same", seq=3),
        make_version("e", "same", seq=4, status="pending"),
        make_turn("s", 1, "same", seq=5),
    )
    driver.apply(make_version("d", "other", seq=6, version=2))
    digest = driver.batches[0].documents[0].head.text_sha256
    with driver.index.read() as reader:
        assert [head.id for head in reader.find_by_text("default", digest)] == [make_id("b"), make_id("c")]
        assert [head.id for head in reader.find_by_text(None, digest)] == [make_id("a"), make_id("b"), make_id("c")]
        assert reader.find_by_text("nowhere", digest) == []


def test_turns_are_listed_by_ordinal_and_found_by_name(driver: Driver) -> None:
    driver.apply(*(make_turn("s", n, f"turn {n}", seq=20 - n) for n in (3, 1, 2, 10)))
    driver.apply(make_turn("other", 11, "elsewhere", seq=30))
    with driver.index.read() as reader:
        assert [head.turn.n for head in reader.list_turns(make_id("s")) if head.turn] == [1, 2, 3, 10]
        last = reader.get_last_turn("chat", "s")
        assert last is not None
        assert last.turn is not None
        assert last.turn.n == 10
        assert reader.find_turn("chat", "s", "turn-2") == reader.list_turns(make_id("s"))[1]
        assert reader.find_turn("chat", "s", "turn-9") is None
        assert reader.get_last_turn("chat", "none") is None


def test_of_two_turns_of_one_name_the_first_is_found_and_the_last_is_last(driver: Driver) -> None:
    driver.apply(make_turn("s", 1, "late", seq=9, turn="t"), make_turn("s", 1, "early", seq=2, turn="t", log=OTHER))
    with driver.index.read() as reader:
        found, last = reader.find_turn("chat", "s", "t"), reader.get_last_turn("chat", "s")
    assert found is not None
    assert last is not None
    assert (found.ref.seq, last.ref.seq) == (2, 9)


def test_heads_of_one_key_come_by_log_and_entry(driver: Driver) -> None:
    driver.apply(make_version("b", "x", seq=4, key="k"), make_version("a", "y", seq=3, key="k"))
    driver.apply(make_version("c", "z", seq=1, key="other"), make_version("d", "q", seq=0, key="k", log=OTHER))
    with driver.index.read() as reader:
        assert [head.ref.seq for head in reader.find_by_key("k")] == [3, 4, 0]
        assert reader.find_by_key("none") == []
        assert reader.find_by_key("") == []


@pytest.mark.parametrize("inode", [0, 2**63, 2**64 - 1])
def test_a_stamp_comes_back_as_it_was_given(driver: Driver, inode: int) -> None:
    stamp = make_stamp("memories/a.md", "a", inode=inode)
    driver.apply_batch(IndexBatch(files=[stamp]))
    with driver.index.read() as reader:
        assert reader.get_file("memories/a.md") == stamp
        assert reader.get_file("memories/b.md") is None


def test_stamps_are_replaced_removed_and_listed_by_path(driver: Driver) -> None:
    first = [make_stamp(path, "a") for path in ("m/c.md", "m/a.md", "m/Ünder.md")]
    driver.apply_batch(IndexBatch(files=first))
    replaced = make_stamp("m/a.md", "b", inode=9)
    driver.apply_batch(IndexBatch(files=[replaced], removed_files=["m/c.md", "m/absent.md"]))
    with driver.index.read() as reader:
        assert reader.list_files() == [replaced, first[2]]
        assert reader.find_files_of(make_id("a")) == [first[2]]
        assert reader.find_files_at(fold_path("m/ÜNDER.md")) == [first[2]]
        assert reader.find_files_at(fold_path("m/c.md")) == []
        assert reader.find_files_by_inode(replaced.device, 9) == [replaced]
        assert reader.find_files_by_inode(replaced.device + 1, 9) == []
        assert reader.count_filed() == 2


def test_stamps_come_in_pages_behind_a_path_as_plain_rows(driver: Driver) -> None:
    stamps = [make_stamp(path, "a", inode=2**63 + 1) for path in ("m/B.md", "m/a.md", "m/b.md", "m/Ü.md", "n/a.md")]
    driver.apply_batch(IndexBatch(files=stamps))
    with driver.index.read() as reader:
        pages = [list(reader.page_files(after, 2)) for after in ("", "m/a.md", "m/Ü.md", "n/a.md")]
    rows = [(stamp.path, 10, 1, 2, "3", str(2**63 + 1), 4) for stamp in stamps]
    assert pages == [rows[0:2], rows[2:4], rows[4:], []]


def test_a_file_that_one_batch_removes_and_stamps_is_there(driver: Driver) -> None:
    driver.apply_batch(IndexBatch(files=[make_stamp("m/a.md", "a")]))
    fresh = make_stamp("m/a.md", "b")
    driver.apply_batch(IndexBatch(files=[fresh], removed_files=["m/a.md"]))
    with driver.index.read() as reader:
        assert reader.get_file("m/a.md") == fresh


def test_counts_tell_records_versions_turns_and_files(driver: Driver) -> None:
    driver.apply(make_version("a", "x", seq=0), make_version("a", "y", seq=1, version=2), make_turn("s", 1, "z", seq=2))
    driver.apply_batch(IndexBatch([make_version("s", "t", seq=3, kind="event")], files=[make_stamp("m/a.md", "a")]))
    with driver.index.read() as reader:
        assert dict(reader.count()) == {"records": 2, "versions": 3, "turns": 1, "files": 1}


def test_spellings_of_a_workspace_come_first_recorded_first(driver: Driver) -> None:
    driver.apply(make_version("a", "x", seq=3, workspace="ops"), make_version("b", "x", seq=1, workspace="Ops"))
    driver.apply(make_version("c", "x", seq=2, workspace="other"), make_version("d", "x", seq=4, workspace="OPS"))
    with driver.index.read() as reader:
        assert list(reader.list_spellings("ops")) == ["Ops", "ops", "OPS"]
        assert list(reader.list_spellings("nothing")) == []


def test_a_stamp_tells_the_version_that_the_file_holds_and_whether_it_has_arrived(driver: Driver) -> None:
    held = make_stamp("m/a.md", "a")._replace(ref=EntryRef(OTHER, Seq(0)))
    pending = make_stamp("m/b.md", "b")._replace(ref=EntryRef(OTHER, Seq(7)), is_pending=True)
    driver.apply_batch(IndexBatch(files=[pending, held, make_stamp("m/c.md", "c")]))
    with driver.index.read() as reader:
        assert reader.get_file("m/a.md") == held
        assert reader.list_pending() == [pending]
    driver.apply_batch(IndexBatch(files=[pending._replace(is_pending=False)]))
    with driver.index.read() as reader:
        assert reader.list_pending() == []


def test_current_versions_are_found_by_the_path_they_were_recorded_at(driver: Driver) -> None:
    driver.apply(make_version("b", "x", seq=0), make_version("a", "x", seq=1), make_turn("b", 1, "turn", seq=2))
    driver.apply(make_version("a", "gone", seq=3, version=2, status="retired"))
    path = driver.batches[0].documents[0].head.path
    with driver.index.read() as reader:
        assert [head.id for head in reader.find_by_path(path)] == [make_id("b")]
        assert reader.find_by_path("memories/default/a.md") == []
        assert reader.find_by_path("memories/default/B.md") == []
    moved = make_version("c", "y", seq=4)
    driver.apply(Document(moved.head._replace(path=path), moved.packed), make_version("b", "z", seq=5, version=2))
    with driver.index.read() as reader:
        assert [(head.id, head.version) for head in reader.find_by_path(path)] == [(make_id("b"), 2), (make_id("c"), 1)]


def test_touched_records_are_listed_until_they_are_judged(driver: Driver) -> None:
    driver.apply_batch(IndexBatch(touched=[make_id("b"), make_id("a"), make_id("b")]))
    driver.apply_batch(IndexBatch(touched=[make_id("c")], judged=[make_id("a"), make_id("x")]))
    with driver.index.read() as reader:
        assert list(reader.list_touched()) == [make_id("b"), make_id("c")]
    driver.apply_batch(IndexBatch(touched=[make_id("b")], judged=[make_id("b")]))
    with driver.index.read() as reader:
        assert list(reader.list_touched()) == [make_id("b"), make_id("c")]


def make_conflict(
    name: str, *members: tuple[str, int], seq: int, status: str = "pending", version: int = 1
) -> Document:
    """Return a conflict between versions of the own log, named by record and seq."""
    made = make_version(name, "", seq=seq, kind="conflict", status=status, version=version)
    mentions = tuple(Mention(make_id(record), EntryRef(OWN, Seq(entry))) for record, entry in members)
    return Document(made.head, made.packed, mentions)


def test_a_memory_has_the_open_conflicts_that_have_it_as_a_member(driver: Driver) -> None:
    driver.apply(make_version("a", "one", seq=0), make_version("b", "two", seq=1), make_version("c", "three", seq=2))
    driver.apply(make_conflict("k1", ("a", 0), ("b", 1), seq=3), make_conflict("k0", ("a", 0), ("a", 9), seq=4))
    with driver.index.read() as reader:
        found = reader.find_conflicts([make_id(name) for name in ("a", "b", "c", "none")])
        assert found == {make_id("a"): [make_id("k0"), make_id("k1")], make_id("b"): [make_id("k1")]}
        assert [head.id for head in reader.list_conflicts(("pending",))] == [make_id("k1"), make_id("k0")]
    driver.apply(make_conflict("k1", seq=5, status="retired", version=2))
    with driver.index.read() as reader:
        assert reader.find_conflicts([make_id("a"), make_id("b")]) == {make_id("a"): [make_id("k0")]}
        assert [head.id for head in reader.list_conflicts(("pending",))] == [make_id("k0")]
        assert [head.id for head in reader.list_conflicts(("pending", "retired"))] == [make_id("k0"), make_id("k1")]


def test_a_displaced_version_is_unsettled_until_another_one_mentions_it(driver: Driver) -> None:
    driver.apply(make_version("a", "one", seq=0), make_version("a", "aside", seq=1, version=2, is_displaced=True))
    driver.apply(make_version("b", "other", seq=3, version=2, is_displaced=True, log=OTHER))
    with driver.index.read() as reader:
        assert [head.ref.seq for head in reader.list_unsettled(OWN, 5)] == [1]
        assert [head.ref.log for head in reader.list_unsettled(OTHER, 5)] == [OTHER]
        assert list(reader.list_unsettled(OWN, 0)) == []
        assert [head.id for head in reader.find_displaced("memories/default/b.md")] == [make_id("b")]
        assert list(reader.find_displaced("memories/default/c.md")) == []
    driver.apply(make_conflict("k1", ("a", 0), ("a", 1), seq=4))
    with driver.index.read() as reader:
        assert list(reader.list_unsettled(OWN, 5)) == []
