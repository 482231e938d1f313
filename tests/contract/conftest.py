"""The drivers that must obey the contract of the index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexes import DRIVERS, Driver


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    """Give a fresh driver of each kind."""
    made = Driver(request.param, tmp_path)
    yield made
    made.index.close()
