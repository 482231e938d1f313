"""Questions that are asked again in one read: the last answer is kept, as a read sees one state."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")


class LastAnswers:
    """Keeps the last question and answer of each method, by the method's name."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[object, object]] = {}


_Reader = TypeVar("_Reader", bound=LastAnswers)


def asked_again(method: Callable[[_Reader, _Key], _Answer]) -> Callable[[_Reader, _Key], _Answer]:
    """Answer a question that is the same as the last one from memory."""
    name = method.__name__

    @wraps(method)
    def call(reader: _Reader, key: _Key) -> _Answer:
        known = reader.last.get(name)
        if known is not None and known[0] == key:
            return known[1]  # type: ignore[return-value]
        answer = method(reader, key)
        reader.last[name] = key, answer
        return answer

    return call
