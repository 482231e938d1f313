"""A memory of another machine whose history is here and whose file has not come."""

from __future__ import annotations

from pathlib import Path

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.app.doctor.diagnosis import diagnose
from onrecord.app.missing import repair_missing
from onrecord.app.session import Channel
from onrecord.app.verify import verify
from tests.machines import bring, bring_log, make_two
from tests.vaults import open_session


def test_doctor_says_that_it_may_be_on_its_way_and_it_does_not_count_as_missing(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    record = first.remember("words of the other machine")["id"]
    bring_log(first, second)
    assert second.find("words of the other machine") == []
    findings = second.call(lambda session: diagnose(session, {}).data["findings"])
    assert isinstance(findings, list)
    (told,) = [item for item in findings if item["code"] == "missing_file"]
    assert "may be on its way" in told["message"]
    assert f"onrecord read {record}" in told["mend"]
    (difference,) = second.call(lambda session: verify(session, {}, Ed25519Verifier()).data["differences"])  # type: ignore[misc]
    assert (difference["code"], difference["message"]) == ("missing_file", told["message"])
    assert second.call(lambda session: repair_missing(session, {}).data["total"]) == 0


def test_a_file_that_may_be_on_its_way_is_not_retired_at_a_word_and_the_user_is_told(tmp_path: Path) -> None:
    first, second = make_two(tmp_path)
    first.remember("words of the other machine")
    bring_log(first, second)
    session = open_session(second.vault, second.state, clock=second.clock, channel=Channel.TERMINAL)
    reply = repair_missing(session, {"retire": True})
    session.close()
    assert (reply.data["total"], reply.data["retired"], reply.data["awaited"]) == (0, 0, 1)
    bring(first, second)
    second.clock.pass_s(60)
    assert len(second.find("words of the other machine")) == 1
    assert second.call(lambda session: repair_missing(session, {}).data["awaited"]) == 0
