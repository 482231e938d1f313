"""Links and sources that the user allowed stay allowed when a new state folder takes the place of the old one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onrecord.storage.files.grants import carry_grants
from tests.fault.test_adopt import put_content
from tests.surface.cli import CommandLine


class Home:
    """A vault with a linked folder and a source, and a person at a terminal."""

    def __init__(self, ask: CommandLine, base: Path) -> None:
        self.ask, self.base = ask, base
        self.vault, self.states = base / "vault", base / "state" / "vaults"
        for name, text in (("Obsidian/Kettle.md", "the kettle sings\n"), ("agent/RULES.md", "lint before lunch\n")):
            (base / name).parent.mkdir(parents=True)
            (base / name).write_text(text)
        assert ask("init").status == 0
        assert ask("link", "memories", str(base / "Obsidian"), at_terminal=True).status == 0
        assert ask("source", "add", str(base / "agent"), "--name", "codex", at_terminal=True).status == 0
        self.check_is_whole()

    @property
    def state(self) -> Path:
        (found,) = (path for path in self.states.iterdir() if path.is_dir() and "." not in path.name)
        return found

    def check_is_whole(self) -> None:
        assert [item["state"] for item in self.ask("link", "--list").data["links"]] == ["open"]
        assert [item["name"] for item in self.ask("source", "list").data["sources"]] == ["codex"]
        for query in ("kettle", "lunch"):
            assert self.ask("find", query).data["status"] == "found", query

    def roll_back(self) -> None:
        """Put an older state of the vault's own folders in the place of the newest one."""
        shutil.copytree(self.vault / ".onrecord", self.base / "backup")
        assert self.ask("remember", "lost again").status == 0
        put_content(self.base / "backup", self.vault / ".onrecord")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Home:
    monkeypatch.setenv("ONRECORD_STATE", str(tmp_path / "state"))
    return Home(CommandLine(monkeypatch, str(tmp_path / "vault")), tmp_path)


def test_links_and_sources_stay_allowed_when_an_older_vault_is_adopted(home: Home) -> None:
    home.roll_back()
    assert home.ask("remember", "refused").error["code"] == "ledger_rolled_back"
    assert home.ask("adopt", "--yes", at_terminal=True).data["adopted"] is True
    home.check_is_whole()


def test_links_and_sources_stay_allowed_when_the_head_was_lost(home: Home) -> None:
    (home.state / "head.json").unlink()
    home.check_is_whole()
    assert list(home.states.glob("*.headless-*"))


def test_a_state_folder_that_was_set_aside_forbids_no_link(home: Home) -> None:
    home.roll_back()
    assert home.ask("adopt", "--yes", at_terminal=True).data["adopted"] is True
    assert home.ask("unlink", "memories", at_terminal=True).status == 0
    assert home.ask("link", "memories", at_terminal=True).data["links"][0]["state"] == "open"


def test_a_list_that_the_old_installation_did_not_seal_is_not_carried_over(home: Home, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    (new / "pseudonyms").write_bytes(bytes(32))
    (new / "links.json").write_bytes(b"of a making that was cut off")
    for name in ("links.json", "sources.json"):
        data = (home.state / name).read_bytes()
        (home.state / name).write_bytes(data.replace(b"/", b"//", 1))
    carry_grants(str(home.state), str(new))
    assert [path.name for path in new.iterdir()] == ["pseudonyms"]
