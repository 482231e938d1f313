"""Vectors of tree, verifier keys, signed notes and journal frames (docs/format/tree.md, vault.md)."""

import base64
import hashlib
import re
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from encoding import RefusedError, b64, log_id, refusal, sha256

DASH = "\u2014"


# --- tree: RFC 6962, section 2.1, word for word ---


def hash_leaf(data):
    """Return the hash of a leaf."""
    return sha256(b"\x00" + data)


def hash_node(left, right):
    """Return the hash of an inner node."""
    return sha256(b"\x01" + left + right)


def _split(count):
    half = 1
    while half * 2 < count:
        half *= 2
    return half


def root(leaves):
    """Return MTH of a list of leaf hashes."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    half = _split(len(leaves))
    return hash_node(root(leaves[:half]), root(leaves[half:]))


def inclusion(place, leaves):
    """Return PATH(m, D[n])."""
    if len(leaves) == 1:
        return []
    half = _split(len(leaves))
    if place < half:
        return [*inclusion(place, leaves[:half]), root(leaves[half:])]
    return [*inclusion(place - half, leaves[half:]), root(leaves[:half])]


def consistency(size, leaves):
    """Return PROOF(m, D[n]); empty where m is 0 or n."""
    return [] if size in (0, len(leaves)) else _subproof(size, leaves, True)


def _subproof(size, leaves, is_whole):
    if size == len(leaves):
        return [] if is_whole else [root(leaves)]
    half = _split(len(leaves))
    if size <= half:
        return [*_subproof(size, leaves[:half], is_whole), root(leaves[half:])]
    return [*_subproof(size - half, leaves[half:], False), root(leaves[:half])]


def subtrees(leaves):
    """Return the roots of the complete subtrees, largest first."""
    found, place = [], 0
    for bit in reversed(range(len(leaves).bit_length())):
        if len(leaves) >> bit & 1:
            found.append(root(leaves[place : place + 2**bit]))
            place += 2**bit
    return found


_INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]


def make_tree_vectors():
    """Return roots, frontiers and proofs of the reference leaves of Certificate Transparency."""
    leaves = [hash_leaf(bytes.fromhex(text)) for text in _INPUTS]
    sizes = range(len(leaves) + 1)
    return {
        "leaf_inputs": _INPUTS,
        "leaf_hashes": [leaf.hex() for leaf in leaves],
        "trees": [
            {
                "size": size,
                "root": root(leaves[:size]).hex(),
                "frontier": [node.hex() for node in subtrees(leaves[:size])],
                "inclusion": [[node.hex() for node in inclusion(place, leaves[:size])] for place in range(size)],
                "consistency": [[node.hex() for node in consistency(old, leaves[:size])] for old in range(size + 1)],
            }
            for size in sizes
        ],
    }


# --- keys and notes ---


class Key:
    """An Ed25519 key with a fixed, worthless seed; `name` is the key name of notes."""

    def __init__(self, seed, name=None):
        self._private = Ed25519PrivateKey.from_private_bytes(sha256(seed))
        self.seed = sha256(seed)
        self.public = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.log = log_id(self.public)
        self.name = name or f"onrecord.local/{self.log}"

    def key_id(self):
        """Return the key id of C2SP signed-note."""
        return sha256(self.name.encode() + b"\n\x01" + self.public)[:4]

    def vkey(self):
        """Return the verifier key."""
        return f"{self.name}+{self.key_id().hex()}+{b64(bytes([1]) + self.public)}"

    def sign(self, message):
        """Return the signature of a message."""
        return self._private.sign(message)

    def line(self, text):
        """Return the signature line for a note's text."""
        return f"{DASH} {self.name} {b64(self.key_id() + self.sign(text.encode()))}\n"


def checkpoint(key, size, root_hash):
    """Return a signed checkpoint."""
    text = f"{key.name}\n{size}\n{b64(root_hash)}\n"
    return text + "\n" + key.line(text)


def parse_vkey(text):
    """Return (name, key id, public key) of an Ed25519 verifier key."""
    found = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)", text)
    if not found:
        raise RefusedError("key_form")
    raw = _strict_base64(found[3], "key_form")
    if len(raw) != 33 or raw[0] != 1:
        raise RefusedError("key_type")
    if sha256(found[1].encode() + b"\n" + raw)[:4].hex() != found[2]:
        raise RefusedError("key_id")
    return found[1], bytes.fromhex(found[2]), raw[1:]


