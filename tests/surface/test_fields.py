"""What a field may hold, the same on every surface: refused with field and hint, or kept as the docs say."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

import onrecord as package
from onrecord.domain.errors import InvalidInputError
from tests.surface.cli import CommandLine


@pytest.mark.parametrize("end", ["2026-01-01", "2026-01-01T00:00:00Z", "2025-12-31", "2026-01-01T01:00:00+01:00"])
def test_a_valid_time_that_holds_nothing_is_refused(onrecord: CommandLine, end: str) -> None:
    done = onrecord("remember", "x", "--valid-from", "2026-01-01", "--valid-to", end)
    assert (done.status, done.error["field"]) == (2, "valid_to")
    assert done.error["hint"]
    with package.open(onrecord.vault) as vault, pytest.raises(InvalidInputError):
        vault.remember("x", valid_from="2026-01-01", valid_to=end)
    assert onrecord("remember", "x", "--valid-from", "2026-01-01", "--valid-to", "2026-01-02").status == 0


@pytest.mark.parametrize("number", ["0.1234", "0.9999", "0.0001"])
def test_a_confidence_with_a_fourth_decimal_is_refused_not_rounded(onrecord: CommandLine, number: str) -> None:
    done = onrecord("remember", "x", "--confidence", number)
    assert (done.status, done.error["field"]) == (2, "confidence")
    assert onrecord("remember", "y", "--confidence", number[:5] + "0").status == 0


def test_a_tag_loses_the_hash_before_it_on_every_surface(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "x", "--tag", "#infra", "--tag", "##deep").data
    shown = onrecord("read", kept["id"]).data
    assert shown["tags"] == ["infra", "deep"]
    assert "tags: [infra, deep]" in Path(onrecord.vault, shown["path"]).read_text()
    with package.open(onrecord.vault) as vault:
        vault.update(kept["id"], tags=["#a#b"], expect=1)
        assert vault.read(kept["id"]).tags == ("a#b",)
    assert onrecord("remember", "x", "--tag", "#").error["field"] == "tags[0]"
    Path(onrecord.vault, "memories/default/mine.md").write_text('---\ntags: ["##mine"]\n---\ntext of mine\n')
    found = onrecord("find", "mine").data["results"][0]["id"]
    assert onrecord("read", found).data["tags"] == ["mine"]


def test_a_repeated_call_with_a_tag_and_its_hash_is_the_same_request(onrecord: CommandLine) -> None:
    first = onrecord("remember", "x", "--tag", "#a", "--idempotency-key", "k").data
    assert onrecord("remember", "x", "--tag", "#a", "--idempotency-key", "k").data["id"] == first["id"]
    assert onrecord("remember", "x", "--tag", "a", "--idempotency-key", "k").data["id"] == first["id"]


COMPOSED = "Café"


@pytest.mark.parametrize("other", ["CAFÉ", "café", unicodedata.normalize("NFD", COMPOSED)])
def test_names_that_differ_in_case_or_composition_are_one_workspace_in_its_first_spelling(
    onrecord: CommandLine, tmp_path: Path, other: str
) -> None:
    first = onrecord("remember", "kumquats", "--workspace", COMPOSED).data
    assert onrecord("remember", "kumquats", "--workspace", other).data == first | {"duplicate": True}
    second = onrecord("remember", "kumquat trees", "--workspace", other).data
    onrecord("capture", "kumquat", "--source", "s", "--session", "x", "--turn", "1", "--role", "user",
             "--workspace", other)  # fmt: skip
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("kumquat jam")
    assert onrecord("import", str(notes), "--workspace", other).data["imported"] == 1
    assert onrecord("read", second["id"]).data["workspace"] == COMPOSED
    assert [path.name for path in Path(onrecord.vault, "memories").iterdir()] == [COMPOSED]
    for asked in (COMPOSED, other):
        assert len(onrecord("find", "kumquat", "--workspace", asked).data["results"]) == 4


def test_files_that_spell_their_workspace_in_two_ways_are_found_by_either(onrecord: CommandLine) -> None:
    for name, workspace in (("a", "Ops"), ("b", "ops")):
        Path(onrecord.vault, f"memories/{name}.md").write_text(f"---\nworkspace: {workspace}\n---\nkumquat {name}\n")
    for asked in ("ops", "Ops", "OPS"):
        assert len(onrecord("find", "kumquat", "--workspace", asked).data["results"]) == 2


@pytest.mark.parametrize("number", [1.5, 1e-7, 1e300, -0.25, 0.30000000000000004, 2**53 - 1])
def test_meta_takes_every_finite_number_and_keeps_it(onrecord: CommandLine, number: float) -> None:
    kept = onrecord("remember", "x", "--meta", json.dumps({"a": {"b": [number, None]}})).data
    text = Path(onrecord.vault, onrecord("read", kept["id"]).data["path"]).read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("meta: "))
    assert json.loads(line.removeprefix("meta: ")) == {"a": {"b": [number, None]}}
    assert onrecord("update", kept["id"], "--tag", "t", "--expect", "1").data["version"] == 2
    assert onrecord("verify").data["differences"] == []
    assert onrecord("doctor").status == 0


def test_an_integer_that_json_readers_round_is_refused_on_every_surface(onrecord: CommandLine) -> None:
    assert onrecord("remember", "x", "--meta", '{"a": 9007199254740992}').error["field"] == "meta"
    with package.open(onrecord.vault) as vault, pytest.raises(InvalidInputError) as caught:
        vault.remember("x", meta={"a": 2**53})
    assert caught.value.field == "meta"


def test_find_goes_on_at_the_offset_it_names(onrecord: CommandLine) -> None:
    for number in range(7):
        onrecord("remember", f"kumquat {'x ' * number}")
    every = [hit["id"] for hit in onrecord("find", "kumquat").data["results"]]
    assert len(every) == 7
    seen: list[str] = []
    page = onrecord("find", "kumquat", "--limit", "3").data
    while True:
        seen += [hit["id"] for hit in page["results"]]
        if "next_offset" not in page:
            break
        page = onrecord("find", "kumquat", "--limit", "3", "--offset", str(page["next_offset"])).data
    assert seen == every


def test_a_note_that_names_no_workspace_is_in_that_of_its_folder(onrecord: CommandLine) -> None:
    for folder in ("Ops/deep", "Ops", ""):
        path = Path(onrecord.vault, "memories", folder, "hand.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"kumquat in {folder or 'no folder'}\n")
    assert len(onrecord("find", "kumquat", "--workspace", "ops").data["results"]) == 2
    assert len(onrecord("find", "kumquat", "--workspace", "default").data["results"]) == 1
