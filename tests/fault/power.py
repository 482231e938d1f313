"""A power-cut simulator: records what the write path does to its disks and builds what a cut may leave of it.

The model is POSIX without favours. Bytes of a file are durable once the file is synced after they were written; a name
(create, remove, rename, exchange, link, new folder) once its folder is synced afterwards. Of what is not durable a cut
keeps any part: of bytes any subset of the writes, each whole, as its first half, or as zeros of the right length; of
names in one folder any prefix, as a journalling file system orders them.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from onrecord.storage.files.disk import Disk


@dataclass(frozen=True)
class Op:
    """One primitive: `kind`, the disk it went to, paths below that disk's root, offset and bytes of a write."""

    kind: str
    disk: str
    path: str
    other: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass
class Recording:
    """Primitives in order, and after which of them each write was acknowledged."""

    ops: list[Op] = field(default_factory=list)
    acknowledged: list[tuple[int, object]] = field(default_factory=list)

    def acknowledge(self, what: object) -> None:
        """Note that a write returned to its caller."""
        self.acknowledged.append((len(self.ops), what))


class RecordingDisk(Disk):
    """A disk that does what it is told and notes it."""

    def __init__(self, root: str, name: str, recording: Recording) -> None:
        super().__init__(root)
        self._name = name
        self._recording = recording

    def _note(self, kind: str, path: str, other: str = "", offset: int = 0, data: bytes = b"") -> None:
        self._recording.ops.append(Op(kind, self._name, path, other, offset, bytes(data)))

    def make_folder(self, path: str) -> None:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            if not os.path.isdir(os.path.join(self.root, part)):
                self._note("mkdir", part)
        super().make_folder(path)

    def write_new(self, path: str, data: bytes) -> None:
        super().write_new(path, data)
        self._note("create", path)
        self._note("write", path, data=data)

    def write_at(self, path: str, offset: int, data: bytes) -> None:
        if self.stat(path) is None:
            self._note("create", path)
        super().write_at(path, offset, data)
        self._note("write", path, offset=offset, data=data)
        self._note("cut", path, offset=offset + len(data))

    def overwrite(self, path: str, offset: int, data: bytes) -> None:
        super().overwrite(path, offset, data)
        self._note("write", path, offset=offset, data=data)

    def open_for_append(self, path: str) -> None:
        if self.stat(path) is None:
            self._note("create", path)
        super().open_for_append(path)

    def truncate(self, path: str, size_bytes: int) -> None:
        super().truncate(path, size_bytes)
        self._note("cut", path, offset=size_bytes)

    def sync(self, path: str) -> None:
        super().sync(path)
        self._note("sync", path)

    def sync_folder(self, path: str) -> None:
        super().sync_folder(path)
        self._note("sync_folder", path)

    def unlink(self, path: str) -> None:
        super().unlink(path)
        self._note("unlink", path)

    def rename(self, source: str, target: str) -> None:
        super().rename(source, target)
        self._note("rename", source, target)

    def rename_noreplace(self, source: str, target: str) -> None:
        super().rename_noreplace(source, target)
        self._note("rename", source, target)

    def exchange(self, one: str, other: str) -> bool:
        done = super().exchange(one, other)
        if done:
            self._note("exchange", one, other)
        return done

    def link(self, source: str, target: str) -> None:
        super().link(source, target)
        self._note("link", source, target)


NO_LINKS: Mapping[tuple[str, str], Path] = MappingProxyType({})
_NAME_KINDS = frozenset({"mkdir", "create", "unlink", "rename", "exchange", "link"})
_DATA_KINDS = frozenset({"write", "cut"})

# Decides what becomes of one unsynced write: "keep", "drop", "half" or "zeros".
Fate = Callable[[Op], str]


def keep_nothing(_: Op) -> str:
    """The cut loses everything that was not synced."""
    return "drop"


def keep_everything(_: Op) -> str:
    """The cut loses nothing."""
    return "keep"


def draw_fates(seed: int) -> Fate:
    """Return fates drawn at random."""
    source = random.Random(seed)
    return lambda op: source.choice(("keep", "drop", "half", "zeros") if op.kind == "write" else ("keep", "drop"))


def _folder_of(op: Op) -> tuple[str, str]:
    return op.disk, op.path.rpartition("/")[0]


def _find_durable_names(ops: list[Op]) -> set[int]:
    durable: set[int] = set()
    waiting: dict[tuple[str, str], list[int]] = {}
    for number, op in enumerate(ops):
        if op.kind in _NAME_KINDS:
            waiting.setdefault(_folder_of(op), []).append(number)
        elif op.kind == "sync_folder":
            durable.update(waiting.pop((op.disk, op.path), ()))
    return durable


