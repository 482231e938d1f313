"""Which keys may sign the heads of a log: the first, and those that earlier ones vouch for (docs/format/tree.md)."""

from __future__ import annotations

from dataclasses import dataclass

from onrecord.domain.checkpoint import VerifierKey, Verify, format_origin, format_rotation, parse_vkey
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId


@dataclass(frozen=True, slots=True)
class _Link:
    """A key, the entry that added it, and the earlier keys that vouch for it; none for the first."""

    key: VerifierKey
    seq: int
    vouchers: tuple[VerifierKey, ...]


class KeyChain:
    """The keys of one log, in the order in which its entries name them.

    Args:
        log: The log.
        key_pub: Line of `key.pub`, with or without LF; None where there is no such file.
        verify: Tells whether (public key, message, signature) holds.
    """

    def __init__(self, log: LogId, key_pub: str | None, verify: Verify) -> None:
        self._log = log
        self._key_pub = key_pub.removesuffix("\n") if key_pub is not None else None
        self._verify = verify
        self._links: list[_Link] = []
        self._limits: dict[VerifierKey, int] = {}

    def start(self, vkey: str | None = None) -> bool:
        """Take the first key; tell whether it is the log's and that of `key.pub`.

        Args:
            vkey: `key` of `log.start`; None takes the one of `key.pub`, for a log without entries.
        """
        text = self._key_pub if vkey is None else vkey
        if text is None or self._key_pub not in (None, text):
            return False
        key = self._parse(text)
        if key is None or not key.is_first_of(self._log):
            return False
        self._links.append(_Link(key, -1, ()))
        return True

    def is_of_log(self, vkey: str) -> bool:
        """Tell whether a verifier key has the log's name."""
        key = self._parse(vkey)
        return key is not None and key.name == format_origin(self._log)

    def rotate(self, seq: int, vkey: str, signature: bytes) -> bool:
        """Take a further key, named by the entry `seq`; tell whether an earlier key vouches for it."""
        key, message = self._parse(vkey), format_rotation(vkey)
        vouchers = tuple(link.key for link in self._links if self._verify(link.key.public_key, message, signature))
        if key is None or not vouchers:
            return False
        self._links.append(_Link(key, seq, vouchers))
        return True

    def compromise(self, vkey: str, size: int) -> bool:
        """Trust a key only up to a size from now on; tell whether the key is one of the log's."""
        key = self._parse(vkey)
        if key is None or all(link.key != key for link in self._links):
            return False
        self._limits[key] = min(size, self._limits.get(key, size))
        return True

    def list_trusted(self) -> dict[VerifierKey, int | None]:
        """Return each trusted key with the largest size of a checkpoint that it is trusted for; None for any."""
        trusted: dict[VerifierKey, int | None] = {}
        for link in self._links:
            limits = [self._limits.get(key, link.seq + 1) for key in link.vouchers if key in trusted]
            if not link.vouchers or any(link.seq < limit for limit in limits):
                trusted.setdefault(link.key, self._limits.get(link.key))
        return trusted

    @staticmethod
    def _parse(vkey: str) -> VerifierKey | None:
        try:
            return parse_vkey(vkey)
        except DamagedError:
            return None
