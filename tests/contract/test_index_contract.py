"""The laws that every driver of the index obeys: what answers, as of when, and with which statistics."""

from __future__ import annotations

import pytest

from onrecord.domain.heads import NATIVE_LOG, Partition
from onrecord.domain.postings import Statistics
from onrecord.ports.index import Filter, IndexBatch
from tests.indexes import OTHER, Driver, answer, at, list_found, make_id, make_loose, make_turn, make_version

STRICT = Partition("5trict000000")


def get_statistics(driver: Driver, *terms: str, allowed: Filter | None = None) -> Statistics:
    with driver.index.read() as reader:
        return reader.match(terms, allowed or Filter()).statistics


def test_an_empty_index_finds_nothing(driver: Driver) -> None:
    assert answer(driver.index, "anything") == []
    assert get_statistics(driver, "anything") == Statistics(0, 0, 0, {"anything": 0})


def test_only_the_newest_version_answers(driver: Driver) -> None:
    driver.apply(make_version("a", "red apple", seq=0))
    driver.apply(make_version("a", "green apple", seq=1, version=2))
    assert list_found(driver.index, "apple") == [("a", 2)]
    assert list_found(driver.index, "red") == []


def test_as_of_a_moment_the_version_that_was_current_then_answers(driver: Driver) -> None:
    driver.apply(make_version("a", "red apple", seq=10), make_turn("s", 1, "an apple", seq=15))
    driver.apply(make_version("a", "green apple", seq=20, version=2))
    found = {
        minute: list_found(driver.index, "apple", Filter(as_of=at(minute))) for minute in (9, 10, 14, 15, 19, 20, 99)
    }
    assert found == {
        9: [],
        10: [("a", 1)],
        14: [("a", 1)],
        15: [("a", 1), ("s", 1)],
        19: [("a", 1), ("s", 1)],
        20: [("a", 2), ("s", 1)],
        99: [("a", 2), ("s", 1)],
    }


def test_versions_of_a_log_with_a_horizon_count_by_what_was_seen_of_it(driver: Driver) -> None:
    driver.apply(make_version("a", "first fruit", seq=0), make_turn("s", 1, "a fruit", seq=4, log=OTHER))
    driver.apply(make_version("a", "second fruit", seq=5, version=2, minute=2, log=OTHER))
    driver.apply(make_version("b", "other fruit", seq=6, minute=3, log=OTHER))
    found = {
        seen: list_found(driver.index, "fruit", Filter(as_of=at(10), horizons={OTHER: seen})) for seen in (0, 5, 6, 7)
    }
    assert found == {
        0: [("a", 1)],
        5: [("a", 1), ("s", 1)],
        6: [("a", 2), ("s", 1)],
        7: [("a", 2), ("b", 1), ("s", 1)],
    }
    assert list_found(driver.index, "fruit", Filter(horizons={OTHER: 0})) == [("a", 2), ("b", 1), ("s", 1)]
    early = Filter(as_of=at(0), horizons={OTHER: 7})
    assert list_found(driver.index, "fruit", early) == [("a", 2), ("b", 1), ("s", 1)]


def test_of_two_branches_the_later_in_order_is_shown(driver: Driver) -> None:
    driver.apply(make_version("a", "root fruit", seq=0))
    driver.apply(make_version("a", "left fruit", seq=9, version=2, minute=5))
    driver.apply(make_version("a", "right fruit", seq=1, version=2, minute=3, log=OTHER))
    with driver.index.read() as reader:
        current = reader.get_current(make_id("a"))
        assert current is not None
        assert current.recorded_at == at(5)
        assert [head.recorded_at for head in reader.list_versions(make_id("a"))] == [at(0), at(3), at(5)]
    assert list_found(driver.index, "left") == [("a", 2)]
    assert list_found(driver.index, "right") == []


def test_a_version_that_comes_in_late_changes_the_past_not_the_present(driver: Driver) -> None:
    driver.apply(make_version("a", "first fruit", seq=0))
    driver.apply(make_version("a", "third fruit", seq=1, version=3, minute=30))
    driver.apply(make_version("a", "second fruit", seq=0, version=2, minute=20, log=OTHER))
    assert list_found(driver.index, "fruit") == [("a", 3)]
    shown = {minute: list_found(driver.index, "fruit", Filter(as_of=at(minute))) for minute in (10, 25, 30)}
    assert shown == {10: [("a", 1)], 25: [("a", 2)], 30: [("a", 3)]}


