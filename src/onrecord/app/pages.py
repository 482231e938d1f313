"""Cutting a list of findings to a page: whole items while they fit (promise: every reply is bounded)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

_Item = TypeVar("_Item", bound=Mapping[str, object])


def measure(item: Mapping[str, object]) -> int:
    """Return the bytes that an item takes as JSON on a page."""
    return len(json.dumps(item, ensure_ascii=False).encode(errors="backslashreplace")) + 2


def take_page(items: Sequence[_Item], budget_bytes: int) -> list[_Item]:
    """Return the first items that fit into the budget together; the very first one always, as it is bounded itself."""
    taken: list[_Item] = []
    for item in items:
        budget_bytes -= measure(item)
        if budget_bytes < 0 and taken:
            break
        taken.append(item)
    return taken
