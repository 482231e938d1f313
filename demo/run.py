"""The demonstration: a vault made, filled from the shipped sample, searched from other processes, changed, proven.

Every step runs the command line in a process of its own, as agents and people do. Nothing outside a temporary folder is
touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"
QUESTIONS = (
    "Why did we choose SQLite for the phone app?",
    "mergeStationList",
    "站点编号改成几位",
    "味噌汁の出汁",
    "TB-2310 离线地图",
)


def say(text: str) -> None:
    """Print one line of the story."""
    print(text, flush=True)


def onrecord(*words: str, stdin: str | None = None, may_fail: bool = False) -> dict[str, Any]:
    """Run one command with --json and return its envelope."""
    done = subprocess.run(
        [sys.executable, "-m", "onrecord", *words, "--json"],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode and not may_fail:
        raise SystemExit(f"onrecord {' '.join(words)} failed: {done.stdout}{done.stderr}")
    envelope: dict[str, Any] = json.loads(done.stdout)
    return envelope


def load_facts() -> list[dict[str, Any]]:
    """Return the sample's facts."""
    lines = (SAMPLES / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def remember_facts() -> str:
    """Keep every fact of the sample; return the id of the first."""
    first = ""
    facts = load_facts()
    for fact in facts:
        words = ["remember", fact["text"]]
        for name in ("title", "workspace"):
            if name in fact:
                words += [f"--{name}", fact[name]]
        for tag in fact.get("tags", ()):
            words += ["--tag", tag]
        kept = onrecord(*words)["data"]["id"]
        first = first or kept
    say(f"   {len(facts)} facts in English, Chinese and Japanese")
    again = onrecord(
        "remember", facts[0]["text"], *(["--workspace", facts[0]["workspace"]] if "workspace" in facts[0] else [])
    )
    say(f"   the first one again: duplicate = {again['data']['duplicate']}, id = {again['data']['id']}")
    return first


def show_hits(question: str) -> None:
    """Find from a process of its own and print the best three."""
    data = onrecord("find", question, "--limit", "3")["data"]
    say(f"   {question}")
    for hit in data["results"]:
        turn = f" (turn {hit['turn']})" if "turn" in hit else ""
        say(f"      {hit['score']:6.2f}  {hit['id']}  {hit['title']}{turn}")


def main() -> int:
    """Run the story; the exit status is 0 when every step held."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="onrecord-demo-") as folder:
        vault = Path(folder) / "my-vault"
        os.environ |= {
            "ONRECORD_VAULT": str(vault),
            "ONRECORD_STATE": str(Path(folder) / "state"),
            "ONRECORD_CONFIG": str(Path(folder) / "none.toml"),
        }
        say("1. A vault is made; its key lies outside the vault.")
        say(f"   vault {onrecord('init')['data']['vault']}")
        say("2. Facts are remembered, in the words given.")
        first = remember_facts()
        say("3. A tree of Markdown and a conversation are imported.")
        notes = onrecord("import", str(SAMPLES / "notes"))["data"]
        say(f"   notes: {notes['imported']} imported, {len(notes['skipped'])} skipped")
        turns = onrecord("import", str(SAMPLES / "conversation.jsonl"), "--format", "turns")["data"]
        again = onrecord("import", str(SAMPLES / "conversation.jsonl"), "--format", "turns")["data"]
        say(f"   turns: {turns['imported']} imported; again: {again['imported']} imported, {again['duplicates']} known")
        say("4. Another process finds them.")
        for question in QUESTIONS:
            show_hits(question)
        say("5. One memory is read, then changed on the version that was read.")
        memory = onrecord("read", first)["data"]
        say(f"   version {memory['version']}: {memory['text']}")
        changed = onrecord("update", first, "--text", memory["text"] + " (checked)", "--expect", str(memory["version"]))
        say(f"   now version {changed['data']['version']}")
        stale = onrecord("update", first, "--text", "too late", "--expect", str(memory["version"]), may_fail=True)
        say(f"   a second change on the old version is refused: {stale['error']['code']}")
        say("6. Its history.")
        for version in onrecord("history", first)["data"]["versions"]:
            say(f"   {version['version']}  {version['recorded_at']}  {version['origin']}")
        say("7. The file on disk.")
        path = vault / onrecord("read", first)["data"]["path"]
        say("   " + path.read_text(encoding="utf-8").rstrip("\n").replace("\n", "\n   "))
        say("8. A person edits it by hand; the edit is found and becomes a version.")
        path.write_text(path.read_text(encoding="utf-8") + "Edited in any editor: kumquat.\n", encoding="utf-8")
        hit = onrecord("find", "kumquat")["data"]["results"][0]
        say(f"   {hit['id']} is version {hit['version']}, origin {hit['origin']}")
        say("9. The ledger is verified.")
        report = onrecord("verify")["data"]
        entries, differences = report["logs"][0]["entries"], len(report["differences"])
        say(f"   verdict {report['verdict']}; {entries} entries; differences: {differences}")
        say(f"   this does not show: {'; '.join(report['not_shown'])}")
        if report["verdict"] not in ("L1", "L2") or report["differences"]:
            return 1
    say(f"Done in {time.monotonic() - began:.1f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
