"""The append-only backup: creates and captures taken while the vault could not be written (docs/format/vault.md).

`backup.jsonl` holds one sealed JSON line a write; `backup.done` how many lines were replayed; `backup.failed.jsonl`
those that could not be. Lines are never removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.domain.errors import StorageFailedError
from onrecord.domain.problem import Problem, Severity
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.seal import Seal

_NAME = "backup.jsonl"
_DONE_NAME = "backup.done"
_FAILED_NAME = "backup.failed.jsonl"


class Backup:
    """The backup of one installation; without a state folder (None) it is empty and takes nothing."""

    def __init__(self, state: Disk | None) -> None:
        self._state = state
        self._seal = Seal(state, _NAME)

    def append(self, line: bytes) -> None:
        """Seal one line and append it, synced.

        Raises:
            StorageFailedError: not stored.
        """
        self._append(_NAME, self._seal.close(line))

    def unseal(self, line: bytes) -> bytes:
        """Return a line as it was appended.

        Raises:
            DamagedError: this installation has not appended it.
            StorageFailedError: the secret to judge it by cannot be read.
        """
        return self._seal.open(line)

    def keep_failed(self, line: bytes) -> None:
        """Keep a line that cannot be replayed where doctor names it; one that is kept already, once.

        Raises:
            StorageFailedError: not stored.
        """
        if line not in self._read_all(_FAILED_NAME):  # a replay that was cut off meets it again
            self._append(_FAILED_NAME, line)

    def find_problems(self) -> list[Problem]:
        """Return what waits in the backup, and what could not be replayed.

        Raises:
            StorageFailedError: it cannot be read.
        """
        problems: list[Problem] = []
        done, lines = self.get_progress()
        if lines > done:
            mend = "Run `onrecord repair replay`."
            message = f"{lines - done} writes wait in the backup"
            problems.append(Problem("", 0, "backup_waiting", Severity.WARNING, message, mend))
        if self.count_failed():
            message = f"{self.count_failed()} writes of the backup could not be replayed"
            mend = "They lie in backup.failed.jsonl of the state folder; remember what is still wanted."
            problems.append(Problem("", 0, "backup_waiting", Severity.WARNING, message, mend))
        return problems

    def count_failed(self) -> int:
        """Return how many lines could not be replayed."""
        return len(self._read_all(_FAILED_NAME))

    def _append(self, name: str, line: bytes) -> None:
        state = self._get_state()
        with storage_errors("write the backup"):
            found = state.stat(name)
            end = _find_whole_end(state, name, found.st_size) if found is not None else 0
            state.write_at(name, end, line + b"\n")
            state.sync(name)
            if found is None:
                state.sync_folder("")

    def _get_state(self) -> Disk:
        if self._state is None:
            raise StorageFailedError("there is no state folder for a backup")
        return self._state

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """Return whole lines `first` to `first + limit - 1` as they lie there, sealed, without LF."""
        return self._read_all(_NAME)[first : first + limit]

    def _read_all(self, name: str) -> list[bytes]:
        with storage_errors("read the backup"):
            if self._state is None or self._state.stat(name) is None:
                return []
            return self._state.read(name).split(b"\n")[:-1]

    def get_progress(self) -> tuple[int, int]:
        """Return (lines replayed, lines in all); a note beyond the end counts as none: repeating changes nothing."""
        with storage_errors("read the backup"):
            done = 0
            if self._state is not None and self._state.stat(_DONE_NAME) is not None:
                text = self._state.read(_DONE_NAME).decode(errors="replace").strip()
                done = int(text) if text.isdecimal() else 0
        lines = len(self._read_all(_NAME))
        return (done if done <= lines else 0), lines

    def set_progress(self, done: int) -> None:
        """Keep how many lines were replayed; a lost note only repeats lines, which changes nothing."""
        state = self._get_state()
        with storage_errors("write the backup"):
            state.write_at(_DONE_NAME, 0, f"{done}\n".encode())
            state.sync(_DONE_NAME)


def _find_whole_end(state: Disk, name: str, size_bytes: int) -> int:
    """Return where the last whole line ends: a torn line behind it was never acknowledged."""
    tail_bytes = 4096
    end = size_bytes
    while end > 0:
        start = max(0, end - tail_bytes)
        place = state.read(name, start, end - start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return 0
