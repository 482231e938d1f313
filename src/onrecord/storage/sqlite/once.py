"""What the methods of a read share: our errors alone come out; the last answer is kept, as a read sees one state."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from onrecord.storage.sqlite.schema import translated

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")
_Asked = ParamSpec("_Asked")


class LastAnswers:
    """Keeps the last question and answer of each method, by the method's name."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[object, object]] = {}


_Reader = TypeVar("_Reader", bound=LastAnswers)


def reading(method: Callable[Concatenate[_Reader, _Asked], _Answer]) -> Callable[Concatenate[_Reader, _Asked], _Answer]:
    """Let only our errors out of a reader's method."""

    @wraps(method)
    def call(reader: _Reader, /, *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
        with translated():
            return method(reader, *args, **kwargs)

    return call


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
