"""Find memories and turns by their words: match, score in the domain, then show under a byte budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from onrecord.app.admission import admit
from onrecord.app.catalog import FIND
from onrecord.app.content import (
    FilePlace,
    find_newest_there,
    locate,
    read_turn_text,
    read_version,
    tell_behind,
    tell_lost_transcript,
    tell_older,
)
from onrecord.app.known import find_horizons
from onrecord.app.natives import (
    Natives,
    Standing,
    compare_sources,
    is_native,
    judge,
    list_partitions,
    name_place,
    read_section,
    see_sources,
    take_in_stale,
)
from onrecord.app.pages import measure
from onrecord.app.pending import get_claim, is_pending, locate_pending, read_pending
from onrecord.app.second_look import look_again
from onrecord.app.session import Reply, Session
from onrecord.app.shut import tell_shut
from onrecord.app.waiting import tell_waiting
from onrecord.app.workspaces import list_spellings
from onrecord.domain.analyzer import analyze_query
from onrecord.domain.errors import DamagedError, NewerFormatError, NotFoundError
from onrecord.domain.heads import SHARED
from onrecord.domain.ids import RecordId, show_block_id
from onrecord.domain.instants import Instant
from onrecord.domain.limits import PAGE_DEFAULT_COUNT
from onrecord.domain.lines import split_lines
from onrecord.domain.ranking import Ranked, rank
from onrecord.domain.record import read_record
from onrecord.domain.transcript import hide_turns, parse_transcript
from onrecord.ports.index import Filter, IndexReader, VersionHead

_Shown = tuple[Ranked, VersionHead, FilePlace | None]


@dataclass(slots=True)
class _Found:
    """Hits in order, and what of them needs a look first.

    `edited`: paths of files that are not as stamped; `missing`: records without their file, with its place; `stale`:
    paths of sections; `shut`: how many were left out as nobody may look below a link or into a folder; `is_cut`: as
    many are missing as may be, so that the hits behind them were left out.
    """

    shown: list[_Shown]
    edited: list[str]
    missing: dict[RecordId, str]
    stale: list[str]
    shut: int = 0
    is_cut: bool = False


@dataclass(slots=True)
class _Page:
    """Hits as they are shown; `done` of those found are on it, or could not be read (`stale`: paths of sections)."""

    results: list[dict[str, object]]
    done: int
    is_truncated: bool
    stale: list[str]


_OPEN = ("pending",)
_TITLE_CHARS = 80
_SNIPPET_CHARS = 120
_SPANS_A_HIT = 5
_SCORE_DIGITS = 4
# While files are still being compared or taken in, so many hits are passed over whose file has left its place.
_PASSED_MAX_COUNT = 200


def find(session: Session, given: Mapping[str, object], *, page_bytes: int | None = None) -> Reply:
    """Answer a question with the best records and turns.

    Args:
        session: The opened vault.
        given: Arguments of the operation `find`.
        page_bytes: Budget of the results as JSON; None as configured.

    Returns:
        data: status `found` or `no_match`; results[] by falling score, ties by id;
        truncated where the page ended early; next_offset where there are more. A warning counts the open conflicts
        where nothing was found: their sides are not searched.

    Raises:
        InvalidInputError, LimitExceededError: the call is refused.
    """
    arguments = admit(FIND, given)
    reply = Reply()
    session.refresh(reply)
    session.compare_files(reply)
    offset, limit = arguments.get("offset", 0), arguments.get("limit", PAGE_DEFAULT_COUNT)
    assert isinstance(offset, int)
    assert isinstance(limit, int)
    end = offset + limit
    natives = see_sources(session)
    compare_sources(session, natives, reply)
    found = _search(session, natives, arguments, end + 1, missing_max=end + 1 + len(session.sought))
    looked = look_again(session, found.edited, found.missing, reply)
    missing_max = end + _PASSED_MAX_COUNT if session.is_comparing else None
    if take_in_stale(natives, found.stale, reply) or looked.is_changed:
        found = _search(session, natives, arguments, end + 1, looked.going, missing_max=missing_max)
        if looked.has_compared:
            session.sought.update(found.missing)
    mode = str(arguments.get("mode", "preview"))
    budget = session.policy.page_bytes if page_bytes is None else page_bytes
    page = _fill(session, natives, found.shown[offset:end], mode, budget, reply)
    if page.stale and take_in_stale(natives, page.stale, reply):
        found = _search(session, natives, arguments, end + 1, looked.going, missing_max=missing_max)
        page = _fill(session, natives, found.shown[offset:end], mode, budget, reply)
    if page.stale:
        reply.degrade("reconciling", "A source is being changed; ask again for what it says now.")
    tell_waiting(session, {head.id for _, head, _ in found.shown[offset : offset + page.done]}, reply, is_search=True)
    tell_shut(found.shut, reply)
    reply.data = {"status": "found" if page.results else "no_match", "results": page.results}
    if not found.shown and arguments.get("as_of") is None:
        _tell_conflicts(session, reply)
    if page.is_truncated:
        reply.data["truncated"] = True
    if len(found.shown) > offset + page.done > offset:
        reply.data["next_offset"] = offset + page.done
    return reply


def _tell_conflicts(session: Session, reply: Reply) -> None:
    """Say in a reply without hits that words may stand in open conflicts, whose sides are not searched."""
    with session.index.read() as reader:
        count = len(reader.list_conflicts(_OPEN))
    if count:
        what = "1 open conflict is" if count == 1 else f"{count} open conflicts are"
        reply.warnings.append(f"{what} not searched; `onrecord conflicts` lists what to settle")


def _fill(
    session: Session, natives: Natives | None, hits: Sequence[_Shown], mode: str, budget: int, reply: Reply
) -> _Page:
    page = _Page([], 0, is_truncated=False, stale=[])
    conflicts = _find_conflicts(session, hits)
    for ranked, head, place in hits:
        try:
            item = _describe(session, natives, ranked, head, place, mode, reply)
        except NotFoundError:
            page.done += 1
            page.stale.append(head.path)
            continue
        if place is not None:
            tell_behind(session, place, reply)
            tell_lost_transcript(head, place, reply)
        if head.id in conflicts:
            item["conflict"] = conflicts[head.id][0]
        size = measure(item)
        if size > budget:
            page.is_truncated = True
            if page.results:
                break
            _shrink(item, budget)
        budget -= size
        page.done += 1
        page.results.append(item)
    return page


def _find_conflicts(session: Session, page: Sequence[_Shown]) -> Mapping[RecordId, Sequence[RecordId]]:
    """Return the open conflicts of the memories on a page; one look for all of them."""
    with session.index.read() as reader:
        return reader.find_conflicts({head.id for _, head, _ in page})


def _shrink(item: dict[str, object], budget_bytes: int) -> None:
    """Cut the text or the first span of a page's only hit so that the hit fits; `read` pages the rest."""
    item["truncated"] = True
    spans = item.get("spans")
    if isinstance(spans, list) and spans:
        spans[1:] = []
        start = int(spans[0]["span"].partition(":")[0])
        cut = _cut_to_fit(item, spans[0], budget_bytes)
        spans[0]["span"] = f"{start}:{start + len(cut)}"
    elif "text" in item:
        _cut_to_fit(item, item, budget_bytes)


