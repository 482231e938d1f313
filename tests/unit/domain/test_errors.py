"""The tree of errors: what each of them tells a caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from onrecord.domain.errors import OnRecordError


def list_classes(root: type[OnRecordError]) -> Iterator[type[OnRecordError]]:
    yield root
    for inner in root.__subclasses__():
        yield from list_classes(inner)


@pytest.mark.parametrize("kind", list(list_classes(OnRecordError)), ids=lambda kind: kind.__name__)
def test_every_error_tells_what_to_do_next(kind: type[OnRecordError]) -> None:
    for error in (kind("a reason"), kind("a reason", hint=""), kind("a reason", hint=None)):
        assert error.describe() == {"code": kind.code, "reason": "a reason", "hint": kind.default_hint}
        assert (bool(kind.default_hint), error.own_hint) == (True, "")
    assert kind("a reason", field="id", hint="Do this.").describe()["hint"] == "Do this."
