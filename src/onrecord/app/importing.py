"""Take in a tree of Markdown, or turns as JSON lines. Repeating an import changes nothing; what is skipped is said."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from onrecord.app.admission import admit
from onrecord.app.capture import append_turns
from onrecord.app.catalog import IMPORT
from onrecord.app.conflicts import attend
from onrecord.app.content import find_kept
from onrecord.app.indexing import hash_text
from onrecord.app.pages import measure
from onrecord.app.places import choose_path
from onrecord.app.scrub import scrub
from onrecord.app.session import Reply, Session
from onrecord.app.workspaces import spell_workspace
from onrecord.domain.canonical import decode_strict
from onrecord.domain.errors import InvalidInputError, LimitExceededError, TurnExistsError
from onrecord.domain.filenames import fold_path
from onrecord.domain.limits import BATCH_MAX_BYTES, IMPORT_LINE_MAX_BYTES, NAME_MAX_CHARS, TEXT_MAX_BYTES
from onrecord.domain.names import check_name, fold_name
from onrecord.domain.record import KeyValue, Record, read_record, replace_keys
from onrecord.domain.redaction import redact
from onrecord.domain.told_time import is_told_instant, parse_told_time
from onrecord.domain.transcript import Turn, check_turn
from onrecord.ports.index import IndexReader
from onrecord.ports.sources import SourceFile
from onrecord.ports.store import Change, VersionDraft, WriteUnit
from onrecord.ports.yaml_reader import YamlReader

_TURNS_A_COMMIT = 500
_NOTES_A_COMMIT = 200
_SHOWN_NAMES_COUNT = 10
_SHOWN_NAME_CHARS = 40
_TURN_KEYS = frozenset({"session", "turn", "speaker", "text", "time", "role", "source"})
_FOREIGN_CLAIMS = ("status", "client", "agent", "confirmed_by", "protection", "kb", "kind")
_BY_MARK = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DATE_KEYS = ("date", "created", "created_at", "date_created")


@dataclass(slots=True)
class Tally:
    """What an import did; `left_bytes` is what the page still takes of what was skipped."""

    left_bytes: int
    imported: int = 0
    duplicates: int = 0
    skipped: list[dict[str, object]] = field(default_factory=list)
    skipped_total: int = 0

    def skip(self, reason: str, **where: object) -> None:
        """Name one thing that was not taken in; what does not fit on the page is counted."""
        item = {**where, "reason": reason}
        self.skipped_total += 1
        self.left_bytes -= measure(item)
        if self.left_bytes >= 0 or not self.skipped:
            self.skipped.append(item)

    def describe(self) -> dict[str, object]:
        """Return the reply's data."""
        data: dict[str, object] = {"imported": self.imported, "duplicates": self.duplicates, "skipped": self.skipped}
        if self.skipped_total > len(self.skipped):
            data |= {"truncated": True, "skipped_total": self.skipped_total}
        return data


def import_turns(session: Session, given: Mapping[str, object], lines: Iterable[bytes]) -> Reply:
    """Append turns from JSON lines `{session, turn, speaker, text, time}`, also `role` and `source`.

    Args:
        session: The opened vault.
        given: Arguments of the operation `import`.
        lines: The lines, LF or not; blank ones are passed over.

    Returns:
        data: imported, duplicates, skipped[] with line and reason.

    Raises:
        InvalidInputError: the call is refused.
        NotWritableError: nothing of the present batch was stored; earlier batches were.
    """
    arguments = scrub(admit(IMPORT, given), is_on=session.policy.redact).arguments
    workspace = str(arguments.get("workspace") or session.policy.workspace)
    source = str(arguments.get("source") or "import")
    reply = Reply()
    tally = Tally(session.policy.page_bytes)
    batch: list[tuple[int, Turn]] = []
    rules: set[str] = set()
    ignored: set[str] = set()
    size = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if not line.strip():
            continue
        try:
            turn = _read_turn(line, source, rules, ignored, is_on=session.policy.redact)
        except InvalidInputError as error:
            tally.skip(error.reason, line=number, field=error.field or "")
            continue
        batch.append((number, turn))
        size += len(turn.text.encode())
        if len(batch) >= _TURNS_A_COMMIT or size >= BATCH_MAX_BYTES // 4:
            _write_turns(session, batch, workspace, tally, reply)
            session.on_progress(number, None)
            batch, size = [], 0
    if batch:
        _write_turns(session, batch, workspace, tally, reply)
        session.on_progress(batch[-1][0], None)
    if rules:
        reply.warnings.append(f"secrets were replaced before anything was written: {', '.join(sorted(rules))}")
    if ignored:
        shown = ", ".join(name[:_SHOWN_NAME_CHARS] for name in sorted(ignored)[:_SHOWN_NAMES_COUNT])
        reply.warnings.append(f"{len(ignored)} members that a turn does not have were not kept: {shown}")
    reply.data = tally.describe()
    return reply