def test_a_version_recorded_after_a_later_one_is_never_current(driver: Driver) -> None:
    driver.apply(make_version("a", "third fruit", seq=0, version=3, minute=10))
    driver.apply(make_version("a", "second fruit", seq=0, version=2, minute=20, log=OTHER))
    shown = [list_found(driver.index, "fruit", Filter(as_of=at(minute))) for minute in (5, 10, 20, 25)]
    assert shown == [[], [("a", 3)], [("a", 3)], [("a", 3)]]


@pytest.mark.parametrize("as_of", [None, 5, 50])
def test_a_displaced_version_is_listed_but_never_answers(driver: Driver, as_of: int | None) -> None:
    driver.apply(make_version("a", "kept plum", seq=0))
    driver.apply(make_version("a", "displaced plum", seq=1, version=2, is_displaced=True))
    allowed = Filter(as_of=None if as_of is None else at(as_of), statuses=())
    assert list_found(driver.index, "plum", allowed) == [("a", 1)]
    with driver.index.read() as reader:
        assert reader.get_current(make_id("a")) == driver.batches[0].documents[0].head
        assert [head.is_displaced for head in reader.list_versions(make_id("a"))] == [False, True]
    assert get_statistics(driver, "plum").documents == 1


def test_turns_do_not_supersede_their_transcript_or_each_other(driver: Driver) -> None:
    driver.apply(
        make_version("s", "talk about pears", seq=0, kind="event"),
        make_turn("s", 1, "I like pears", seq=1),
        make_turn("s", 2, "pears are fine", seq=2),
    )
    assert [(hit.id, hit.n) for hit in sorted(answer(driver.index, "pears"), key=lambda hit: hit.n)] == [
        ("s", 0),
        ("s", 1),
        ("s", 2),
    ]


def test_a_document_whose_entry_is_known_changes_nothing(driver: Driver) -> None:
    first, second = make_version("a", "one apple", seq=0), make_version("a", "two apples", seq=1, version=2)
    driver.apply(first, second, first)
    before = answer(driver.index, "apple"), get_statistics(driver, "appl"), get_statistics(driver, "one")
    driver.apply(second)
    driver.apply(first, make_version("a", "changed apple", seq=1, version=7))
    assert (answer(driver.index, "apple"), get_statistics(driver, "appl"), get_statistics(driver, "one")) == before


def test_statistics_count_current_versions_and_turns(driver: Driver) -> None:
    driver.apply(
        make_version("a", "apple pie. Apple juice.", seq=0),
        make_version("b", "old apple", seq=1),
        make_version("c", "pending apple", seq=2, status="pending"),
        make_turn("s", 1, "apple", seq=3),
    )
    driver.apply(make_version("b", "new pear", seq=4, version=2))
    terms = ("appl", "pear", "old", "pend", "none")
    expected = Statistics(
        documents=3,
        tokens=4 + 2 + 9,
        lines=2 + 1 + 1,
        document_frequency=dict(zip(terms, (2, 1, 0, 0, 0), strict=True)),
    )
    assert get_statistics(driver, *terms) == expected
    assert get_statistics(driver, *terms, allowed=Filter(workspaces=("elsewhere",), as_of=at(1))) == expected


def test_a_partition_neither_shows_nor_counts_what_lies_in_another(driver: Driver) -> None:
    driver.apply(make_version("a", "the quick fox", seq=0), make_version("b", "a slow fox and a snail", seq=1))
    driver.apply(make_version("x", "a hidden fox", seq=2, partition=STRICT, workspace="vault"))
    before = answer(driver.index, "quick fox")
    driver.apply(*(make_version(f"x{n}", "fox " * n, seq=10 + n, partition=STRICT) for n in range(1, 9)))
    assert answer(driver.index, "quick fox") == before
    assert list_found(driver.index, "hidden") == []
    assert list_found(driver.index, "hidden", Filter(partitions=(STRICT,))) == [("x", 1)]
    assert get_statistics(driver, "fox").documents == 2
    both = Filter(partitions=(STRICT, Partition("shared")))
    assert get_statistics(driver, "fox", allowed=both).document_frequency == {"fox": 11}
    assert len(list_found(driver.index, "fox", both)) == 11


@pytest.mark.parametrize(("as_of", "expected"), [(None, 21), (17, 11)])
def test_posting_lists_ascend_whatever_partitions_and_eras_they_come_from(
    driver: Driver, as_of: int | None, expected: int
) -> None:
    text = "A fox here.\nNo.\nFox and fox."
    for seq in range(0, 40, 4):
        driver.apply(
            make_version(f"a{seq:02}", text, seq=seq, partition=STRICT),
            make_version(f"b{seq:02}", text, seq=seq + 1),
            make_version("hot", text, seq=seq + 2, version=seq + 1),
        )
    both = Filter(partitions=(Partition("shared"), STRICT), as_of=None if as_of is None else at(as_of))
    with driver.index.read() as reader:
        (found,) = reader.match(("fox",), both).matches
    assert len(found.documents) == expected
    assert list(found.documents) == sorted(found.documents)
    assert list(found.repeats) == sorted(found.repeats)
    assert {(hit.score, hit.lines) for hit in answer(driver.index, "fox", both, 99)} == {
        (hit.score, (2, 0)) for hit in answer(driver.index, "fox", both, 1)
    }


