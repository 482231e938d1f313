"""Names that sync programs give to the losing side of two edits of one file; a name proposes, it proves nothing.

Forms as the programs write them: Syncthing `name.sync-conflict-<date>-<time>-<device>`, Obsidian Sync and Dropbox
`name (… conflicted copy …)` in the language of the machine, Dropbox also `name (Case Conflict)`, `(Selective Sync
Conflict)` and `(Unicode Encoding Conflict)`, Nextcloud and ownCloud `name (conflicted copy …)`, `name (case clash from
…)` and `name_conflict-<date>-<time>`, others `name.conflict-<date>`, Synology `name_HOST_<date>_Conflict`, Google Drive
`name_conf(1)`, pCloud `name [conflicted]`. Less certain, as people name files so too: Resilio `name.Conflict`, iCloud
and Finder `name 2`, Google Drive `name (1)`, OneDrive `name-HOST`. File managers name what a person copies `name copy`,
`name - Copy (2)`, `Copy of name` or `nameのコピー`: such a file is a copy only while it says just the same.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_EXTENSION: Final = ".md"
_HOSTS_MAX_COUNT: Final = 8

_CERTAIN: Final = (
    re.compile(r"(.+)\.sync-conflict-\d{8}-\d{6}(?:-[A-Z2-7]{7})?"),
    re.compile(r"(.+)_conflict-(?:.+-)?\d{8}-\d{6}"),
    re.compile(r"(.+)_[^_]+_[A-Za-z]{3}-\d{2}-\d{4,6}-\d{4}_[Cc]onflict"),
    re.compile(r"(.+)_conf\(\d{1,3}\)"),
    re.compile(r"(.+)\.conflict-\d{4}-?\d{2}-?\d{2}(?:[-_T ]?\d{2}[-:.]?\d{2}(?:[-:.]?\d{2})?)?(?:-[\w-]+)?", re.I),
    re.compile(
        r"(.+) \((?:[^()]+['’]s )?(?:case|selective sync|unicode encoding|white ?space) conflict(?: \d{1,3})?\)"
        r"(?: ?\(\d{1,3}\))?",
        re.I,
    ),
    re.compile(r"(.+) \(case clash from [^()]+\)", re.I),
    re.compile(r"(.+) \[[Cc]onflict(?:ed)?(?: \d{1,3})?\]"),
)
# What Dropbox and Obsidian call the copy, folded; it stands in brackets with who and when before or behind it.
_CALLED: Final = (
    "conflicted copy", "conflict copy", "in konflikt stehende kopie", "konfliktkopie", "widersprüchliche kopie",
    "copie en conflit", "copie conflictuelle", "copia en conflicto", "copia conflictiva", "copia in conflitto",
    "cópia em conflito", "cópia conflitante", "conflicterende kopie", "conflictkopie",
    "konfliktkopia", "motstridig kopia", "konfliktkopi", "kopia powodująca konflikt", "kopia w konflikcie",
    "konfliktní kopie", "конфликтующая копия", "конфликтная копия", "конфліктна копія", "çakışan kopya",
    "salinan konflik", "salinan yang bertentangan", "สำเนาที่ขัดแย้ง", "競合コピー", "問題のあるコピー",
    "충돌된 사본", "충돌 사본", "冲突副本", "冲突的副本", "衝突複本", "衝突副本", "衝突的複本",
)  # fmt: skip
_UNCERTAIN: Final = (
    re.compile(r"(.+?)(?:\.sync)?\.[Cc]onflict(?:\d{1,3})?"),
    re.compile(r"(.+) (?:[2-9]|[1-9]\d)"),
    re.compile(r"(.+) \([1-9]\d?\)"),
)
# What file managers call a copy that a person makes, behind the name and before it.
_COPY: Final = (
    "copy", "another copy", "kopie", "copie", "copia", "cópia", "kopia", "kopi", "kopya", "копия", "копія", "コピー",
    "副本", "拷贝", "複本", "複製", "복사본", "사본",
)  # fmt: skip
_COPY_JOINED: Final = ("のコピー", "副本", "拷贝", "複本", "복사본", "사본")
_COPY_OF: Final = (
    "copy of", "kopie von", "kopie van", "copie de", "copia de", "copia di", "cópia de", "kopia", "kopi av", "kopi af",
    "копия", "копія",
)  # fmt: skip


def _spell(words: tuple[str, ...]) -> str:
    """Return a pattern for words as any file system spells them: macOS takes letters apart."""
    return "|".join(dict.fromkeys(word for each in words for word in (each, unicodedata.normalize("NFD", each))))


_NUMBER: Final = r"(?: ?\(?\d{1,3}\)?)?"
_BY_HAND: Final = (
    re.compile(rf"(.+?) (?:[-–—] ?)?(?:{_spell(_COPY)}){_NUMBER}", re.I),
    re.compile(rf"(.+?) \((?:\d{{1,2}}(?:st|nd|rd|th) )?(?:{_spell(_COPY)})(?: \d{{1,3}})?\)", re.I),
    re.compile(rf"(.+?) ?(?:{_spell(_COPY_JOINED)}){_NUMBER}"),
    re.compile(rf"(?:{_spell(_COPY_OF)}) (.+)", re.I),
)
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 -]{0,62}")


@dataclass(frozen=True, slots=True)
class CopyName:
    """The file that a name may be a copy of; where `is_certain` is false, people give such names, too."""

    original: str
    is_certain: bool


def list_originals(path: str) -> list[CopyName]:
    """Return the files in the same folder that a file may be a conflict copy of, the likeliest first.

    Args:
        path: Relative to the vault; only files `.md` are copies of records.
    """
    folder, slash, name = path.rpartition("/")
    if not name.lower().endswith(_EXTENSION):
        return []
    stem, extension = name[: -len(_EXTENSION)], name[-len(_EXTENSION) :]
    found = [(original, True) for original in _find_certain(stem)] or [(item, False) for item in _find_likely(stem)]
    return [CopyName(f"{folder}{slash}{original}{extension}", is_certain) for original, is_certain in found if original]


def list_copied(path: str) -> list[str]:
    """Return the files in the same folder that a person may have copied a file from, by the name of the copy."""
    folder, slash, name = path.rpartition("/")
    stem, extension = name[: -len(_EXTENSION)], name[-len(_EXTENSION) :]
    if extension.lower() != _EXTENSION:
        return []
    found = (match[1] for pattern in _BY_HAND if (match := pattern.fullmatch(stem)) is not None)
    return [f"{folder}{slash}{original}{extension}" for original in dict.fromkeys(found)]


def is_named_copy(path: str) -> bool:
    """Tell whether only a sync program gives such a name."""
    return any(name.is_certain for name in list_originals(path))


def describe_copy(path: str) -> str:
    """Return what a copy is called to a person: who left it is known where only a sync program gives such a name."""
    return "a copy that a sync program left" if is_named_copy(path) else "a copy, made by hand or by a program"


def _find_certain(stem: str) -> list[str]:
    for pattern in _CERTAIN:
        match = pattern.fullmatch(stem)
        if match is not None:
            return [match[1]]
    called = _find_called(stem)
    return [called] if called else []


def _find_called(stem: str) -> str:
    """Return what stands before a last bracket that calls the file a conflicted copy; empty where none does."""
    if not stem.endswith((")", "）")):
        return ""
    composed = unicodedata.normalize("NFC", stem)
    folded = composed.casefold()
    if len(folded) != len(composed):  # a letter that grows when folded: fold letter by letter
        folded = "".join(letter.casefold() if len(letter.casefold()) == 1 else letter for letter in composed)
    place = max((folded.rfind(words) for words in _CALLED), default=-1)
    opening = max(composed.rfind("(", 0, max(place, 0)), composed.rfind("（", 0, max(place, 0)))
    return composed[:opening].rstrip() if place >= 0 and opening > 0 else ""


def _find_likely(stem: str) -> list[str]:
    found = [match[1] for pattern in _UNCERTAIN if (match := pattern.fullmatch(stem)) is not None]
    places = [place for place, letter in enumerate(stem) if letter == "-"][-_HOSTS_MAX_COUNT:]
    hosts = [stem[:place] for place in places if place and _HOST.fullmatch(stem[place + 1 :]) is not None]
    return [*found, *hosts]
