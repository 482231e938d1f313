"""The index is derived: another's is not believed, and a new one answers as the old one did."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import onrecord
from onrecord.domain.errors import NotFoundError
from tests.surface.cli import CommandLine


def find_indexes() -> dict[str, Path]:
    """Return the index of each vault by the vault's id."""
    return {
        path.parent.name.partition("-")[0]: path for path in Path(os.environ["ONRECORD_STATE"]).rglob("index.sqlite3")
    }


def list_found(vault: onrecord.Vault, query: str, **arguments: object) -> list[str]:
    return [str(hit.snippet) for hit in vault.find(query, **arguments).results]


def test_the_index_of_another_vault_counts_as_missing(tmp_path: Path) -> None:
    with closing(onrecord.open(tmp_path / "one", create=True)) as one:
        foreign = one.remember("the kettle of one").id
    (first,) = find_indexes().values()
    with closing(onrecord.open(tmp_path / "two", create=True)) as two:
        two.remember("the kettle of two")
    (second,) = {*find_indexes().values()} - {first}
    shutil.copyfile(first, second)
    with closing(onrecord.open(tmp_path / "two")) as two:
        assert list_found(two, "kettle") == ["the kettle of two"]
        with pytest.raises(NotFoundError):
            two.read(foreign)
    with closing(onrecord.open(tmp_path / "one")) as one:
        assert list_found(one, "kettle") == ["the kettle of one"]


def test_a_rebuild_sees_to_files_that_are_not_as_their_newest_version(tmp_path: Path) -> None:
    with closing(onrecord.open(tmp_path / "vault", create=True)) as vault:
        kept, edited, moved = (vault.remember(text).id for text in ("kept tea", "edited tea", "moved tea"))
        vault.capture("spoken tea", source="chat", session="s", turn="1", role="user")
        places = {vault.read(id).id: tmp_path / "vault" / str(vault.read(id).path) for id in (kept, edited, moved)}
        places[edited].write_text(places[edited].read_text().replace("edited tea", "edited coffee"))
        places[moved].rename(places[moved].with_name("elsewhere.md"))
        (places[kept].parent / "fresh.md").write_text("fresh tea\n")
        report = vault.reindex()
        assert report.data["files"] == 5
        assert sorted(list_found(vault, "tea")) == ["fresh tea", "kept tea", "moved tea", "spoken tea"]
        assert list_found(vault, "coffee") == ["edited coffee"]
        assert [version.origin for version in vault.history(moved).versions] == ["agent"]


@pytest.mark.parametrize("is_plain", [False, True])
def test_what_was_renamed_and_edited_before_a_reindex_is_the_memory_still(
    onrecord: CommandLine, is_plain: bool
) -> None:
    note = Path(onrecord.vault, "memories/default/note.md")
    if is_plain:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("tea is in the upper drawer\nand so is sugar\n")
    else:
        onrecord("remember", "tea is in the upper drawer\nand so is sugar", "--title", "note")
    (hit,) = onrecord("find", "upper drawer").data["results"]
    note.write_text(note.read_text().replace("sugar", "honey"))
    note.rename(note.with_name("drawers.md"))
    report = onrecord("reindex")
    assert (report.status, report.data["files"]) == (0, 1)
    (again,) = onrecord("find", "honey").data["results"]
    assert (again["id"], again["version"]) == (hit["id"], 2)
    found = onrecord("doctor", "--deep").data["findings"]
    assert [item["code"] for item in found if item["severity"] != "info"] == []


def test_a_reindex_goes_on_where_the_old_index_cannot_be_used(onrecord: CommandLine) -> None:
    made = onrecord("remember", "tea is in the upper drawer", "--title", "note").data
    (path,) = find_indexes().values()
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)
    assert onrecord("reindex").status == 0
    assert [hit["id"] for hit in onrecord("find", "upper drawer").data["results"]] == [made["id"]]


def test_a_file_renamed_and_edited_while_the_index_was_lost_is_told_by_its_id(onrecord: CommandLine) -> None:
    made = onrecord("remember", "tea is in the upper drawer", "--title", "note").data
    note = Path(onrecord.vault, "memories/default/note.md")
    note.write_text(note.read_text().replace("upper", "lower"))
    note.rename(note.with_name("drawers.md"))
    (path,) = find_indexes().values()
    path.unlink()
    assert onrecord("reindex").status == 0
    (hit,) = onrecord("find", "lower drawer").data["results"]
    assert (hit["id"], hit["version"]) == (made["id"], 2)


def test_a_record_is_found_at_home_and_where_it_is_also(tmp_path: Path) -> None:
    with closing(onrecord.open(tmp_path / "vault", create=True)) as vault:
        vault.remember("plain tea", workspace="work")
    note = tmp_path / "vault" / "memories" / "home" / "note.md"
    note.parent.mkdir()
    note.write_text("---\nworkspace: home\nalso_in: [work, den]\n---\nshared tea\n")
    expected = {"work": ["plain tea", "shared tea"], "den": ["shared tea"], "home": ["shared tea"], "nowhere": []}
    with closing(onrecord.open(tmp_path / "vault")) as vault:
        assert {name: sorted(list_found(vault, "tea", workspace=name)) for name in expected} == expected
        vault.reindex()
        assert {name: sorted(list_found(vault, "tea", workspace=name)) for name in expected} == expected


def test_a_reindex_whose_index_no_other_call_can_use_fails_and_says_so(bare: CommandLine) -> None:
    assert bare("init").status == 0
    assert bare("remember", "first words").status == 0
    assert bare("reindex").status == 0
    (path,) = find_indexes().values()
    for part in path.parent.glob("index.sqlite3*"):
        part.unlink()
    path.mkdir()
    done = bare("reindex")
    assert (done.status, done.data["documents"]) == (1, 1)
    assert [item["reason"] for item in done.envelope["degraded"]] == ["index_in_memory"]
    assert "exit status 1" in bare("help", "reindex").data["doc"]
    path.rmdir()
    assert bare("reindex").status == 0
