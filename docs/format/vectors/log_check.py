"""Verification of one log as docs/format/tree.md asks, written for reading: the whole log is in memory."""

import base64
import hmac

from encoding import RefusedError, b64, commitment, log_id, parse_strict
from entries import parse_entry
from proofs import hash_leaf, open_note, parse_vkey, root

_SAME = (
    ("id", "rec"),
    ("version", "ver"),
    ("kind", "kind"),
    ("origin", "origin"),
    ("ts", "ts"),
    ("type", "type"),
    ("from", "from"),
    ("status", "status"),
    ("protection", "protection"),
)
_USUAL = {"status": "current", "protection": "normal"}


def verify(material, is_signed):
    """Return {verdict, code, seq, ...} of a log.

    Args:
        material: `log`, `key_pub`, `entries` (lines), `rows` ({seq: line}), `checkpoint` (or None), `pinned`
            (list of size and root), `others` ({log: lines}).
        is_signed: Tells whether a signature by a verifier key holds: (vkey, message, signature) -> bool.
    """
    lines = [line.encode() for line in material["entries"]]
    check = _EntryCheck(material, is_signed)
    try:
        for place, line in enumerate(lines):
            check.take(place, line)
        check.judge_absence()
        check.judge_seen()
        size = _check_heads(material, lines, check.list_trusted())
    except RefusedError as error:
        code, _, seq = str(error).partition(" ")
        return {"verdict": "BROKEN", "code": code} | ({"seq": int(seq)} if seq else {})
    return {
        "verdict": "L1" if size is None else "L2",
        "entries": len(lines),
        "signed": size or 0,
        "unsigned": len(lines) - (size or 0),
        "opened": check.opened,
        "sealed": check.sealed,
        "erased": check.erased,
        "unerased": check.unerased,
        "waiting": check.waiting,
        "newer": check.newer,
    }


