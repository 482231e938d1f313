"""Each finder of the house rules finds what it is for and passes over what is allowed."""

import pytest

from tests.arch import house


def _long_function(lines: int) -> str:
    return "def f():\n" + "    x = 1\n" * (lines - 1)


@pytest.mark.parametrize(
    ("finder", "bad"),
    [
        (house.find_long_functions, _long_function(61)),
        (house.find_broad_handlers, "try:\n    f()\nexcept Exception:\n    pass\n"),
        (house.find_broad_handlers, "try:\n    f()\nexcept:\n    pass\n"),
        (house.find_broad_handlers, "try:\n    f()\nexcept (OSError, BaseException):\n    x = 1\n"),
        (house.find_inner_own_imports, "def f():\n    from onrecord.app import read\n"),
        (house.find_inner_own_imports, "def f():\n    import onrecord.app\n"),
        (house.find_inner_own_imports, "def f():\n    from . import read\n"),
        (house.find_protocols, "class Store(Protocol):\n    pass\n"),
        (house.find_protocols, "class Store(typing.Protocol[T]):\n    pass\n"),
        (house.find_clock_and_chance, "import random\n"),
        (house.find_clock_and_chance, "from time import time\n"),
        (house.find_clock_and_chance, "from uuid import uuid4\n"),
        (house.find_clock_and_chance, "x = datetime.datetime.now()\n"),
        (house.find_clock_and_chance, "x = os.urandom(16)\n"),
        (house.find_vague_names, "class VaultManager:\n    pass\n"),
        (house.find_vague_names, "class StoreV2:\n    pass\n"),
        (house.find_misnamed_errors, "class Broken(ValueError):\n    pass\n"),
        (house.find_unfinished_marks, "x = 1  # " + "TO" + "DO: more\n"),
    ],
)
def test_finder_finds_what_is_forbidden(finder: house.Finder, bad: str) -> None:
    assert len(list(finder(bad))) == 1


@pytest.mark.parametrize(
    ("finder", "good"),
    [
        (house.find_long_functions, _long_function(60)),
        (house.find_broad_handlers, "try:\n    f()\nexcept OSError:\n    pass\n"),
        (house.find_broad_handlers, "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n"),
        (house.find_inner_own_imports, "from onrecord.app import read\ndef f():\n    import ruamel.yaml\n"),
        (house.find_protocols, "class Store(Reader):\n    pass\n"),
        (house.find_clock_and_chance, "import datetime\nx = clock.now()\n"),
        (house.find_vague_names, "class DatabaseRow:\n    pass\n"),
        (house.find_misnamed_errors, "class BrokenError(ValueError):\n    pass\n"),
        (house.find_unfinished_marks, "title = 'todo list'\n"),
    ],
)
def test_finder_passes_over_what_is_allowed(finder: house.Finder, good: str) -> None:
    assert list(finder(good)) == []
