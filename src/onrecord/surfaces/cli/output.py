"""Prints one reply: a JSON envelope, or text for a person. Data goes to standard output, all else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from onrecord.app.session import Reply
from onrecord.domain.errors import OnRecordError

_ERROR_MAX_BYTES = 600
_HINT_MAX_CHARS = 160

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
    envelope: dict[str, object] = {"ok": False, "error": shape}
    for limit in (_HINT_MAX_CHARS, 80, 40, 0):
        if len(_dump(envelope).encode()) < _ERROR_MAX_BYTES:
            return envelope
        shape = {name: value if name == "code" else value[:limit] for name, value in shape.items()}
        envelope = {"ok": False, "error": {name: value for name, value in shape.items() if value}}
    return envelope


def _dump(shape: object) -> str:
    return json.dumps(shape, ensure_ascii=False, allow_nan=False)


def print_error(error: OnRecordError, *, as_json: bool) -> None:
    """Print a failure: the envelope on standard output, or lines on standard error."""
    if as_json:
        print(_dump(build_error(error)), flush=True)
        return
    where = f" ({error.field})" if error.field else ""
    print(f"onrecord: {error.reason}{where}", file=sys.stderr)
    if error.did_you_mean:
        print(f"  did you mean {error.did_you_mean}?", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)


def print_reply(operation: str, reply: Reply, *, as_json: bool) -> None:
    """Print a success."""
    if as_json:
        print(_dump(build_envelope(reply)), flush=True)
        return
    _PRINTERS.get(operation, _print_pairs)(reply.data)
    sys.stdout.flush()
    for warning in reply.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for degraded in reply.degraded:
        print(f"degraded: {degraded.reason}. {degraded.mend}".rstrip(), file=sys.stderr)
    for notice in reply.notices:
        print(f"notice: {notice.get('kind', '')}: {notice.get('call', '')}", file=sys.stderr)


def _print_pairs(data: Data) -> None:
    for name, value in data.items():
        shown = _dump(value) if isinstance(value, dict | list) else value
        print(f"{name}: {shown}")


def _print_find(data: Data) -> None:
    if not data["results"]:
        print("no match")
    for hit in data["results"]:
        turn = f" · turn {hit['turn']}" if "turn" in hit else ""
        print(f"{hit['id']}  {hit['score']:.3f}  {hit['title']}{turn}  [{hit['kind']}, {hit['origin']}]")
        for span in hit.get("spans", ()):
            print(f"    {span['span']}  {span['text']}")
        shown = hit.get("text", hit.get("snippet"))
        if shown:
            print("    " + shown.replace("\n", "\n    "))
    if data.get("truncated"):
        print("(the page ended early; ask for fewer or a narrower mode)")


def _print_read(data: Data) -> None:
    sys.stdout.write(data["text"])
    if not data["text"].endswith("\n"):
        sys.stdout.write("\n")


def _print_history(data: Data) -> None:
    for item in data["versions"]:
        print(f"{item['version']:>4}  {item['recorded_at']}  {item['origin']:<9}  {item['mode']:<9}  {item['title']}")


def _print_doctor(data: Data) -> None:
    for item in data["findings"]:
        line = f":{item['line']}" if item["line"] else ""
        print(f"{item['severity']:<8}  {item['code']:<26}  {item['path'] or '(vault)'}{line}  {item['message']}")
        if item.get("mend"):
            print(f"          {item['mend']}")
    counts = data["counts"]
    _print_cut(len(data["findings"]), data["total"], "findings")
    print(f"{counts['critical']} critical, {counts['warning']} warnings, {counts['info']} notes")


def _print_cut(shown: int, total: int, what: str) -> None:
    if shown < total:
        print(f"(the page has room for {shown} of {total} {what}; mend these and ask again)")


def _print_verify(data: Data) -> None:
    print(f"verdict: {data['verdict']}")
    for log in data["logs"]:
        counts = f"{log['entries']} entries, {log['signed']} signed, {log['opened']} commitments opened"
        print(f"  log {log['log']}: {log['verdict']}, {counts}")
        if log.get("fault"):
            print(f"    {_dump(log['fault'])}")
    for item in data["differences"]:
        print(f"  {item['code']}  {item['path']}  {item['message']}")
    _print_cut(len(data["logs"]), data["logs_total"], "logs")
    _print_cut(len(data["differences"]), data["differences_total"], "differences")
    print(f"this does not show: {'; '.join(data['not_shown'])}")


def _print_config(data: Data) -> None:
    for item in data["settings"]:
        print(f"{item['name']:<20} {item['value']!s:<28} {item['source']:<12} {item['doc']}")


def _print_help(data: Data) -> None:
    if "operations" in data:
        for item in data["operations"]:
            print(f"{item['operation']:<12} {item['doc']}")
        return
    print(data["doc"])
    for item in data["arguments"]:
        mark = "" if item["required"] else " (optional)"
        print(f"  {item['name']:<18} {item['kind']:<9} {item['doc']}{mark}")
    print(f"returns: {data['returns']}")


_PRINTERS: dict[str, Callable[[Data], None]] = {
    "find": _print_find,
    "read": _print_read,
    "history": _print_history,
    "doctor": _print_doctor,
    "verify": _print_verify,
    "config": _print_config,
    "help": _print_help,
}
