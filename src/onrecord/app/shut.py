"""Tell what lies where nobody looks: below a link that is not followed, or in a folder that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import accumulate
from typing import Final

from onrecord.app.session import Reply, Session

FOLDER_SHUT: Final = "folder_shut"
_MEND: Final = "`onrecord doctor` names it and its mend; for a link: `onrecord link PATH`"


def count_below(closed: Collection[str], paths: Iterable[str]) -> tuple[Counter[str], list[str]]:
    """Return how many of some paths lie below each of some folders (the topmost one counts), and which below none."""
    counts: Counter[str] = Counter()
    others: list[str] = []
    for path in paths:
        folders = accumulate(path.split("/")[:-1], "{}/{}".format)
        folder = next((above for above in folders if above in closed), None)
        if folder is None:
            others.append(path)
        else:
            counts[folder] += 1
    return counts, others


def count_shut(session: Session, paths: Iterable[str]) -> int:
    """Return how many of some files lie where the last comparison was not let in; of a link that is away, none do."""
    counts, _ = count_below(session.refused, paths)
    return sum(count for folder, count in counts.items() if session.store.links.is_shut(f"{folder}/"))


def tell_shut(count: int, reply: Reply) -> None:
    """Say in a reply how many memories cannot be found though nothing is lost; of none, nothing."""
    if count:
        what = "1 memory lies" if count == 1 else f"{count} memories lie"
        told = f"{what} below a link that is not followed, or in a folder that cannot be read, and cannot be found"
        reply.degrade(FOLDER_SHUT, f"{told}; {_MEND}")
