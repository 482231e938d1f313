"""Links inside a vault that lead to folders elsewhere, and which of them the user allowed on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from onrecord.domain.problem import Problem

# `away`: the folder cannot be reached; `changed`: the link leads elsewhere, or another folder lies there;
# `refused`: the folder lies where none may.
LinkState = Literal["open", "away", "changed", "refused"]


@dataclass(frozen=True, slots=True)
class AllowedLink:
    """A link that the user allowed: its path in the vault, and the real folder as it was then."""

    path: str
    target: str
    device: int
    inode: int
    state: LinkState = "open"


class LinkBook(Protocol):
    """The allowed links of one vault on one machine."""

    def list_links(self) -> Sequence[AllowedLink]:
        """Return them with their present states, by path."""

    def allow(self, path: str, target: str) -> AllowedLink:
        """Allow a link that is there, or make one to `target` (not empty) and allow it.

        Args:
            path: Of the link, relative to the vault.
            target: Folder; relative to the working folder.

        Raises:
            InvalidInputError: no place for a link, or no folder that one may lead to.
            ConflictError: something else is at the path.
            StorageFailedError: it cannot be made or noted.
        """

    def allow_record_folders(self) -> Sequence[AllowedLink]:
        """Allow the record folders that are links: of a vault that the user has just made over them.

        Raises:
            InvalidInputError, StorageFailedError: as of `allow`.
        """

    def forget(self, path: str) -> AllowedLink:
        """Forget a permission; no file is touched.

        Raises:
            NotFoundError: there is none.
            StorageFailedError: it cannot be noted.
        """

    def is_away(self, path: str) -> bool:
        """Tell whether nothing is known of a path: it lies in a cloud, or below a link that leads nowhere now."""

    def name_refused(self, path: str) -> Problem | None:
        """Return why what lies at a file's place is no memory, as the scan does; None where it may be, or is gone."""

    def is_shut(self, path: str) -> bool:
        """Tell whether a path lies below a link that the user does not allow, or a folder that cannot be read."""
