"""Show the memories whose file is gone, and retire them at the user's word without waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onrecord.app.absences import list_homeless, list_missing, retire_missing
from onrecord.app.admission import admit
from onrecord.app.callers import check_user
from onrecord.app.outside_operations import MISSING
from onrecord.app.pages import take_page
from onrecord.app.reconcile import reconcile
from onrecord.app.retaking import take_back_files
from onrecord.app.session import Reply, Session
from onrecord.app.suspension import describe_missing
from onrecord.domain.absences import Absences
from onrecord.domain.errors import NotWritableError, StorageFailedError
from onrecord.domain.ids import RecordId

_ALL = 2**31


def repair_missing(session: Session, given: Mapping[str, object]) -> Reply:
    """List the memories whose file is gone; with `retire` retire all of them now, suspended or not.

    Returns:
        data: missing[] {id, title, path, since, left_s} by id, as many as the page has room for (`truncated`), left_s
        in seconds of opened time; total, records (how many should have a file), retirement_suspended; retired (how many
        were retired now) and retired_memories[] {id, title, path} by id, as far as the page has room (`truncated`);
        awaited: how many memories of other machines never had a file here, which may be on its way: none is retired.

    Raises:
        ApprovalRequiredError: `retire` and the caller is not at a terminal.
        InvalidInputError: the call is refused.
        NotWritableError: not all were retired.
    """
    is_retiring = admit(MISSING, given).get("retire") is True
    if is_retiring:
        check_user(session.caller, "retire memories before their time", "retire")
    reply = Reply()
    session.refresh(reply)
    with session.index.read() as reader:
        homeless = list_homeless(session, reader, reader.find_ids("", _ALL))
        session.replaced.update(head.id for head in list_missing(session, reader, homeless))
    reconcile(session, reply)
    retired = _retire_all(session, reply) if is_retiring else []
    absences = session.store.absences.read().drop(retired)
    named = take_page(_name(session, retired), session.policy.page_bytes // 2)
    items = take_page(_describe(session, absences), session.policy.page_bytes // 2)
    reply.data = {
        "missing": items,
        "total": len(absences.missing),
        "records": absences.records if absences.missing else _count_filed(session),
        "retirement_suspended": describe_missing(session, reply)["retirement_suspended"],
        "retired": len(retired),
        "retired_memories": named,
        "awaited": _count_awaited(session, absences),
    }
    if len(items) < len(absences.missing) or len(named) < len(retired):
        reply.data["truncated"] = True
    return reply


def _retire_all(session: Session, reply: Reply) -> list[RecordId]:
    if session.owns_index:
        raise StorageFailedError("which files are missing is not known without an index that lasts")
    with session.write() as unit:
        absences = session.store.absences.read()
        with session.index.read() as reader:
            lost = list_missing(session, reader, sorted(absences.missing))
        gone = [head.id for head in take_back_files(session, unit, lost, reply)]
        retired = retire_missing(session, unit, gone, reply, session.caller.actor)
        try:
            session.store.absences.write(absences.drop(retired))
        except NotWritableError:
            if not retired:  # who is missing could not be noted before either
                raise
    return retired


def _count_filed(session: Session) -> int:
    """Return how many memories have a file: where none is missing, no look has counted them."""
    with session.index.read() as reader:
        return reader.count_filed()


def _count_awaited(session: Session, absences: Absences) -> int:
    with session.index.read() as reader:
        placed = {stamp.record for stamp in reader.list_files()}
        left = {*reader.find_ids("", _ALL)} - placed - absences.missing.keys()
        return len(list_missing(session, reader, sorted(left)))


def _name(session: Session, records: Sequence[RecordId]) -> Iterator[dict[str, object]]:
    with session.index.read() as reader:
        for record in sorted(records):
            head = reader.get_current(record)
            if head is not None:
                yield {"id": record, "title": head.title, "path": head.path}


def _describe(session: Session, absences: Absences) -> Iterator[dict[str, object]]:
    with session.index.read() as reader:
        for record in sorted(absences.missing):
            head = reader.get_current(record)
            if head is not None:
                yield {
                    "id": record,
                    "title": head.title,
                    "path": head.path,
                    "since": absences.missing[record].since,
                    "left_s": absences.measure_left(record) // 1_000_000,
                }
