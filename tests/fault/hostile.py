"""What every command must still do on a vault that an attacker works on."""

from __future__ import annotations

from tests.surface.cli import CommandLine, Done


def get_record(onrecord: CommandLine) -> str:
    (hit,) = [hit for hit in onrecord("find", "true words").data["results"] if "turn" not in hit]
    return hit["id"]


def get_log(onrecord: CommandLine) -> str:
    return onrecord("status").data["log"]


def list_findings(onrecord: CommandLine, *codes: str) -> list[dict]:
    return [item for item in onrecord("doctor").data["findings"] if not codes or item["code"] in codes]


def run_all(onrecord: CommandLine, record: str) -> dict[str, Done]:
    """Run every command that reads, and a write; each ends in one of our envelopes."""
    commands = {
        "find": ("find", "true words"), "read": ("read", record), "history": ("history", record),
        "status": ("status",), "verify": ("verify",), "doctor": ("doctor",),
        "remember": ("remember", "written later"), "reindex": ("reindex",), "again": ("find", "true words"),
    }  # fmt: skip
    done = {name: onrecord(*words) for name, words in commands.items()}
    for name, each in done.items():
        assert "an unexpected" not in each.out, (name, each.out, each.err)
    return done
