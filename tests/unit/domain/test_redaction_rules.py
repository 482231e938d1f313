"""The public rules: data that equals its source, compiles as a whole, and is applied as its source means it."""

import re
import warnings

import pytest
from scripts.convert_gitleaks import DATA, REPLACED, convert, render, scope_flags, translate

import onrecord.domain.redaction_finding
import onrecord.domain.redaction_formats
import onrecord.domain.redaction_names
import onrecord.domain.redaction_pem
import onrecord.domain.redaction_rules
import onrecord.domain.redaction_values
import onrecord.domain.redaction_verdict
from onrecord.domain.redaction_finding import MARKER, Finding, format_marker
from onrecord.domain.redaction_formats import FORMATS, compile_format
from onrecord.domain.redaction_names import NAMES
from onrecord.domain.redaction_pattern import LazyPattern
from onrecord.domain.redaction_rules import (
    Allowlist,
    compile_rule,
    find_public,
    is_harmless,
    load_rules,
    measure_entropy,
)

MODULES = (
    onrecord.domain.redaction_finding,
    onrecord.domain.redaction_formats,
    onrecord.domain.redaction_names,
    onrecord.domain.redaction_pem,
    onrecord.domain.redaction_rules,
    onrecord.domain.redaction_values,
    onrecord.domain.redaction_verdict,
)
SOURCE = (DATA / "gitleaks.toml").read_text(encoding="utf-8")


def list_patterns() -> dict[str, LazyPattern]:
    return {
        f"{module.__name__}.{name}": value
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, LazyPattern)
    }


def list_allowlists() -> list[Allowlist]:
    rules = load_rules()
    return [rules.allowlist, *(allowlist for rule in rules.rules for allowlist in rule.allowlists)]


def test_the_kept_rules_are_what_their_source_converts_to() -> None:
    assert (DATA / "gitleaks.json").read_text(encoding="utf-8") == render(convert(SOURCE))


def test_the_source_comes_with_its_version_and_licence() -> None:
    assert re.search(r"gitleaks \d+\.\d+\.\d+", load_rules().source)
    licence = (DATA / "gitleaks-LICENSE.txt").read_text(encoding="utf-8")
    assert licence.startswith("MIT License\n\nCopyright (c) 2019 Zachary Rice\n")


def test_every_rule_of_the_source_with_a_pattern_is_kept_or_named_as_replaced() -> None:
    named = set(re.findall(r'^id = "(.+)"$', SOURCE, re.MULTILINE))
    assert named - {rule.id for rule in load_rules().rules} == REPLACED | {"pkcs12-file"}


def test_every_public_pattern_compiles_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rule in load_rules().rules:
            assert re.compile(rule.pattern, re.ASCII).groups >= max(rule.group, 0), rule.id
        for allowlist in list_allowlists():
            assert all(re.compile(pattern, re.ASCII) for pattern in allowlist.patterns)


@pytest.mark.parametrize("name", list_patterns())
def test_every_own_pattern_compiles(name: str) -> None:
    assert list_patterns()[name].compile() is list_patterns()[name].compile()


def test_every_form_compiles_and_has_stems_in_lower_case() -> None:
    for form in FORMATS:
        assert compile_format(form.pattern).pattern == form.pattern
        assert form.stems
        assert all(stem == stem.lower() for stem in form.stems)


def test_every_name_is_in_lower_case() -> None:
    assert [words for words in NAMES if words != words.lower()] == []


def test_every_rule_id_fits_into_a_marker() -> None:
    ids = {rule.id for rule in load_rules().rules} | {form.rule for form in FORMATS}
    ids |= {name.rule for family in NAMES.values() for name in family}
    for rule in ids:
        marker = MARKER.match(format_marker(rule))
        assert marker is not None
        assert marker[0] == format_marker(rule)


def test_every_rule_is_woken_by_each_of_its_keywords() -> None:
    rules = load_rules()
    for position, rule in enumerate(rules.rules):
        assert rule.keywords
        assert all(position in rules.by_keyword[keyword] for keyword in rule.keywords), rule.id


def test_flags_in_mid_pattern_reach_to_the_end_of_their_group() -> None:
    assert scope_flags("a(?i)b") == "a(?i:b)"
    assert scope_flags("(a(?i)b|[)]c)d") == "(a(?i:b)|(?i:[)]c))d"
    assert scope_flags(r"(?i)x(\((?i)y)") == r"(?i)x(\((?i:y))"


def test_syntax_that_only_the_source_knows_is_translated() -> None:
    assert translate(r"[[:alnum:]]+\z") == r"[a-zA-Z0-9]+\Z"


def test_a_rewrite_that_finds_nothing_to_rewrite_is_an_error() -> None:
    changed = SOURCE.replace("|[a-fA-F0-9]{40})", "|[a-fA-F0-9]{41})")
    with pytest.raises(ValueError, match="sourcegraph"):
        convert(changed)


@pytest.mark.parametrize(("text", "bits"), [("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)])
def test_entropy_is_in_bits_a_character(text: str, bits: float) -> None:
    assert measure_entropy(text) == pytest.approx(bits)


def find_rules(text: str) -> list[str]:
    return sorted({finding.rule for finding in find_public(text)})


def test_a_match_below_the_rules_entropy_is_passed_over() -> None:
    head = "AK" + "IA"
    assert find_rules(head + "Q2W4E7R6T5Y3U7I2") == ["aws-access-token"]
    assert find_rules(head + "AAAAAAAAAAAAAAAA") == []


def test_a_match_that_a_rules_allowlist_names_is_passed_over() -> None:
    assert find_rules("AK" + "IA" + "IOSFODNN7EXAMPLE") == []


def test_a_match_with_a_stopword_is_passed_over() -> None:
    value = "Zx9k" + "Q7mW2v" + "T8rLp3"
    assert find_rules(f"some_key = '{value}'") == ["generic-api-key"]
    assert find_rules(f"some_key = '{value}academy'") == []


def test_an_allowlist_on_the_match_sees_the_words_before_the_keyword() -> None:
    value = "Zx9k" + "Q7mW2v" + "T8rLp3"
    assert find_rules(f"the_foreign_key = '{value}'") == []


def test_an_allowlist_on_the_line_sees_the_line_alone() -> None:
    value = "Zx9k" + "Q7mW2v" + "T8rLp3"
    assert find_rules(f"RUN --mount=type=secret, some_key='{value}'") == []
    assert find_rules(f"RUN --mount=type=secret,\nsome_key='{value}'") == ["generic-api-key"]


def test_a_finding_covers_the_whole_of_a_token_that_is_longer_than_its_rule_says() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 3
    assert Finding("github-pat", 4, 4 + len(token)) in list(find_public(f"use {token}."))


@pytest.mark.parametrize(
    "value",
    [
        "550e8400-e29b-41d4-a716-446655440000",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "k3v9x2m4q8w1",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "2024-05-01T10:22:33Z",
        "see-section-4-below",
        "win32api.RegEnumKey",
    ],
)
def test_ids_dates_words_and_code_are_no_keys_to_the_generic_rule(value: str) -> None:
    assert is_harmless("key = ", value)
    assert find_rules(f"key = {value}") == []


def test_a_rule_without_a_group_takes_the_whole_match() -> None:
    plain = [rule for rule in load_rules().rules if compile_rule(rule.pattern).groups == 0]
    assert plain
    assert [rule.id for rule in plain if rule.group > 0] == []
