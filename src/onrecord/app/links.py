"""Follow a folder link in the vault, by the user's word for that very link on this machine; or follow it no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onrecord.app.admission import admit
from onrecord.app.callers import check_user
from onrecord.app.outside_operations import LINK, UNLINK
from onrecord.app.reconcile import reconcile
from onrecord.app.session import Reply, Session
from onrecord.domain.errors import InvalidInputError
from onrecord.ports.links import AllowedLink


def link(session: Session, given: Mapping[str, object]) -> Reply:
    """Allow a link, or make one and allow it, and take in the files behind it; or list what is allowed.

    Returns:
        data: links[] {path, target, state}: the one allowed; with `list`, or without a path, all of them, by path.

    Raises:
        InvalidInputError: the call is refused, or a link may not lie there or lead there.
        ApprovalRequiredError: the caller is not at a terminal.
        ConflictError: something else is at the path.
        StorageFailedError: nothing was allowed.
    """
    arguments = admit(LINK, given)
    named = [name for name in ("path", "target") if name in arguments]
    if arguments.get("list") and named:
        raise InvalidInputError("list takes no path", field="list", hint="Leave one of the two out.")
    if named == ["target"]:
        raise InvalidInputError("which link leads there is not said", field="path", hint="Such as memories/work.")
    if not named:
        return Reply(data={"links": [_describe(item) for item in session.store.links.list_links()]})
    check_user(session.caller, "allow a link to be followed")
    reply = Reply()
    allowed = session.store.links.allow(str(arguments["path"]), str(arguments.get("target", "")))
    take_in_links(session, [allowed], reply)
    reply.warnings.clear()
    reply.data = {"links": [_describe(allowed)]}
    return reply


def unlink(session: Session, given: Mapping[str, object]) -> Reply:
    """Forget that a link was allowed; the link and the files behind it stay as they are.

    The memories below it are not missing: they are kept, read by id, and not found until the link is followed again.
    Where the link itself is removed, too, they are missing like any others (ADR 18).

    Returns:
        data: links[] {path, target, state}: the one forgotten, as it was.

    Raises:
        InvalidInputError: the call is refused.
        ApprovalRequiredError: the caller is not at a terminal.
        NotFoundError: no link was allowed there.
        StorageFailedError: it cannot be noted.
    """
    arguments = admit(UNLINK, given)
    check_user(session.caller, "forget a link")
    forgotten = session.store.links.forget(str(arguments["path"]))
    reply = Reply(data={"links": [_describe(forgotten)]})
    with session.index.read() as reader:
        below = {stamp.record for stamp in reader.list_files() if stamp.path.startswith(f"{forgotten.path}/")}
    if below:
        told = f"{len(below)} memories below {forgotten.path} are kept, but not found until it is followed again"
        reply.warnings.append(f"{told}; none counts as missing as long as the link lies there")
    return reply


def list_targets(session: Session) -> list[str]:
    """Return the folders that allowed links lead to: what lies there is the vault's."""
    return [item.target for item in session.store.links.list_links()]


def take_in_links(session: Session, links: Iterable[AllowedLink], reply: Reply, *, may_reconcile: bool = True) -> None:
    """Take in the files behind links that were just allowed, if that may be done now, and say which they are."""
    said = [f"{item.path} is a link to {item.target}; it is followed on this machine from now on" for item in links]
    if said:
        reply.warnings += said
    if said and may_reconcile:
        reconcile(session, reply, wait_s=None)


def _describe(item: AllowedLink) -> dict[str, object]:
    return {"path": item.path, "target": item.target, "state": item.state}