def _write_turns(session: Session, batch: list[tuple[int, Turn]], workspace: str, tally: Tally, reply: Reply) -> None:
    with session.write() as unit:
        results = append_turns(session, unit, [turn for _, turn in batch], workspace, reply)
        attend(session, unit, reply)
    for (number, _), result in zip(batch, results, strict=True):
        if isinstance(result, TurnExistsError):
            tally.skip(result.reason, line=number)
        elif result.duplicate:
            tally.duplicates += 1
        else:
            tally.imported += 1


def _read_turn(line: bytes, source: str, rules: set[str], ignored: set[str], *, is_on: bool) -> Turn:
    shape = decode_strict(line, max_bytes=IMPORT_LINE_MAX_BYTES, allow_floats=True)
    for name in ("session", "turn", "text"):
        if shape.get(name) is None:
            raise InvalidInputError(f"{name} is missing", field=name)
    given = {name: value for name, value in shape.items() if name in _TURN_KEYS and value is not None}
    ignored.update(shape.keys() - _TURN_KEYS)
    names: dict[str, str] = {
        name: _read_name(name, given[name]) for name in ("session", "turn", "speaker", "source") if name in given
    }
    text = given.get("text")
    if not isinstance(text, str):
        raise InvalidInputError("a text is expected", field="text")
    told = given.get("time")
    time = parse_told_time(str(told)) if told is not None and not isinstance(told, bool) else None
    told_text = str(told) if told is not None and time is None else ""
    if len(told_text) > NAME_MAX_CHARS:
        raise LimitExceededError(f"at most {NAME_MAX_CHARS} characters", field="time")
    clean: dict[str, str] = {"text": text, "time_text": told_text, **names}
    if is_on:
        for name, value in clean.items():
            done = redact(value)
            rules.update(finding.rule for finding in done.findings)
            clean[name] = done.text
    return check_turn(
        Turn(
            source=clean.get("source", source),
            session=clean["session"],
            turn=clean["turn"],
            role=str(given.get("role", "user")),
            text=clean["text"],
            origin="import",
            speaker=clean.get("speaker", ""),
            time=time,
            time_text=clean["time_text"],
        )
    )


def _read_name(field: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError("a text is expected", field=field)
    return check_name(str(value), field, may_be_blank=field == "speaker")


def import_markdown(session: Session, given: Mapping[str, object], files: Iterable[SourceFile]) -> Reply:
    """Copy Markdown files into the vault as records of origin `import`; the originals are not touched.

    A file whose text is already kept in its workspace is a duplicate. Keys of the user stay as they are; the keys
    that OnRecord owns are set anew, as a claim in a file proves nothing. A file with front matter and no `event_time`
    gets one from the first of `date`, `created`, `created_at`, `date_created` that holds a time.

    Returns:
        data: imported, duplicates, skipped[] with path and reason.

    Raises:
        InvalidInputError: the call is refused.
        NotWritableError: nothing of the present batch was stored; earlier batches were.
    """
    arguments = scrub(admit(IMPORT, given), is_on=session.policy.redact).arguments
    workspace = arguments.get("workspace")
    reply = Reply()
    tally = Tally(session.policy.page_bytes)
    rules: set[str] = set()
    done = 0
    for batch in _group(files):
        _write_notes(session, batch, workspace if isinstance(workspace, str) else None, tally, reply, rules)
        done += len(batch)
        session.on_progress(done, None)
    if rules:
        reply.warnings.append(f"secrets were replaced in the copies: {', '.join(sorted(rules))}")
    reply.data = tally.describe()
    return reply


def _group(files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.data)
        if len(batch) >= _NOTES_A_COMMIT or size >= BATCH_MAX_BYTES // 2:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write_notes(
    session: Session,
    batch: list[SourceFile],
    workspace: str | None,
    tally: Tally,
    reply: Reply,
    rules: set[str],
) -> None:
    with session.write() as unit:
        with session.index.read() as reader:
            building = _Building(session, unit, reader, workspace)
            for file in batch:
                if file.problem:
                    tally.skip(file.problem, path=file.path)
                    continue
                data, hit = _clean_file(file.data, is_on=session.policy.redact)
                rules.update(hit)
                path = _clean_path(file.path, is_on=session.policy.redact)
                try:
                    tally.duplicates += not building.add(path, data, tuple(sorted(hit)))
                except InvalidInputError as error:
                    tally.skip(error.reason, path=file.path)
            if building.changes:
                session.publish(unit.commit(building.changes, session.caller.actor), reply)
                tally.imported += len(building.changes)
        attend(session, unit, reply)


