"""What doctor says of what lies beside a state folder."""

from __future__ import annotations

from pathlib import Path

from onrecord.storage.files.inspection import _find_set_aside


def test_a_state_folder_that_was_never_finished_is_named_with_what_goes_on_with_it(tmp_path: Path) -> None:
    for name in ("state", "state.new"):
        (tmp_path / name).mkdir()
    (problem,) = _find_set_aside(str(tmp_path / "state"))
    assert problem.code == "stray_file"
    assert "onrecord adopt --yes" in problem.mend
    assert str(tmp_path / "state.new") in problem.mend
