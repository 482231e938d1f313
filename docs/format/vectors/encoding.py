"""Encodings of docs/format/README.md and ledger.md: canonical JSON, base32, base64, ids, commitments."""

import base64
import hashlib
import hmac
import json

BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
INTEGER_MAX = 2**53 - 1
DEPTH_MAX = 32


class RefusedError(Exception):
    """A value outside the format; the message is the reason code that the vectors carry."""


def canonical(value):
    """Return the canonical bytes of a value of the format's own JSON."""
    _check(value, 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def _check(value, depth):
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        if abs(value) > INTEGER_MAX:
            raise RefusedError("integer_too_large")
    elif isinstance(value, str):
        _check_text(value)
    elif isinstance(value, list):
        _check_depth(depth)
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, dict):
        _check_depth(depth)
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise RefusedError("key_not_ascii")
            _check(item, depth + 1)
    elif isinstance(value, float):
        raise RefusedError("float")
    elif value is None:
        raise RefusedError("null")
    else:
        raise TypeError(type(value))


def _check_depth(depth):
    if depth + 1 > DEPTH_MAX:
        raise RefusedError("too_deep")


def _check_text(text):
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise RefusedError("lone_surrogate")


def parse_strict(data):
    """Read one JSON object as untrusted input is read; raise RefusedError with the reason."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("not_utf8") from None
    _scan_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=_refuse_constant,
            parse_float=_refuse_float,
        )
    except json.JSONDecodeError:
        raise RefusedError("not_json") from None
    if not isinstance(value, dict):
        raise RefusedError("not_an_object")
    _check_input(value)
    return value


def _scan_depth(text):
    depth, in_string, escaped = 0, False, False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise RefusedError("too_deep")
        elif char in "]}":
            depth -= 1


def _pairs(pairs):
    found = {}
    for key, value in pairs:
        if key in found:
            raise RefusedError("duplicate_key")
        found[key] = value
    return found


def _refuse_constant(_):
    raise RefusedError("not_a_number")


def _refuse_float(_):
    raise RefusedError("float")


def _check_input(value):
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > INTEGER_MAX:
        raise RefusedError("integer_too_large")
    elif isinstance(value, list):
        for item in value:
            _check_input(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check_input(item)


def sha256(data):
    """Return the hash of bytes."""
    return hashlib.sha256(data).digest()


def b64(data):
    """Write bytes in base64."""
    return base64.b64encode(data).decode("ascii")


def b64url(data):
    """Write bytes in base64url."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def base32(data, chars):
    """Write the first `5 * chars` bits of data."""
    bits = "".join(f"{byte:08b}" for byte in data)
    return "".join(BASE32[int(bits[5 * place : 5 * place + 5], 2)] for place in range(chars))


def log_id(public_key):
    """Return the log id of a raw public key."""
    return base32(sha256(public_key), 16)


def block_id(source, session, turn):
    """Return the block id of a turn."""
    return base32(sha256(b"\0".join(part.encode("utf-8") for part in (source, session, turn))), 10)


def conflict_id(members):
    """Return the id of a conflict."""
    return base32(sha256("\n".join(sorted(members)).encode("ascii")), 12)


def place(salt, path):
    """Return the commitment to a path."""
    return b64(hmac.new(salt, b"onrecord/place/v1\0" + path.encode(), hashlib.sha256).digest())


def commitment(salt, data):
    """Return the commitment to bytes."""
    return b64(hmac.new(salt, b"onrecord/commit/v1\0" + data, hashlib.sha256).digest())


def pseudonym(pepper, group, name):
    """Return the pseudonym of a name; group is actor, subject or cred."""
    message = b"onrecord/pseudonym/v1\0" + group.encode("ascii") + b"\0" + name.encode("utf-8")
    prefix = "c_" if group == "cred" else "p_"
    return prefix + b64url(hmac.new(pepper, message, hashlib.sha256).digest())[:22]


def salt(name):
    """Return 32 fixed bytes for a name; worthless as a secret."""
    return sha256(b"vector salt " + name.encode("ascii"))


def describe_bytes(data):
    """Return the JSON form in which vectors carry bytes: a string where they are UTF-8, else base64."""
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"b64": b64(data)}


def refusal(call, *args):
    """Run a call that must refuse, and return its reason code."""
    try:
        call(*args)
    except RefusedError as error:
        return str(error)
    raise AssertionError(f"not refused: {args!r}")