def _cut_to_fit(item: dict[str, object], holder: dict[str, object], budget_bytes: int) -> str:
    data = str(holder["text"]).encode()
    keep = budget_bytes
    while measure(item) > budget_bytes and keep:
        holder["text"] = data[:keep].decode(errors="ignore")
        keep //= 2
    return str(holder["text"])


def _search(
    session: Session,
    natives: Natives | None,
    arguments: Mapping[str, object],
    limit: int,
    going: Collection[RecordId] = (),
    missing_max: int | None = None,
) -> _Found:
    """Return the first `limit` hits, those whose file is `going` included, and what of the best needs a look.

    At most `missing_max` hits without their file are passed over.
    """
    terms = analyze_query(str(arguments["query"]))
    as_of, workspace = arguments.get("as_of"), arguments.get("workspace")
    instant = Instant(str(as_of)) if as_of is not None else None
    with session.index.read() as reader:
        allowed = Filter(
            partitions=list_partitions(natives) if instant is None else (SHARED,),
            workspaces=list_spellings(reader, str(workspace)) if workspace is not None else (),
            as_of=instant,
            horizons=find_horizons(session, instant) if instant is not None else {},
        )
        wanted = limit
        candidates = reader.match(terms, allowed)
        while True:
            ranked = rank(candidates, wanted, reader.get_heads)
            found = _select(session, natives, reader, ranked, limit, going, missing_max, is_past=as_of is not None)
            if len(found.shown) == limit or len(ranked) < wanted or found.is_cut:
                return found
            wanted *= 2


