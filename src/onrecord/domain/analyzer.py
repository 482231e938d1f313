"""From text to search terms: the same for every engine, for documents and for questions.

Text is brought to NFKC and cut into words. A word gives its casefolded self (words of ASCII letters as their English
Snowball stem, https://snowballstem.org/algorithms/english/stemmer.html) and, where it is an identifier, its parts as
well. Runs of a script written without blanks give each character and each pair of neighbours. The work is linear in
the text, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain, pairwise

from Stemmer import Stemmer

from onrecord.domain.stopwords import FUNCTION_CHARACTERS, FUNCTION_RUN, STOPWORDS
from onrecord.domain.terms import TERM_MAX_CHARS

_TAIL_BYTES = 8
_CACHED_WORD_MAX_CHARS = 32
_CACHE_MAX_WORDS = 131_072
_SPLIT_MAX_CHARS = 256
_PARTS_MAX_COUNT = 12
_NON_STARTERS_MAX_COUNT = 30

# Scripts that run without blanks: Thai, Lao, Myanmar, Khmer, Hangul, kana, Bopomofo, Han.
_RUNNING = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f\u31a0-\u31bf"
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining marks belong to the word they stand in; `\w` does not know them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83"
    "\u0abc-\u0acd\u0ae2\u0ae3\u0b01-\u0b03\u0b3c-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04"
    "\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83\u0cbc-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d62\u0d63"
    "\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87"
    "\u0f8d-\u0fbc\u0fc6\u1ab0-\u1ace\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_JOINT = r"(?:[.'@/\\:+&-]|::)"
_ASCII_WORD = re.compile(rf"\w+(?:{_JOINT}\w+)*", re.ASCII)
_ASCII_WORD_OR_SIGNED = re.compile(rf"[A-Za-z](?:\+\+|\#)(?!\w)|{_ASCII_WORD.pattern}", re.ASCII)
_PIECE = rf"[^\W{_RUNNING}]+(?:[{_MARKS}]+[^\W{_RUNNING}]+)*[{_MARKS}]*"
_WORD_OR_RUN = re.compile(rf"[A-Za-z](?:\+\+|\#)(?!\w)|{_PIECE}(?:{_JOINT}{_PIECE})*|[{_RUNNING}]+")
_IS_RUN = re.compile(rf"[{_RUNNING}]")
# Marks in disorder make normalisation quadratic; a run of more than 30 is cut (Unicode Annex 15, Stream-Safe Format).
_MANY_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_NON_STARTERS_MAX_COUNT}}}")
_BETWEEN_PIECES = re.compile(r"[.@/\\:+&#_-]+")
_DIGIT_BORDER = re.compile(r"\d+|\D+")
_CASE_BORDER = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_stem = Stemmer("english", 0).stemWord


def analyze(text: str) -> list[str]:
    """Return the terms of a text in order, repeated as often as they occur.

    Args:
        text: Any text up to 2 MiB; lone surrogates are no part of a word.

    Returns:
        Terms of 1 to 64 code points. A word that is an identifier (`get_user_id`, `OAuth2`, `v0.7.2`, a path, an
        address) comes whole, then its parts. A run `abc` of Han, kana, Hangul and the like comes as a, ab, b, bc, c.
    """
    if not text.isascii():
        text = _plain(text)
        if not text.isascii():
            return list(chain.from_iterable(map(_analyze_chunk, _find_chunks(text))))
    pattern = _ASCII_WORD_OR_SIGNED if "++" in text or "#" in text else _ASCII_WORD
    return list(chain.from_iterable(map(_terms_of.__getitem__, pattern.findall(text))))


def analyze_query(text: str) -> list[str]:
    """Return the distinct terms of a question in order of first occurrence, without function words.

    English, Chinese and Japanese function words are dropped; if nothing else is there, all are kept.
    """
    kept: dict[str, None] = {}
    for chunk in _find_chunks(_plain(text)):
        kept.update(dict.fromkeys(_analyze_asked(chunk)))
    return list(kept) or list(dict.fromkeys(analyze(text)))


def _plain(text: str) -> str:
    """Make the typographic apostrophe the plain one and take soft hyphens out."""
    return text.replace("\u2019", "'").replace("\u00ad", "")


def _find_chunks(text: str) -> list[str]:
    """Return words and runs of a text that is not yet normalised."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MANY_MARKS.sub(r"\g<0> ", text))
    return _WORD_OR_RUN.findall(text)


def _analyze_chunk(chunk: str) -> tuple[str, ...] | list[str]:
    return _pair(chunk) if _IS_RUN.match(chunk) else _terms_of[chunk]


def _analyze_asked(chunk: str) -> Iterator[str]:
    if not _IS_RUN.match(chunk):
        if chunk.casefold() not in STOPWORDS:
            yield from _terms_of[chunk]
        return
    for piece in FUNCTION_RUN.split(chunk):
        yield from (term for term in _pair(piece) if term not in FUNCTION_CHARACTERS)


def _pair(run: str) -> list[str]:
    run = run.casefold()
    terms = [run[:1]] if run else []
    for first, second in pairwise(run):
        terms += (first + second, second)
    return terms


def _cap(term: str) -> str:
    """Keep a term of at most 64 code points; of a longer one the first 47, `~` and 16 hex digits of its hash."""
    if len(term) <= TERM_MAX_CHARS:
        return term
    tail = blake2b(term.encode(errors="surrogatepass"), digest_size=_TAIL_BYTES).hexdigest()
    return f"{term[: TERM_MAX_CHARS - 1 - len(tail)]}~{tail}"


def _normalise_word(word: str) -> str:
    folded = word.casefold()
    if folded.isascii() and (folded.isalpha() or folded.replace("'", "").isalpha()):
        return _cap(_stem(folded))
    return _cap(folded)


def _list_parts(word: str) -> Iterator[str]:
    """Yield the parts of an identifier, outermost cut first; a single ASCII letter is no part."""
    for piece in _BETWEEN_PIECES.split(word):
        yield piece
        head, apostrophe, tail = piece.partition("'")
        if apostrophe and len(tail) > 2:
            yield tail
        if len(piece) > _SPLIT_MAX_CHARS:
            continue
        parts = _DIGIT_BORDER.findall(head)
        if head.isascii():
            parts += _CASE_BORDER.findall(head)
        if 2 < len(parts) <= 2 * _PARTS_MAX_COUNT:
            yield from parts


def _analyze_word(word: str) -> tuple[str, ...]:
    """Return the terms of one word: itself, then its distinct parts.

    A piece of more than 256 code points, or with more than 12 borders of case or digits (a hash, base64), stays whole.
    """
    word = word.strip("_")
    if not word:
        return ()
    if word.isdigit() and word.isascii():
        return (_cap(word),)
    whole = _normalise_word(word)
    if word.isascii() and word.isalpha() and (word.islower() or word.isupper() or word[1:].islower()):
        return (whole,)
    terms = {whole: None}
    for part in _list_parts(word):
        if part and not (len(part) == 1 and part.isascii() and part.isalpha()):
            terms[_normalise_word(part)] = None
    return tuple(terms)


class _TermsOfWords(dict[str, tuple[str, ...]]):
    """Terms by word, bounded: words of at most 32 code points, emptied when 131,072 are in, as a large text has."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = _analyze_word(word)
        if len(word) <= _CACHED_WORD_MAX_CHARS:
            if len(self) >= _CACHE_MAX_WORDS:
                self.clear()
            self[word] = terms
        return terms


_terms_of = _TermsOfWords()
