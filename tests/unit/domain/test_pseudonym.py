"""Pseudonyms and commitments."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode

from onrecord.domain.pseudonym import commit_bytes, commit_place, make_pseudonym, opens_commitment

PEPPER = bytes(range(32))
SALT = bytes(range(32, 64))


def test_a_commitment_is_the_keyed_hash_of_the_exact_bytes() -> None:
    digest = hmac.new(SALT, b"onrecord/commit/v1\0" + b"a\r\n", hashlib.sha256).digest()
    assert commit_bytes(SALT, b"a\r\n") == b64encode(digest).decode()


def test_only_the_same_salt_and_bytes_open_a_commitment() -> None:
    commitment = commit_bytes(SALT, b"yes")
    assert opens_commitment(SALT, b"yes", commitment)
    assert not opens_commitment(SALT, b"no", commitment)
    assert not opens_commitment(PEPPER, b"yes", commitment)
    assert not opens_commitment(SALT, b"yes", commitment[:-1])
    assert not opens_commitment(SALT, b"yes", "\ud800")


def test_a_place_is_told_to_who_has_the_salt_and_is_no_commitment_to_bytes() -> None:
    digest = hmac.new(SALT, "onrecord/place/v1\0memories/Kühe.md".encode(), hashlib.sha256).digest()
    assert commit_place(SALT, "memories/Kühe.md") == b64encode(digest).decode()
    assert commit_place(PEPPER, "memories/Kühe.md") != commit_place(SALT, "memories/Kühe.md")


def test_a_pseudonym_has_22_characters_and_its_class() -> None:
    for name_class, prefix in (("actor", "p_"), ("subject", "p_"), ("cred", "c_")):
        found = make_pseudonym(PEPPER, name_class, "claude")  # type: ignore[arg-type]  # a loop variable is no literal
        assert found.startswith(prefix)
        assert len(found) == 24


def test_one_name_has_different_pseudonyms_in_different_classes_and_under_other_peppers() -> None:
    found = {
        make_pseudonym(PEPPER, "actor", "claude")[2:],
        make_pseudonym(PEPPER, "subject", "claude")[2:],
        make_pseudonym(PEPPER, "cred", "claude")[2:],
        make_pseudonym(SALT, "actor", "claude")[2:],
    }
    assert len(found) == 4
    assert make_pseudonym(PEPPER, "actor", "claude")[2:] in found


def test_names_and_classes_cannot_run_together() -> None:
    assert make_pseudonym(PEPPER, "actor", "a\x1fb") != make_pseudonym(PEPPER, "actor", "ab\x1f")