def _strict_base64(text, why):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise RefusedError(why) from None
    if b64(data) != text:
        raise RefusedError(why)
    return data


def open_note(note, vkeys):
    """Return (text, verifier keys that signed); raise RefusedError with the reason."""
    try:
        text = note.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("checkpoint_malformed") from None
    if re.search("[\x00-\x09\x0b-\x1f]", text) or not text.endswith("\n") or len(note) > 1 << 20:
        raise RefusedError("checkpoint_malformed")
    body, sep, tail = text.rpartition("\n\n")
    lines = tail.split("\n")[:-1]
    if not sep or not body or not 1 <= len(lines) <= 100:
        raise RefusedError("checkpoint_malformed")
    body += "\n"
    known = {parse_vkey(vkey)[:2]: (vkey, parse_vkey(vkey)[2]) for vkey in vkeys}
    signed = []
    for line in lines:
        found = re.fullmatch(f"{DASH} ([^\\s+]+) ([A-Za-z0-9+/]+=*)", line)
        raw = _strict_base64(found[2], "checkpoint_malformed") if found else b""
        if not found or len(raw) < 5:
            raise RefusedError("checkpoint_malformed")
        if (found[1], raw[:4]) in known:
            vkey, public = known[found[1], raw[:4]]
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(raw[4:], body.encode())
            except InvalidSignature:
                raise RefusedError("signature_invalid") from None
            signed.append(vkey)
    if not signed:
        raise RefusedError("signature_missing")
    return body, signed


def open_checkpoint(note, key):
    """Return (size, root) of a log's checkpoint."""
    text, _ = open_note(note, [key.vkey()])
    lines = text.split("\n")
    if len(lines) != 4 or lines[0] != key.name or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]):
        raise RefusedError("checkpoint_malformed")
    root_hash = _strict_base64(lines[2], "checkpoint_malformed")
    if len(root_hash) != 32:
        raise RefusedError("checkpoint_malformed")
    return int(lines[1]), root_hash


def _sign_text(key, text):
    return text + "\n" + key.line(text)


def make_checkpoint_vectors():
    """Return keys, notes that hold and notes that do not."""
    key, other, added = Key(b"log"), Key(b"other log"), Key(b"witness", "witness.example/w")
    twin = Key(b"stranger", key.name)
    head = sha256(b"a head")
    good = checkpoint(key, 3, head)
    text = good.partition("\n\n")[0] + "\n"
    line = key.line(text)
    raw = base64.b64decode(line.split(" ")[2])
    flipped = raw[:-1] + bytes([raw[-1] ^ 1])
    name, _, hashed = text.split("\n")[:3]
    notes = {
        "signed": good,
        "empty_log": checkpoint(key, 0, sha256(b"")),
        "with_a_witness": good + added.line(text),
        "with_a_stranger_of_the_same_name": f"{text}\n{twin.line(text)}{line}",
        "signed_twice": good + line,
    }
    broken = {
        "flipped_signature": f"{text}\n{DASH} {name} {b64(flipped)}\n",
        "good_line_and_flipped_line": f"{good}{DASH} {name} {b64(flipped)}\n",
        "another_size": good.replace("\n3\n", "\n4\n"),
        "only_a_stranger": f"{text}\n{twin.line(text)}",
        "only_a_witness": f"{text}\n{added.line(text)}",
        "no_signature": text + "\n",
        "no_empty_line": text + line,
        "no_last_line_end": good[:-1],
        "carriage_return": good.replace("\n", "\r\n"),
        "nul": good.replace("\n3\n", "\n3\x00\n"),
        "trailing_text": good + "more\n",
        "hyphen_for_dash": good.replace(DASH, "-"),
        "two_blanks": good.replace(f"{DASH} ", f"{DASH}  "),
        "base64_unpadded": good.replace("=\n", "\n"),
        "base64_unused_bits": _sign_text(key, _set_unused_bits(text)),
        "base64_url": f"{text}\n{DASH} {name} {b64(raw).replace('+', '-').replace('/', '_')}\n",
        "signature_too_short": f"{text}\n{DASH} {name} {b64(raw[:4])}\n",
        "leading_zero": _sign_text(key, f"{name}\n03\n{hashed}\n"),
        "sign_before_size": _sign_text(key, f"{name}\n+3\n{hashed}\n"),
        "other_digits": _sign_text(key, f"{name}\n\u0663\n{hashed}\n"),
        "root_of_31_bytes": _sign_text(key, f"{name}\n3\n{b64(head[:31])}\n"),
        "extension_line": _sign_text(key, f"{text}more\n"),
        "two_lines": _sign_text(key, f"{name}\n3\n"),
        "another_origin": _sign_text(key, f"{other.name}\n3\n{hashed}\n"),
        "blank_line_end": _sign_text(key, f"{name} \n3\n{hashed}\n"),
        "too_many_lines": good + added.line(text) * 100,
    }
    for note in notes.values():
        open_checkpoint(note.encode(), key)
    vkey = key.vkey()
    bad_keys = {
        "line_end": vkey + "\n",
        "upper_case_id": vkey.replace(key.key_id().hex(), key.key_id().hex().upper()),
        "another_id": vkey.replace(key.key_id().hex(), "00000000"),
        "another_type": f"{key.name}+{key.key_id().hex()}+{b64(bytes([4]) + key.public)}",
        "too_short": f"{key.name}+{key.key_id().hex()}+{b64(bytes([1]) + key.public[:31])}",
        "no_name": "+" + vkey.partition("+")[2],
        "blank_in_name": "a " + vkey,
        "two_parts": "+".join(vkey.split("+")[:2]),
        "empty": "",
    }
    return {
        "key": {"seed": key.seed.hex(), "public": key.public.hex(), "log": key.log, "vkey": vkey},
        "refused_keys": [
            {"name": name, "vkey": bad, "why": refusal(parse_vkey, bad)} for name, bad in bad_keys.items()
        ],
        "notes": [
            {
                "name": name,
                "note": note,
                "size": open_checkpoint(note.encode(), key)[0],
                "root": b64(open_checkpoint(note.encode(), key)[1]),
            }
            for name, note in notes.items()
        ],
        "broken": [
            {"name": name, "note": note, "why": refusal(open_checkpoint, note.encode(), key)}
            for name, note in broken.items()
        ],
    }


