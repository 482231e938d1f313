"""The test vectors of the format are what their generator makes, and the product agrees with them and with the text."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.domain.canonical import decode_strict, encode_canonical
from onrecord.domain.checkpoint import (
    format_checkpoint,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    sign_note,
    verify_note,
)
from onrecord.domain.entry import Entry, encode_entry, make_entry, read_entry
from onrecord.domain.entry_types import COMMON, TYPES, WORDS
from onrecord.domain.errors import DamagedError, InvalidInputError
from onrecord.domain.ids import (
    LogId,
    derive_block_id,
    derive_conflict_id,
    derive_log_id,
    encode_base32,
    parse_id_prefix,
    parse_record_id,
)
from onrecord.domain.ledger_check import check_log
from onrecord.domain.ledger_report import FaultCode, LogReport, Verdict
from onrecord.domain.merkle import (
    Frontier,
    compute_root,
    hash_leaf,
    is_consistent,
    is_included,
    prove_consistency,
    prove_inclusion,
)
from onrecord.domain.pseudonym import commit_bytes, commit_place, make_pseudonym, opens_commitment
from tests.vectors import VECTORS, apply_variant, build_material, load_vectors

FORMAT = VECTORS.parent
VERIFY = Ed25519Verifier().verify
FILES = sorted(path.name for path in VECTORS.glob("*.json"))
CANONICAL = load_vectors("canonical.json")
IDS = load_vectors("ids.json")
ENTRIES = load_vectors("entries.json")
CHECKPOINT = load_vectors("checkpoint.json")
LOG = load_vectors("log.json")


def by_name(items: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(item, id=item["name"]) for item in items]


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "7"}
    command = [sys.executable, str(VECTORS / "generate.py"), str(folder)]
    subprocess.run(command, check=True, env=environment, cwd=folder)
    return folder


def test_the_generator_makes_every_file_and_no_other(regenerated: Path) -> None:
    assert sorted(path.name for path in regenerated.iterdir()) == FILES
    named = set(re.findall(r"^\| (\w+\.json) \|", (VECTORS / "README.md").read_text("utf-8"), re.MULTILINE))
    assert named == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_what_its_generator_makes(name: str, regenerated: Path) -> None:
    data = (VECTORS / name).read_bytes()
    assert (regenerated / name).read_bytes() == data
    assert len(data) < 200_000


def test_the_generator_knows_nothing_of_the_product() -> None:
    allowed = {path.stem for path in VECTORS.glob("*.py")} | set(sys.stdlib_module_names) | {"cryptography"}
    for path in VECTORS.glob("*.py"):
        found = {
            name.partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [node.module or ""] if isinstance(node, ast.ImportFrom) else [item.name for item in node.names]
            )
        }
        assert found <= allowed, path.name


@pytest.mark.parametrize("item", CANONICAL["values"], ids=lambda item: item["canonical"][:30])
def test_values_have_their_canonical_bytes(item: dict[str, Any]) -> None:
    assert encode_canonical(item["value"]).decode() == item["canonical"]
    assert decode_strict(item["canonical"], max_bytes=10_000, allow_nul=True) == item["value"]


@pytest.mark.parametrize("item", CANONICAL["same"], ids=lambda item: item["canonical"][:30])
def test_other_spellings_are_read_as_the_same_value(item: dict[str, Any]) -> None:
    assert encode_canonical(decode_strict(item["input"], max_bytes=10_000)).decode() == item["canonical"]


@pytest.mark.parametrize("item", by_name(CANONICAL["refused"]))
def test_refused_json_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        decode_strict(b64decode(item["b64"]), max_bytes=10_000)


@pytest.mark.parametrize("item", by_name(CANONICAL["not_canonical"]))
def test_values_outside_the_format_have_no_canonical_bytes(item: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        encode_canonical(json.loads(item["json"]))


def test_ids_are_those_of_the_vectors() -> None:
    for item in IDS["base32"]:
        assert encode_base32(bytes.fromhex(item["hex"]), item["chars"]) == item["text"]
    for item in IDS["read_as"]:
        assert parse_record_id(item["input"]) == item["id"]
    for item in IDS["logs"]:
        assert derive_log_id(bytes.fromhex(item["public"])) == item["log"]
    for item in IDS["blocks"]:
        assert derive_block_id(item["source"], item["session"], item["turn"]) == item["id"]
    for item in IDS["conflicts"]:
        assert derive_conflict_id(item["members"]) == item["id"]


@pytest.mark.parametrize("text", IDS["refused"])
def test_refused_ids_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_id_prefix(text)


def test_commitments_and_pseudonyms_are_those_of_the_vectors() -> None:
    shape = load_vectors("commitment.json")
    for item in shape["commitments"]:
        salt, data = b64decode(item["salt"]), b64decode(item["b64"])
        assert commit_bytes(salt, data) == item["c"]
        assert opens_commitment(salt, data, item["c"])
    for item in shape["places"]:
        assert commit_place(b64decode(item["salt"]), item["path"]) == item["place"]
    pepper = bytes.fromhex(shape["pepper"])
    for item in shape["pseudonyms"]:
        assert make_pseudonym(pepper, item["class"], item["name"]) == item["pseudonym"]


@pytest.mark.parametrize("number", range(len(ENTRIES["entries"])))
def test_an_example_entry_is_read_and_made_again(number: int) -> None:
    item = ENTRIES["entries"][number]
    line = item["line"].encode()
    entry = read_entry(line)
    assert isinstance(entry, Entry)
    assert b64encode(hash_leaf(line)).decode() == item["leaf"]
    made = make_entry(
        log=entry.log,
        seq=entry.seq,
        ts=entry.ts,
        type=entry.type,
        actor=entry.actor,
        cred=entry.cred,
        cseq=entry.cseq,
        prev=entry.prev,
        members=entry.members,
    )
    assert encode_entry(made) == line


@pytest.mark.parametrize("item", by_name(ENTRIES["refused"]))
def test_a_refused_entry_has_its_code(item: dict[str, Any]) -> None:
    assert read_entry(b64decode(item["b64"])) == item["why"]


def test_the_types_of_vectors_text_and_product_are_the_same() -> None:
    text = (FORMAT / "ledger.md").read_text("utf-8")
    table = text[text.index("| type | members |") : text.index("A `?` marks members")]
    told: dict[str, tuple[set[str], set[str], set[str]]] = {}
    for row in table.splitlines()[2:]:
        if not row.startswith("|"):
            continue
        names, members = (cell.strip() for cell in row.split("|")[1:3])
        optional = set(" ".join(re.findall(r"\[(.*?)\]", members)).split())
        rest = re.sub(r"\[.*?\]", "", members).split()
        some = {name[:-1] for name in rest if name.endswith("?")}
        for name in names.split(" · "):
            told[name] = ({name for name in rest if not name.endswith("?")}, optional, some)
    built = {name: (set(rule.required), set(rule.optional), set(rule.some)) for name, rule in TYPES.items()}
    shown = {
        name: (set(rule["required"]), set(rule["optional"]), set(rule["some"]))
        for name, rule in ENTRIES["types"].items()
    }
    assert told == built
    assert shown == built


def test_common_members_and_closed_words_of_the_text_are_those_of_the_product() -> None:
    text = (FORMAT / "ledger.md").read_text("utf-8")
    table = text[text.index("## Members of every entry") : text.index("## Members by type")]
    assert set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) - {"member"} == COMMON
    tail = text[text.index("A `?` marks members") : text.index("## Pseudonyms")]
    for name in ("level", "cause"):
        sentence = re.search(rf"`{name}` is one of (.*?)\.(?:\s|$)", tail, re.DOTALL)
        assert sentence is not None
        assert set(re.findall(r"`(\w+)`", sentence[1])) == WORDS[name]
    relations = re.search(r"rel one of (.*?) ·", text)
    assert relations is not None
    assert set(relations[1].replace("\n", " ").split(", ")) == WORDS["rel"]


def test_kinds_origins_and_states_of_the_text_are_those_of_the_product() -> None:
    text = (FORMAT / "record.md").read_text("utf-8")
    for name in ("kind", "status", "origin", "protection"):
        row = re.search(rf"^\| {name} \| (.*?) \|$", text, re.MULTILINE)
        assert row is not None
        words = re.sub(r" \(.*?\)", "", row[1])
        assert set(words.split(", ")) == WORDS[name]


def test_fault_codes_of_the_text_are_those_of_the_product() -> None:
    text = (FORMAT / "tree.md").read_text("utf-8")
    table = text[text.index("| code | means |") :]
    codes = [code for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for code in re.findall(r"`(\w+)`", row)]
    assert codes == [code.value for code in FaultCode]


@pytest.mark.parametrize("item", load_vectors("tree.json")["trees"], ids=lambda item: str(item["size"]))
def test_trees_have_their_roots_frontiers_and_proofs(item: dict[str, Any]) -> None:
    shape = load_vectors("tree.json")
    leaves = [hash_leaf(bytes.fromhex(text)) for text in shape["leaf_inputs"]][: item["size"]]
    root = compute_root(leaves)
    assert [leaf.hex() for leaf in leaves] == shape["leaf_hashes"][: item["size"]]
    assert root.hex() == item["root"]
    assert [node.hex() for node in Frontier().extend(leaves).nodes] == item["frontier"]
    for index, path in enumerate(item["inclusion"]):
        proof = [bytes.fromhex(node) for node in path]
        assert list(prove_inclusion(leaves, index)) == proof
        assert is_included(leaves[index], index, item["size"], proof, root)
    for old, path in enumerate(item["consistency"]):
        proof = [bytes.fromhex(node) for node in path]
        assert list(prove_consistency(leaves, old)) == proof
        assert is_consistent(old, compute_root(leaves[:old]), item["size"], root, proof)


def test_the_key_of_the_vectors_names_its_log() -> None:
    shape = CHECKPOINT["key"]
    key = parse_vkey(shape["vkey"])
    assert key.public_key.hex() == shape["public"]
    assert key.is_first_of(LogId(shape["log"]))


@pytest.mark.parametrize("item", by_name(CHECKPOINT["refused_keys"]))
def test_a_refused_verifier_key_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(DamagedError):
        parse_vkey(item["vkey"])


@pytest.mark.parametrize("item", by_name(CHECKPOINT["notes"]))
def test_a_signed_note_is_opened(item: dict[str, Any]) -> None:
    key = parse_vkey(CHECKPOINT["key"]["vkey"])
    note = parse_note(item["note"].encode())
    head = parse_checkpoint(note.text)
    assert verify_note(note, [key], VERIFY).is_sound
    assert (head.origin, head.size, b64encode(head.root).decode()) == (key.name, item["size"], item["root"])


def test_a_checkpoint_is_signed_to_the_same_bytes() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    shape, note = CHECKPOINT["key"], CHECKPOINT["notes"][0]
    text = format_checkpoint(f"onrecord.local/{shape['log']}", note["size"], b64decode(note["root"]))
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(shape["seed"]))
    assert sign_note(text, shape["vkey"], private.sign).decode() == note["note"]


@pytest.mark.parametrize("item", by_name(CHECKPOINT["broken"]))
def test_a_broken_note_is_never_sound(item: dict[str, Any]) -> None:
    material = build_material(LOG["material"] | {"checkpoint": item["note"]})
    report = check_log(material, VERIFY)
    assert report.fault is not None
    assert report.fault.code == item["why"]


@pytest.mark.parametrize("item", by_name(LOG["variants"]))
def test_a_log_and_what_was_done_to_it_have_their_verdict(item: dict[str, Any]) -> None:
    report = check_log(build_material(apply_variant(LOG["material"], item["changes"])), VERIFY)
    assert describe_report(report) == item["verdict"]


def describe_report(report: LogReport) -> dict[str, object]:
    if report.verdict is Verdict.BROKEN:
        assert report.fault is not None
        broken: dict[str, object] = {"verdict": "BROKEN", "code": report.fault.code.value}
        return broken | ({"seq": report.fault.seq} if report.fault.seq is not None else {})
    return {
        "verdict": report.verdict.value,
        "entries": report.head.size,
        "signed": report.signed.size if report.signed is not None else 0,
        "unsigned": report.unsigned,
        "opened": report.opened,
        "sealed": report.sealed,
        "erased": report.erased,
        "unerased": report.unerased,
        "waiting": report.waiting,
        "newer": report.newer,
    }


def test_the_head_of_the_whole_log_is_the_vectors() -> None:
    report = check_log(build_material(LOG["material"]), VERIFY)
    head = LOG["head"]
    assert (report.head.size, b64encode(report.head.root).decode(), report.ts) == (
        head["size"],
        head["root"],
        head["ts"],
    )
    leaves = [hash_leaf(line.encode()) for line in LOG["material"]["entries"]]
    assert [b64encode(node).decode() for node in Frontier().extend(leaves).nodes] == head["frontier"]
