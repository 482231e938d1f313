"""Signed heads: C2SP verifier keys, signed notes and checkpoints (docs/format/tree.md).

Pure: whoever holds a key passes in a function that signs or verifies. Sources: C2SP signed-note and tlog-checkpoint.
Reading is strict, so that two programs never take different things from the same bytes.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId, derive_log_id
from onrecord.domain.limits import INTEGER_MAX
from onrecord.domain.merkle import HASH_BYTES

ED25519: Final = 0x01
ED25519_KEY_BYTES: Final = 32
ORIGIN_PREFIX: Final = "onrecord.local/"
NOTE_MAX_BYTES: Final = 1 << 20
NOTE_MAX_SIGNATURES: Final = 100
ROTATION_DOMAIN: Final = b"onrecord/key/v1\0"

Sign = Callable[[bytes], bytes]
Verify = Callable[[bytes, bytes, bytes], bool]

_KEY_ID_BYTES = 4
_VKEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")
_SIGNATURE_LINE = re.compile(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_NAME = re.compile(r"[^\s+]+")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_LOG_NAME = re.compile(re.escape(ORIGIN_PREFIX) + r"[0-9a-hjkmnp-tv-z]{16}")


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key under the name that notes call it by.

    Attributes:
        name: Key name, not empty, without blanks and `+`.
        algorithm: Signature type of C2SP signed-note, one byte; 0x01 is Ed25519.
        public_key: Encoded as the type says; 32 bytes for Ed25519.
    """

    name: str
    algorithm: int
    public_key: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes by which signature lines name the key."""
        return sha256(self.name.encode() + b"\n" + self._encoded()).digest()[:_KEY_ID_BYTES]

    def _encoded(self) -> bytes:
        return bytes([self.algorithm]) + self.public_key

    def format(self) -> str:
        """Return the key as `key.pub` and `key.rotate` carry it, without LF."""
        return f"{self.name}+{self.key_id.hex()}+{_write_base64(self._encoded())}"

    def is_first_of(self, log: LogId) -> bool:
        """Tell whether this is the key that the log's id is made of."""
        is_named = self.name == format_origin(log) and self.algorithm == ED25519
        return is_named and derive_log_id(self.public_key) == log


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line: key name, key id (4 bytes) and signature, not verified."""

    name: str
    key_id: bytes
    signature: bytes

    def format(self) -> str:
        """Return the line with its LF."""
        return f"\u2014 {self.name} {_write_base64(self.key_id + self.signature)}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A signed note as read: `text` with its final LF, and at least one signature; nothing is verified."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True)
class NoteCheck:
    """Which of the given keys signed a note, and which ones are named by a line whose signature fails."""

    signed: tuple[VerifierKey, ...]
    failed: tuple[VerifierKey, ...]

    @property
    def is_sound(self) -> bool:
        """Whether a given key signed and none failed."""
        return bool(self.signed) and not self.failed


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Head of a log: `origin`, `size` in entries, `root` of 32 bytes."""

    origin: str
    size: int
    root: bytes


def format_origin(log: LogId) -> str:
    """Return origin and key name of a log."""
    return ORIGIN_PREFIX + log


def format_vkey(name: str, public_key: bytes) -> str:
    """Return the verifier key line, without LF, of a raw Ed25519 public key.

    Raises:
        ValueError: the name cannot be a key name, or the key is not 32 bytes.
    """
    if _NAME.fullmatch(name) is None or len(public_key) != ED25519_KEY_BYTES:
        raise ValueError("a key name has no blank and no +, an Ed25519 key has 32 bytes")
    return VerifierKey(name, ED25519, public_key).format()


def parse_vkey(text: str) -> VerifierKey:
    """Read a verifier key without LF.

    Raises:
        DamagedError: another form, or the key id is not the key's.
    """
    found = _VKEY.fullmatch(text)
    raw = _read_base64(found[3]) if found is not None else None
    if found is None or raw is None or len(raw) < 2:
        raise DamagedError("a verifier key is name, key id and key, joined by +")
    key = VerifierKey(found[1], raw[0], raw[1:])
    if key.algorithm == ED25519 and len(key.public_key) != ED25519_KEY_BYTES:
        raise DamagedError("an Ed25519 key has 32 bytes")
    if key.key_id.hex() != found[2]:
        raise DamagedError("a verifier key's id is not the key's")
    return key


