"""Verifier keys, signed notes and checkpoints."""

from __future__ import annotations

from base64 import b64decode
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from onrecord.adapters.keys import Ed25519Verifier
from onrecord.domain.checkpoint import (
    Checkpoint,
    Note,
    NoteSignature,
    VerifierKey,
    format_checkpoint,
    format_note,
    format_origin,
    format_vkey,
    is_log_vkey,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    sign_note,
    verify_note,
)
from onrecord.domain.errors import DamagedError
from onrecord.domain.ids import LogId, derive_log_id

VERIFY = Ed25519Verifier().verify
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PRIVATE.public_key().public_bytes_raw()
LOG = derive_log_id(PUBLIC)
VKEY = format_vkey(format_origin(LOG), PUBLIC)
ROOT = sha256(b"root").digest()
TEXT = format_checkpoint(format_origin(LOG), 7, ROOT)

# The published example of golang.org/x/mod/sumdb/note, which C2SP signed-note describes.
GO_SECRET = b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_LINE = (
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)

# The example of C2SP signed-note: its text holds an empty line.
POEM = (
    "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
    "\u2014 quasimodo.example/salvatore "
    "NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
)


def test_the_published_note_verifies_and_is_signed_anew_to_the_same_bytes() -> None:
    note = f"{GO_TEXT}\n{GO_LINE}".encode()
    key = parse_vkey(GO_VKEY)
    assert verify_note(parse_note(note), [key], VERIFY).signed == (key,)
    assert sign_note(GO_TEXT, GO_VKEY, Ed25519PrivateKey.from_private_bytes(GO_SECRET).sign) == note


def test_the_text_of_a_note_ends_before_its_last_empty_line() -> None:
    note = parse_note(POEM.encode())
    assert note.text == POEM[: POEM.index("\n\u2014")]
    assert note.signatures[0].name == "quasimodo.example/salvatore"
    assert (note.signatures[0].key_id.hex(), len(note.signatures[0].signature)) == ("367ba04b", 64)
    assert format_note(note) == POEM.encode()


def test_a_verifier_key_reads_back_and_names_its_log() -> None:
    key = parse_vkey(VKEY)
    assert (key.name, key.algorithm, key.public_key) == (f"onrecord.local/{LOG}", 1, PUBLIC)
    assert key.format() == VKEY
    assert key.key_id.hex() == VKEY.split("+")[1]
    assert key.is_first_of(LOG)
    assert not key.is_first_of(LogId("0" * 16))


def test_only_an_ed25519_key_with_a_logs_name_is_a_logs_key() -> None:
    assert is_log_vkey(VKEY)
    assert not is_log_vkey(GO_VKEY)
    assert not is_log_vkey(VerifierKey(format_origin(LOG), 4, PUBLIC).format())
    assert not is_log_vkey(VerifierKey(format_origin(LogId("u" * 16)), 1, PUBLIC).format())
    assert not is_log_vkey("")


@pytest.mark.parametrize(
    "text",
    ["", VKEY + "\n", VKEY[:-1], VKEY.replace("+", " "), " " + VKEY, VKEY.upper(), VKEY + "=", "a+00000000+AQ=="],
)
def test_another_form_is_no_verifier_key(text: str) -> None:
    with pytest.raises(DamagedError):
        parse_vkey(text)


@pytest.mark.parametrize(
    ("name", "key"), [("", PUBLIC), ("a b", PUBLIC), ("a+b", PUBLIC), ("a\u2003b", PUBLIC), ("a", b"x")]
)
def test_no_verifier_key_is_made_that_could_not_be_read(name: str, key: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        format_vkey(name, key)


def test_a_checkpoint_is_signed_and_read_back() -> None:
    note = parse_note(sign_note(TEXT, VKEY, PRIVATE.sign))
    check = verify_note(note, [parse_vkey(VKEY)], VERIFY)
    assert check.is_sound
    assert parse_checkpoint(note.text) == Checkpoint(format_origin(LOG), 7, ROOT)


def test_lines_of_unknown_keys_are_skipped() -> None:
    stranger = NoteSignature("witness.example/w", b"abcd", bytes(64))
    note = parse_note(sign_note(TEXT, VKEY, PRIVATE.sign) + stranger.format().encode())
    assert verify_note(note, [parse_vkey(VKEY)], VERIFY).is_sound
    assert not verify_note(note, [parse_vkey(GO_VKEY)], VERIFY).is_sound


def test_a_failing_line_of_a_known_key_makes_the_note_unsound() -> None:
    key = parse_vkey(VKEY)
    wrong = NoteSignature(key.name, key.key_id, bytes(64))
    note = parse_note(sign_note(TEXT, VKEY, PRIVATE.sign) + wrong.format().encode())
    check = verify_note(note, [key], VERIFY)
    assert (check.signed, check.failed, check.is_sound) == ((key,), (key,), False)


def test_a_key_of_another_type_verifies_nothing() -> None:
    key = VerifierKey(format_origin(LOG), 4, PUBLIC)
    line = NoteSignature(key.name, key.key_id, PRIVATE.sign(TEXT.encode()))
    assert not verify_note(Note(TEXT, (line,)), [key], VERIFY).signed


@pytest.mark.parametrize("size", ["", "-1", "+7", "07", "7.0", " 7", "7 ", "٧", "1e3", "9" * 16, "9" * 17])
def test_a_size_has_one_form(size: str) -> None:
    with pytest.raises(DamagedError):
        parse_checkpoint(TEXT.replace("\n7\n", f"\n{size}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "a\n7\n",
        TEXT[:-1],
        TEXT + "x\n",
        TEXT + "\n",
        TEXT.replace("=", ""),
        TEXT[1:].replace("=", "=="),
        "\n" + TEXT,
    ],
)
def test_a_checkpoint_has_exactly_three_lines_and_a_root_of_32_bytes(text: str) -> None:
    with pytest.raises(DamagedError):
        parse_checkpoint(text)


def test_a_note_of_100_lines_is_read_and_one_more_refused() -> None:
    line = NoteSignature("w", b"abcd", b"s").format()
    assert len(parse_note(f"text\n\n{line * 100}".encode()).signatures) == 100
    with pytest.raises(DamagedError):
        parse_note(f"text\n\n{line * 101}".encode())


def test_a_note_of_one_mebibyte_is_read_and_a_larger_one_refused() -> None:
    tail = "\n\n" + NoteSignature("w", b"abcd", b"s").format()
    filler = "a" * ((1 << 20) - len(tail.encode()))
    assert parse_note((filler + tail).encode()).text == filler + "\n"
    with pytest.raises(DamagedError):
        parse_note(("a" + filler + tail).encode())


@pytest.mark.parametrize("text", ["no final line end", "", "tab\there\n", "nul\0\n"])
def test_a_text_that_could_not_be_read_back_is_not_signed(text: str) -> None:
    with pytest.raises(DamagedError):
        sign_note(text, VKEY, PRIVATE.sign)
