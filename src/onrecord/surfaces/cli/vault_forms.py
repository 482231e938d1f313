"""What some commands tell a person: short lines, what needs attention with its command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Data = Mapping[str, Any]


def tell_init(data: Data) -> Iterator[str]:
    """Yield the lines of `init`."""
    yield f"made vault {data['vault']} in {data['path']}"
    if data["notes"]:
        found = f"{count(data['notes'], 'note')} found"
        yield f"{found}: the next command takes them in as memories, and changes no byte of them"
        yield "to leave some out, move them out of the folder before that, or let a name of their path begin with a dot"
    if data["notes_elsewhere"]:
        told = count(data["notes_elsewhere"], "Markdown file")
        yield f"{told} elsewhere in the folder: no memories, left alone; one that is moved into memories/ becomes one"
        yield "to keep notes where they are and have them as memories too: onrecord link memories THEIR_FOLDER"


def tell_status(data: Data) -> Iterator[str]:
    """Yield the lines of `status`."""
    counts, others = data["counts"], data["machines"]
    yield f"vault {data['vault']}, log {data['log'] or '(none yet)'}"
    held = [count(counts["records"], "record"), count(counts["versions"], "version"), count(counts["turns"], "turn")]
    yield f"{', '.join(held)}, {count(counts['files'], 'file')}, {count(data['ledger']['entries'], 'ledger entry')}"
    if others:
        yield f"{count(others, 'other machine')} write{'s' if others == 1 else ''} into it"
    sources = data["sources"]
    if sources["sources"]:
        told = f"{count(sources['sources'], 'source')}: {count(sources['files'], 'file')}"
        yield f"{told}, {count(sources['sections'], 'section')}, {sources['left_out']} left out"
    todo = list(_list_todo(data))
    yield from todo
    if not todo:
        yield "nothing waits for you (onrecord doctor looks closer)"


def _list_todo(data: Data) -> Iterator[str]:
    if data["missing"]["records"]:
        suspended = ", retirement is suspended" if data["missing"]["retirement_suspended"] else ""
        yield f"{count(data['missing']['records'], 'memory')} without a file{suspended}  (onrecord repair missing)"
    if data["conflicts"]:
        yield f"{count(data['conflicts'], 'open conflict')}  (onrecord conflicts)"
    if data["proposals"]:
        yield f"{count(data['proposals'], 'edit')} by hand to decide on  (onrecord proposals)"
    if data["backup"]["waiting"]:
        yield f"{count(data['backup']['waiting'], 'write')} waiting in the backup  (onrecord repair replay)"
    if data["index"]["behind"]:
        yield f"the index is {count(data['index']['behind'], 'entry')} behind  (onrecord reindex)"
    told = data["missing"]["records"] + data["conflicts"] + data["proposals"]
    if data["problems"] > told:
        yield f"{count(data['problems'] - told, 'other problem' if told else 'problem')}  (onrecord doctor)"


def tell_adopt(data: Data) -> Iterator[str]:
    """Yield the lines of `adopt`."""
    pinned, there, lost = data["pinned"], data["there"], data["given_up"]
    yield f"this vault is older than what was written here: {data['reason']}"
    yield f"  acknowledged here  {count(pinned['size'], 'entry')} of log {pinned['log']}, root {pinned['root']}"
    yield f"  found in the vault {count(there['size'], 'entry')}, root {there['root']}"
    yield f"  given up           {count(lost['entries'], 'entry')}, {count(lost['versions'], 'version')}"
    for item in lost["memories"]:
        yield f"    {item['id']}  version {item['version']}  {item['path']}  {item['title']}"
    if lost["more"]:
        yield f"    (and {lost['more']} more)"
    if data["adopted"]:
        yield f"adopted: log {data['log']} begins; the old state folder is set aside at {data['set_aside']}"
    else:
        yield "put the newest vault back if there is one; to go on without it: onrecord adopt --yes"


def tell_import(data: Data) -> Iterator[str]:
    """Yield the lines of `import`."""
    for item in data["skipped"]:
        where = item.get("path") or f"line {item.get('line')}"
        yield f"left out  {where}  {item['reason']}"
    total = data.get("skipped_total", len(data["skipped"]))
    if total > len(data["skipped"]):
        yield f"(the page has room for {len(data['skipped'])} of {total} left out)"
    yield f"{data['imported']} taken in, {data['duplicates']} known already, {total} left out"


def tell_replay(data: Data) -> Iterator[str]:
    """Yield the lines of `repair replay`."""
    for item in data["failed"]:
        yield f"failed  line {item['line']}  {item['reason']}"
    told = f"{data['replayed']} written, {data['duplicates']} known already, {len(data['failed'])} failed"
    yield f"{told}; {data['remaining']} left"


def count(number: int, what: str) -> str:
    """Return a number with its word, in the plural where it is not one."""
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1] + 'ies' if what.endswith('y') else what + 's'}"
