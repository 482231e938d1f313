"""Bad input has one error shape below 600 bytes, and nothing is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onrecord as package
from onrecord.app.catalog import OPERATIONS
from onrecord.app.operation import Argument, Kind
from onrecord.domain import limits
from onrecord.domain.errors import OnRecordError
from onrecord.surfaces.cli.output import build_error
from tests.surface.cli import CommandLine

ID = "0123456789ab"

CALLS = [
    ("rember", "x"),
    ("remember",),
    ("remember", ""),
    ("remember", "   \n"),
    ("remember", "x", "--titel", "t"),
    ("remember", "x", "--title", "two\nlines"),
    ("remember", "x", "--title", ""),
    ("remember", "x", "--event-time", "yesterday"),
    ("remember", "x", "--event-time", "2026-02-30"),
    ("remember", "x", "--confidence", "1.5"),
    ("remember", "x", "--confidence", "nan"),
    ("remember", "x", "--meta", "[1]"),
    ("remember", "x", "--meta", "{"),
    ("remember", "x", "--meta", '{"a": NaN}'),
    ("remember", "x", "--meta", '{"a": 1e999}'),
    ("remember", "x", "--meta", '{"a": 1, "a": 2}'),
    ("remember", "x", "--meta", '{"a": "\\ud800"}'),
    ("remember", "x", "--meta", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
    ("remember", "lone \ud800 surrogate"),
    ("remember", "nul \0 character"),
    ("remember", "x", "extra"),
    ("find", ""),
    ("find", "x", "--limit", "0"),
    ("find", "x", "--limit", "0x"),
    ("remember", "x", "--confidence", "abc"),
    ("remember", "x", "--meta", "1"),
    ("read", ID, "--version", "1.0"),
    ("find", "x", "--limit", "101"),
    ("find", "x", "--limit", "true"),
    ("find", "x", "--limit", "1.0"),
    ("find", "x", "--mode", "ful"),
    ("find", "x", "--as-of", "soon"),
    ("read", "abc"),
    ("read", "not an id!"),
    ("read", "../../etc/passwd"),
    ("read", ID, "--version", "0"),
    ("read", ID, "--span", "5:1"),
    ("read", ID, "--span", "a:b"),
    ("update", ID, "--text", "x"),
    ("update", ID, "--expect", "1"),
    ("update", ID, "--old", "a", "--expect", "1"),
    ("update", ID, "--old", "a", "--new", "b", "--text", "c", "--expect", "1"),
    ("update", ID, "--patches", "[]", "--expect", "1"),
    ("update", ID, "--patches", '[{"old": "a"}]', "--expect", "1"),
    ("update", ID, "--patches", json.dumps([{"old": str(n), "new": "x"} for n in range(9)]), "--expect", "1"),
    ("capture", "x", "--source", "s", "--session", "x", "--turn", "1", "--role", "usr"),
    ("capture", "x", "--source", "s", "--session", "x", "--role", "user"),
    ("import", "x", "--format", "pdf"),
    ("help", "rember"),
    ("repair",),
    ("--nonsense",),
    (),
]


@pytest.mark.parametrize(
    "words", CALLS, ids=[" ".join(words)[:40].encode("ascii", "replace").decode() for words in CALLS]
)
def test_a_bad_call_is_refused_in_one_shape(onrecord: CommandLine, words: tuple[str, ...]) -> None:
    done = onrecord(*words)
    assert done.status == 2
    assert len(done.out.encode()) < 600
    assert {"code", "field", "reason", "hint"} <= set(done.error) <= {"code", "field", "reason", "hint", "did_you_mean"}
    assert done.error["hint"]
    status = onrecord("status").data
    assert (status["counts"]["records"], status["counts"]["versions"], status["counts"]["turns"]) == (0, 0, 0)


@pytest.mark.parametrize("words", [("find", "x"), ("read", ID), ("verify",), ("remember", "x"), ("status",)])
def test_a_vault_whose_machine_folder_is_a_link_cannot_be_used(onrecord: CommandLine, words: tuple[str, ...]) -> None:
    machine = Path(onrecord.vault) / ".onrecord"
    machine.rename(machine.with_name("elsewhere"))
    machine.symlink_to("elsewhere")
    done = onrecord(*words)
    assert (done.status, done.error["code"], done.error["field"]) == (2, "vault_unusable", "vault")
    assert onrecord("doctor").status == 2


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("rember", "x"), "remember"),
        (("remember", "x", "--titel", "t"), "--title"),
        (("find", "x", "--mode", "ful"), "full"),
        (("help", "rember"), "remember"),
        (("capture", "x", "--source", "s", "--session", "x", "--turn", "1", "--role", "usr"), "user"),
    ],
)
def test_a_near_miss_is_told(onrecord: CommandLine, words: tuple[str, ...], near: str) -> None:
    assert onrecord(*words).error["did_you_mean"] == near


def test_the_same_mistakes_have_the_same_code_in_the_library(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault) as vault:
        for call in (
            lambda: vault.remember(True),  # type: ignore[arg-type]
            lambda: vault.find("x", limit=True),
            lambda: vault.find("x", limit=float("nan")),
            lambda: vault.read(True),  # type: ignore[arg-type]
            lambda: vault.read(12.5),  # type: ignore[arg-type]
            lambda: vault.remember("x", confidence=float("nan")),
            lambda: vault.remember("x", confidence=True),
            lambda: vault.remember("x", meta={"a": float("inf")}),
            lambda: vault.remember("x", meta={1: 2}),
            lambda: vault.remember("x", tags="not a list"),
            lambda: vault.remember("x", tags=[1]),
            lambda: vault.update(ID, text="x", expect=True),
        ):
            with pytest.raises(OnRecordError) as caught:
                call()
            assert caught.value.code == "invalid_input"
        assert vault.status().data["counts"]["records"] == 0


def make_value(argument: Argument, size: int) -> object:
    """Return a value of the argument's kind that measures `size` by its limit."""
    if argument.kind in (Kind.TEXT, Kind.NAME):
        return "x" * size
    if argument.kind is Kind.NAMES:
        return [f"t{n}" for n in range(size)]
    if argument.kind is Kind.MAP:
        return {"a": "x" * (size - len('{"a":""}'))}
    return size