def _select(
    session: Session, natives: Natives | None, reader: IndexReader, ranked: Sequence[Ranked], limit: int,
    going: Collection[RecordId], missing_max: int | None, *, is_past: bool,
) -> _Found:  # fmt: skip
    """Drop hits whose file is missing or shut off, which are not shown, and sections that are not as taken in.

    A transcript is what was captured, so that its turns are shown without their file. Of a memory and the files that
    name it and are ahead of their rows, the memory is shown if it is the best hit, else the files.
    """
    found = _Found([], [], {}, [])
    met: set[tuple[RecordId, bool]] = set()
    for hit in ranked:
        if len(found.shown) == limit:
            break
        head = hit.head
        if is_native(head):
            standing = judge(natives, head)
            if standing is Standing.SHOWN:
                found.shown.append((hit, head, None))
            elif standing is Standing.STALE:
                found.stale.append(head.path)
            continue
        place = None if is_past else _locate(session, reader, head)
        if place is not None and (place.is_missing or place.is_shut) and head.kind != "event" and head.id not in going:
            found.shut += place.is_shut
            if place.stamp is not None and place.is_missing:
                found.missing[head.id] = place.stamp.path
                if len(found.missing) == missing_max:
                    found.is_cut = True
                    break
            continue
        path = place.edited_path if place is not None else None
        is_ahead = is_pending(head)
        memory = get_claim(head) if is_ahead else head.id
        if (memory, not is_ahead) in met:
            continue
        met.add((memory, is_ahead))
        if path is not None and head.kind != "event":
            found.edited.append(path)
        found.shown.append((hit, head, place))
    return found


def _locate(session: Session, reader: IndexReader, head: VersionHead) -> FilePlace:
    return locate_pending(session, reader, head) if is_pending(head) else locate(session, reader, head)


def _describe(
    session: Session,
    natives: Natives | None,
    ranked: Ranked,
    head: VersionHead,
    place: FilePlace | None,
    mode: str,
    reply: Reply,
) -> dict[str, object]:
    item: dict[str, object] = {
        "id": head.id,
        "version": head.version,
        "title": head.title[:_TITLE_CHARS],
        "score": round(ranked.score, _SCORE_DIGITS),
        "kind": head.kind,
        "status": head.status,
        "origin": head.origin,
    }
    if head.turn is not None:
        item |= {"turn": head.turn.turn, "block": show_block_id(head.turn.block)}
        if head.turn.speaker:
            item["speaker"] = head.turn.speaker
        if head.turn.time is not None:
            item["time"] = head.turn.time
    if is_pending(head):
        item |= {"id": get_claim(head), "pending_sync": True}
    if is_native(head):
        del item["version"]
        item |= name_place(natives, head)
    try:
        text, own = _read_text(session, natives, head, place)
    except (DamagedError, NewerFormatError) as error:
        older = _find_older(session, head)
        if older is not None:
            tell_older(head, older, reply)
            return _describe(session, natives, ranked, older, None, mode, reply)
        reply.degrade("version_unreadable", error.hint)
        return item
    item["total_chars"] = len(text)
    match mode:
        case "full":
            item["text"] = text
        case "hits":
            item["spans"] = _cut_spans(own, ranked)
        case _:
            item["snippet"] = _cut_snippet(own, ranked)
    return item


def _find_older(session: Session, head: VersionHead) -> VersionHead | None:
    """Return what is shown of a hit whose version is not in the vault any more; None of what has no other version."""
    if head.turn is not None or is_native(head) or is_pending(head):
        return None
    with session.index.read() as reader:
        return find_newest_there(session, reader, head)


def _read_text(
    session: Session, natives: Natives | None, head: VersionHead, place: FilePlace | None
) -> tuple[str, str]:
    """Return the text of a hit, and what of it is its own: the turns of a transcript are hits of their own.

    Raises:
        NotFoundError: it is a section of a file that has just changed.
        DamagedError, NewerFormatError: a version cannot be read.
    """
    if is_native(head):
        text = read_section(natives, head).text
        return text, text
    if head.turn is not None:
        text = read_turn_text(session, head)
        return text, text
    data = read_pending(session, head.path) if is_pending(head) else read_version(session, head, place)
    text = read_record(data, head.path, session.yaml).text
    return text, hide_turns(text, parse_transcript(data).turns) if head.kind == "event" else text


def _cut_spans(text: str, ranked: Ranked) -> list[dict[str, object]]:
    """Return the best matching sentences with their exact offsets, in the order of the text."""
    lines = split_lines(text)
    numbers = sorted(set(ranked.lines[:_SPANS_A_HIT]))
    found = [lines[number] for number in numbers if number < len(lines)] or list(lines[:1])
    return [{"span": f"{line.start}:{line.end}", "text": text[line.start : line.end]} for line in found]


def _cut_snippet(text: str, ranked: Ranked) -> str:
    """Return the best line; the whole of a short text; nothing of a text that is blank or, long, has no lines."""
    if len(text) <= _SNIPPET_CHARS:
        return "" if text.isspace() else text
    lines = split_lines(text)
    if not lines:
        return ""
    number = ranked.lines[0] if ranked.lines else 0
    line = lines[number] if number < len(lines) else lines[0]
    cut = text[line.start : line.end]
    return cut if len(cut) <= _SNIPPET_CHARS else cut[: _SNIPPET_CHARS - 1] + "…"
