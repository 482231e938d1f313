"""What the user allowed on this machine, carried from one state folder of a vault to the one that takes its place.

The same user on the same machine goes on with the same vault, so links and sources that were allowed stay so. Each list
is believed under the secret of the old state folder alone, and sealed anew with that of the new one (docs/format/
vault.md, Seals).
"""

from __future__ import annotations

from typing import Final

from onrecord.domain.errors import OnRecordError
from onrecord.storage.files.disk import Disk, storage_errors
from onrecord.storage.files.links import LINKS_NAME
from onrecord.storage.files.seal import Seal

SOURCES_NAME: Final = "sources.json"
_NAMES: Final = (LINKS_NAME, SOURCES_NAME)


def carry_grants(old: str, new: str) -> None:
    """Give a new state folder the lists of the old one that are sound; in the new one nothing else of them stays.

    A list that the old installation has not sealed, or that cannot be read, allowed nothing there; it is left behind.

    Args:
        old: State folder that is set aside.
        new: State folder that takes its place; it has its secret already.

    Raises:
        StorageFailedError: one of the two cannot be opened, or the new one not written.
    """
    with storage_errors("open the state folder"):
        source, target = Disk(old), Disk(new)
    try:
        for name in _NAMES:
            with storage_errors(f"carry {name} of the state folder over"):
                _carry(source, target, name)
    finally:
        source.close()
        target.close()


def drop_grants(state: Disk) -> None:
    """Remove the lists from a state folder that takes no other one's place after all.

    Raises:
        OSError: they cannot be removed.
    """
    for name in _NAMES:
        if state.stat(name) is not None:
            state.unlink(name)


def _carry(source: Disk, target: Disk, name: str) -> None:
    if target.stat(name) is not None:
        target.unlink(name)
    try:
        data = Seal(source, name).open(source.read(name).removesuffix(b"\n"))
    except (OSError, OnRecordError):
        return
    target.write_new(name, Seal(target, name).close(data) + b"\n")
    target.sync(name)
