"""The index is derived: another's is not believed, and a new one answers as the old one did."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import onrecord
from onrecord.domain.errors import NotFoundError


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