def fill_for_filters(driver: Driver) -> None:
    driver.apply(
        make_version("a", "tea", seq=0, workspace="home", also_in=("work", "den", "den")),
        make_version("b", "tea", seq=1, workspace="work"),
    )
    driver.apply(
        make_version("c", "tea", seq=2, workspace="home", status="pending", also_in=("den",)),
        make_version("d", "tea", seq=3, workspace="work", also_in=("den",)),
        make_turn("s", 1, "tea", seq=4),
    )
    driver.apply(make_version("d", "more tea", seq=5, version=2, workspace="home"))


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (Filter(), ["a", "b", "d", "s"]),
        (Filter(workspaces=("home",)), ["a", "d"]),
        (Filter(workspaces=("home", "work")), ["a", "b", "d"]),
        (Filter(workspaces=("work",)), ["a", "b"]),
        (Filter(workspaces=("den",)), ["a"]),
        (Filter(workspaces=("den",), statuses=("pending",)), ["c"]),
        (Filter(workspaces=("den",), as_of=at(4)), ["a", "d"]),
        (Filter(statuses=("pending",)), ["c"]),
        (Filter(statuses=("pending", "current")), ["a", "b", "c", "d", "s"]),
        (Filter(statuses=()), ["a", "b", "c", "d", "s"]),
        (Filter(workspaces=("work",), as_of=at(4)), ["a", "b", "d"]),
        (Filter(workspaces=("nowhere",)), []),
    ],
)
def test_each_filter_lets_through_what_it_says(driver: Driver, allowed: Filter, expected: list[str]) -> None:
    fill_for_filters(driver)
    assert [record for record, _ in list_found(driver.index, "tea", allowed)] == expected


def test_a_filter_changes_no_score(driver: Driver) -> None:
    fill_for_filters(driver)
    open_answer = {hit.id: hit.score for hit in answer(driver.index, "more tea")}
    narrow = {hit.id: hit.score for hit in answer(driver.index, "more tea", Filter(workspaces=("home",)))}
    assert narrow == {record: open_answer[record] for record in ("a", "d")}


def test_ties_go_by_record_then_ordinal(driver: Driver) -> None:
    driver.apply(*(make_version(name, "same words", seq=seq) for seq, name in enumerate(("c", "a", "b"))))
    driver.apply(*(make_turn("s", n, "equal turns", seq=10 + n) for n in (1, 2, 3)))
    driver.apply(make_version("d", "same words", seq=20))
    assert [hit.id for hit in answer(driver.index, "same words", limit=3)] == ["a", "b", "c"]
    assert [hit.n for hit in answer(driver.index, "equal turns", limit=2)] == [1, 2]


def test_the_best_lines_of_a_long_text_are_told_best_first(driver: Driver) -> None:
    text = "Nothing here.\nA red fox.\nA fox.\nThe red fox is a fox.\nA red dog."
    driver.apply(make_version("a", text, seq=0), make_version("b", "A red door.", seq=1))
    driver.apply(make_version("c", "Title only.", seq=2, title="Fox den"))
    found = {hit.id: hit.lines for hit in answer(driver.index, "red fox")}
    assert found == {"a": (3, 1, 2, 4), "b": (0,), "c": ()}


def test_a_term_asked_twice_counts_once(driver: Driver) -> None:
    driver.apply(make_version("a", "apple pear", seq=0))
    with driver.index.read() as reader:
        once, twice = (reader.match(terms, Filter()) for terms in (("appl", "pear"), ("appl", "pear", "appl")))
    assert [match.term for match in twice.matches] == ["appl", "pear"]
    assert once.statistics == twice.statistics


def test_hundreds_of_terms_and_documents_are_answered(driver: Driver) -> None:
    driver.apply(*(make_version(f"r{n:03}", f"word{n} common", seq=n) for n in range(150)))
    question = " ".join(f"word{n}" for n in range(150))
    assert len(list_found(driver.index, question)) == 150
    assert len(list_found(driver.index, "common", Filter(as_of=at(99)))) == 100


