"""Typed ids: how they are parsed, printed and derived (docs/format/README.md, record.md, ledger.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType

from onrecord.domain.errors import InvalidInputError

RecordId = NewType("RecordId", str)
LogId = NewType("LogId", str)
VaultId = NewType("VaultId", str)
BlockId = NewType("BlockId", str)
Seq = NewType("Seq", int)

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
RECORD_ID_CHARS = 12
LOG_ID_CHARS = 16
VAULT_ID_CHARS = 24
BLOCK_ID_CHARS = 10
PREFIX_MIN_CHARS = 4

SECTION_MARK = "~"

_READ_AS = str.maketrans("oil", "011")
_ALLOWED = frozenset(ALPHABET)


@dataclass(frozen=True, slots=True, order=True)
class EntryRef:
    """One ledger entry: `<log id>:<seq>`."""

    log: LogId
    seq: Seq

    def __str__(self) -> str:
        return f"{self.log}:{self.seq}"


def encode_base32(data: bytes, chars: int) -> str:
    """Write the first `5 * chars` bits of `data` in Crockford's base32, lower case.

    Raises:
        ValueError: `data` holds fewer bits than asked for.
    """
    bits = len(data) * 8
    if bits < chars * 5:
        raise ValueError(f"{chars} characters need {chars * 5} bits, got {bits}")
    number = int.from_bytes(data, "big") >> (bits - chars * 5)
    return "".join(ALPHABET[(number >> (5 * place)) & 31] for place in range(chars - 1, -1, -1))


def _normalise(text: str) -> str:
    return text.strip().lower().translate(_READ_AS)


def decode_base32(text: str) -> int:
    """Return the number that a text of Crockford's base32, lower case, writes."""
    return sum(ALPHABET.index(digit) << (5 * place) for place, digit in enumerate(reversed(text)))


def is_log_id(text: str) -> bool:
    """Tell whether `text` has the form of a log id."""
    return len(text) == LOG_ID_CHARS and _ALLOWED.issuperset(text)


def parse_id_prefix(text: object, field: str = "id") -> str:
    """Read a record id or a prefix of at least 4 characters, in either case, `o` as 0, `i` and `l` as 1.

    Raises:
        InvalidInputError: not a string, too short, too long, a character outside base32, or the id of a section.
    """
    if not isinstance(text, str):
        raise InvalidInputError("an id is a string", field=field)
    prefix = _normalise(text)
    if prefix.startswith(SECTION_MARK):
        raise InvalidInputError(
            "a section of another program's file has no versions and is not changed here", field=field,
            hint="`onrecord read` shows it; what changes it is its own file.",
        )  # fmt: skip
    if not PREFIX_MIN_CHARS <= len(prefix) <= RECORD_ID_CHARS or not _ALLOWED.issuperset(prefix):
        raise InvalidInputError(
            "an id has 4 to 12 characters of base32", field=field, hint="Copy the id from find or remember."
        )
    return prefix


def parse_readable_id(text: object, field: str = "id") -> str:
    """Read what can be read: a record id, a prefix of one, or the id of a section, `~` and 12 characters.

    Raises:
        InvalidInputError: as `parse_id_prefix`; a section's id is given whole.
    """
    if not isinstance(text, str) or not text.strip().startswith(SECTION_MARK):
        return parse_id_prefix(text, field)
    digits = _normalise(text)[len(SECTION_MARK) :]
    if len(digits) != RECORD_ID_CHARS or not _ALLOWED.issuperset(digits):
        raise InvalidInputError(
            "a section's id has ~ and 12 characters of base32", field=field, hint="Copy the whole id from find."
        )
    return SECTION_MARK + digits


def parse_record_id(text: object, field: str = "id") -> RecordId:
    """Read a whole record id; writes take nothing shorter.

    Raises:
        InvalidInputError: not a whole id.
    """
    prefix = parse_id_prefix(text, field)
    if len(prefix) != RECORD_ID_CHARS:
        raise InvalidInputError("a write takes the whole id of 12 characters", field=field)
    return RecordId(prefix)


def parse_entry_ref(text: str, field: str = "by") -> EntryRef:
    """Read `<log id>:<seq>`.

    Raises:
        InvalidInputError: another form.
    """
    log, sep, seq = text.partition(":")
    is_sound = sep and len(log) == LOG_ID_CHARS and _ALLOWED.issuperset(log)
    if not is_sound or not seq.isascii() or not seq.isdecimal() or (len(seq) > 1 and seq[0] == "0") or len(seq) > 15:
        raise InvalidInputError("an entry is named <log id>:<seq>", field=field)
    return EntryRef(LogId(log), Seq(int(seq)))


def derive_log_id(public_key: bytes) -> LogId:
    """Return the log id of a raw Ed25519 public key (32 bytes): first 80 bits of its SHA-256."""
    return LogId(encode_base32(hashlib.sha256(public_key).digest(), LOG_ID_CHARS))


def derive_block_id(source: str, session: str, turn: str) -> BlockId:
    """Return the block id of a turn: first 50 bits of the hash of source, session and turn, NUL-joined."""
    name = "\0".join((source, session, turn)).encode()
    return BlockId(encode_base32(hashlib.sha256(name).digest(), BLOCK_ID_CHARS))


def show_block_id(block: str) -> str:
    """Return a block id in the one form that is shown: as it stands in the file behind `^`."""
    return f"t-{block}"


def derive_conflict_id(members: Iterable[str]) -> RecordId:
    """Return the id of a conflict: first 60 bits of the hash of its members `id@version`, sorted, LF-joined."""
    name = "\n".join(sorted(members)).encode()
    return RecordId(encode_base32(hashlib.sha256(name).digest(), RECORD_ID_CHARS))
