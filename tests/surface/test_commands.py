"""Each command does what its line in README says, in the one envelope."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import onrecord as package
from tests.surface.cli import CommandLine

TEXT = "The staging database runs PostgreSQL 16. 数据库在上海。"


def test_init_makes_a_vault_once(bare: CommandLine) -> None:
    assert bare("init").status == 0
    assert bare("init").error["code"] == "vault_exists"
    assert (Path(bare.vault) / "onrecord.toml").exists()


def test_without_a_vault_every_command_says_how_to_make_one(bare: CommandLine) -> None:
    for words in (("remember", "x"), ("find", "x"), ("status",), ("verify",), ("reindex",)):
        done = bare(*words)
        assert (done.status, done.error["code"]) == (2, "no_vault")
        assert "onrecord init" in done.error["hint"]
    done = bare("doctor")
    assert (done.status, [item["code"] for item in done.data["findings"]]) == (2, ["no_vault"])
    assert "onrecord init" in done.data["findings"][0]["mend"]


def test_what_is_remembered_is_read_back_exactly(onrecord: CommandLine) -> None:
    for text in (
        TEXT,
        "ends with a line end\n",
        "two\r\nlines\u2028and\x85more",
        "---\nnot: front matter\n---\n",
        "  spaces  ",
    ):
        kept = onrecord("remember", text).data
        assert kept["duplicate"] is False
        assert onrecord("read", kept["id"]).data["text"] == text


def test_an_exact_duplicate_gives_the_same_id(onrecord: CommandLine) -> None:
    first = onrecord("remember", TEXT, "--workspace", "ops").data
    again = onrecord("remember", TEXT, "--workspace", "ops").data
    other = onrecord("remember", TEXT, "--workspace", "home").data
    assert (again["id"], again["duplicate"]) == (first["id"], True)
    assert other["id"] != first["id"]


def test_the_version_is_told_in_the_envelope_too(onrecord: CommandLine) -> None:
    told = onrecord("--version")
    assert told.status == 0
    assert onrecord("--version", as_json=False).out == f"onrecord {told.data['version']}\n"


def test_a_duplicate_names_the_given_keys_that_the_memory_has_not(onrecord: CommandLine) -> None:
    given = ("--tag", "infra", "--confidence", "0.5", "--event-time", "2026-11-30")
    onrecord("remember", "the cat is grey", *given)
    again = onrecord("remember", "the cat is grey", *given).envelope["warnings"]
    assert not [warning for warning in again if "not applied" in warning]
    other = onrecord("remember", "the cat is grey", "--tag", "home", "--confidence", "0.5", "--type", "fact")
    assert "this text is already kept; not applied: tags, type" in other.envelope["warnings"]


def test_find_tells_id_title_score_kind_status_origin(onrecord: CommandLine) -> None:
    kept = onrecord("remember", TEXT, "--title", "Staging database", "--tag", "infra").data
    (hit,) = onrecord("find", "which postgresql version").data["results"]
    assert hit["id"] == kept["id"]
    assert (hit["title"], hit["kind"], hit["status"], hit["origin"]) == ("Staging database", "note", "current", "agent")
    assert hit["score"] > 0
    assert onrecord("find", "上海").data["results"][0]["id"] == kept["id"]
    assert onrecord("find", "infra").data["results"][0]["id"] == kept["id"]
    assert onrecord("find", "zebra").data == {"status": "no_match", "results": []}


@pytest.mark.parametrize("mode", ["preview", "hits", "full"])
def test_every_mode_shows_the_words(onrecord: CommandLine, mode: str) -> None:
    onrecord("remember", "First sentence. The quick kumquat. Last one.")
    (hit,) = onrecord("find", "kumquat", "--mode", mode).data["results"]
    assert "kumquat" in json.dumps(hit)
    if mode == "hits":
        (span,) = hit["spans"]
        start, end = map(int, span["span"].split(":"))
        assert "First sentence. The quick kumquat. Last one."[start:end] == span["text"]


def test_ten_previews_stay_below_four_kilobytes(onrecord: CommandLine) -> None:
    for number in range(12):
        onrecord("remember", f"Memory {number}: " + "a long text about kumquats and other fruit. " * 20)
    done = onrecord("find", "kumquats")
    assert len(done.data["results"]) == 10
    assert len(done.out.encode()) <= 4_000


def test_update_by_old_and_new_makes_the_next_version(onrecord: CommandLine) -> None:
    kept = onrecord("remember", TEXT).data
    done = onrecord("update", kept["id"], "--old", "16", "--new", "17", "--expect", "1").data
    assert done == {"id": kept["id"], "version": 2}
    assert "PostgreSQL 17" in onrecord("read", kept["id"]).data["text"]
    assert onrecord("read", kept["id"], "--version", "1").data["text"] == TEXT
    assert onrecord("find", "17").data["results"][0]["version"] == 2
    history = onrecord("history", kept["id"]).data["versions"]
    assert [item["version"] for item in history] == [1, 2]


def test_a_stale_update_is_refused_and_changes_nothing(onrecord: CommandLine) -> None:
    kept = onrecord("remember", TEXT).data
    onrecord("update", kept["id"], "--text", "second", "--expect", "1")
    done = onrecord("update", kept["id"], "--text", "third", "--expect", "1")
    assert (done.status, done.error["code"], done.error["field"]) == (1, "stale_version", "expect")
    assert onrecord("read", kept["id"]).data["text"] == "second"


def test_patches_apply_all_or_none(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "one two three").data
    good = json.dumps([{"old": "one", "new": "1"}, {"old": "three", "new": "3"}])
    bad = json.dumps([{"old": "1", "new": "x"}, {"old": "absent", "new": "y"}])
    assert onrecord("update", kept["id"], "--patches", good, "--expect", "1").data["version"] == 2
    done = onrecord("update", kept["id"], "--patches", bad, "--expect", "2")
    assert done.status == 1
    assert onrecord("read", kept["id"]).data["text"] == "1 two 3"


def test_an_idempotency_key_makes_a_retry_harmless(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "kept once", "--idempotency-key", "k1").data
    assert onrecord("remember", "kept once", "--idempotency-key", "k1").data["id"] == kept["id"]
    words = ("update", kept["id"], "--text", "changed once", "--expect", "1", "--idempotency-key", "k2")
    assert onrecord(*words).data["version"] == 2
    assert onrecord(*words).data["version"] == 2
    assert onrecord("remember", "something else", "--idempotency-key", "k1").error["code"] == "idempotency_mismatch"


def test_a_turn_is_captured_once_and_findable(onrecord: CommandLine) -> None:
    words = (
        "capture",
        "--source",
        "codex",
        "--session",
        "s1",
        "--turn",
        "t1",
        "--role",
        "user",
        "Use uv for new projects.",
    )
    first = onrecord(*words).data
    again = onrecord(*words).data
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    (hit,) = onrecord("find", "uv projects").data["results"]
    assert (hit["id"], hit["turn"], hit["kind"]) == (first["id"], "t1", "event")
    assert f"^{hit['block']}" in onrecord("read", first["id"]).data["text"]
    other = onrecord(*words[:-1], "Something else.")
    assert (other.status, other.error["code"]) == (1, "turn_exists")


def test_turns_are_imported_once(onrecord: CommandLine, tmp_path: Path) -> None:
    turns = [
        {
            "session": "a",
            "turn": f"D{n}",
            "speaker": "Ann",
            "text": f"sentence {n} kumquat",
            "time": "2026-01-02T03:04:05Z",
        }
        for n in range(30)
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(turn) for turn in turns) + "\nnot json\n", encoding="utf-8")
    data = onrecord("import", str(path), "--format", "turns").data
    assert (data["imported"], data["duplicates"], len(data["skipped"])) == (30, 0, 1)
    assert onrecord("import", str(path), "--format", "turns").data["duplicates"] == 30
    assert {hit["turn"] for hit in onrecord("find", "sentence 7").data["results"]} >= {"D7"}


def test_a_tree_of_markdown_is_imported_once(onrecord: CommandLine) -> None:
    notes = Path(__file__).resolve().parents[2] / "samples" / "notes"
    data = onrecord("import", str(notes)).data
    assert data["imported"] == len(list(notes.rglob("*.md")))
    assert onrecord("import", str(notes)).data["imported"] == 0


def test_as_of_answers_what_was_known_then(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "the capital is Bonn").data
    first = onrecord("history", kept["id"]).data["versions"][0]["recorded_at"]
    onrecord("update", kept["id"], "--old", "Bonn", "--new", "Berlin", "--expect", "1")
    (then,) = onrecord("find", "capital", "--as-of", first).data["results"]
    (now,) = onrecord("find", "capital").data["results"]
    assert (then["version"], now["version"]) == (1, 2)
    assert onrecord("find", "Bonn").data["status"] == "no_match"
    assert onrecord("find", "capital", "--as-of", "2020-01-01").data["status"] == "no_match"


def test_text_is_read_from_standard_input(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "-", stdin="from a pipe 管道\n".encode()).data
    assert onrecord("read", kept["id"]).data["text"] == "from a pipe 管道\n"


def test_a_prefix_of_four_characters_reads_but_does_not_write(onrecord: CommandLine) -> None:
    kept = onrecord("remember", TEXT).data
    assert onrecord("read", kept["id"][:4].upper()).data["id"] == kept["id"]
    assert onrecord("update", kept["id"][:4], "--text", "x", "--expect", "1").error["code"] == "invalid_input"
    assert onrecord("read", kept["id"][:3]).error["code"] == "invalid_input"


def test_a_fresh_vault_is_verified_and_healthy(onrecord: CommandLine) -> None:
    onrecord("remember", TEXT)
    verified = onrecord("verify")
    assert (verified.status, verified.data["verdict"], verified.data["differences"]) == (0, "L2", [])
    assert verified.data["not_shown"]
    assert onrecord("doctor").status == 0
    assert onrecord("reindex").data["documents"] == 1
    assert onrecord("status").data["counts"]["records"] == 1


def test_config_shows_each_value_with_its_source(onrecord: CommandLine) -> None:
    settings = {item["name"]: item for item in onrecord("config").data["settings"]}
    assert settings["vault"]["source"] == "environment"
    assert settings["workspace"]["source"] == "project"
    assert settings["lock_wait_s"]["source"] == "default"


def test_config_tells_where_vault_and_keys_lie(onrecord: CommandLine) -> None:
    folders = onrecord("config").data["folders"]
    assert folders["vault"] == str(onrecord.vault)
    assert list(Path(folders["state"]).glob("vaults/*/key*"))


def test_secrets_never_reach_the_disk(onrecord: CommandLine, tmp_path: Path) -> None:
    secret = "sk-ant-" + "api03-" + "Zx81" * 12
    onrecord("remember", f"the key is {secret}", "--title", secret, "--tag", secret)
    onrecord("capture", "--source", "s", "--session", "x", "--turn", "1", "--role", "user", f"token {secret}")
    for path in tmp_path.rglob("*"):
        assert secret not in path.name
        if path.is_file():
            assert secret.encode() not in path.read_bytes()


def test_the_library_gives_typed_values_of_the_same_names(onrecord: CommandLine) -> None:
    with package.open(onrecord.vault) as vault:
        kept = vault.remember(TEXT, title="Staging", workspace="ops", tags=["infra"])
        assert (kept.version, kept.duplicate) == (1, False)
        (hit,) = vault.find("postgresql", limit=3)
        assert (hit.id, hit.title) == (kept.id, "Staging")
        assert vault.read(kept.id).text == TEXT
        assert vault.update(kept.id, old="16", new="17", expect=1).version == 2
        assert [version.version for version in vault.history(kept.id)] == [1, 2]
        assert vault.verify().data["verdict"] in ("L1", "L2")


@pytest.mark.parametrize("words", [("remember", "-"), ("import", "-"), ("find", "x")])
def test_a_process_without_standard_streams_does_not_fail_of_it(onrecord: CommandLine, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "onrecord", "--vault", onrecord.vault, *words, "--json"]
    done = subprocess.run(["sh", "-c", f"{shlex.join(command)} <&- >&- 2>&-"], check=False)
    assert done.returncode in (0, 2)
    assert onrecord("status").data["counts"]["records"] == 0


def test_secrets_on_a_command_line_or_in_an_import_never_reach_the_disk(onrecord: CommandLine, tmp_path: Path) -> None:
    secret = "sk-ant-" + "api03-" + "Qw92" * 12
    turn = {"session": "a", "turn": "1", "text": f"x {secret}", "time": f"at {secret}", "speaker": secret}
    command = [sys.executable, "-m", "onrecord", "--vault", onrecord.vault]
    for words, given in (
        (["remember", f"the key is {secret}"], None),
        (["import", "-", "--format", "turns", "--source", secret], json.dumps(turn)),
    ):
        done = subprocess.run([*command, *words, "--json"], input=given, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout
    for path in [*tmp_path.parent.rglob("*"), *Path(os.environ["ONRECORD_STATE"]).rglob("*")]:
        assert secret not in path.name
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_a_version_that_is_asked_for_is_shown_whatever_was_edited_since(onrecord: CommandLine) -> None:
    kept = onrecord("remember", "first words").data
    path = Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]
    path.write_text(path.read_text().replace("first", "second"))
    assert onrecord("read", kept["id"], "--version", "1").data["text"] == "first words"
    assert onrecord("read", kept["id"]).data["text"] == "second words"


def test_one_bad_file_does_not_stop_an_import(onrecord: CommandLine, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    filler = "".join(f"key{number}: {'x' * 90}\n" for number in range(5_180))
    (tree / "a.md").write_text(f"---\n{filler}---\nalmost too much front matter\n")
    (tree / "b.md").write_text("good\n")
    data = onrecord("import", str(tree)).data
    assert data["imported"] + len(data["skipped"]) == 2
    assert onrecord("find", "good").data["status"] == "found"


def test_a_deleted_memory_can_be_remembered_again(onrecord: CommandLine, tmp_path: Path) -> None:
    kept = onrecord("remember", "phoenix words").data
    (Path(onrecord.vault) / onrecord("read", kept["id"]).data["path"]).unlink()
    again = onrecord("remember", "phoenix words").data
    assert again["duplicate"] is False
    assert onrecord("find", "phoenix").data["results"][0]["id"] == again["id"]


def test_an_odd_line_of_turns_is_skipped_by_name(onrecord: CommandLine) -> None:
    odd: list[dict[str, object]] = [
        {"turn": None},
        {"session": None},
        {"role": ["x"]},
        {"role": 1},
        {"text": None},
        {"turn": 1.5},
    ]
    lines = [
        {"session": "a", "turn": f"t{n}", "text": "good kumquat"} | change for n, change in enumerate([{}, *odd, {}])
    ]
    data = onrecord("import", "-", stdin=b"\xef\xbb\xbf" + "\n".join(map(json.dumps, lines)).encode()).data
    assert data["imported"] == 2
    assert [item["line"] for item in data["skipped"]] == [2, 3, 4, 5, 6, 7]


def test_secrets_in_names_and_odd_encodings_of_imported_files_never_reach_the_disk(
    onrecord: CommandLine, tmp_path: Path
) -> None:
    secret = "ghp_" + "Ab3dE6gH9j" * 3 + "KlmnoP"
    tree = tmp_path / "tree"
    (tree / secret).mkdir(parents=True)
    (tree / secret / f"{secret}.md").write_text("named\n")
    (tree / "wide.md").write_bytes(f"token {secret}\n".encode("utf-16"))
    assert onrecord("import", str(tree)).data["imported"] == 2
    for path in [*Path(onrecord.vault).rglob("*"), *Path(os.environ["ONRECORD_STATE"]).rglob("*")]:
        assert secret not in path.name
        data = path.read_bytes() if path.is_file() else b""
        assert secret.encode() not in data, path
        assert secret.encode("utf-16-le") not in data, path


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"", "utf-8"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"", "latin-1"),
    ],
)
def test_where_a_secret_is_replaced_in_an_imported_file_every_other_byte_stays(
    onrecord: CommandLine, tmp_path: Path, mark: bytes, encoding: str
) -> None:
    secret = "ghp_" + "Ab3dE6gH9j" * 3 + "KlmnoP"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "note.md").write_bytes(mark + f"Wäg {secret} ende\r\n".encode(encoding))
    assert onrecord("import", str(tmp_path / "tree")).data["imported"] == 1
    (kept,) = Path(onrecord.vault, "memories").rglob("note.md")
    begin, end = (text.encode(encoding) for text in ("Wäg ", " ende\r\n"))
    data = kept.read_bytes()
    assert data.startswith(mark + begin)
    assert data.endswith(end)
    assert secret.encode(encoding) not in data


def test_the_text_of_a_page_of_one_hit_is_bounded_too(onrecord: CommandLine) -> None:
    onrecord("remember", "-", stdin=("kumquat " * 40_000).encode())
    done = onrecord("find", "kumquat", "--mode", "full")
    assert done.data["truncated"] is True
    assert done.data["results"][0]["truncated"] is True
    assert len(done.out.encode()) < 70_000


def test_an_error_can_be_told_whatever_bytes_were_given_and_whoever_listens(onrecord: CommandLine) -> None:
    command = [sys.executable, "-m", "onrecord", "--vault", onrecord.vault]
    odd = subprocess.run([*command, "remember", "x", b"--ta\xff", "y", "--json"], capture_output=True, check=False)
    assert json.loads(odd.stdout)["error"]["code"] == "invalid_input"
    for redirection in ("| head -c 0", "> /dev/full"):
        for words in (["read", "zzzz"], ["status"]):
            line = f"{shlex.join([*command, *words, '--json'])} {redirection}"
            done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
            assert b"Traceback" not in done.stderr, done.stderr
