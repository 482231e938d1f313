"""Links that the user allowed on this machine: `links.json` of the state folder (docs/format/vault.md, Links)."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate

from onrecord.domain.errors import ConflictError, InvalidInputError, NotFoundError, OnRecordError, StorageFailedError
from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.domain.near_names import find_near
from onrecord.domain.problem import Problem, Severity
from onrecord.ports.links import AllowedLink, LinkState
from onrecord.storage.files.disk import Disk, Inode, storage_errors
from onrecord.storage.files.scan import judge_file
from onrecord.storage.files.seal import Seal
from onrecord.storage.files.vault_config import is_vault, list_upwards
from onrecord.storage.files.whereabouts import is_state_name

LINKS_NAME = "links.json"
# Nothing, or a file, is where a folder would be; ELOOP: a link further up, which is judged by itself.
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_MENDS = {
    "link_away": "Connect the disk or share, or forget the link: `onrecord unlink {path}`.",
    "link_changed": "`onrecord link {path}` allows it as it is now; `onrecord unlink {path}` forgets it.",
}
_TOLD: dict[LinkState, tuple[str, str]] = {
    "away": ("link_away", "the folder that the link leads to is not there; nothing below it is judged"),
    "changed": ("link_changed", "the link leads to another folder than was allowed, so it is not followed"),
    "refused": ("link_changed", "the folder that the link leads to lies where none may now, so it is not followed"),
}


class VaultLinks:
    """The allowed links of one vault: kept in the state folder, handed to the vault's disk, which follows them.

    Args:
        vault: The vault's disk.
        state: The state folder; None where there is none, so that no link is followed.
        state_root: Where the state folders of all vaults lie.
    """

    def __init__(self, vault: Disk, state: Disk | None, state_root: str) -> None:
        self._vault = vault
        self._state = state
        self._seal = Seal(state, LINKS_NAME)
        self._state_root = state_root
        self._stamp: tuple[int, int] | None = None
        self._links: dict[str, AllowedLink] = {}
        with suppress(OSError):
            self.refresh()

    def refresh(self) -> None:
        """Take in what another process allowed or forgot; a list that is not sound allows nothing.

        Raises:
            OSError: the state folder cannot be read.
        """
        found = self._state.stat(LINKS_NAME) if self._state is not None else None
        stamp = (found.st_ino, found.st_mtime_ns) if found is not None else None
        if stamp != self._stamp and self._state is not None:
            self._stamp = stamp
            self._take(self._read() if stamp is not None else [])

    def _read(self) -> list[AllowedLink]:
        assert self._state is not None  # something was found in it
        try:
            return _parse(self._seal.open(self._state.read(LINKS_NAME).removesuffix(b"\n")))
        except OnRecordError:
            return []

    def _take(self, links: Sequence[AllowedLink]) -> None:
        self._links = {link.path: link for link in links}
        self._vault.links = {}
        # A link below another one is looked at through it.
        for link in sorted(links, key=lambda link: link.path):
            others = [other for other in links if other.path != link.path]
            if not os.path.isdir(link.target) or self._find_obstacle(link.target, others) is None:
                self._vault.links = {**self._vault.links, link.path: Inode(link.device, link.inode)}

    def list_links(self) -> Sequence[AllowedLink]:
        """Return the allowed links with their present states, by path."""
        return [replace(link, state=self._judge(link)) for _, link in sorted(self._links.items())]

    def _judge(self, link: AllowedLink) -> LinkState:
        if link.path not in self._vault.links:
            return "refused"
        parent, _, name = link.path.rpartition("/")
        try:
            with self._vault.folder(link.path) as fd:
                return "open" if Inode.of(os.fstat(fd)) == Inode(link.device, link.inode) else "changed"
        except OSError:
            pass
        try:
            with self._vault.folder(parent) as fd:
                os.stat(name, dir_fd=fd)
        except OSError:
            return "away"
        return "changed"

    def is_away(self, path: str) -> bool:
        """Tell whether a path lies below an allowed link that leads nowhere or elsewhere, or its file is in a cloud."""
        parent, _, name = path.rpartition("/")
        with suppress(OSError):
            # What iCloud leaves in the place of a file that it has taken off this disk.
            if self._vault.stat(f"{parent}/.{name}.icloud") is not None:
                return True
        return any(path.startswith(f"{link.path}/") and self._judge(link) != "open" for link in self._links.values())

    def is_shut(self, path: str) -> bool:
        """Tell whether a path lies below a link that the user does not allow, or a folder that cannot be read."""
        folders = list(accumulate(path.split("/")[:-1], "{}/{}".format))
        return any(self._is_closed(folder) for folder in folders if folder not in self._links)

    def _is_closed(self, path: str) -> bool:
        parent, _, name = path.rpartition("/")
        try:
            with self._vault.folder(parent) as fd:
                if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                    return True
            with self._vault.folder(path):
                return False
        except OSError as error:
            return error.errno not in _NOT_THERE

    def find_problem(self, path: str) -> Problem | None:
        """Return what is wrong with a link of the vault, None where it is followed."""
        link = self._links.get(path)
        if link is None:
            message = "a link is not followed until the user allows it, so what it points to is not a memory"
            mend = f"Put the file itself here, or allow a link to a folder: `onrecord link {path}`."
            return Problem(path, 0, "not_a_regular_file", Severity.WARNING, message, mend)
        state = self._judge(link)
        if state == "open":
            return None
        code, message = _TOLD[state]
        return Problem(path, 0, code, Severity.WARNING, message, _MENDS[code].format(path=path))

    def name_refused(self, path: str) -> Problem | None:
        """Return why what lies at a file's place is no memory, as the scan does; None where it may be, or is gone."""
        return judge_file(self._vault, path, self.find_problem)

    def allow(self, path: str, target: str) -> AllowedLink:
        """Allow a link that is there, or make one and allow it."""
        path = self._admit_path(path)
        if self._state is None:
            raise StorageFailedError("there is no state folder, so no link can be allowed")
        place = os.path.join(self._vault.root, path)
        wanted = os.path.realpath(os.path.abspath(os.path.expanduser(target)) if target else place)
        self._check_place(path, place, wanted, has_target=bool(target))
        if not os.path.isdir(wanted):
            raise InvalidInputError(
                "there is no folder that the link leads to", field="target" if target else "path",
                hint="Make the folder first, or name another.", did_you_mean=_find_beside(wanted),
            )  # fmt: skip
        others = [link for link in self._links.values() if link.path != path]
        obstacle = self._find_obstacle(wanted, others)
        if obstacle is not None:
            raise InvalidInputError(obstacle, field="target" if target else "path")
        with storage_errors("make the link"):
            if not os.path.islink(place):
                self._make(path, wanted)
            found = os.stat(wanted)
            link = AllowedLink(path, wanted, found.st_dev, found.st_ino)
            self._write([*others, link])
        return replace(link, state=self._judge(link))

    def forget(self, path: str) -> AllowedLink:
        """Forget a permission; the link and what it leads to stay."""
        path = self._relativise(path)
        link = self._links.get(path)
        if link is None:
            raise NotFoundError(
                "no link was allowed at this path", field="path", hint="`onrecord link` lists them.",
                did_you_mean=find_near(path, self._links),
            )  # fmt: skip
        link = replace(link, state=self._judge(link))
        with storage_errors("forget the link"):
            self._write([other for other in self._links.values() if other.path != path])
        return link

    def allow_record_folders(self) -> list[AllowedLink]:
        """Allow the record folders of a vault that is just made, where the user had made them links.

        Raises:
            InvalidInputError, StorageFailedError: one of them leads where none may.
        """
        places = (os.path.join(self._vault.root, name) for name in RECORD_FOLDERS)
        return [self.allow(os.path.basename(place), "") for place in places if os.path.islink(place)]

    def _relativise(self, path: str) -> str:
        for root in (self._vault.root, os.path.realpath(self._vault.root)):
            if os.path.isabs(path) and path.startswith(f"{root}/"):
                path = path[len(root) + 1 :]
        return path.strip("/")

    def _admit_path(self, path: str) -> str:
        path = self._relativise(path)
        parts = path.split("/")
        if (
            os.path.isabs(path)
            or parts[0] not in RECORD_FOLDERS
            or any(part.startswith(".") or not part for part in parts)
        ):
            reason = "a link lies at or below a record folder: memories, facts, entities, events, workspaces, conflicts"
            hint = "Give the path in the vault, such as memories/work."
            near = find_near(parts[0], RECORD_FOLDERS)
            meant = "/".join([near, *parts[1:]]) if near is not None and near != parts[0] else None
            raise InvalidInputError(reason, field="path", hint=hint, did_you_mean=meant)
        return path

    def _check_place(self, path: str, place: str, wanted: str, *, has_target: bool) -> None:
        if os.path.islink(place):
            if has_target and os.path.realpath(place) != wanted:
                raise ConflictError("a link to another folder is there", field="path", hint="Remove it first.")
        elif not has_target:
            raise InvalidInputError("there is no link at this path", field="path", hint="Name a target to make one.")
        elif os.path.lexists(place) and (not os.path.isdir(place) or os.listdir(place)):
            raise ConflictError(f"{path} is there and is not empty", field="path", hint="Move its files to the target.")

    def _make(self, path: str, wanted: str) -> None:
        parent, _, name = path.rpartition("/")
        if parent:
            self._vault.make_folder(parent)
        with self._vault.folder(parent) as fd:
            with suppress(FileNotFoundError):
                os.rmdir(name, dir_fd=fd)
            os.symlink(wanted, name, dir_fd=fd)
            os.fsync(fd)

    def _find_obstacle(self, target: str, others: Sequence[AllowedLink]) -> str | None:
        """Return why no link may lead to a folder: it would be read twice, or holds what is not the user's notes."""
        above = set(_list_above(target))
        own = Inode.of(os.stat(target))
        for folder, name in ((self._vault.root, "the vault"), (self._state_root, "the state folder")):
            place = Inode.of(os.stat(folder))
            if place in above or own in _list_above(os.path.realpath(folder)):
                return f"the folder holds {name}, or lies in it"
        for link in [*others, *self._list_foreign()]:
            if Inode(link.device, link.inode) in above or own in _list_above(link.target):
                return "another link leads to this folder, to one in it or to one above it"
        if any(is_vault(folder) for folder in list_upwards(target)):
            return "the folder lies in another vault"
        return None

    def _list_foreign(self) -> Iterator[AllowedLink]:
        """Yield the links that other vaults of this machine have allowed; a state folder set aside serves none."""
        root = os.path.join(self._state_root, "vaults")
        with suppress(OSError):
            for name in sorted(os.listdir(root)):
                path = os.path.join(root, name, LINKS_NAME)
                if self._state is not None and name != os.path.basename(self._state.root) and is_state_name(name):
                    with suppress(OSError), open(path, "rb") as file:
                        yield from _parse(file.read())

    def _write(self, links: Sequence[AllowedLink]) -> None:
        assert self._state is not None  # without a state folder nothing was allowed
        rows = [
            {"path": link.path, "target": link.target, "dev": link.device, "ino": link.inode}
            for link in sorted(links, key=lambda link: link.path)
        ]
        data = json.dumps({"v": 1, "links": rows}, separators=(",", ":")).encode()
        temporary = f"{LINKS_NAME}.tmp"
        if self._state.stat(temporary) is not None:
            self._state.unlink(temporary)
        self._state.write_new(temporary, self._seal.close(data) + b"\n")
        self._state.sync(temporary)
        self._state.rename(temporary, LINKS_NAME)
        self._state.sync_folder("")
        self.refresh()