@dataclass(slots=True)
class _Building:
    """The changes of one commit of notes."""

    session: Session
    unit: WriteUnit
    reader: IndexReader
    workspace: str | None
    changes: list[Change] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    texts: set[tuple[str, bytes]] = field(default_factory=set)
    homes: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, data: bytes, redacted: tuple[str, ...]) -> bool:
        """Add one note; False if its text is already kept in its workspace."""
        session = self.session
        record = read_record(data, source, session.yaml)
        if len(record.text.encode(errors="replace")) > TEXT_MAX_BYTES:
            raise LimitExceededError(f"a text has at most {TEXT_MAX_BYTES} bytes", field="text")
        home = self.workspace or record.keys.workspace or _name_home(source, session.policy.workspace)
        home = self.homes.setdefault(fold_name(home), spell_workspace(self.reader, home))
        known = (home, hash_text(record.text))
        if known in self.texts or find_kept(session, self.reader, *known):
            return False
        self.texts.add(known)
        folders = (home, *source.split("/")[1:-1])
        path = choose_path("note", folders, _name_stem(source), self.reader, session.store, self.taken)
        self.taken.add(fold_path(path))
        record_id = self.unit.draw_record_id()
        stamp = self.unit.stamp(len(self.changes))
        copies: dict[str, KeyValue | None] = {
            "id": record_id,
            "version": 1,
            "by": str(stamp.ref),
            "recorded_at": stamp.recorded_at,
            "origin": "import",
        }
        owned = _own(record, data, copies, session.yaml)
        draft = VersionDraft(record_id, 1, "note", path, owned, "import", home, redacted=redacted)
        self.changes.append(Change("record.create", draft, place="create"))
        return True


def _clean_file(data: bytes, *, is_on: bool) -> tuple[bytes, set[str]]:
    """Return a file's bytes with secrets replaced; every other byte stays."""
    if not is_on:
        return data, set()
    text, encoding = _decode(data)
    done = redact(text)
    return (done.text.encode(encoding) if done.findings else data), {finding.rule for finding in done.findings}


def _decode(data: bytes) -> tuple[str, str]:
    """Return a file's text, its byte order mark included, and the encoding that gives back exactly its bytes."""
    encoding = _BY_MARK.get(data[:2], "utf-8")
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _clean_path(path: str, *, is_on: bool) -> str:
    """Return the names of a path with secrets replaced."""
    return "/".join(redact(part).text for part in path.split("/")) if is_on else path


def _own(record: Record, data: bytes, copies: Mapping[str, KeyValue | None], yaml: YamlReader) -> bytes:
    """Set the server-owned copies where the file has a front matter that can be edited; drop foreign claims."""
    if not record.has_front_matter or record.is_broken:
        return data
    wanted: dict[str, KeyValue | None] = {name: None for name in _FOREIGN_CLAIMS if name in record.present_keys}
    told = _find_date(record) if "event_time" not in record.present_keys else None
    if told is not None:
        wanted["event_time"] = told
    return replace_keys(data, wanted | dict(copies), yaml)


def _find_date(record: Record) -> str | None:
    """Return the time that a note of another program gives for itself; a day stays a day."""
    for key in _DATE_KEYS:
        if key not in record.reading.values:
            continue
        told = record.reading.spell(key).strip()
        time = parse_told_time(told)
        if time is not None:
            return told if is_told_instant(told) else time
    return None


def _name_home(path: str, default: str) -> str:
    parts = path.split("/")
    return parts[0] if len(parts) > 1 else default


def _name_stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[: -len(".md")] if name.lower().endswith(".md") else name
