"""How well a ranking finds what it should: recall at a depth, reciprocal rank, discounted gain.

MRR: Voorhees, TREC-8, 1999. nDCG: Järvelin and Kekäläinen, ACM TOIS 20(4), 2002, with gain 1 for each wanted key.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

DEPTH = 20


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one question, or means of many."""

    recall_5: float
    recall_10: float
    recall_20: float
    mrr: float
    ndcg_10: float


def judge_ranking(found: Sequence[str], wanted: Collection[str]) -> Quality:
    """Judge one ranking.

    Args:
        found: Keys, best first, none twice; only the first 20 count.
        wanted: At least one key.
    """
    ranks = [rank for rank, key in enumerate(found[:DEPTH], 1) if key in wanted]
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    return Quality(
        recall_5=sum(rank <= 5 for rank in ranks) / len(wanted),
        recall_10=sum(rank <= 10 for rank in ranks) / len(wanted),
        recall_20=len(ranks) / len(wanted),
        mrr=1 / ranks[0] if ranks else 0.0,
        ndcg_10=gain / best,
    )


def average(judged: Sequence[Quality]) -> Quality:
    """Return the means of at least one question."""
    count = len(judged)
    return Quality(
        recall_5=sum(one.recall_5 for one in judged) / count,
        recall_10=sum(one.recall_10 for one in judged) / count,
        recall_20=sum(one.recall_20 for one in judged) / count,
        mrr=sum(one.mrr for one in judged) / count,
        ndcg_10=sum(one.ndcg_10 for one in judged) / count,
    )
