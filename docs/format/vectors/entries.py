"""Ledger entries: the closed set of types, their members and forms (docs/format/ledger.md)."""

import base64
import re
from itertools import pairwise

from encoding import BASE32, RefusedError, b64, canonical, parse_strict, sha256
from instants import is_instant

ENTRY_MAX_BYTES = 4096
COMMON = ("v", "log", "seq", "ts", "type", "actor", "cred", "cseq", "prev")

# Required members stand plain, optional ones in brackets, ? marks members of which at least one stands.
_TYPES = """
log.start: key seen
log.seen: seen
log.adopt: seen appr level
key.rotate: key sig
key.compromise: key n
cred.create cred.revoke: to? level?
clock.jump: off
record.create: rec ver kind origin body [refs from ws]
record.update: rec ver kind origin body from [refs ws appr]
record.observe: rec ver kind origin body [from refs]
record.displace: rec ver kind origin body from
record.move: rec ver to place
record.missing record.found: rec ver
record.retire record.restore record.trash: rec ver from [kind origin body cause refs appr level]
record.merge: rec ver kind origin body from refs [appr level]
record.confirm record.protect: rec ver from [kind origin body protection appr level]
record.propose: rec ver kind origin body [from refs]
record.approve record.reject: rec ver from [body kind origin cause appr level]
record.suspect: rec ver refs
record.link: rec ver refs
event.append: rec ver kind origin turn body
fact.assert fact.end fact.retract fact.correct: rec ver kind origin body [from refs appr]
entity.merge entity.alias entity.separate: rec ver kind origin body from [refs appr level]
belief.form belief.revise belief.fall: rec ver kind origin body [from refs cause]
conflict.open: rec ver kind origin body refs det
conflict.judge conflict.apply conflict.resolve: rec ver kind origin body from [refs appr level cause]
conflict.dismiss conflict.reopen: rec ver kind origin body from [refs appr level cause]
workspace.create workspace.rename workspace.merge: rec ver kind origin body [from refs appr level]
workspace.separate workspace.confirm: rec ver kind origin body [from refs appr level]
workspace.isolate workspace.refuse: rec ver kind origin body [from refs appr level]
workspace.move: ws to [appr level]
approval.request: n cause [rec ver]
approval.grant approval.deny approval.expire: to level
recall recall.deny: n [refs pol]
write.deny: cause [pol]
import export: n [subj cause]
replay: n
restore: seen n
erase.request: to? rec? subj? cause appr level
erase.execute: rec [ver subj n] to
erase.verify: to n
erase.ack: to
hold.set hold.release: rec [subj cause appr level]
retention.expire: rec [ver]
policy.change: pol
scan.complete: det n
pack.complete: n
selftest: rec ver
checkpoint.anchor: n cause
verify.fail: n cause
"""

_WORDS = {
    "kind": "note fact entity experience observation belief reflection event conflict workspace",
    "origin": "confirmed user document import agent file tool web unknown",
    "status": "draft pending current superseded retired rejected",
    "protection": "normal protected locked",
    "level": "passphrase os passkey elicitation tty flag",
    "cause": "user duplicate stale wrong consent contract legal interest expiry policy confirm unlock retire "
    "edit erase merge adopt workspace witness git tsa mail tree signature commitment replay other",
    "rel": "derived evidence supersedes merged member about copy restores",
    "d": "allow deny",
}
_WORDS = {name: set(words.split()) for name, words in _WORDS.items()}


def _read_types():
    """Return {type: (required, optional, at least one of)}."""
    table = {}
    for line in _TYPES.strip().splitlines():
        names, _, members = line.partition(": ")
        optional = set(" ".join(re.findall(r"\[(.*?)\]", members)).split())
        rest = re.sub(r"\[.*?\]", "", members).split()
        some = {name.rstrip("?") for name in rest if name.endswith("?")}
        for name in names.split():
            table[name] = ({name for name in rest if not name.endswith("?")}, optional, some)
    return table


TYPES = _read_types()


