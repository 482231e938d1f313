"""Prints one reply: a JSON envelope, or text for a person. Data goes to standard output, all else to standard error.

Nothing that is stored reaches a terminal raw: see `terminal`. `read` into a file or a pipe gives the exact text alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from onrecord.surfaces.cli.terminal import show_line, show_text
from onrecord.surfaces.cli.vault_forms import count, tell_adopt, tell_import, tell_init, tell_replay, tell_status

if TYPE_CHECKING:
    from onrecord.app.session import Reply
    from onrecord.domain.errors import OnRecordError

_ERROR_MAX_BYTES = 600
# The most that a member of an error takes as JSON; the hint gets what the others leave.
_MEMBER_MAX_BYTES = {"code": 40, "reason": 210, "field": 90, "did_you_mean": 60}

# How many checks of one reason `doctor` names to a person.
_NAMED_COUNT = 4

# Where a side of a conflict was written, by `written_here`; empty where that cannot be told.
_MACHINES = {True: "this machine", False: "other machine", None: ""}

Data = Mapping[str, Any]


def build_envelope(reply: Reply) -> dict[str, object]:
    """Return the one envelope of a success."""
    return {
        "ok": True,
        "data": reply.data,
        "warnings": reply.warnings,
        "degraded": [{"reason": item.reason, "mend": item.mend} for item in reply.degraded],
        "notices": reply.notices,
    }


def build_error(error: OnRecordError) -> dict[str, object]:
    """Return the one envelope of a failure, below 600 bytes."""
    shape = {name: value.encode(errors="backslashreplace").decode() for name, value in error.describe().items()}
    cut = {name: _cut(value, _MEMBER_MAX_BYTES.get(name, 0)) for name, value in shape.items()}
    envelope: dict[str, object] = {"ok": False, "error": cut}
    if "hint" in shape:
        left = _ERROR_MAX_BYTES - 1 - len(_dump(envelope).encode())
        cut["hint"] = _cut(shape["hint"], left)
    return envelope


def _cut(text: str, max_bytes: int) -> str:
    """Return the beginning of a text that takes at most so many bytes within the quotes of a JSON string."""
    text = text[:max_bytes]
    while len(_dump(text).encode()) - 2 > max_bytes:
        text = text[: -max(1, (len(_dump(text).encode()) - 2 - max_bytes) // 6)]
    return text


def _dump(shape: object) -> str:
    return json.dumps(shape, ensure_ascii=False, allow_nan=False)


def print_error(error: OnRecordError, *, as_json: bool) -> None:
    """Print a failure: the envelope on standard output, or lines on standard error."""
    if as_json:
        print(_dump(build_error(error)), flush=True)
        return
    where = f" ({error.field})" if error.field else ""
    print(show_line(f"onrecord: {error.reason}{where}"), file=sys.stderr)
    if error.did_you_mean:
        print(show_line(f"  did you mean {error.did_you_mean}?"), file=sys.stderr)
    if error.hint:
        print(show_line(f"  {error.hint}"), file=sys.stderr)


def print_reply(operation: str, reply: Reply, *, as_json: bool) -> None:
    """Print a success."""
    if as_json:
        print(_dump(build_envelope(reply)), flush=True)
        return
    _PRINTERS.get(operation, _print_pairs)(reply.data)
    sys.stdout.flush()
    for warning in reply.warnings:
        print(show_line(f"warning: {warning}"), file=sys.stderr)
    # What doctor found stands among its findings already.
    data: Data = reply.data
    told = {item["code"] for item in data["findings"]} if operation == "doctor" else set()
    for degraded in reply.degraded:
        if degraded.reason in told:
            continue
        print(show_line(f"degraded: {degraded.reason}. {degraded.mend}".rstrip()), file=sys.stderr)
    for notice in reply.notices:
        print(show_line(f"notice: {notice.get('kind', '')}: {notice.get('call', '')}"), file=sys.stderr)


def _print_pairs(data: Data) -> None:
    for name, value in data.items():
        shown = _dump(value) if isinstance(value, dict | list) else value
        _say(f"{name}: {shown}")


def _say(line: object) -> None:
    print(show_line(line))


def _print_find(data: Data) -> None:
    if not data["results"]:
        print("no match")
    for hit in data["results"]:
        place = f" · turn {hit['turn']}" if "turn" in hit else ""
        place = f" · {hit['source']}: {hit['path']}" if "source" in hit else place
        marks = f", conflict {hit['conflict']}" if "conflict" in hit else ""
        marks += ", pending_sync" if hit.get("pending_sync") else ""
        _say(f"{hit['id']}  {hit['score']:.3f}  {hit['title']}{place}  [{hit['kind']}, {hit['origin']}{marks}]")
        for span in hit.get("spans", ()):
            _say(f"    {span['span']}  {span['text']}")
        shown = hit.get("text", hit.get("snippet"))
        if shown:
            print("    " + show_text(shown).replace("\n", "\n    "))
    _print_next(data)


def _print_next(data: Data) -> None:
    if "next_offset" in data:
        _say(f"(there is more: --offset {data['next_offset']})")
    elif data.get("truncated"):
        _say("(the page ended early; `onrecord read` pages the rest of a text)")


def _print_read(data: Data) -> None:
    if not sys.stdout.isatty():
        sys.stdout.write(data["text"])
        return
    sys.stdout.write(show_text(data["text"]))
    if not data["text"].endswith("\n"):
        sys.stdout.write("\n")


def _print_unlinked(data: Data) -> None:
    for item in data["links"]:
        _say(f"{item['path']} -> {item['target']}  [followed no more]")


def _print_links(data: Data) -> None:
    if not data["links"]:
        print("no link is followed; `onrecord link PATH TARGET` makes one, such as memories/work ~/Notes")
    for item in data["links"]:
        _say(f"{item['path']} -> {item['target']}  [{item['state']}]")


def _print_history(data: Data) -> None:
    if data.get("pending_sync"):
        _say(f"no versions here yet: {data['path']} came before its history")
    for item in data["versions"]:
        told = f"{item['version']:>4}  {item['recorded_at']}  {item['origin']:<9}  {item['mode']:<9}"
        _say(f"{told}  {item['status']:<10}  {item['by']:<19}  {item['title']}")
    _print_next(data)


def _print_proposals(data: Data) -> None:
    if not data["proposals"]:
        print("no open proposals")
    for item in data["proposals"]:
        _say(f"{item['id']:>4}  {item['since'][:10]}  {item['title']}  ({item['record']}, {item['path'] or 'no file'})")
        _say(f"      {item['key']}: {item['from'] or '(absent)'} -> {item['to'] or '(absent)'}")
    if data["proposals"]:
        print("none has any effect; one that is not wanted ends when the key in the file is as it was")
    _print_next(data)


def _print_conflicts(data: Data) -> None:
    if not data["conflicts"]:
        print("no open conflicts")
    for item in data["conflicts"]:
        state = f"{item['state']}: {item['decision']}" if "decision" in item else item["state"]
        _say(f"{item['id']}  {state:8}  {item['since'][:10]}  {item['title']}")
        for side, member in zip(item["sides"], item["members"], strict=True):
            line = side["line"] or ("(not here)" if side["origin"] == "unknown" else "(no words here)")
            machine = _MACHINES[side.get("written_here")]
            _say(f"    {side['side']}  {member}  {side['origin']:8}  {machine:13}  {line}")
    _print_next(data)
    if "not_checked" in data:
        _say(f"{data['not_checked']} memories that another machine touched are compared with the next write")


def _print_doctor(data: Data) -> None:
    for item in data["findings"]:
        line = f":{item['line']}" if item["line"] else ""
        _say(f"{item['severity']:<8}  {item['code']:<26}  {item['path'] or '(vault)'}{line}  {item['message']}")
        _say(f"          check {item['check']}. {item.get('mend', '')}".rstrip())
    counts = data["counts"]
    if "next_offset" in data:
        _say(f"({len(data['findings'])} of {data['total']} findings: the next with --offset {data['next_offset']})")
    unasked: dict[str, list[str]] = {}
    for check in data["checks"]:
        if "reason" in check:
            unasked.setdefault(check["reason"], []).append(check["id"])
    for reason, checks in unasked.items():
        more = f" and {len(checks) - _NAMED_COUNT} more" if len(checks) > _NAMED_COUNT else ""
        _say(f"not run: {', '.join(checks[:_NAMED_COUNT])}{more}: {reason}")
    print(f"{counts['critical']} critical, {count(counts['warning'], 'warning')}, {count(counts['info'], 'note')}")


def _print_cut(shown: int, total: int, what: str) -> None:
    if shown < total:
        print(f"(the page has room for {shown} of {total} {what}; mend these and ask again)")


# docs/format/tree.md, Verdict levels.
_MEANINGS = {
    "L1": " (all agrees with itself; no signature covers it)",
    "L2": " (all agrees with itself, and a signature of the log's key covers it)",
}


def _print_verify(data: Data) -> None:
    print(f"verdict: {data['verdict']}{_MEANINGS.get(data['verdict'], '')}")
    for log in data["logs"]:
        counts = f"{log['entries']} entries, {log['signed']} signed, {log['opened']} commitments opened"
        _say(f"  log {log['log']}: {log['verdict']}, {counts}")
    for item in data["differences"]:
        _say(f"  {item['code']}  {item['path']}  {item['message']}. {item.get('mend', '')}".rstrip())
    for item in data["notes"]:
        _say(f"  note: {item['code']}  {item['path']}  {item['message']}")
    _print_cut(len(data["logs"]), data["logs_total"], "logs")
    _print_cut(len(data["differences"]), data["differences_total"], "differences")
    _print_cut(len(data["notes"]), data["notes_total"], "notes")
    print(f"this does not show: {'; '.join(data['not_shown'])}")


def _print_missing(data: Data) -> None:
    for item in data["retired_memories"]:
        _say(f"retired  {item['id']}  {item['path']}  {item['title']}")
    _print_cut(len(data["retired_memories"]), data["retired"], "retired memories")
    for item in data["missing"]:
        left = f"{item['left_s'] / 3_600:.1f} h of the wait left"
        _say(f"{item['id']}  since {item['since']}  {left}  {item['path']}  {item['title']}")
    _print_cut(len(data["missing"]), data["total"], "memories")
    retired = f"{count(data['retired'], 'memory')} retired now; " if data["retired"] else ""
    if data["total"]:
        suspended = "; retirement is suspended" if data["retirement_suspended"] else ""
        print(f"{retired}{data['total']} of {data['records']} memories have no file{suspended}")
    else:
        print(f"{retired}no {'other' if retired else 'memory'} has lost its file")
    if data["awaited"]:
        came = "of another machine, whose file never came and may be on its way (see `onrecord doctor`)"
        print(f"not among them, nor retired: {count(data['awaited'], 'memory')} {came}")


def _print_config(data: Data) -> None:
    for item in data["settings"]:
        _say(f"{item['name']:<20} {item['value']!s:<28} {item['source']:<12} {item['doc']}")
    for name, folder in data["folders"].items():
        _say(f"folder of the {name}: {folder}")


def _print_help(data: Data) -> None:
    if "operations" in data:
        for item in data["operations"]:
            print(f"{item.get('command', item['operation']):<14} {item['doc']}{_mark_untyped(item)}")
        return
    print(f"{data['doc']}{_mark_untyped(data)}")
    for item in data["arguments"]:
        mark = "" if item["required"] else " (optional)"
        print(f"  {item['name']:<18} {item['kind']:<9} {item['doc']}{mark}")
    print(f"returns: {', '.join(data['returns'])}")


def _mark_untyped(operation: Data) -> str:
    return "" if "command" in operation else " (Python API only)"


def _print_sources(data: Data) -> None:
    if not data["sources"]:
        print("no sources")
    for item in data["sources"]:
        alone = ", found by it and you alone" if item["owner_only"] else ""
        by = f"  (of {item['agent']}{alone})" if item.get("agent") else ""
        held = f"{count(item['files'], 'file')}, {count(item['sections'], 'section')}"
        _say(f"{item['name']:<16}  {held:<24}  {item['path']}{by}")
    _print_cut(len(data["sources"]), data["sources_total"], "sources")
    _print_left_out(data)


def _print_left_out(data: Data) -> None:
    for item in data["left_out"]:
        _say(f"left out  {item['source']}: {item['path'] or '(as a whole)'}  {item['reason']}")
    if len(data["left_out"]) < data["left_out_total"]:
        print(f"(the page has room for {len(data['left_out'])} of {data['left_out_total']} left out)")


def _print_source(data: Data) -> None:
    print(f"{count(data['files'], 'file')}, {count(data['sections'], 'section')}")
    _print_left_out(data)


def _print_lines(tell: Callable[[Data], Iterator[str]]) -> Callable[[Data], None]:
    def show(data: Data) -> None:
        for line in tell(data):
            _say(line)

    return show


_PRINTERS: dict[str, Callable[[Data], None]] = {
    "find": _print_find,
    "read": _print_read,
    "conflicts": _print_conflicts,
    "proposals": _print_proposals,
    "history": _print_history,
    "link": _print_links,
    "unlink": _print_unlinked,
    "doctor": _print_doctor,
    "verify": _print_verify,
    "missing": _print_missing,
    "config": _print_config,
    "source_add": _print_source,
    "source_list": _print_sources,
    "help": _print_help,
    "init": _print_lines(tell_init),
    "status": _print_lines(tell_status),
    "adopt": _print_lines(tell_adopt),
    "import": _print_lines(tell_import),
    "replay": _print_lines(tell_replay),
}
