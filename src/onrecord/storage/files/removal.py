"""Deleting a file of known bytes: noted and taken aside first, so that no save is deleted and a crash leaves nothing.

The note is `removing` in the state folder (docs/format/vault.md): hash, number of the temporary name, and path.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress

from onrecord.domain.ids import LogId
from onrecord.storage.files.disk import Disk
from onrecord.storage.files.placement import list_candidate_paths, name_temporary

NOTE_NAME = "removing"


class Remover:
    """Deletes files of the vault, one at a time, under its lock.

    Args:
        state: The state folder.
        vault: The vault's disk.
        log: The log in whose name files are taken aside.
    """

    def __init__(self, state: Disk, vault: Disk, log: LogId) -> None:
        self._state = state
        self._vault = vault
        self._log = log

    def remove(self, path: str, sha256: bytes, seq: int) -> bool:
        """Delete a file of exactly these bytes; False where it has others, or is gone.

        Raises:
            OSError: not deleted.
        """
        self.finish()
        aside = name_temporary(path, self._log, seq)
        is_first = self._state.stat(NOTE_NAME) is None
        self._state.write_at(NOTE_NAME, 0, f"{sha256.hex()} {seq} {path}\n".encode())
        self._state.sync(NOTE_NAME)
        if is_first:
            self._state.sync_folder("")
        try:
            self._vault.rename_noreplace(path, aside)
        except OSError as error:
            self._forget()
            if isinstance(error, FileNotFoundError):
                return False
            raise
        return self._end(path, aside, sha256.hex())

    def finish(self) -> None:
        """End a removal that was cut off: what was taken aside goes, or is put back where it holds other bytes.

        Raises:
            OSError: not ended; the note stays.
        """
        if self._state.stat(NOTE_NAME) is None:
            return
        note = self._state.read(NOTE_NAME).decode(errors="replace").removesuffix("\n")
        sha256, _, rest = note.partition(" ")
        seq, _, path = rest.partition(" ")
        if seq.isdecimal():
            aside = name_temporary(path, self._log, int(seq))
            if self._vault.stat(aside) is not None:
                self._end(path, aside, sha256)
                return
        self._forget()

    def _end(self, path: str, aside: str, sha256: str) -> bool:
        is_known = hashlib.sha256(self._vault.read(aside)).hexdigest() == sha256
        if is_known:
            self._vault.unlink(aside)
        else:
            self._put_back(path, aside)
        self._vault.sync_folder(path.rpartition("/")[0])
        self._forget()
        return is_known

    def _put_back(self, path: str, aside: str) -> None:
        for target in list_candidate_paths(path):
            with suppress(FileExistsError):
                self._vault.rename_noreplace(aside, target)
                break

    def _forget(self) -> None:
        self._state.unlink(NOTE_NAME)
