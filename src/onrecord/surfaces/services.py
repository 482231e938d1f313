"""What a surface needs from the composition root, handed in from above so that no surface knows a driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from onrecord.domain.errors import OnRecordError

if TYPE_CHECKING:
    from onrecord.app.session import Caller, Reply, Session
    from onrecord.config import Settings
    from onrecord.ports.signing import Verifier
    from onrecord.ports.sources import SourceFile
    from onrecord.ports.watching import Watcher


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened vault, its settings, and what opening it had to say."""

    session: Session
    settings: Settings
    opening: Reply

    def close(self) -> None:
        """End what opening began, then release all; nothing acknowledged depends on it."""
        if self.session.is_comparing or self.session.stirred:
            with suppress(OnRecordError):
                self.session.compare_files(self.opening, pieces=None, intake_pieces=None)
        if self.session.scan is not None:
            with suppress(OnRecordError):
                self.session.scan.advance()
        self.session.close()


@dataclass(frozen=True, slots=True)
class Services:
    """The composition root's functions.

    Attributes:
        settle_settings: (flags, environment, is_lenient) to settings, the vault's own included.
        name_caller: (is_terminal, settings) to who calls.
        make_vault: (folder, settings, caller) makes and opens a vault.
        open_vault: (settings, caller, is_index_needed) opens one.
        adopt_vault: (settings, caller) begins a new log over a vault that was rolled back and opens it; the text is the
            place of the old state folder.
        look_into_vault: (settings, caller) opens one for looking, without making or writing anything.
        list_sources: Markdown files of an import, by path; folders that links of the vault lead to are passed over.
        list_lines: lines of a turns import, of a path or a stream.
        get_verifier: what checks signatures.
        make_watcher: what gives hints of changed files.
    """

    settle_settings: Callable[[Mapping[str, object], Mapping[str, str], bool], Settings]
    name_caller: Callable[[bool, Settings], Caller]
    make_vault: Callable[[str, Settings, Caller], Opened]
    open_vault: Callable[[Settings, Caller, bool], Opened]
    adopt_vault: Callable[[Settings, Caller], tuple[Opened, str]]
    look_into_vault: Callable[[Settings, Caller], Opened]
    list_sources: Callable[[str, Sequence[str]], Iterator[SourceFile]]
    list_lines: Callable[[str | BinaryIO], Iterable[bytes]]
    get_verifier: Callable[[], Verifier]
    make_watcher: Callable[[], Watcher]
