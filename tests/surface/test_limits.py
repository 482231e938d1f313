"""Each limit of docs/format/limits.md that a call can reach holds at its value and is refused one above it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

import onrecord as package
from onrecord import LimitExceededError, OnRecordError, Vault
from onrecord.domain import limits
from tests.surface.cli import CommandLine

WIDE = "記"


@pytest.fixture
def vault(onrecord: CommandLine) -> Iterator[Vault]:
    with package.open(onrecord.vault) as opened:
        yield opened


def nest(levels: int) -> dict[str, object]:
    """Return a map that is nested so deep, itself counted."""
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def update(vault: Vault, text: str = "o" * limits.PATCH_TEXT_MAX_CHARS, **arguments: object) -> None:
    """Change a record that nobody changed yet."""
    kept = vault.remember(text, title=f"record {hash(json.dumps(arguments))}")
    vault.update(kept.id, expect=kept.version, **arguments)


CALLS: list[tuple[str, int, Callable[[Vault, int], object]]] = [
    ("tags[0]", limits.TAG_MAX_CHARS, lambda vault, n: vault.remember("x", tags=[WIDE * n])),
    ("tags", limits.TAGS_MAX_COUNT, lambda vault, n: vault.remember("x", tags=[f"t{i}" for i in range(n)])),
    ("aliases[0]", limits.ALIAS_MAX_CHARS, lambda vault, n: vault.remember("x", aliases=[WIDE * n])),
    ("aliases", limits.ALIASES_MAX_COUNT, lambda vault, n: vault.remember("x", aliases=[f"a{i}" for i in range(n)])),
    ("title", limits.TITLE_MAX_CHARS, lambda vault, n: vault.remember("x", title=WIDE * n)),
    ("workspace", limits.NAME_MAX_CHARS, lambda vault, n: vault.remember("x", workspace=WIDE * n)),
    ("source_ref", limits.NAME_MAX_CHARS, lambda vault, n: vault.remember("x", source_ref=WIDE * n)),
    ("meta", limits.JSON_MAX_DEPTH, lambda vault, n: vault.remember("x", meta=nest(n))),
    ("query", limits.QUERY_MAX_CHARS, lambda vault, n: vault.find(WIDE * n)),
    ("limit", limits.PAGE_MAX_COUNT, lambda vault, n: vault.find("x", limit=n)),
    ("offset", limits.OFFSET_MAX_COUNT, lambda vault, n: vault.find("x", offset=n)),
    ("ids", limits.BATCH_READ_MAX_COUNT, lambda vault, n: vault.batch_read(["zzzz"] * n)),
    ("old", limits.PATCH_TEXT_MAX_CHARS, lambda vault, n: update(vault, old="o" * n, new="n")),
    ("new", limits.PATCH_TEXT_MAX_CHARS, lambda vault, n: update(vault, old="o" * 1_000_000, new="n" * n)),
    (
        "patches",
        limits.PATCHES_MAX_COUNT,
        lambda vault, n: update(vault, "0123456789", patches=[{"old": str(i), "new": f"<{i}>"} for i in range(n)]),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("field", "limit", "call"), CALLS, ids=[f"{field}-{limit}" for field, limit, _ in CALLS])
def test_a_limit_holds_at_its_value_and_refuses_one_above(
    vault: Vault, field: str, limit: int, call: Callable[[Vault, int], object]
) -> None:
    call(vault, limit)
    with pytest.raises(OnRecordError) as caught:
        call(vault, limit + 1)
    assert (caught.value.field or "").startswith(field.removesuffix("[0]"))
    assert caught.value.code in ("limit_exceeded", "invalid_input")


@pytest.mark.parametrize("mark", ["x", WIDE])
def test_meta_is_measured_as_it_is_written(vault: Vault, mark: str) -> None:
    room = limits.META_MAX_BYTES - len('{"a":""}')
    fits = mark * (room // len(mark.encode())) + "x" * (room % len(mark.encode()))
    kept = vault.remember("x", meta={"a": fits})
    assert vault.read(kept.id).text == "x"
    with pytest.raises(LimitExceededError):
        vault.remember("x", meta={"a": fits + "x"})


def test_texts_at_their_limit_come_back_exactly(vault: Vault) -> None:
    text = WIDE * (limits.TEXT_MAX_BYTES // 3) + "xx"
    assert len(text.encode()) == limits.TEXT_MAX_BYTES
    kept = vault.remember("short")
    vault.update(kept.id, text=text, expect=1)
    assert vault.read(kept.id).text == text
    with pytest.raises(LimitExceededError):
        vault.update(kept.id, text=text + "x", expect=2)
    turn = WIDE * (limits.TURN_TEXT_MAX_BYTES // 3) + "x"
    assert len(turn.encode()) == limits.TURN_TEXT_MAX_BYTES
    where = {"source": "s", "session": "x", "role": "user"}
    vault.capture(turn, turn="1", **where)
    with pytest.raises(LimitExceededError):
        vault.capture(turn + "x", turn="2", **where)
    with pytest.raises(LimitExceededError):
        vault.remember(text + "x")


def test_a_line_of_an_import_holds_at_a_mebibyte(onrecord: CommandLine) -> None:
    def render(size: int) -> bytes:
        line = json.dumps({"session": "s", "turn": "1", "text": "x", "more": ""}).encode()
        return line.replace(b'"more": ""', b'"more": "' + b"x" * (size - len(line)) + b'"')

    assert len(render(limits.IMPORT_LINE_MAX_BYTES)) == limits.IMPORT_LINE_MAX_BYTES
    for end in (b"", b"\n", b"\r\n"):
        data = onrecord("import", "-", stdin=render(limits.IMPORT_LINE_MAX_BYTES) + end).data
        assert data["skipped"] == []
        data = onrecord("import", "-", stdin=render(limits.IMPORT_LINE_MAX_BYTES + 1) + end).data
        assert len(data["skipped"]) == 1


def test_patches_together_hold_at_two_mebibytes(vault: Vault) -> None:
    texts = ["a" * 524_288, "b" * 524_288, "c" * 524_287]
    kept = vault.remember("".join(texts))
    patches = [{"old": text, "new": str(number)} for number, text in enumerate(texts)]
    left = limits.PATCHES_MAX_BYTES - sum(len(text) + 1 for text in texts)
    patches[0]["new"] = "0" * (left + 1)
    above = [dict(patch) for patch in patches]
    above[0]["new"] += "0"
    with pytest.raises(LimitExceededError):
        vault.update(kept.id, patches=above, expect=1)
    assert vault.update(kept.id, patches=patches, expect=1).version == 2