LIMITED = [
    (operation.name, argument)
    for operation in (OPERATIONS["remember"], OPERATIONS["find"], OPERATIONS["capture"])
    for argument in operation.arguments
    if (argument.maximum or argument.maximum_bytes)
    and argument.kind in (Kind.TEXT, Kind.NAME, Kind.NAMES, Kind.MAP, Kind.INTEGER)
]


@pytest.mark.parametrize(
    ("operation", "argument"), LIMITED, ids=[f"{name}-{argument.name}" for name, argument in LIMITED]
)
def test_each_limit_holds_at_its_value_and_refuses_one_above(
    onrecord: CommandLine, operation: str, argument: Argument
) -> None:
    base: dict[str, object] = {
        "remember": {"text": "x"},
        "find": {"query": "x"},
        "capture": {"text": "x", "source": "s", "session": "x", "turn": "1", "role": "user"},
    }[operation]  # type: ignore[assignment]
    limit = argument.maximum_bytes or argument.maximum
    with package.open(onrecord.vault) as vault:
        call = getattr(vault, operation)
        call(**(base | {argument.name: make_value(argument, limit)}))
        with pytest.raises(OnRecordError) as caught:
            call(**(base | {argument.name: make_value(argument, limit + 1)}))
        assert caught.value.field == argument.name
    assert limit in vars(limits).values() or argument.kind is Kind.INTEGER


def test_two_mebibytes_are_kept_exactly_and_one_byte_more_is_refused(onrecord: CommandLine) -> None:
    text = "記憶 and words. " * (limits.TEXT_MAX_BYTES // 18)
    text += "x" * (limits.TEXT_MAX_BYTES - len(text.encode()))
    kept = onrecord("remember", "-", stdin=text.encode()).data
    with package.open(onrecord.vault) as vault:
        assert vault.read(kept["id"]).text == text
    assert onrecord("remember", "-", stdin=text.encode() + b"x").error["code"] == "limit_exceeded"
    page = onrecord("read", kept["id"])
    assert page.data["truncated"] is True
    assert len(page.data["text"].encode()) <= 65_536
    assert onrecord("find", "記憶").data["results"][0]["id"] == kept["id"]


@pytest.mark.parametrize("text", ["x" * 100_000, "記" * 50_000, "\x01" * 50_000, "😀" * 30_000, '"\\' * 30_000])
def test_a_refusal_stays_below_six_hundred_bytes_whatever_was_given(onrecord: CommandLine, text: str) -> None:
    words = (
        (text,),
        ("remember", "x", f"--{text}"),
        ("remember", "x", f"--{text}=y"),
        ("remember", "x", "--title", text + "\n"),
        ("remember", "x", "--tag", text),
        ("remember", "x", "--event-time", text),
        ("remember", "x", "--meta", text),
        ("find", "x", "--mode", text),
        ("find", "x", "--limit", text),
        ("read", text),
        ("help", text),
        ("import", text),
        ("status", "--client", text + "\n"),
    )
    for call in words:
        done = onrecord(*call)
        assert done.status in (1, 2), call[:2]
        assert len(done.out.encode()) < 600, call[:2]
        assert done.error["code"]
        assert done.error["reason"]
        assert done.error.get("hint") != ""


def test_an_error_of_the_longest_members_keeps_them_all() -> None:
    for one in ("x", "記", "\x01", "😀", "\ud800"):
        error = OnRecordError(one * 500, field=one * 500, hint=one * 2_000, did_you_mean=one * 500)
        shape = build_error(error)
        assert len(json.dumps(shape, ensure_ascii=False).encode()) < 600
        inner = shape["error"]
        assert isinstance(inner, dict)
        assert all(inner[name] for name in ("code", "reason", "field", "hint", "did_you_mean"))


def test_an_error_keeps_the_whole_hint_where_it_fits() -> None:
    error = OnRecordError("short", field="f", hint="h" * 400)
    assert build_error(error)["error"]["hint"] == "h" * 400  # type: ignore[index]
