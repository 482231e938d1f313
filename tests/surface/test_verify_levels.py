"""The levels of `verify` are explained where a person asks for them."""

from __future__ import annotations

from tests.surface.cli import CommandLine


def test_the_help_of_verify_tells_what_its_levels_mean(bare: CommandLine) -> None:
    told = " ".join(bare("verify", "--help").out.split())
    assert "L1: all agrees with itself" in told
    assert "L2: a signature covers it" in told
