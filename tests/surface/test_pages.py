"""Every list that can grow comes in pages below the budget, and each page names where the next one begins."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import onrecord as package
from onrecord import Memory, NotFoundError, OnRecordError, Refusal, Vault
from tests.surface.cli import CommandLine

PAGE_BYTES = 2_048


@pytest.fixture
def vault(onrecord: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vault]:
    monkeypatch.setenv("ONRECORD_PAGE_BYTES", str(PAGE_BYTES))
    with package.open(onrecord.vault) as opened:
        yield opened


def make_versions(vault: Vault, count: int) -> str:
    kept = vault.remember("version 1", title="記" * 100)
    for number in range(1, count):
        vault.update(kept.id, text=f"version {number + 1}", expect=number)
    return kept.id


def test_a_history_comes_in_pages_that_together_are_all_of_it(vault: Vault, onrecord: CommandLine) -> None:
    record = make_versions(vault, 12)
    seen: list[int] = []
    offset = 0
    while True:
        done = onrecord("history", record, "--offset", str(offset))
        assert len(json.dumps(done.data["versions"], ensure_ascii=False).encode()) <= PAGE_BYTES + 2 * 12
        seen += [item["version"] for item in done.data["versions"]]
        if "truncated" not in done.data:
            break
        offset = done.data["next_offset"]
    assert seen == list(range(1, 13))
    assert [version.version for version in vault.history(record)] == seen


def test_a_page_of_history_names_its_continuation_to_a_person(vault: Vault, onrecord: CommandLine) -> None:
    record = make_versions(vault, 12)
    done = onrecord("history", record, as_json=False)
    assert "--offset" in done.out
    assert len(done.out.splitlines()) < 12


def test_several_memories_come_in_pages_below_the_budget(vault: Vault) -> None:
    tags = ["t" * 60] * 4
    ids = [
        vault.remember(f"memory {n} " + "words " * 100, title=f"title {n} " + "x" * 80, tags=tags).id for n in range(9)
    ]
    wanted = [*ids, "zzzz"]
    seen: list[Memory | Refusal] = []
    offset: int | None = 0
    pages = 0
    while offset is not None:
        batch = vault.batch_read(wanted, offset=offset)
        assert batch.truncated is (batch.next_offset is not None)
        assert len(batch) >= 1
        seen += batch
        offset = batch.next_offset
        pages += 1
    assert pages > 2
    assert [item.id for item in seen] == wanted
    assert all(isinstance(item, Memory) and item.text.startswith("memory") for item in seen[:-1])
    refused = seen[-1]
    assert isinstance(refused, Refusal)
    assert refused.code == NotFoundError.code


def test_a_thousand_ids_cost_no_more_than_a_page(vault: Vault) -> None:
    kept = vault.remember("x" * 3_000, title="y" * 1_000).id
    batch = vault.batch_read([kept] * 1_000)
    assert 1 <= len(batch) <= 3
    assert batch.next_offset == len(batch)


def test_every_error_and_every_result_can_be_named_from_the_package() -> None:
    def list_tree(kind: type[OnRecordError]) -> list[type[OnRecordError]]:
        return [kind, *(below for child in kind.__subclasses__() for below in list_tree(child))]

    for kind in list_tree(OnRecordError):
        if not kind.__module__.startswith("onrecord."):
            continue
        assert getattr(package, kind.__name__) is kind
        assert kind.__name__ in package.__all__
    results = {kind.__name__ for kind in package.Outcome.__subclasses__()} | {"Hit", "Version", "Refusal"}
    assert results <= set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__name__


@pytest.mark.parametrize("mode", ["preview", "hits", "full"])
def test_a_hit_that_is_larger_than_the_page_is_cut_and_never_a_miss(
    vault: Vault, onrecord: CommandLine, mode: str
) -> None:
    text = "kumquat " + "記" * 5_000
    kept = vault.remember(text, title="long").id
    vault.remember("kumquat", title="short")
    found = vault.find("kumquat long", mode=mode)
    assert (found.status, found.results[0].id) == ("found", kept)
    seen = [hit.id for hit in found]
    while found.next_offset is not None:
        found = vault.find("kumquat long", mode=mode, offset=found.next_offset)
        seen += [hit.id for hit in found]
    assert len(set(seen)) == len(seen) == 2
    done = onrecord("find", "kumquat long", "--mode", mode, "--limit", "1").data
    assert len(json.dumps(done["results"], ensure_ascii=False).encode()) <= PAGE_BYTES + 2
    if mode == "hits":
        (span,) = done["results"][0]["spans"]
        start, end = map(int, span["span"].split(":"))
        assert text[start:end] == span["text"]
        assert done["results"][0]["truncated"] is True