def _is_int(value, low):
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _matches(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_base64(value, size):
    if not _matches(value, r"[A-Za-z0-9+/]*={0,2}"):
        return False
    try:
        data = base64.b64decode(value, validate=True)
    except ValueError:
        return False
    return len(data) == size and b64(data) == value


def _is_log(value):
    return _matches(value, f"[{BASE32}]{{16}}")


def _is_ref(value):
    return _matches(value, f"[{BASE32}]{{16}}:(?:0|[1-9][0-9]{{0,14}})")


def _is_key(value):
    if not _matches(value, rf"onrecord\.local/[{BASE32}]{{16}}\+[0-9a-f]{{8}}\+[A-Za-z0-9+/=]+"):
        return False
    name, key_id, text = value.split("+", 2)
    if not _is_base64(text, 33):
        return False
    raw = base64.b64decode(text)
    return raw[0] == 1 and sha256(name.encode() + b"\n" + raw)[:4].hex() == key_id


def _is_shape(value, **members):
    return (
        isinstance(value, dict)
        and set(value) == set(members)
        and all(check(value[name]) for name, check in members.items())
    )


def _is_list(value, check):
    return isinstance(value, list) and len(value) > 0 and all(check(item) for item in value)


def _ascends(values):
    return all(left < right for left, right in pairwise(values))


def _is_body(value):
    return _is_shape(value, alg=lambda alg: alg == "hmac-sha256", c=lambda text: _is_base64(text, 32))


def _is_reference(value):
    return _is_shape(
        value,
        rel=lambda rel: isinstance(rel, str) and rel in _WORDS["rel"],
        rec=_is_record,
        ver=lambda ver: _is_int(ver, 1),
    )


def _is_record(value):
    return _matches(value, f"[{BASE32}]{{12}}")


def _is_subjects(value):
    return _is_list(value, lambda item: _matches(item, "p_[A-Za-z0-9_-]{22}")) and _ascends(value)


def _is_policy(value):
    return _is_shape(
        value,
        doc=lambda text: _is_base64(text, 32),
        d=lambda word: isinstance(word, str) and word in _WORDS["d"],
        rule=lambda text: _matches(text, "[A-Za-z0-9._-]{1,64}"),
    )


def _is_head(value):
    return _is_shape(
        value,
        log=_is_log,
        size=lambda size: _is_int(size, 1),
        root=lambda text: _is_base64(text, 32),
        ts=lambda text: isinstance(text, str) and is_instant(text),
    )


_FORMS = {
    "rec": _is_record,
    "ws": _is_record,
    "ver": lambda value: _is_int(value, 1),
    "turn": lambda value: _is_int(value, 1),
    "n": lambda value: _is_int(value, 0),
    "off": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "body": _is_body,
    "from": lambda value: _is_list(value, _is_ref),
    "to": lambda value: _is_list(value, _is_ref),
    "refs": lambda value: _is_list(value, _is_reference),
    "subj": _is_subjects,
    "appr": _is_ref,
    "pol": _is_policy,
    "key": _is_key,
    "sig": lambda value: _is_base64(value, 64),
    "det": lambda value: _matches(value, "[a-z0-9.-]{1,64}"),
    "log": _is_log,
    "seq": lambda value: _is_int(value, 0),
    "ts": lambda value: isinstance(value, str) and is_instant(value),
    "actor": lambda value: _matches(value, "p_[A-Za-z0-9_-]{22}"),
    "cred": lambda value: _matches(value, "c_[A-Za-z0-9_-]{22}"),
    "cseq": lambda value: _is_int(value, 1),
    "prev": lambda value: _is_base64(value, 32),
    "place": lambda value: _is_base64(value, 32),
}


def parse_entry(line):
    """Read a ledger line; raise RefusedError with a code of tree.md, or `newer_format`."""
    if len(line) > ENTRY_MAX_BYTES:
        raise RefusedError("entry_too_large")
    try:
        entry = parse_strict(line)
        if canonical(entry) != line:
            raise RefusedError("blanks")
    except RefusedError:
        raise RefusedError("entry_not_canonical") from None
    version = entry.get("v")
    if _is_int(version, 2):
        raise RefusedError("newer_format")
    if version is None:
        raise RefusedError("entry_missing_member")
    if not _is_int(version, 1):
        raise RefusedError("entry_bad_member")
    if "type" not in entry:
        raise RefusedError("entry_missing_member")
    if not isinstance(entry["type"], str) or entry["type"] not in TYPES:
        raise RefusedError("entry_unknown_type")
    _check_names(entry)
    for name, value in entry.items():
        if name not in ("v", "type") and not _has_form(name, value, entry):
            raise RefusedError("entry_bad_member")
    return entry


def _check_names(entry):
    required, optional, some = TYPES[entry["type"]]
    names = set(entry)
    allowed = set(COMMON) | required | optional | some | {"seen"} | ({"subj", "pol"} if "rec" in names else set())
    allowed |= {"status", "protection"} if "body" in names else set()
    needed = (set(COMMON) - {"prev"}) | required
    if names - allowed:
        raise RefusedError("entry_unknown_member")
    together = names & {"kind", "origin", "body"}
    if needed - names or (some and not names & some) or len(together) not in (0, 3):
        raise RefusedError("entry_missing_member")
    if _is_int(entry["cseq"], 2) and "prev" not in names:
        raise RefusedError("entry_missing_member")
    if entry["cseq"] == 1 and "prev" in names:
        raise RefusedError("entry_unknown_member")


def _has_form(name, value, entry):
    if name == "seen":
        is_empty_allowed = entry["type"] in ("log.start", "restore")
        heads = isinstance(value, list) and all(_is_head(head) for head in value)
        if not heads or not (value or is_empty_allowed):
            return False
        logs = [head["log"] for head in value]
        return _ascends(logs) and entry["log"] not in logs
    if name in _WORDS:
        return isinstance(value, str) and value in _WORDS[name]
    return _FORMS[name](value)
