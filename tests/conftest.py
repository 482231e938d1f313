"""Settings of every test: Hypothesis profiles, the soak switch, and state that no two tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from onrecord.adapters.system import SystemClock

for _name, _max_examples in (("dev", 20), ("ci", 50), ("soak", 1000)):
    settings.register_profile(
        _name,
        max_examples=_max_examples,
        deadline=None,
        derandomize=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `soak` unless ONRECORD_SOAK=1."""
    if os.environ.get("ONRECORD_SOAK") == "1":
        return
    skip = pytest.mark.skip(reason="deep run: make soak")
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test wait for a file to be saved whole: what a test writes is."""
    monkeypatch.setattr(SystemClock, "pause", lambda clock, seconds: None)


@pytest.fixture(autouse=True)
def isolated_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test its own state folder and no settings file; return the state folder."""
    root = tmp_path_factory.mktemp("machine")
    state = root / "state"
    monkeypatch.setenv("ONRECORD_STATE", str(state))
    monkeypatch.setenv("ONRECORD_CONFIG", str(root / "absent.toml"))
    monkeypatch.delenv("ONRECORD_VAULT", raising=False)
    return state
