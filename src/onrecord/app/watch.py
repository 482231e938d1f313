"""Take in outside edits as they settle, and rows of other logs as they arrive, until told to end.

Hints say where to look sooner; what is true is found by comparing all files, at the start, every so often, and
whenever hints may have been lost (ADR 18). Nothing is locked while the loop waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onrecord.app.reconcile import reconcile, reconcile_paths
from onrecord.app.refusals import judge_again
from onrecord.app.session import Reply, Session
from onrecord.app.watch_events import Event, Teller
from onrecord.domain.errors import OnRecordError
from onrecord.domain.filenames import RECORD_FOLDERS
from onrecord.ports.watching import Hints, Watcher

RESCAN_S = 600
_SETTLE_S = 0.25
_RETRY_S = 5.0
_LOCK_WAIT_S = 10.0
# Reasons for which a round is repeated.
_UNFINISHED = frozenset({"reconciling", "locked", "outside_edits_pending"})


@dataclass(slots=True)
class Tally:
    """What the loop has done so far."""

    versions: int = 0
    comparisons: int = 0


class Watch:
    """The loop.

    Args:
        open_session: Opens the vault; called again after it was offline.
        watcher: Gives hints.
        tell: Is given each event as it happens.
        rescan_s: Seconds between two comparisons of all files.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        watcher: Watcher,
        tell: Callable[[Event], None],
        rescan_s: float = RESCAN_S,
    ) -> None:
        self._open_session = open_session
        self._watcher = watcher
        self._teller = Teller(tell)
        self._rescan_s = rescan_s
        self._session: Session | None = None
        self._folders: tuple[tuple[str, str], ...] = ()
        self._paths: set[str] = set()
        self._is_all_due = True
        self._last_comparison_us = 0
        self._message = ""
        self.tally = Tally()

    def run(self) -> None:
        """Run until the watcher says that it is over; the vault is closed then."""
        try:
            hints = Hints()
            while not hints.is_ended:
                self._take_in(hints)
                hints = self._watcher.wait(self._choose_wait())
        finally:
            self._close()

    def _choose_wait(self) -> float:
        if self._session is None or self._is_all_due:
            return _RETRY_S if self._session is None else _SETTLE_S
        if self._paths or self._session.settling.put_off or self._teller.is_waiting:
            return _SETTLE_S
        elapsed_s = (self._session.clock.read().boottime_us - self._last_comparison_us) / 1_000_000
        return max(min(self._rescan_s - elapsed_s, _RETRY_S), 0)

    def _take_in(self, hints: Hints) -> None:
        """One round. An error ends the use of the vault, not the loop: the next round opens it anew."""
        try:
            session = self._get_session()
            self._sort(hints)
            self._look(session)
        except OnRecordError as error:
            self._close()
            if not self._message:  # it is told once, whatever is met while it stays away
                self._message = error.reason
                self._teller.tell(Event("offline", message=error.reason))

    def _get_session(self) -> Session:
        if self._session is None:
            self._session = self._open_session()
            self._is_all_due = True
            self._folders = ()
        return self._session

    def _look(self, session: Session) -> None:
        session.store.check_writable()
        reply = Reply()
        with session.write(_LOCK_WAIT_S):
            pass  # takes in what other processes and logs have written
        self._follow_folders(session)
        elapsed_us = session.clock.read().boottime_us - self._last_comparison_us
        if self._is_all_due or elapsed_us >= self._rescan_s * 1_000_000:
            self._compare_all(session, reply)
            paths = None
        else:
            paths = sorted(self._paths | session.settling.put_off)
            self._paths.clear()
            if paths:
                reconcile_paths(session, paths, reply, wait_s=_LOCK_WAIT_S)
                judge_again(session, paths)
                if _is_unfinished(reply):
                    self._paths.update(paths)
        self._tell_rows(session)
        if paths is None or paths or self._teller.is_waiting:
            self._teller.tell_files(session, paths)
        self._teller.tell_refused(session)

    def _compare_all(self, session: Session, reply: Reply) -> None:
        self._teller.begin(session)
        self._paths.clear()
        session.comparison = None
        reconcile(session, reply, wait_s=_LOCK_WAIT_S)
        self._is_all_due = _is_unfinished(reply) and not session.settling.put_off
        self._last_comparison_us = session.clock.read().boottime_us
        self.tally.comparisons += 1
        if self._message or self.tally.comparisons == 1:
            self._message = ""
            self._tell_rows(session)
            self._teller.tell(Event("watching"))

    def _follow_folders(self, session: Session) -> None:
        """Watch the vault and the folders that allowed links lead to; a change of these asks for a comparison."""
        targets = [(link.target, link.path) for link in session.store.links.list_links() if link.state == "open"]
        folders = (*((target, path) for target, path in targets), (session.store.folder, ""))
        if folders != self._folders:
            self._folders = folders
            self._watcher.watch([folder for folder, _ in folders])
            self._is_all_due = True

    def _sort(self, hints: Hints) -> None:
        """Note which files of the vault hints are about; a hint about a folder asks for a comparison."""
        self._is_all_due = self._is_all_due or hints.is_lossy
        for hint in hints.paths:
            path = self._find_path(hint)
            parts = path.split("/")
            if parts[0] not in RECORD_FOLDERS or any(part.startswith(".") for part in parts):
                continue
            if path.lower().endswith(".md"):
                self._paths.add(path)
            elif "." not in parts[-1]:
                self._is_all_due = True

    def _find_path(self, hint: str) -> str:
        for folder, path in self._folders:
            if hint.startswith(f"{folder}/"):
                inner = hint[len(folder) + 1 :]
                return f"{path}/{inner}" if path else inner
        return ""

    def _tell_rows(self, session: Session) -> None:
        self.tally.versions += self._teller.tell_rows(session)

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


def _is_unfinished(reply: Reply) -> bool:
    return any(item.reason in _UNFINISHED for item in reply.degraded)