def test_a_read_sees_one_state(driver: Driver) -> None:
    driver.apply(make_version("a", "first apple", seq=0))
    with driver.index.read() as reader:
        before = reader.match(("appl",), Filter())
        driver.apply(make_version("a", "second apple", seq=1, version=2), make_version("b", "apple", seq=2))
        after = reader.match(("appl",), Filter())
        assert reader.list_versions(make_id("b")) == []
        assert list(after.matches[0].documents) == list(before.matches[0].documents)
        assert after.statistics == before.statistics
        assert [head.version for head in reader.get_heads(after.matches[0].documents).values()] == [1]
    assert list_found(driver.index, "apple") == [("a", 2), ("b", 1)]


def test_watermarks_are_kept_with_their_batch(driver: Driver) -> None:
    driver.apply_batch(IndexBatch(watermarks={OTHER: 3}))
    driver.apply_batch(IndexBatch(watermarks={OTHER: 5}))
    with driver.index.read() as reader:
        assert dict(reader.get_watermarks()) == {OTHER: 5}


def test_loose_documents_answer_beside_the_versions_and_are_none(driver: Driver) -> None:
    driver.apply(make_version("a", "red apple", seq=0))
    driver.apply(
        make_loose("x", "green apple", seq=5, workspace="LOOSE"), make_loose("y", "apple", seq=5, log=NATIVE_LOG)
    )
    assert list_found(driver.index, "apple") == [("a", 1), ("~x5", 1), ("~y5", 1)]
    assert get_statistics(driver, "appl").documents == 3
    assert answer(driver.index, "green", Filter(as_of=at(99))) == []
    assert answer(driver.index, "green", Filter(as_of=at(99), horizons={OTHER: 9})) == []
    assert list_found(driver.index, "apple", Filter(workspaces=("LOOSE",))) == [("~x5", 1)]
    with driver.index.read() as reader:
        assert reader.find_ids("", 9) == [make_id("a")]
        assert reader.list_spellings("loose") == []
        assert reader.find_by_text(None, make_loose("x", "green apple", seq=5).head.text_sha256) == []
        assert reader.find_by_text(None, make_loose("x", "green apple", seq=5).head.text_sha256, None) == []
        counts = reader.count()
    assert (counts["records"], counts["versions"], counts["turns"]) == (1, 1, 0)


def test_a_text_is_found_in_earlier_versions_where_any_are_asked_for(driver: Driver) -> None:
    earlier = make_version("a", "red apple", seq=0)
    driver.apply(earlier, make_version("a", "green apple", version=2, seq=1))
    text = earlier.head.text_sha256
    with driver.index.read() as reader:
        assert reader.find_by_text(None, text) == []
        assert [head.ref for head in reader.find_by_text(None, text, None)] == [earlier.head.ref]
        assert reader.find_by_text("elsewhere", text, None) == []


def test_a_loose_document_that_is_dropped_is_found_no_more_and_counts_no_more(driver: Driver) -> None:
    first = make_loose("x", "green apple", seq=5)
    driver.apply(make_version("a", "red apple", seq=0), first)
    driver.apply_batch(IndexBatch([make_loose("x", "blue apple", seq=5)], dropped=[first.head.ref]))
    assert answer(driver.index, "green") == []
    assert len(answer(driver.index, "blue")) == 1
    assert get_statistics(driver, "appl").documents == 2
    driver.apply_batch(IndexBatch(dropped=[first.head.ref, first.head.ref]))
    for number in range(40):
        driver.apply(make_version(f"b{number}", "pear", seq=number + 10))
    assert list_found(driver.index, "apple") == [("a", 1)]
    assert list_found(driver.index, "blue", Filter(statuses=())) == []
    assert get_statistics(driver, "appl").document_frequency == {"appl": 1}


def test_loose_documents_are_listed_by_log_and_kind_until_they_are_dropped(driver: Driver) -> None:
    late, early = (make_loose("x", "apple", seq=seq, log=NATIVE_LOG) for seq in (7, 5))
    other = make_loose("y", "apple", seq=6)
    driver.apply(make_version("a", "apple", seq=0), late, early, other)
    with driver.index.read() as reader:
        assert reader.list_loose(NATIVE_LOG, "note") == [early.head, late.head]
        assert reader.list_loose(NATIVE_LOG, "fact") == []
        assert reader.list_loose(NATIVE_LOG, None) == [early.head, late.head]
        assert reader.get_loose(other.head.ref) == other.head
    driver.apply_batch(IndexBatch(dropped=[early.head.ref]))
    with driver.index.read() as reader:
        assert reader.list_loose(NATIVE_LOG, "note") == [late.head]
        assert reader.get_loose(early.head.ref) is None
