r"""Names and paths inside a vault, by the same rules on every system (docs/format/vault.md, Path rules).

Pure text: nothing here asks a file system. Windows takes no `< > : " / \ | ? *`, no trailing blank or dot and no
device name; macOS folds case and composes; Obsidian links break at `# ^ [ ]`.
"""

from __future__ import annotations

import re
import unicodedata

from onrecord.domain.errors import InvalidInputError, LimitExceededError
from onrecord.domain.limits import FILE_NAME_MAX_BYTES, PATH_PART_MAX_BYTES
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


def is_portable_name(name: str) -> bool:
    """Tell whether a file or folder may have this name on every system, as names made by OnRecord may."""
    if not name or name != unicodedata.normalize("NFC", name) or _FORBIDDEN.search(name) is not None:
        return False
    is_trimmed = name[0] not in " .-" and name[-1] not in " ."
    return is_trimmed and not is_device_name(name) and len(name.encode()) <= PATH_PART_MAX_BYTES


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


def check_relative_path(path: object, field: str = "path") -> str:
    """Return a path that is sound in a vault: relative, `/`-separated, NFC.

    Raises:
        InvalidInputError: not a string, empty, not NFC, with an empty, `.` or `..` part, or holding U+0000 or half a
            surrogate pair.
        LimitExceededError: a part above 255 bytes of UTF-8.
    """
    if not isinstance(path, str) or not path:
        raise InvalidInputError("a path is a text that is not empty", field=field)
    if "\0" in path or not _is_encodable(path):
        raise InvalidInputError("a path holds no U+0000 and no half of a surrogate pair", field=field)
    if path != unicodedata.normalize("NFC", path):
        raise InvalidInputError("a path is in Unicode's composed form (NFC)", field=field)
    for part in path.split("/"):
        if part in ("", ".", ".."):
            hint = "Name it relative to the vault, like memories/default/name.md."
            raise InvalidInputError("a path stays inside the vault", field=field, hint=hint)
        if len(part.encode()) > PATH_PART_MAX_BYTES:
            raise LimitExceededError(f"a part of a path has at most {PATH_PART_MAX_BYTES} bytes", field=field)
    return path


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
