"""Who signs heads and who checks signatures."""

from __future__ import annotations

from typing import Protocol


class Signer(Protocol):
    """One Ed25519 key that signs."""

    @property
    def public_key(self) -> bytes:
        """Raw public key, 32 bytes."""

    def vkey(self) -> str:
        """Return the verifier key, one line without LF (docs/format/tree.md)."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature over a message, 64 bytes."""


class Verifier(Protocol):
    """Checks Ed25519 signatures."""

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        """Tell whether a signature holds; malformed keys and signatures do not.

        Args:
            public_key: Raw, 32 bytes.
            message: What was signed.
            signature: 64 bytes.
        """
