"""Which names sync programs give to the losing side of two edits."""

from __future__ import annotations

import unicodedata

import pytest

from onrecord.domain.copy_names import CopyName, list_copied, list_originals

CERTAIN = {
    "Syncthing": ["Plan.sync-conflict-20261130-173636-D4LGQYW", "Plan.sync-conflict-20180101-000000"],
    "Dropbox, English": [
        "Plan (Mia's conflicted copy 2026-11-30)",
        "Plan (Mia’s conflicted copy 2026-11-30)",
        "Plan (Mia's conflicted copy 2026-11-30 (1))",
        "Plan (mias-macbook's conflicted copy)",
    ],
    "Dropbox, German": [
        "Plan (In Konflikt stehende Kopie von Mia 2026-11-30)",
        "Plan (Mias in Konflikt stehende Kopie 2026-11-30)",
    ],
    "Dropbox, French": ["Plan (Copie en conflit de Mia 2026-11-30)"],
    "Dropbox, Spanish": ["Plan (Copia en conflicto de Mia 2026-11-30)", "Plan (Copia conflictiva de Mia 2026-11-30)"],
    "Dropbox, Italian": ["Plan (Copia in conflitto di Mia 2026-11-30)"],
    "Dropbox, Portuguese": ["Plan (Cópia em conflito de Mia 2026-11-30)"],
    "Dropbox, Dutch": ["Plan (conflicterende kopie van Mia 2026-11-30)"],
    "Dropbox, Russian": ["Plan (конфликтующая копия, Mia 2026-11-30)"],
    "Dropbox, Chinese": [
        "Plan (Mia 的冲突副本 2026-11-30)",
        "Plan（Mia 的冲突副本 2026-11-30）",
        "Plan (Mia 的衝突複本 2026-11-30)",
    ],
    "Dropbox, Japanese": ["Plan (平川知明 の競合コピー 2026-11-30)", "Plan (mia-pc 上の問題のあるコピー 2026-11-30)"],
    "Dropbox, Korean": ["Plan (Mia의 충돌된 사본 2026-11-30)"],
    "Obsidian Sync": ["Plan (Conflicted copy MyDevice 202611301530)"],
    "Dropbox, names that clash": [
        "Plan (Case Conflict)",
        "Plan (Case Conflict 1)",
        "Plan (Mia's Case Conflict)",
        "Plan (Selective Sync Conflict)",
        "Plan (Unicode Encoding Conflict)",
    ],
    "with a date": ["Plan.conflict-20261130", "Plan.conflict-20261130-103045", "Plan.conflict-2026-11-30-mia"],
    "Nextcloud, names that clash": ["Plan (case clash from Mia 2026-11-30 103045)"],
    "Nextcloud": ["Plan (conflicted copy 2026-11-30 103045)", "Plan (conflicted copy mia 2026-11-30 103045)"],
    "ownCloud": ["Plan_conflict-20261130-103045", "Plan_conflict-mia-20261130-103045"],
    "Synology Drive": ["Plan_DESKTOP-1_Nov-30-103045-2026_Conflict"],
    "Google Drive": ["Plan_conf(1)", "Plan [Conflict]"],
    "pCloud": ["Plan [conflicted]"],
}  # fmt: skip
UNCERTAIN = {
    "iCloud": ["Plan 2", "Plan 12"],
    "OneDrive": ["Plan-DESKTOP-AB12", "Plan-MIAS-PC-2", "Plan-Mias MacBook"],
    "Resilio Sync": ["Plan.Conflict", "Plan.sync.Conflict", "Plan.Conflict1"],
    "Google Drive": ["Plan (1)"],
}


@pytest.mark.parametrize("name", [name for names in CERTAIN.values() for name in names])
def test_a_name_that_only_a_sync_program_gives_tells_the_original(name: str) -> None:
    for form in ("NFC", "NFD"):
        path = unicodedata.normalize(form, f"memories/a.b/{name}.md")  # type: ignore[arg-type]
        assert list_originals(path) == [CopyName("memories/a.b/Plan.md", is_certain=True)]


@pytest.mark.parametrize("name", [name for names in UNCERTAIN.values() for name in names])
def test_a_name_that_people_give_too_only_proposes_an_original(name: str) -> None:
    found = list_originals(f"memories/x/{name}.md")
    assert CopyName("memories/x/Plan.md", is_certain=False) in found
    assert not any(item.is_certain for item in found)


@pytest.mark.parametrize(
    "name",
    ["Plan", "2", "-HOST", "Plan (draft)", "Plan 2026", "conflicted copy", "(conflicted copy)", "Plan (2)x", "日記"],
)
def test_any_other_name_proposes_nothing(name: str) -> None:
    assert list_originals(f"memories/x/{name}.md") == []


def test_only_markdown_files_are_copies_of_records() -> None:
    assert list_originals("memories/x/Plan.sync-conflict-20261130-173636-D4LGQYW.txt") == []
    assert list_originals("memories/x/Plan.sync-conflict-20261130-173636-D4LGQYW.MD") == [
        CopyName("memories/x/Plan.MD", is_certain=True)
    ]


def test_a_copy_of_a_copy_is_of_the_nearest_original() -> None:
    first = "memories/x/Plan (Mia's conflicted copy 2026-11-30)"
    assert list_originals(f"{first} (Bob's conflicted copy 2026-12-01).md")[0].original == f"{first}.md"


@pytest.mark.parametrize(
    "name",
    [
        "note copy", "note copy 2", "note - Copy", "note - Copy (2)", "note (copy)", "note (another copy)",
        "note (3rd copy)", "note (copy 2)", "Copy of note", "Kopie von note", "note - Kopie", "note – Kopie",
        "note copia",
        "noteのコピー", "note のコピー", "note - コピー", "note 副本", "note副本", "note 복사본", "Копия note",
        unicodedata.normalize("NFD", "note のコピー"),
    ],
)  # fmt: skip
def test_names_that_file_managers_give_to_copies_tell_the_file_that_was_copied(name: str) -> None:
    assert "a/note.md" in list_copied(f"a/{name}.md")


@pytest.mark.parametrize("name", ["note", "copy", "photocopy", "copy 2", "copywriting", "note of a copyist", "副本"])
def test_other_names_tell_of_no_copied_file(name: str) -> None:
    assert list_copied(f"a/{name}.md") == []
