"""Key files: who may read them, what they hold, and what they sign."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from onrecord.adapters.keys import Ed25519Verifier, KeyFileSigner, generate_key
from onrecord.domain.checkpoint import format_origin, format_vkey, parse_vkey
from onrecord.domain.errors import DamagedError, StorageFailedError
from onrecord.domain.ids import derive_log_id

POSIX_ONLY = pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")


def write_key(folder: Path, data: bytes, mode: int = 0o600) -> str:
    path = folder / "key"
    path.write_bytes(data)
    path.chmod(mode)
    return str(path)


def test_a_generated_key_signs_what_its_public_half_verifies(tmp_path: Path) -> None:
    pem, public_key = generate_key()
    signer = KeyFileSigner(write_key(tmp_path, pem))
    signature = signer.sign(b"message")
    assert signer.public_key == public_key
    assert Ed25519Verifier().verify(public_key, b"message", signature)
    assert not Ed25519Verifier().verify(public_key, b"another", signature)
    assert not Ed25519Verifier().verify(generate_key()[1], b"message", signature)


def test_the_verifier_key_is_named_after_the_log_that_the_key_begins(tmp_path: Path) -> None:
    pem, public_key = generate_key()
    path = write_key(tmp_path, pem)
    key = parse_vkey(KeyFileSigner(path).vkey())
    assert key.is_first_of(derive_log_id(public_key))
    assert KeyFileSigner(path).vkey() == format_vkey(format_origin(derive_log_id(public_key)), public_key)
    assert parse_vkey(KeyFileSigner(path, "witness.example/w").vkey()).name == "witness.example/w"


def test_two_generated_keys_differ() -> None:
    assert generate_key() != generate_key()


@POSIX_ONLY
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o601])
def test_a_key_that_others_may_touch_is_refused_with_a_hint(tmp_path: Path, mode: int) -> None:
    signer = KeyFileSigner(write_key(tmp_path, generate_key()[0], mode))
    with pytest.raises(StorageFailedError) as caught:
        signer.sign(b"message")
    assert "chmod 600" in caught.value.hint


@POSIX_ONLY
def test_a_key_behind_a_link_is_refused(tmp_path: Path) -> None:
    path = write_key(tmp_path, generate_key()[0])
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(StorageFailedError):
        KeyFileSigner(str(tmp_path / "link")).vkey()


def test_an_absent_key_and_a_folder_are_storage_failures(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(StorageFailedError):
            KeyFileSigner(str(path)).vkey()


@pytest.mark.parametrize(
    "data", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", b"x" * 9_000]
)
def test_a_file_without_an_ed25519_key_is_damaged(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DamagedError):
        KeyFileSigner(write_key(tmp_path, data)).vkey()


def test_a_key_of_another_kind_is_damaged(tmp_path: Path) -> None:
    pem = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(DamagedError):
        KeyFileSigner(write_key(tmp_path, pem)).vkey()


def test_a_file_cut_short_is_damaged(tmp_path: Path) -> None:
    pem = generate_key()[0]
    with pytest.raises(DamagedError):
        KeyFileSigner(write_key(tmp_path, pem[: len(pem) // 2])).vkey()


@pytest.mark.parametrize(
    ("public_key", "signature"), [(b"", bytes(64)), (bytes(31), bytes(64)), (bytes(33), bytes(64)), (bytes(32), b"")]
)
def test_malformed_keys_and_signatures_do_not_hold(public_key: bytes, signature: bytes) -> None:
    assert Ed25519Verifier().verify(public_key, b"message", signature) is False


def test_importing_the_module_loads_no_cryptography() -> None:
    code = "import sys, onrecord.adapters.keys; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
