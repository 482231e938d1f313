"""Where settings and state lie when nobody says so."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from onrecord.config import find_user_folder, load_settings


@pytest.mark.parametrize("home", [None, "", "/somewhere/else"])
def test_the_folders_are_those_that_the_platform_names(monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        if home is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, home)
    assert find_user_folder("state", os.environ) == platformdirs.user_state_dir("onrecord", False)
    assert find_user_folder("config", os.environ) == platformdirs.user_config_dir("onrecord", False)


@pytest.mark.parametrize("value", ["rel", "./rel", "~/rel"])
def test_a_relative_folder_of_the_user_does_not_count(value: str) -> None:
    environment = {"HOME": "/home/her", "XDG_STATE_HOME": value, "XDG_CONFIG_HOME": value}
    assert find_user_folder("state", environment) == "/home/her/.local/state/onrecord"
    assert find_user_folder("config", environment) == "/home/her/.config/onrecord"


def test_folders_and_settings_are_those_of_the_environment_given(tmp_path: Path) -> None:
    (tmp_path / "onrecord").mkdir()
    (tmp_path / "onrecord" / "config.toml").write_text('agent = "hers"\n')
    settings = load_settings({}, {"XDG_STATE_HOME": "/her/state", "XDG_CONFIG_HOME": str(tmp_path)})
    assert settings.state_root == "/her/state/onrecord"
    assert settings.text("agent") == "hers"
