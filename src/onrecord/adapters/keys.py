"""Ed25519 keys in files, through `cryptography`, which loads when a key is first used."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from onrecord.domain.checkpoint import format_origin, format_vkey
from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.ids import derive_log_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KEY_FILE_MAX_BYTES = 4_096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def generate_key() -> tuple[bytes, bytes]:
    """Make a key; return it as PKCS #8 PEM, unencrypted, and its raw public key (32 bytes)."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, key.public_key().public_bytes_raw()


class KeyFileSigner:
    """Signs with the key of a PEM file; the file is read at the first use, and then kept in memory.

    Args:
        path: PKCS #8 PEM of an Ed25519 key, readable by its owner alone.
        name: Key name of notes; None takes the name of the log that this key begins.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self._path = path
        self._name = name
        self._key: Ed25519PrivateKey | None = None

    @property
    def public_key(self) -> bytes:
        """Raw public key, 32 bytes.

        Raises:
            StorageFailedError: the file is absent, cannot be read, or others may read it.
            DamagedError: it holds no Ed25519 key.
        """
        return self._load().public_key().public_bytes_raw()

    def vkey(self) -> str:
        """Return the verifier key, one line without LF.

        Raises:
            StorageFailedError, DamagedError: as `public_key`.
        """
        public_key = self.public_key
        return format_vkey(self._name or format_origin(derive_log_id(public_key)), public_key)

    def sign(self, message: bytes) -> bytes:
        """Return the signature over a message, 64 bytes.

        Raises:
            StorageFailedError, DamagedError: as `public_key`.
        """
        return self._load().sign(message)

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = _parse_key(_read_private(self._path))
        return self._key


def _read_private(path: str) -> bytes:
    """Read a file that its owner alone may read, without following a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, flags)
        try:
            _check_private(os.fstat(fd).st_mode)
            return os.read(fd, _KEY_FILE_MAX_BYTES + 1)
        finally:
            os.close(fd)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise StorageFailedError(f"the private key cannot be read: {reason}") from error


def _check_private(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise StorageFailedError("the private key is not a regular file")
    if os.name == "posix" and mode & _OTHERS:
        raise StorageFailedError(
            "the private key may be read or changed by others",
            hint="Run `chmod 600` on the file `key` of the state folder; if others had access, make a new log.",
        )


def _parse_key(pem: bytes) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, password=None) if len(pem) <= _KEY_FILE_MAX_BYTES else None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise DamagedError(
            "the private key file holds no Ed25519 key in PKCS #8 PEM",
            hint="Put the key file back from where you keep secrets; without it a new installation begins.",
        )
    return key


class Ed25519Verifier:
    """Checks signatures with RFC 8032 Ed25519."""

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        """Tell whether a signature holds; malformed keys and signatures do not.

        Args:
            public_key: Raw, 32 bytes.
            message: What was signed.
            signature: 64 bytes.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True
