"""A row of the versions store that was changed where its entry was not: it is named, and counts for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault.hostile import get_log
from tests.surface.cli import CommandLine

pytestmark = pytest.mark.usefixtures("guarded")


AGENT = '"origin":"agent","path":"memories/default/Account.md"'
USER = '"origin":"user","path":"memories/default/Accountx.md"'


@pytest.mark.parametrize(("said", "forged"), [(AGENT, USER), ('"status":"current"', '"status":"retired"')])
def test_a_row_that_its_entry_contradicts_counts_for_nothing(onrecord: CommandLine, said: str, forged: str) -> None:
    made = onrecord("remember", "pay the zanzibar account", "--title", "Account").data
    segment = Path(onrecord.vault, ".onrecord", get_log(onrecord), "versions", "00000000.jsonl")
    lines = segment.read_text().splitlines(keepends=True)
    (number,) = [number for number, line in enumerate(lines) if made["id"] in line]
    assert said in lines[number]
    lines[number] = lines[number].replace(said, forged)
    segment.write_text("".join(lines))
    assert onrecord("reindex").status == 0
    hits = onrecord("find", "zanzibar account").data["results"]
    assert all(hit["origin"] == "file" for hit in hits), hits
    history = onrecord("history", made["id"])
    assert history.status != 0 or all(item["origin"] == "file" for item in history.data["versions"])
    assert forged != USER or "version_altered" in [item["code"] for item in onrecord("doctor").data["findings"]]
