"""What the catalog is made of: an operation, its arguments and their forms."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from onrecord.domain import limits


class Kind(StrEnum):
    """The form of an argument."""

    TEXT = "text"  # content: any characters but NUL and lone surrogates
    NAME = "name"  # one line: no control characters either
    ID = "id"  # a record id or a prefix of it
    ANY_ID = "any_id"  # the same, or the id of a section of a source
    INTEGER = "integer"
    INSTANT = "instant"
    CHOICE = "choice"
    FLAG = "flag"
    SPAN = "span"  # A:B in code points
    ENTRY = "entry"  # LOG:SEQ
    PATH = "path"
    PATCHES = "patches"  # list of {old, new}
    NAMES = "names"  # list of NAME
    ANY_IDS = "any_ids"  # list of ANY_ID
    MAP = "map"  # free JSON object
    DECIMAL = "decimal"  # 0 to 1


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation.

    Attributes:
        name: As in Python and JSON; the command line writes it with dashes.
        kind: Its form.
        doc: One line for help.
        is_required: Whether it must be given.
        is_positional: Whether the command line takes it by position.
        flag: Long option where it differs from the name, without dashes.
        minimum, maximum: Bounds of a number, or of the length in code points (NAME, TEXT) or items (lists).
        maximum_bytes: Bound of a TEXT in UTF-8; 0 for none.
        choices: Allowed values of a CHOICE.
        item_maximum: Bound of the length of an item of a list.
    """

    name: str
    kind: Kind
    doc: str
    is_required: bool = False
    is_positional: bool = False
    flag: str = ""
    minimum: int = 0
    maximum: int = 0
    maximum_bytes: int = 0
    choices: tuple[str, ...] = ()
    item_maximum: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        name: As every surface calls it.
        doc: One line for help.
        arguments: In the order of help.
        returns: Every member of `data`: those of an object behind a dot, those of a list's items behind `[].`; one that
            is not always there ends in `?`.
        exclusive: Groups of arguments of which exactly one set must be given.
        group: Word that the command line puts before the name, less the group and `_` where the name begins so.
        is_typed: Whether the command line has it; the Python API alone otherwise.
    """

    name: str
    doc: str
    arguments: tuple[Argument, ...] = ()
    returns: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    group: str = ""
    is_typed: bool = True

    @property
    def command(self) -> str:
        """How it is typed on the command line; empty where it cannot be."""
        return f"{self.group} {self.word}".strip() if self.is_typed else ""

    @property
    def word(self) -> str:
        """The word for it on the command line, behind that of its group."""
        return self.name.removeprefix(f"{self.group}_") if self.group else self.name


def name_argument(name: str, doc: str, **more: object) -> Argument:
    """Return an argument of the form NAME with the usual bound; `more` are further attributes."""
    return Argument(name, Kind.NAME, doc, maximum=limits.NAME_MAX_CHARS, **more)  # type: ignore[arg-type]