def is_log_vkey(text: str) -> bool:
    """Tell whether `text` is a sound verifier key of Ed25519 with a log's name."""
    try:
        key = parse_vkey(text)
    except DamagedError:
        return False
    return key.algorithm == ED25519 and _LOG_NAME.fullmatch(key.name) is not None


def format_rotation(vkey: str) -> bytes:
    """Return the message that an earlier key signs to vouch for a further one (`sig` of `key.rotate`)."""
    return ROTATION_DOMAIN + vkey.encode()


def format_checkpoint(origin: str, size: int, root: bytes) -> str:
    """Return the text of a checkpoint, the final LF included.

    Args:
        origin: Origin of the log.
        size: Number of entries.
        root: Root at this size, 32 bytes.
    """
    return f"{origin}\n{size}\n{_write_base64(root)}\n"


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint's text: exactly three lines.

    Raises:
        DamagedError: another form.
    """
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0]:
        raise DamagedError("a checkpoint has three lines")
    size = int(lines[1]) if _SIZE.fullmatch(lines[1]) else -1
    root = _read_base64(lines[2])
    if not 0 <= size <= INTEGER_MAX or root is None or len(root) != HASH_BYTES:
        raise DamagedError("a checkpoint's size or root is malformed")
    return Checkpoint(lines[0], size, root)


def sign_note(text: str, vkey: str, sign: Sign) -> bytes:
    """Return a note signed by one key; more lines may be added at its end.

    Args:
        text: The text, ending with LF.
        vkey: The signer's verifier key.
        sign: Signs a message with the private key.

    Raises:
        DamagedError: text or key cannot stand in a note.
    """
    key = parse_vkey(vkey)
    signature = NoteSignature(key.name, key.key_id, sign(text.encode()))
    return format_note(Note(text, (signature,)))


def format_note(note: Note) -> bytes:
    """Return the bytes of a note.

    Raises:
        DamagedError: it could not be read back.
    """
    data = f"{note.text}\n{''.join(signature.format() for signature in note.signatures)}".encode()
    if parse_note(data) != note:
        raise DamagedError("a note could not be read back")
    return data


def parse_note(data: bytes) -> Note:
    """Read a signed note.

    Raises:
        DamagedError: not UTF-8, a control character other than LF, no final LF, no empty line, no or too many signature
            lines (100), a malformed one, or above 1 MiB.
    """
    if len(data) > NOTE_MAX_BYTES:
        raise DamagedError("a note is larger than 1 MiB")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DamagedError("a note is UTF-8") from None
    if _CONTROL.search(text) or not text.endswith("\n"):
        raise DamagedError("a note has a control character or no final line end")
    body, found, tail = text.rpartition("\n\n")
    lines = tail.split("\n")[:-1]
    if not found or not body or not 1 <= len(lines) <= NOTE_MAX_SIGNATURES:
        raise DamagedError("a note is text, an empty line and 1 to 100 signature lines")
    return Note(body + "\n", tuple(_parse_signature(line) for line in lines))


def _parse_signature(line: str) -> NoteSignature:
    found = _SIGNATURE_LINE.fullmatch(line)
    raw = _read_base64(found[2]) if found is not None else None
    if found is None or raw is None or len(raw) <= _KEY_ID_BYTES:
        raise DamagedError("a note has a malformed signature line")
    return NoteSignature(found[1], raw[:_KEY_ID_BYTES], raw[_KEY_ID_BYTES:])


def verify_note(note: Note, keys: Iterable[VerifierKey], verify: Verify) -> NoteCheck:
    """Verify the signature lines that name one of the given keys; lines of other keys are skipped.

    Args:
        note: The note.
        keys: Trusted keys; only those of Ed25519 count.
        verify: Tells whether (public key, message, signature) holds.
    """
    message = note.text.encode()
    known = {(key.name, key.key_id): key for key in keys if key.algorithm == ED25519}
    signed: list[VerifierKey] = []
    failed: list[VerifierKey] = []
    for line in note.signatures:
        key = known.get((line.name, line.key_id))
        if key is not None:
            holds = verify(key.public_key, message, line.signature)
            (signed if holds else failed).append(key)
    return NoteCheck(_drop_repeated(signed), _drop_repeated(failed))


def _drop_repeated(keys: Sequence[VerifierKey]) -> tuple[VerifierKey, ...]:
    return tuple(dict.fromkeys(keys))


def _write_base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _read_base64(text: str) -> bytes | None:
    """Decode strictly; None where encoding again gives another text."""
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if _write_base64(data) == text else None
