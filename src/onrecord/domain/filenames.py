r"""Names and paths inside a vault, by the same rules on every system (docs/format/vault.md, Path rules).

Pure text: nothing here asks a file system. Windows takes no `< > : " / \ | ? *`, no trailing blank or dot and no
device name; macOS folds case and composes; Obsidian links break at `# ^ [ ]`.
"""

from __future__ import annotations

import re
import unicodedata

from onrecord.domain.limits import FILE_NAME_MAX_BYTES
from onrecord.domain.names import fold_name

UNTITLED = "untitled"
# The folder of each kind that has one of its own; every other kind lies in `memories` (docs/format/vault.md).
MEMORIES = "memories"
KIND_FOLDERS = {
    "fact": "facts",
    "entity": "entities",
    "event": "events",
    "workspace": "workspaces",
    "conflict": "conflicts",
}
RECORD_FOLDERS = (MEMORIES, *KIND_FOLDERS.values())

_FORBIDDEN = re.compile('[<>:"/\\\\|?*#^\\[\\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_BLANKS = re.compile(" {2,}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)


def is_device_name(name: str) -> bool:
    """Tell whether Windows takes this file or folder name for a device: in any case, with any extension."""
    return _DEVICE.fullmatch(name.partition(".")[0].rstrip(" ")) is not None


def make_file_stem(title: str) -> str:
    """Return the file name, without `.md`, that a title gives: 1 to 120 bytes of UTF-8.

    It keeps the title's script and case. Two titles may give one name: see `number_stem`.
    """
    stem = _BLANKS.sub(" ", _FORBIDDEN.sub(" ", unicodedata.normalize("NFC", title)))
    stem = stem.lstrip(" .-").rstrip(" .")
    if is_device_name(stem):
        first, dot, rest = stem.partition(".")
        stem = f"{first}_{dot}{rest}"
    return _cut_bytes(stem, FILE_NAME_MAX_BYTES).rstrip(" .") or UNTITLED


def make_folder_name(name: str) -> str:
    """Return the folder name that the name of a workspace, source or session gives; the rule of `make_file_stem`."""
    return make_file_stem(name)


def number_stem(stem: str, number: int) -> str:
    """Return the name to try when `stem` is taken, such as `stem (2)`.

    Args:
        stem: A name made by `make_file_stem`.
        number: 2 or more.
    """
    return f"{stem} ({number})"


def _cut_bytes(text: str, size_bytes: int) -> str:
    return text.encode()[:size_bytes].decode(errors="ignore")


def fold_path(path: str) -> str:
    """Return the key of the place that a path names: two paths with one key are the same file on some system."""
    return fold_name(path)


def is_respelled(one: str, other: str) -> bool:
    """Tell whether two paths differ in case or in Unicode's composition alone, so that one file may have both."""
    return one != other and fold_path(one) == fold_path(other)
