"""Text to terms: what a word, an identifier and a run of characters give, and that no text is too hostile."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.domain import analyzer
from onrecord.domain.analyzer import TERM_MAX_CHARS, analyze, analyze_query


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        (" \n\t… — !", []),
        ("The cats were running quickly.", ["the", "cat", "were", "run", "quick"]),
        ("RUNNING Running running", ["run", "run", "run"]),
        ("Caroline's dogs' don't", ["carolin", "dog", "don't"]),
        ("Caroline’s co\u00adoperate", ["carolin", "cooper"]),
        ("O'Brien l'avion", ["o'brien", "brien", "l'avion", "avion"]),
        ("_really_ **bold** `code`", ["realli", "bold", "code"]),
        ("42 3.14 1,000", ["42", "3.14", "3", "14", "1", "000"]),
    ],
)
def test_words_of_english_give_their_stems(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("get_user_id", ["get_user_id", "get", "user", "id"]),
        ("getUserIds", ["getuserid", "get", "user", "id"]),
        ("OAuth2", ["oauth2", "oauth", "2", "auth"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("APIs", ["api"]),
        ("iPhone15Pro", ["iphone15pro", "iphon", "15", "pro", "phone"]),
        ("v0.7.2", ["v0.7.2", "v0", "0", "7", "2"]),
        ("2023-05-08", ["2023-05-08", "2023", "05", "08"]),
        ("8th", ["8th", "8", "th"]),
        ("10:30", ["10:30", "10", "30"]),
        ("bob.smith@example.com", ["bob.smith@example.com", "bob", "smith", "exampl", "com"]),
        ("/usr/local/lib", ["usr/local/lib", "usr", "local", "lib"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("well-known", ["well-known", "well", "known"]),
        ("C++", ["c++"]),
        ("C#", ["c#"]),
        ("__init__", ["init"]),
    ],
)
def test_an_identifier_comes_whole_and_in_its_parts(word: str, terms: list[str]) -> None:
    assert analyze(word) == terms
    assert analyze(f"see {word}, then") == ["see", *terms, "then"]


@pytest.mark.parametrize(
    "word", ["deadbeef0123a4b5c6d7e8f9a0b1c2", "aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0", "x" * 300 + "Y" + "2"]
)
def test_a_hash_has_no_parts(word: str) -> None:
    assert len(analyze(word)) == 1


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("猫", ["猫"]),
        ("东京塔", ["东", "东京", "京", "京塔", "塔"]),
        ("猫が好き", ["猫", "猫が", "が", "が好", "好", "好き", "き"]),
        ("東京2020", ["東", "東京", "京", "2020"]),
        ("コーヒー", ["コ", "コー", "ー", "ーヒ", "ヒ", "ヒー", "ー"]),
        ("안녕", ["안", "안녕", "녕"]),
        ("ไทย", ["ไ", "ไท", "ท", "ทย", "ย"]),
        ("用get_id吧", ["用", "get_id", "get", "id", "吧"]),
        ("你好，世界", ["你", "你好", "好", "世", "世界", "界"]),
    ],
)
def test_a_run_without_blanks_gives_characters_and_pairs(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ｶﾞｷﾞ", "ガギ"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),
        ("STRASSE", "straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("①", "1"),
    ],
)
def test_forms_of_one_text_give_the_same_terms(one: str, other: str) -> None:
    assert analyze(one) == analyze(other) != []


@pytest.mark.parametrize("word", ["हिन्दी", "ünïcode", "naïveté", "Ελλάδα", "русский", "עִבְרִית", "مُحَمَّد"])
def test_marks_stay_in_their_word(word: str) -> None:
    assert len(analyze(word)) == 1


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What did Caroline say about the support group?", ["carolin", "say", "support", "group"]),
        ("Who's there, and why don't they know?", ["know"]),
        ("group of groups", ["group"]),
        ("how are you", ["how", "are", "you"]),
        ("猫は何を食べますか？", ["猫", "猫は", "を食", "食", "食べ"]),
        ("誰が東京に行きましたか", ["が東", "東", "東京", "京", "京に", "に行", "行", "行き"]),
        ("你们什么时候去了北京？", ["去", "去了", "了北", "北", "北京", "京"]),
        ("数据库的端口是多少", ["数", "数据", "据", "据库", "库", "库的", "的端", "端", "端口", "口", "口是"]),
        ("什么", ["什", "什么", "么"]),
        ("の", ["の"]),
        ("", []),
        ("?!", []),
    ],
)
def test_a_question_is_asked_without_function_words(question: str, terms: list[str]) -> None:
    assert analyze_query(question) == terms


def test_a_document_keeps_its_function_words() -> None:
    assert analyze("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_a_long_term_is_cut_and_keeps_apart_from_its_neighbours() -> None:
    (one,), (other,) = analyze("x" * 100), analyze("x" * 101)
    assert one[:47] == other[:47] == "x" * 47
    assert len(one) == len(other) == TERM_MAX_CHARS
    assert one != other
    assert analyze("z" * TERM_MAX_CHARS) == ["z" * TERM_MAX_CHARS]


@given(st.text(max_size=200))
@example("İ\u0307 ǰ ﷺ")
@example("a\u0301" * 40 + "\u0323" * 70)
@example("\ud800 lone \udfff")
def test_terms_are_bounded_and_hold_no_blank(text: str) -> None:
    for term in (*analyze(text), *analyze_query(text)):
        assert 1 <= len(term) <= TERM_MAX_CHARS
        assert not any(character.isspace() or ord(character) < 32 for character in term)


@given(st.text(alphabet=string.printable, max_size=80))
def test_plain_text_takes_the_same_way_as_any_other(text: str) -> None:
    assert analyze(f"{text} é") == [*analyze(text), "é"]


@given(st.text(max_size=60))
def test_a_question_holds_only_terms_of_its_text_once_each(text: str) -> None:
    terms = analyze_query(text)
    assert len(terms) == len(set(terms))
    assert set(terms) <= set(analyze(text))
    assert bool(terms) == bool(analyze(text))


@given(st.lists(st.sampled_from(("running", "Wörter", "数据库", "get_user_id", "v0.7.2")), max_size=8))
def test_words_do_not_change_each_other(words: list[str]) -> None:
    assert analyze(" ".join(words)) == [term for word in words for term in analyze(word)]


HOSTILE = {
    "one word": "a" * 500_000,
    "case borders": "aB" * 250_000,
    "capitals": "A" * 500_000,
    "underscores": "_" * 500_000,
    "joints": "a." * 200_000,
    "path": "/a" * 200_000,
    "digits and letters": "a1" * 250_000,
    "apostrophes": "a'" * 200_000,
    "marks in disorder": "a" + "\u0301\u0323" * 250_000,
    "marks of one kind": "\u0344" * 250_000,
    "expanding": "\ufdfa" * 20_000,
    "han": "漢" * 300_000,
    "hangul parts": "\u1100\u1161\u11a8" * 100_000,
    "plus signs": "C++" * 200_000,
    "distinct words": " ".join(f"w{number:x}" for number in range(40_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_ends_with_a_bounded_number_of_terms(name: str) -> None:
    text = HOSTILE[name]
    assert len(analyze(text)) <= 3 * max(len(text), 18 * text.count("\ufdfa"))


def test_the_memory_of_words_is_bounded() -> None:
    analyze(" ".join(f"q{number:x}" for number in range(150_000)))
    assert len(analyzer._terms_of) <= 131_072
    analyze("z" * 500)
    assert max(map(len, analyzer._terms_of)) <= 32


@given(st.text(alphabet=st.sampled_from("aBc1_ .+#-'/:"), max_size=40))
@example("c++ c# #c c+ a++b")
def test_both_ways_to_find_words_of_ascii_agree(text: str) -> None:
    signed = analyzer._ASCII_WORD_OR_SIGNED.findall(text)
    assert analyze(text) == [term for word in signed for term in analyzer._analyze_word(word)]
