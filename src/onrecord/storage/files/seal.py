"""Seals: what of the state folder gives a right is believed only under the installation's secret.

docs/format/vault.md, Seals, has the form. A sealed object is JSON whose last member is `mac`. The MAC is BLAKE2b
keyed with the pepper (RFC 7693), a function that the pepper is used with nowhere else: what is shown of pseudonyms and
stored keys helps nobody to forge.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final

from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.pseudonym import PEPPER_BYTES
from onrecord.storage.files.disk import Disk, storage_errors

_PEPPER_NAME: Final = "pseudonyms"
_SEALED: Final = re.compile(rb'(.+),"mac":"([A-Za-z0-9_-]{43})"\}', re.DOTALL)


class Seal:
    """Seals the objects of one file of the state folder, and judges their seals.

    Args:
        state: The state folder; None where there is none, so that nothing can be sealed or is sound.
        name: The file; a seal is good for no other.
    """

    def __init__(self, state: Disk | None, name: str) -> None:
        self._state = state
        self._name = name

    def close(self, data: bytes) -> bytes:
        """Return an object with its seal.

        Args:
            data: One JSON object with at least one member, without LF and without a member `mac`.

        Raises:
            StorageFailedError: the state folder has no whole secret.
        """
        return data[:-1] + b',"mac":"' + self._compute(data) + b'"}'

    def open(self, data: bytes) -> bytes:
        """Return a sealed object without its seal, as `close` was given it.

        Raises:
            DamagedError: this installation has not sealed it.
            StorageFailedError: the state folder has no whole secret to judge by.
        """
        found = _SEALED.fullmatch(data)
        if found is not None and hmac.compare_digest(self._compute(found[1] + b"}"), found[2]):
            return found[1] + b"}"
        raise DamagedError("this installation has not written it: its seal is absent or another one")

    def _compute(self, data: bytes) -> bytes:
        if self._state is None:
            raise StorageFailedError(f"there is no state folder that could keep {self._name}")
        with storage_errors(f"read {_PEPPER_NAME} of the state folder"):
            secret = self._state.read(_PEPPER_NAME, 0, PEPPER_BYTES + 1)
        if len(secret) != PEPPER_BYTES:
            raise StorageFailedError(f"{_PEPPER_NAME} of the state folder is damaged")
        digest = hashlib.blake2b(self._name.encode() + b"\0" + data, digest_size=32, key=secret).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=")
