"""Where settings and state lie when nobody says so."""

from __future__ import annotations

import platformdirs
import pytest

from onrecord.config import find_user_folder


@pytest.mark.parametrize("home", [None, "", "/somewhere/else"])
def test_the_folders_are_those_that_the_platform_names(monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        if home is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, home)
    assert find_user_folder("state") == platformdirs.user_state_dir("onrecord", False)
    assert find_user_folder("config") == platformdirs.user_config_dir("onrecord", False)
