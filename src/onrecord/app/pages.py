"""Pages of a reply: how much of a list fits under a budget of bytes (promise: every reply is bounded)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from onrecord.domain.errors import InvalidInputError

_Item = TypeVar("_Item", bound=Mapping[str, object])


def measure(item: Mapping[str, object]) -> int:
    """Return the bytes that an item takes as JSON on a page."""
    return len(json.dumps(item, ensure_ascii=False).encode(errors="backslashreplace")) + 2


@dataclass(frozen=True, slots=True)
class Page(Generic[_Item]):
    """Items of one page; `is_full` tells that the next one did not fit."""

    items: list[_Item]
    is_full: bool


def fill_page(items: Iterable[_Item], budget_bytes: int = 0) -> Page[_Item]:
    """Take items as long as they fit together; the very first one always, as it is bounded itself.

    Args:
        items: In order; none is made that is not asked for.
        budget_bytes: Size of all together as JSON; 0 for no bound.
    """
    if not budget_bytes:
        return Page(list(items), is_full=False)
    taken: list[_Item] = []
    left = budget_bytes
    for item in items:
        left -= measure(item)
        if left < 0 and taken:
            return Page(taken, is_full=True)
        taken.append(item)
    return Page(taken, is_full=False)


def take_page(items: Iterable[_Item], budget_bytes: int) -> list[_Item]:
    """Return the items of the first page."""
    return fill_page(items, budget_bytes).items


def cut_text(text: str, span: tuple[int, int] | None, budget_bytes: int) -> tuple[dict[str, object], str]:
    """Return what of a text a page shows, as members of a reply, and a warning where the page ends before the span.

    Args:
        text: The whole text.
        span: Code points from and to, as they were asked for; None for all.
        budget_bytes: Most bytes of UTF-8; 0 for no bound.

    Raises:
        InvalidInputError: the span begins behind the text.
    """
    total = len(text)
    start, end = span if span is not None else (0, total)
    if start > total:
        raise InvalidInputError(f"the text has {total} characters", field="span")
    shown, warning = text[start : min(end, total)], ""
    data: dict[str, object] = {"text": shown, "total_chars": total}
    if budget_bytes and len(shown.encode()) > budget_bytes:
        shown = shown.encode()[:budget_bytes].decode(errors="ignore")
        data |= {"text": shown, "truncated": True, "next_span": f"{start + len(shown)}:{min(end, total)}"}
        warning = f"the page ends at {budget_bytes} bytes; go on with --span {data['next_span']}"
    return data | {"span": f"{start}:{start + len(shown)}"}, warning
