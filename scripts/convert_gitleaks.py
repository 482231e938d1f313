r"""Turn the kept gitleaks rule file into the JSON that `onrecord.domain.redaction_rules` reads.

Usage: python scripts/convert_gitleaks.py

Reads src/onrecord/domain/data/gitleaks.toml (the rule file of gitleaks 8.30.1, unchanged) and writes
gitleaks.json beside it. A test holds the two equal, so that the rules stay data that anyone can compare with
their source.

What changes on the way, and why:
    * RE2 syntax becomes that of `re`: flags in mid-pattern are scoped, `\z` is `\Z`, `[[:alnum:]]` is spelled
      out. Patterns are meant for `re.ASCII`, since RE2's classes and `\b` are ASCII; a key after a Chinese
      character is found only so.
    * The lazy prefix `[\w.-]{0,50}?` is dropped: it never changes the secret, and costs 50 steps at each
      character. The reader widens the match by the same characters where an allowlist looks at the match.
    * The closing class that wants a quote, a blank or the end also accepts what prose puts after a word.
    * Rules on paths alone are dropped, and so are path conditions: a memory has no path.
    * Rules whose cost is not linear, or that are right only in files of one kind, are left out where
      `redaction_formats` or `redaction_names` has one of its own (REPLACED).
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "src" / "onrecord" / "domain" / "data"
SOURCE = "gitleaks 8.30.1, config/gitleaks.toml, MIT License, Copyright (c) 2019 Zachary Rice"

REPLACED = frozenset({"private-key", "jwt", "curl-auth-header", "curl-auth-user", "hashicorp-tf-password"})

# Groups that are only a part of the secret; 0 is the whole match.
WHOLE_MATCH = frozenset({"jwt-base64", "microsoft-teams-webhook"})

PREFIX = r"[\w.-]{0,50}?"
CLOSING = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
PROSE_CLOSING = r"""(?=[\x60'"\s;<>)\]}|]|[.,:!?](?:\s|$)|\\[nr]|[^\x00-\x7f]|$)"""

_ENTRY = r"""[\w.-]+:(?:[ \t]*(?:\||>[-+]?)\s+)?[ \t]*"""
_BOUNDED_ENTRY = r"""[\w.-]{1,128}:(?:[ \t]*(?:\||>[-+]?)\s{1,9})?[ \t]*"""

REWRITES: dict[str, tuple[tuple[str, str], ...]] = {
    # A bare hexadecimal digest is a commit far more often than a token.
    "sourcegraph-access-token": ((r"|[a-fA-F0-9]{40})\b", r")\b"),),
    # Unbounded to the end of the line for each occurrence.
    "nuget-config-password": (("(.{8,})", "(.{8,256}?)"),),
    # The secret without the name before it; templates need no allowlist if they never match.
    "kubernetes-secret-yaml": (
        (f"""({_ENTRY}(?:["']?[a""", f"""{_BOUNDED_ENTRY}((?:["']?[a"""),
        (r"""|\{\{[ \t\w"|$:=,.-]+}}|""|''""", ""),
    ),
}


def _matching_close(pattern: str, start: int) -> list[int]:
    """Where the alternatives of the group that `start` lies in end: at each `|`, and at its bracket or the end."""
    stops: list[int] = []
    depth, at, in_class = 0, start, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "(":
            depth += 1
        elif char == ")" and depth == 0:
            return [*stops, at]
        elif char == ")":
            depth -= 1
        elif char == "|" and depth == 0:
            stops.append(at)
        at += 1
    return [*stops, len(pattern)]


def scope_flags(pattern: str) -> str:
    """Scope each `(?i)` after the start as RE2 means it: to the end of its group, over its alternatives."""
    flag = "(?i)"
    at = pattern.find(flag, 1)
    while at >= 0:
        rest = pattern[at + len(flag) :]
        stops = _matching_close(rest, 0)
        parts: list[str] = []
        last = 0
        for stop in stops:
            parts.append(f"(?i:{rest[last:stop]})")
            last = stop + 1
        pattern = pattern[:at] + "|".join(parts) + rest[stops[-1] :]
        at = pattern.find(flag, at)
    return pattern


def translate(pattern: str) -> str:
    """One RE2 pattern in the syntax of `re`, with the changes that the module's text lists."""
    pattern = pattern.replace("[[:alnum:]]", "[a-zA-Z0-9]").replace(r"\z", r"\Z")
    pattern = pattern.replace(PREFIX, "").replace(CLOSING, PROSE_CLOSING)
    return scope_flags(pattern)


def _convert_allowlist(allowlist: dict[str, Any]) -> dict[str, Any] | None:
    if allowlist.get("condition") == "AND" and "paths" in allowlist:
        return None
    found = {
        "target": allowlist.get("regexTarget", "secret"),
        "patterns": [translate(pattern) for pattern in allowlist.get("regexes", [])],
        "stopwords": sorted({word.lower() for word in allowlist.get("stopwords", [])}),
    }
    return found if found["patterns"] or found["stopwords"] else None


def _convert_rule(rule: dict[str, Any]) -> dict[str, Any]:
    rule_id = rule["id"]
    pattern = translate(rule["regex"])
    for before, after in REWRITES.get(rule_id, ()):
        if before not in pattern:
            raise ValueError(f"{rule_id}: nothing to rewrite")
        pattern = pattern.replace(before, after)
    allowlists = [_convert_allowlist(allowlist) for allowlist in rule.get("allowlists", [])]
    return {
        "id": rule_id,
        "pattern": pattern,
        "keywords": rule["keywords"],
        "entropy": float(rule.get("entropy", 0)),
        "group": 0 if rule_id in WHOLE_MATCH else rule.get("secretGroup", -1),
        "allowlists": [allowlist for allowlist in allowlists if allowlist is not None],
    }


def convert(toml_text: str) -> dict[str, Any]:
    """The rules that are kept, in the order of the source.

    Args:
        toml_text: A gitleaks rule file.

    Raises:
        ValueError: A rule that REWRITES names no longer holds the text to rewrite.
    """
    source = tomllib.loads(toml_text)
    return {
        "source": SOURCE,
        "allowlist": _convert_allowlist(source["allowlist"]),
        "rules": [_convert_rule(rule) for rule in source["rules"] if "regex" in rule and rule["id"] not in REPLACED],
    }


def render(rules: dict[str, Any]) -> str:
    """The JSON file's text: ASCII, one rule a line, so that a change of the source reads well in a diff."""
    lines = ",\n".join(json.dumps(rule, ensure_ascii=True) for rule in rules["rules"])
    head = json.dumps({"source": rules["source"], "allowlist": rules["allowlist"]}, ensure_ascii=True)
    return f'{head[:-1]}, "rules": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    toml = (DATA / "gitleaks.toml").read_text(encoding="utf-8")
    (DATA / "gitleaks.json").write_text(render(convert(toml)), encoding="utf-8")
