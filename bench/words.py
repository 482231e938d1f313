"""Generated input: one-line records and questions, recombined from our own words; one seed, one text.

Words are drawn by Zipf's law from about 300 of daily and technical life and 4,000 made-up names, so that a question
meets frequent and rare words as in real notes. No text is taken from a data set.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, product

_KNOWN = """
harbour crane copper pipe ferry timetable tide lantern rope anchor pilot customs berth cargo pallet warehouse
forklift inspection permit invoice ledger budget quarter forecast receipt deposit refund supplier contract clause
deadline renewal kitchen oven bread flour yeast butter lemon pepper garlic soup noodle teapot kettle recipe supper
breakfast market basket garden tomato basil fence gravel compost seedling orchard pear apple beetle hedge shovel
watering greenhouse frost shade bicycle helmet chain saddle pump puncture trail bridge tunnel station platform
ticket luggage passport visa airport hotel balcony elevator corridor window curtain carpet lamp socket heater
radiator plumber painter carpenter hammer drill ladder piano violin choir rehearsal concert melody rhythm drum
trumpet album poster gallery sketch canvas brush pottery clay kiln marathon swim pool coach stretch ankle knee
dentist clinic vaccine allergy pollen aspirin bandage glasses sleep fever doctor server database replica cluster
gateway proxy firewall certificate token session cache queue worker scheduler backup restore deploy rollback release
branch merge commit review pipeline container image registry volume network latency throughput timeout retry alert
dashboard metric trace log index schema migration column query table cursor lock transaction journal parser compiler
linter editor keyboard monitor laptop charger battery cable printer scanner speaker microphone camera lens teacher
student lesson exam essay library novel chapter poem notebook pencil chalk museum statue castle village river valley
meadow forest cabin campfire tent backpack compass map summit glacier lake canoe paddle island lighthouse gull
neighbour cousin uncle grandmother nephew twins wedding birthday present candle cake picnic holiday postcard stamp
letter parcel courier address signature meeting agenda minutes proposal sponsor volunteer committee election
petition charity
"""
_OPENERS = (
    *("which", "where is the", "when did we", "who told us about the", "what was the", "how do we"),
    *("why was the", "is there a", "what do we know of the", "since when is the"),
)
_LINKS = (
    *("the", "of", "in", "and", "with", "for", "on", "to", "was", "at", "by", "from", "is", "a"),
    *("near the", "before the"),
)
_ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "k", "kr", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "v", "z")
_MIDDLES = ("ala", "are", "eli", "ino", "oma", "ori", "uba", "ula", "ave", "iru")
_ENDS = (
    *("ck", "den", "dra", "feld", "gor", "ham", "kin", "lund", "mar", "nek"),
    *("pol", "ra", "sto", "tin", "vik", "wen", "xi", "yar", "zen", "bury"),
)
_EXPONENT = 1.0
_OFFSET = 5.0


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the place of the record it was made from."""

    text: str
    record: int


class WordSource:
    """Draws words, records and questions; two sources of one seed give the same."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        known = _KNOWN.split()
        self._random.shuffle(known)
        names = ["".join(parts) for parts in product(_ONSETS, _MIDDLES, _ENDS)]
        self._random.shuffle(names)
        self._words = [*known, *names]
        self._content = frozenset(self._words)
        self._sums = list(accumulate((rank + _OFFSET) ** -_EXPONENT for rank in range(len(self._words))))

    def draw_word(self) -> str:
        """Return a word, frequent ones more often."""
        return self._words[bisect_left(self._sums, self._random.random() * self._sums[-1])]

    def make_records(self, count: int) -> list[str]:
        """Return that many different lines of 12 to 24 words, about half of them function words."""
        records: dict[str, None] = {}
        while len(records) < count:
            records[self._make_line()] = None
        return list(records)

    def make_questions(self, records: Sequence[str], count: int) -> list[Question]:
        """Return questions of five content words: three of one record, two of any."""
        questions = []
        for _ in range(count):
            place = self._random.randrange(len(records))
            content = list(dict.fromkeys(word for word in records[place].rstrip(".").split() if word in self._content))
            chosen = [*self._random.sample(content, 3), self.draw_word(), self.draw_word()]
            self._random.shuffle(chosen)
            questions.append(Question(f"{self._random.choice(_OPENERS)} {' '.join(chosen)}?", place))
        return questions

    def _make_line(self) -> str:
        parts: list[str] = []
        for _ in range(self._random.randint(7, 12)):
            if parts and self._random.random() < 0.7:
                parts.append(self._random.choice(_LINKS))
            parts.append(self.draw_word())
        return " ".join(parts) + "."