def inspect_links(state: Disk) -> Iterator[Problem]:
    """Yield that the list of the allowed links is not this installation's own, so that none of them is followed."""
    try:
        with storage_errors("read it"):
            if state.stat(LINKS_NAME) is not None:
                Seal(state, LINKS_NAME).open(state.read(LINKS_NAME).removesuffix(b"\n"))
    except OnRecordError as error:
        message = f"{LINKS_NAME} of the state folder: {error.reason}; no link is followed"
        mend = "Allow each link anew that you allowed: `onrecord link PATH`."
        yield Problem("", 0, "state_links_unreadable", Severity.WARNING, message, mend)


def _find_beside(path: str) -> str | None:
    """Return the name of the folder that may be meant by a path where there is none."""
    parent, name = os.path.split(path)
    with suppress(OSError), os.scandir(parent) as entries:
        return find_near(name, sorted(entry.name for entry in entries if entry.is_dir()))
    return None


def _parse(data: bytes) -> list[AllowedLink]:
    """Return the links that a file names; one that is damaged allows none."""
    try:
        shape = json.loads(data)
        if shape["v"] != 1:
            return []
        rows = [(row["path"], row["target"], row["dev"], row["ino"]) for row in shape["links"]]
    except (ValueError, KeyError, TypeError):
        return []
    if not all(isinstance(value, kind) for row in rows for value, kind in zip(row, (str, str, int, int), strict=True)):
        return []
    return [AllowedLink(*row) for row in rows]


def _list_above(path: str) -> list[Inode]:
    """Return what is a folder and all above it, as far as they can be looked at."""
    inodes = []
    for folder in list_upwards(path):
        with suppress(OSError):
            inodes.append(Inode.of(os.stat(folder)))
    return inodes
