"""Take in a tree of Markdown, or turns as JSON lines. Repeating an import changes nothing; what is skipped is said."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from onrecord.app.admission import admit
from onrecord.app.capture import append_turns
from onrecord.app.catalog import IMPORT
from onrecord.app.content import find_kept
from onrecord.app.indexing import hash_text
from onrecord.app.places import choose_path
from onrecord.app.scrub import scrub
from onrecord.app.session import Reply, Session
from onrecord.domain.canonical import decode_strict
from onrecord.domain.errors import InvalidInputError, TurnExistsError
from onrecord.domain.filenames import fold_path
from onrecord.domain.limits import BATCH_MAX_BYTES, IMPORT_LINE_MAX_BYTES, NAME_MAX_CHARS, TURN_TEXT_MAX_BYTES
from onrecord.domain.record import KeyValue, Record, read_record, replace_keys
from onrecord.domain.redaction import redact
from onrecord.domain.told_time import parse_told_time
from onrecord.domain.transcript import Turn
from onrecord.ports.index import IndexReader
from onrecord.ports.sources import SourceFile
from onrecord.ports.store import Change, VersionDraft, WriteUnit
from onrecord.ports.yaml_reader import YamlReader

_TURNS_A_COMMIT = 500
_NOTES_A_COMMIT = 200
_TURN_KEYS = frozenset({"session", "turn", "speaker", "text", "time", "role", "source"})
_FOREIGN_CLAIMS = ("status", "client", "agent", "confirmed_by", "protection", "kb", "kind")
_ROLES = frozenset({"user", "assistant", "tool", "system", "document"})

Progress = Callable[[int], None]


@dataclass(slots=True)
class Tally:
    """What an import did."""

    imported: int = 0
    duplicates: int = 0
    skipped: list[dict[str, object]] = field(default_factory=list)

    def skip(self, reason: str, **where: object) -> None:
        """Name one thing that was not taken in."""
        self.skipped.append({**where, "reason": reason})

    def describe(self) -> dict[str, object]:
        """Return the reply's data."""
        return {"imported": self.imported, "duplicates": self.duplicates, "skipped": self.skipped}


