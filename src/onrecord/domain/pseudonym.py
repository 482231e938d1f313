"""What the ledger says instead of names and content: pseudonyms and commitments (docs/format/ledger.md)."""

from __future__ import annotations

import hmac
from base64 import b64encode, urlsafe_b64encode
from typing import Final, Literal

PEPPER_BYTES: Final = 32
SALT_BYTES: Final = 32

NameClass = Literal["actor", "subject", "cred"]

_PSEUDONYM_DOMAIN = b"onrecord/pseudonym/v1\0"
_COMMITMENT_DOMAIN = b"onrecord/commit/v1\0"
_PLACE_DOMAIN = b"onrecord/place/v1\0"
_PSEUDONYM_CHARS = 22


def make_pseudonym(pepper: bytes, name_class: NameClass, name: str) -> str:
    """Return the pseudonym of a name: `p_` for actors and subjects, `c_` for credentials, and 22 characters base64url.

    Args:
        pepper: Secret of the installation or, for a subject, of the subject; 32 bytes.
        name_class: What the name names; equal names of two classes have different pseudonyms.
        name: Of an actor client and agent, joined by U+001F; of a credential the client; of a subject its record id.
    """
    message = b"".join((_PSEUDONYM_DOMAIN, name_class.encode("ascii"), b"\0", name.encode()))
    prefix = "c_" if name_class == "cred" else "p_"
    digest = hmac.digest(pepper, message, "sha256")
    return prefix + urlsafe_b64encode(digest).decode("ascii")[:_PSEUDONYM_CHARS]


def commit_bytes(salt: bytes, data: bytes) -> str:
    """Return the commitment to exact bytes, base64: says nothing to whoever lacks the salt.

    Args:
        salt: 32 random bytes, made for these bytes alone.
        data: A version's file, or a turn's block.
    """
    return b64encode(hmac.digest(salt, _COMMITMENT_DOMAIN + data, "sha256")).decode("ascii")


def commit_place(salt: bytes, path: str) -> str:
    """Return the commitment to the path at which a version's file was found, base64.

    Args:
        salt: That of the version's row; with it the place is forgotten, too.
        path: Relative to the vault.
    """
    return b64encode(hmac.digest(salt, _PLACE_DOMAIN + path.encode(), "sha256")).decode("ascii")


def opens_commitment(salt: bytes, data: bytes, commitment: str) -> bool:
    """Tell whether salt and bytes are what a commitment commits to."""
    return hmac.compare_digest(commit_bytes(salt, data).encode(), commitment.encode(errors="replace"))