@dataclass
class _Model:
    """Folders, names and bytes of the disks while operations are applied; inodes are numbers."""

    folders: set[tuple[str, str]] = field(default_factory=set)
    names: dict[tuple[str, str], int] = field(default_factory=dict)
    data: dict[int, bytearray] = field(default_factory=dict)

    def add_file(self, disk: str, path: str, data: bytes) -> None:
        """Add a file."""
        number = len(self.data)
        self.names[disk, path] = number
        self.data[number] = bytearray(data)


def load_model(roots: dict[str, Path]) -> _Model:
    """Read the disks as they are, all durable; what lies behind a link to a folder counts as lying in it."""
    model = _Model()
    for disk, root in roots.items():
        model.folders.add((disk, ""))
        for folder, _, files in os.walk(root, followlinks=True):
            relative = os.path.relpath(folder, root).replace(os.sep, "/")
            relative = "" if relative == "." else relative
            model.folders.add((disk, relative))
            for name in files:
                path = f"{relative}/{name}" if relative else name
                model.add_file(disk, path, (Path(folder) / name).read_bytes())
    return model


def _assign_inodes(start: _Model, ops: list[Op]) -> list[int | None]:
    """Return, per data operation, the inode that it touched; created ones get fresh numbers."""
    names = dict(start.names)
    fresh = len(start.data)
    touched: list[int | None] = []
    for op in ops:
        key, other = (op.disk, op.path), (op.disk, op.other)
        number: int | None = None
        match op.kind:
            case "create":
                number = names[key] = fresh
                fresh += 1
            case "unlink":
                names.pop(key, None)
            case "rename":
                names[other] = names.pop(key)
            case "exchange":
                names[key], names[other] = names[other], names[key]
            case "link":
                names[other] = names[key]
            case "write" | "cut" | "sync":
                number = names.get(key)
        touched.append(number)
    return touched


def cut_power(start: _Model, ops: list[Op], fate: Fate) -> _Model:
    """Return what is on the disks after a cut behind the last of `ops`."""
    inodes = _assign_inodes(start, ops)
    durable_names = _find_durable_names(ops)
    last_sync: dict[int, int] = {
        inode: number
        for number, (op, inode) in enumerate(zip(ops, inodes, strict=True))
        if op.kind == "sync" and inode is not None
    }
    model = _Model(set(start.folders), dict(start.names), {key: bytearray(value) for key, value in start.data.items()})
    stopped: set[tuple[str, str]] = set()
    for number, (op, inode) in enumerate(zip(ops, inodes, strict=True)):
        if op.kind in _NAME_KINDS:
            if op.kind == "create" and inode is not None:
                model.data.setdefault(inode, bytearray())
            if number not in durable_names and (_folder_of(op) in stopped or fate(op) == "drop"):
                stopped.add(_folder_of(op))
                continue
            _apply_name(model, op, inode)
        elif op.kind in _DATA_KINDS and inode is not None:
            is_durable = last_sync.get(inode, -1) > number
            _apply_data(model.data.setdefault(inode, bytearray()), op, "keep" if is_durable else fate(op))
    return model


def _apply_name(model: _Model, op: Op, inode: int | None) -> None:
    key, other = (op.disk, op.path), (op.disk, op.other)
    match op.kind:
        case "mkdir":
            model.folders.add(key)
        case "create" if inode is not None:
            model.names[key] = inode
        case "unlink":
            model.names.pop(key, None)
        case "rename" if key in model.names:
            model.names[other] = model.names.pop(key)
        case "exchange" if key in model.names and other in model.names:
            model.names[key], model.names[other] = model.names[other], model.names[key]
        case "link" if key in model.names:
            model.names[other] = model.names[key]


def _apply_data(data: bytearray, op: Op, fate: str) -> None:
    if fate == "drop":
        return
    if op.kind == "cut":
        del data[op.offset :]
        data.extend(bytes(op.offset - len(data)))
        return
    written = {"keep": op.data, "half": op.data[: len(op.data) // 2], "zeros": bytes(len(op.data))}[fate]
    if len(data) < op.offset:
        data.extend(bytes(op.offset - len(data)))
    data[op.offset : op.offset + len(written)] = written


def write_model(model: _Model, roots: dict[str, Path], links: Mapping[tuple[str, str], Path] = NO_LINKS) -> None:
    """Write a model's disks to folders, which are emptied first.

    Args:
        model: What a cut left.
        roots: A folder for each disk.
        links: Folders elsewhere, by the disk and the path of the links that lead to them; they stay the very folders.
    """
    for disk, root in roots.items():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True, mode=0o700)
        for key in sorted(key for key in model.folders if key[0] == disk):
            path = key[1]
            if key in links:
                for left in links[key].iterdir():
                    left.unlink()
                (root / path).symlink_to(links[key])
                continue
            (root / path).mkdir(parents=True, exist_ok=True, mode=0o700)
        for (owner, path), inode in model.names.items():
            parent = root / path.rpartition("/")[0]
            if owner == disk and parent.is_dir():
                target = root / path
                target.write_bytes(model.data[inode])
                target.chmod(0o600)