class _EntryCheck:
    """What is judged entry by entry."""

    def __init__(self, material, is_signed):
        self._material = material
        self._is_signed = is_signed
        self._last_ts = ""
        self._credentials = {}
        self._absent = []
        self._present = []
        self._seen = []
        self._keys = []
        self._limits = {}
        self._erasures = {name for lines in material["others"].values() for name in _list_erasures(lines)}
        self.opened = self.sealed = self.erased = self.unerased = self.waiting = self.newer = 0

    def take(self, seq, line):
        """Judge one line."""
        try:
            entry = parse_entry(line)
        except RefusedError as error:
            if str(error) == "newer_format":
                self.newer += 1
                return
            raise RefusedError(f"{error} {seq}") from None
        code = (
            self._judge_place(seq, entry, hash_leaf(line))
            or self._judge_key(seq, entry)
            or self._judge_body(seq, entry)
        )
        if code:
            raise RefusedError(f"{code} {seq}")
        if entry["type"] != "log.adopt":  # what it names was given up
            self._seen += [(seq, head) for head in entry.get("seen", [])]

    def _judge_place(self, seq, entry, leaf):
        if entry["log"] != self._material["log"]:
            return "log_mismatch"
        if entry["seq"] != seq:
            return "seq_mismatch"
        if (seq == 0) != (entry["type"] == "log.start"):
            return "start_misplaced"
        if entry["ts"] < self._last_ts:
            return "time_fell"
        self._last_ts = entry["ts"]
        if not self.newer:
            count, prev = self._credentials.get(entry["cred"], (0, None))
            if entry["cseq"] != count + 1:
                return "counter_gap"
            if entry.get("prev") != prev:
                return "prev_mismatch"
        self._credentials[entry["cred"]] = (entry["cseq"], b64(leaf))
        return None

    def _judge_key(self, seq, entry):
        key, log = entry.get("key"), self._material["log"]
        if key is None:
            return None
        if key.partition("+")[0] != f"onrecord.local/{log}":
            return "key_mismatch"
        if entry["type"] == "log.start":
            if key != self._material["key_pub"].removesuffix("\n") or log_id(parse_vkey(key)[2]) != log:
                return "key_mismatch"
            self._keys.append((key, -1, []))
        elif entry["type"] == "key.rotate":
            message, signature = b"onrecord/key/v1\0" + key.encode(), base64.b64decode(entry["sig"])
            vouchers = [old for old, _, _ in self._keys if self._is_signed(old, message, signature)]
            if not vouchers:
                return "rotation_unsigned"
            self._keys.append((key, seq, vouchers))
        elif key not in [old for old, _, _ in self._keys]:
            return "key_mismatch"
        else:
            self._limits[key] = min(entry["n"], self._limits.get(key, entry["n"]))
        return None

    def list_trusted(self):
        """Return {verifier key: largest size it is trusted for, or None for any}."""
        trusted = {}
        for key, seq, vouchers in self._keys:
            reach = [self._limits.get(voucher, seq + 1) for voucher in vouchers if voucher in trusted]
            if not vouchers or any(seq < limit for limit in reach):
                trusted[key] = self._limits.get(key)
        return trusted

    def _judge_body(self, seq, entry):
        if entry["type"] == "erase.execute":
            self._erasures.update(entry["to"])
        if "body" not in entry:
            return None
        line = self._material["rows"].get(str(seq))
        if line is None:
            self._absent.append(seq)
            return None
        row = parse_strict(line.encode())
        if any(row.get(mine, _USUAL.get(mine)) != entry.get(theirs, _USUAL.get(theirs)) for mine, theirs in _SAME):
            return "row_mismatch"
        if "mode" in row and (row["mode"] == "displaced") != (entry["type"] == "record.displace"):
            return "row_mismatch"
        if "erased" in row:
            self._absent.append(seq)
            return None
        self._present.append(seq)
        if "sealed" in row:
            self.sealed += 1
            return None
        data = row["text"].encode() if "text" in row else base64.b64decode(row["b64"])
        if not hmac.compare_digest(commitment(base64.b64decode(row["salt"]), data), entry["body"]["c"]):
            return "commitment_mismatch"
        self.opened += 1
        return None

    def judge_absence(self):
        """Judge what is absent once every erasure is known."""
        log = self._material["log"]
        self.unerased = sum(f"{log}:{seq}" in self._erasures for seq in self._present)
        for seq in self._absent:
            if f"{log}:{seq}" in self._erasures:
                self.erased += 1
            elif not self.newer:
                raise RefusedError(f"unexplained_absence {seq}")

    def judge_seen(self):
        """Compare the heads of other logs with these logs."""
        for seq, head in self._seen:
            lines = self._material["others"].get(head["log"], [])
            if len(lines) < head["size"]:
                self.waiting += 1
            elif b64(root([hash_leaf(line.encode()) for line in lines[: head["size"]]])) != head["root"]:
                raise RefusedError(f"fork {seq}")


def _list_erasures(lines):
    for line in lines:
        try:
            entry = parse_entry(line.encode())
        except RefusedError:
            continue
        if entry["type"] == "erase.execute":
            yield from entry["to"]


def _check_heads(material, lines, trusted):
    """Return the signed size, or None without a checkpoint."""
    if not lines:
        key = material["key_pub"].removesuffix("\n")
        if log_id(parse_vkey(key)[2]) != material["log"]:
            raise RefusedError("key_mismatch")
        trusted = {key: None}
    leaves = [hash_leaf(line) for line in lines]
    for pin in sorted(material["pinned"], key=lambda pin: pin["size"]):
        if pin["size"] > len(leaves):
            raise RefusedError("rolled_back")
        if b64(root(leaves[: pin["size"]])) != pin["root"]:
            raise RefusedError("pinned_mismatch")
    if material["checkpoint"] is None:
        return None
    text, signed = open_note(material["checkpoint"].encode(), trusted)
    origin, size, hashed = text.split("\n")[:3]
    size = int(size)
    if origin != f"onrecord.local/{material['log']}":
        raise RefusedError("checkpoint_malformed")
    if not any(trusted[vkey] is None or size <= trusted[vkey] for vkey in signed):
        raise RefusedError("signature_missing")
    if size > len(leaves):
        raise RefusedError("truncated")
    if b64(root(leaves[:size])) != hashed:
        raise RefusedError("root_mismatch")
    return size
