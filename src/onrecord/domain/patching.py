"""Exact replacements in a text: all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onrecord.domain.errors import ConflictError, InvalidInputError, LimitExceededError
from onrecord.domain.limits import PATCH_TEXT_MAX_CHARS, PATCHES_MAX_BYTES, PATCHES_MAX_COUNT, TEXT_MAX_BYTES

_COUNTED_MAX = 100


@dataclass(frozen=True, slots=True)
class Patch:
    """Put `new` in the place of `old`, which occurs once in the text as it was before any patch."""

    old: str
    new: str


def apply_patches(text: str, patches: Sequence[Patch]) -> str:
    """Return the text with every patch applied to the original; their order does not matter.

    Args:
        text: The text as it is.
        patches: 1 to 8, 2 MiB together, each side at most 1,000,000 code points.

    Raises:
        InvalidInputError: no patch, an empty `old`, or half a surrogate pair.
        LimitExceededError: too many or too large, or the result is above 2 MiB.
        ConflictError: an `old` does not occur exactly once, or two of them overlap; `field` names the patch.
    """
    _check_sizes(patches)
    places = sorted((_find_once(text, patch.old, number), number) for number, patch in enumerate(patches))
    pieces: list[str] = []
    end = 0
    for start, number in places:
        if start < end:
            hint = "Join the two patches into one."
            raise ConflictError("two patches change the same place", field=f"patches[{number}].old", hint=hint)
        pieces.extend((text[end:start], patches[number].new))
        end = start + len(patches[number].old)
    changed = "".join((*pieces, text[end:]))
    if _count_bytes(changed, "text") > TEXT_MAX_BYTES:
        raise LimitExceededError(f"the text would be above {TEXT_MAX_BYTES} bytes", field="patches")
    return changed


def _check_sizes(patches: Sequence[Patch]) -> None:
    if not patches:
        raise InvalidInputError("no patch is given", field="patches")
    if len(patches) > PATCHES_MAX_COUNT:
        raise LimitExceededError(f"at most {PATCHES_MAX_COUNT} patches", field="patches")
    total_bytes = 0
    for number, patch in enumerate(patches):
        for side, part in (("old", patch.old), ("new", patch.new)):
            field = f"patches[{number}].{side}"
            if len(part) > PATCH_TEXT_MAX_CHARS:
                raise LimitExceededError(f"at most {PATCH_TEXT_MAX_CHARS} characters", field=field)
            total_bytes += _count_bytes(part, field)
        if not patch.old:
            hint = "Give the text that is to be replaced, with enough around it to occur once."
            raise InvalidInputError("the old text is empty", field=f"patches[{number}].old", hint=hint)
    if total_bytes > PATCHES_MAX_BYTES:
        raise LimitExceededError(f"the patches are above {PATCHES_MAX_BYTES} bytes together", field="patches")


def _count_bytes(text: str, field: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInputError("half a surrogate pair is no character", field=field) from None


def _find_once(text: str, old: str, number: int) -> int:
    """Return where `old` begins; occurrences may overlap, so that "aa" occurs twice in "aaa"."""
    start = text.find(old)
    count = 0
    place = start
    while place >= 0 and count < _COUNTED_MAX:
        count += 1
        place = text.find(old, place + 1)
    if count == 1:
        return start
    field = f"patches[{number}].old"
    if count == 0:
        hint = "It has 0 occurrences: read the record again and copy the text exactly, blanks and line ends included."
        raise ConflictError("the old text does not occur", field=field, hint=hint)
    shown = f"{count} or more" if count == _COUNTED_MAX else str(count)
    hint = f"It has {shown} occurrences: give more of the text around the one that is meant."
    raise ConflictError("the old text occurs more than once", field=field, hint=hint)