def import_turns(session: Session, given: Mapping[str, object], lines: Iterable[bytes], progress: Progress) -> Reply:
    """Append turns from JSON lines `{session, turn, speaker, text, time}`, also `role` and `source`.

    Args:
        session: The opened vault.
        given: Arguments of the operation `import`.
        lines: The lines, LF or not; blank ones are passed over.
        progress: Called with the number of lines done.

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
    tally = Tally()
    batch: list[tuple[int, Turn]] = []
    rules: set[str] = set()
    size = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.strip():
            continue
        try:
            turn = _read_turn(line, source, rules, is_on=session.policy.redact)
        except InvalidInputError as error:
            tally.skip(error.reason, line=number, field=error.field or "")
            continue
        batch.append((number, turn))
        size += len(turn.text.encode())
        if len(batch) >= _TURNS_A_COMMIT or size >= BATCH_MAX_BYTES // 4:
            _write_turns(session, batch, workspace, tally, reply)
            progress(number)
            batch, size = [], 0
    if batch:
        _write_turns(session, batch, workspace, tally, reply)
        progress(batch[-1][0])
    if rules:
        reply.warnings.append(f"secrets were replaced before anything was written: {', '.join(sorted(rules))}")
    reply.data = tally.describe()
    return reply


def _write_turns(session: Session, batch: list[tuple[int, Turn]], workspace: str, tally: Tally, reply: Reply) -> None:
    with session.write() as unit:
        results = append_turns(session, unit, [turn for _, turn in batch], workspace, reply)
    for (number, _), result in zip(batch, results, strict=True):
        if isinstance(result, TurnExistsError):
            tally.skip(result.reason, line=number)
        elif result.duplicate:
            tally.duplicates += 1
        else:
            tally.imported += 1


def _read_turn(line: bytes, source: str, rules: set[str], *, is_on: bool) -> Turn:
    shape = decode_strict(line, max_bytes=IMPORT_LINE_MAX_BYTES, allow_floats=True)
    for name in ("session", "turn", "text"):
        if shape.get(name) is None:
            raise InvalidInputError(f"{name} is missing", field=name)
    given = {name: value for name, value in shape.items() if name in _TURN_KEYS and value is not None}
    names: dict[str, str] = {
        name: _read_name(name, given[name]) for name in ("session", "turn", "speaker", "source") if name in given
    }
    text = given.get("text")
    if not isinstance(text, str):
        raise InvalidInputError("a text is expected", field="text")
    if len(text.encode()) > TURN_TEXT_MAX_BYTES:
        raise InvalidInputError(f"a turn has at most {TURN_TEXT_MAX_BYTES} bytes", field="text")
    role = given.get("role", "user")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidInputError("role is user, assistant, tool, system or document", field="role")
    told = given.get("time")
    time = parse_told_time(str(told)) if told is not None and not isinstance(told, bool) else None
    told_text = str(told)[:NAME_MAX_CHARS] if told is not None and time is None else ""
    clean: dict[str, str] = {"text": text, "time_text": told_text, **names}
    if is_on:
        for name, value in clean.items():
            done = redact(value)
            rules.update(finding.rule for finding in done.findings)
            clean[name] = done.text
    return Turn(
        source=clean.get("source", source),
        session=clean["session"],
        turn=clean["turn"],
        role=str(role),
        text=clean["text"],
        origin="import",
        speaker=clean.get("speaker", ""),
        time=time,
        time_text=clean["time_text"],
    )


def _read_name(field: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError("a text is expected", field=field)
    name = str(value)
    if len(name) > NAME_MAX_CHARS:
        raise InvalidInputError(f"at most {NAME_MAX_CHARS} characters", field=field)
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in name):
        raise InvalidInputError("control characters are not allowed here", field=field)
    if not name.strip() and field != "speaker":
        raise InvalidInputError("a name is not blank", field=field)
    return name


def import_markdown(
    session: Session, given: Mapping[str, object], files: Iterable[SourceFile], progress: Progress
) -> Reply:
    """Copy Markdown files into the vault as records of origin `import`; the originals are not touched.

    A file whose text is already kept in its workspace is a duplicate. Keys of the user stay as they are; the keys
    that OnRecord owns are set anew, as a claim in a file proves nothing.

    Returns:
        data: imported, duplicates, skipped[] with path and reason.

    Raises:
        InvalidInputError: the call is refused.
        NotWritableError: nothing of the present batch was stored; earlier batches were.
    """
    arguments = scrub(admit(IMPORT, given), is_on=session.policy.redact).arguments
    workspace = arguments.get("workspace")
    reply = Reply()
    tally = Tally()
    rules: set[str] = set()
    done = 0
    for batch in _group(files):
        _write_notes(session, batch, workspace if isinstance(workspace, str) else None, tally, reply, rules)
        done += len(batch)
        progress(done)
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
    with session.write() as unit, session.index.read() as reader:
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

    def add(self, source: str, data: bytes, redacted: tuple[str, ...]) -> bool:
        """Add one note; False if its text is already kept in its workspace."""
        session = self.session
        record = read_record(data, source, session.yaml)
        home = self.workspace or record.keys.workspace or _name_home(source, session.policy.workspace)
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
    for encoding in ("utf-8", "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        done = redact(text)
        clean = done.text.encode(encoding) if done.findings else data
        return clean, {finding.rule for finding in done.findings}
    done = redact(data.decode("latin-1"))
    return done.text.encode("latin-1"), {finding.rule for finding in done.findings}


def _clean_path(path: str, *, is_on: bool) -> str:
    """Return the names of a path with secrets replaced."""
    return "/".join(redact(part).text for part in path.split("/")) if is_on else path


def _own(record: Record, data: bytes, copies: Mapping[str, KeyValue | None], yaml: YamlReader) -> bytes:
    """Set the server-owned copies where the file has a front matter that can be edited; drop foreign claims."""
    if not record.has_front_matter or record.is_broken:
        return data
    wanted: dict[str, KeyValue | None] = {name: None for name in _FOREIGN_CLAIMS if name in record.present_keys}
    return replace_keys(data, wanted | dict(copies), yaml)


def _name_home(path: str, default: str) -> str:
    parts = path.split("/")
    return parts[0] if len(parts) > 1 else default


def _name_stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[: -len(".md")] if name.lower().endswith(".md") else name
