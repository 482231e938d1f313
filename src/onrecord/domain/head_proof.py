"""Whether a key of a log signed its checkpoint, judged from the ledger's lines as they pass (docs/format/tree.md)."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from onrecord.domain.checkpoint import Checkpoint, Note, Verify, format_origin, verify_note
from onrecord.domain.entry import Entry, read_entry
from onrecord.domain.ids import LogId
from onrecord.domain.key_chain import KeyChain

_KEY_ENTRY: Final = b'"type":"key.'


class HeadProof:
    """The keys that a log's lines name, and what they say of its checkpoint.

    Args:
        log: The log.
        note: Its checkpoint as a signed note.
        checkpoint: The text of the note.
        verify: Tells whether (public key, message, signature) holds.
    """

    def __init__(self, log: LogId, note: Note, checkpoint: Checkpoint, verify: Verify) -> None:
        self._log = log
        self._note = note
        self._checkpoint = checkpoint
        self._verify = verify
        self._keys = KeyChain(log, None, verify)

    def take(self, seq: int, line: bytes) -> None:
        """Take in the key that a line names, if it names one; lines come in order, from the first."""
        entry = read_entry(line) if seq == 0 or _KEY_ENTRY in line else None
        if not isinstance(entry, Entry) or "key" not in entry.members:
            return
        vkey = entry.members["key"]
        if not self._keys.is_of_log(vkey):
            return
        match entry.type:
            case "log.start":
                self._keys.start(vkey)
            case "key.rotate":
                self._keys.rotate(seq, vkey, b64decode(entry.members["sig"]))
            case _:
                self._keys.compromise(vkey, entry.members["n"])

    def find_fault(self, entries: int) -> str:
        """Return what is wrong with the checkpoint, one clause; empty for nothing.

        Args:
            entries: How many lines were taken. Where the checkpoint covers more, the entry that names its key may be
                on its way, so that only a signature that fails is a fault.
        """
        trusted = self._keys.list_trusted()
        signers = verify_note(self._note, trusted, self._verify)
        if signers.failed:
            return "a signature of its key on its checkpoint fails"
        size = self._checkpoint.size
        if size > entries:
            return ""
        limits = [trusted[key] for key in signers.signed]
        if not any(limit is None or size <= limit for limit in limits):
            return "no key that is trusted at this size signed its checkpoint"
        return "" if self._checkpoint.origin == format_origin(self._log) else "its checkpoint is of another log"