def _set_unused_bits(text):
    # The root's last character before the padding carries two unused bits.
    place = text.index("=\n") - 1
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    char = alphabet[alphabet.index(text[place]) + 1]
    return text[:place] + char + text[place + 1 :]


# --- journal frames ---


def frame(generation, offset, payload):
    """Return the bytes of a journal frame."""
    digest = hashlib.blake2b(struct.pack("<QQ", generation, offset) + payload, digest_size=16).digest()
    return b"ORJ1" + struct.pack("<I", len(payload)) + digest + payload


def count_frames(generation, data):
    """Return (payloads of whole frames from the start, offset after them)."""
    found, place = [], 0
    while place + 24 <= len(data):
        size = struct.unpack_from("<I", data, place + 4)[0]
        payload = data[place + 24 : place + 24 + size]
        if len(payload) != size or data[place : place + 24 + size] != frame(generation, place, payload):
            break
        found.append(payload)
        place += 24 + size
    return found, place


def make_journal_vectors():
    """Return journals, whole and torn, with the frames that a reader takes."""
    payloads = [b'{"changes":[],"v":1}\n', b'{"changes":[],"v":1}\nraw bytes\x00\xff', b""]
    whole = b""
    for payload in payloads:
        whole += frame(5, len(whole), payload)
    first = len(frame(5, 0, payloads[0]))
    second = first + len(frame(5, first, payloads[1]))
    journals = {
        "whole": (5, whole),
        "empty": (5, b""),
        "another_generation": (6, whole),
        "torn_in_the_head": (5, whole[: first + 10]),
        "torn_in_the_payload": (5, whole[: second - 1]),
        "zeros_after": (5, whole + bytes(64)),
        "flipped_bit": (5, whole[: first + 30] + bytes([whole[first + 30] ^ 1]) + whole[first + 31 :]),
        "flipped_length": (5, whole[: first + 4] + bytes([whole[first + 4] ^ 1]) + whole[first + 5 :]),
        "another_mark": (5, whole[:first] + b"ORJ2" + whole[first + 4 :]),
        "frame_moved": (5, whole[:first] + frame(5, 0, payloads[1])),
        "frame_twice": (5, whole[:first] * 2),
    }
    return {
        "journals": [
            {
                "name": name,
                "generation": generation,
                "b64": b64(data),
                "end": count_frames(generation, data)[1],
                "payloads": [b64(payload) for payload in count_frames(generation, data)[0]],
            }
            for name, (generation, data) in journals.items()
        ]
    }
