"""A small whole log with its rows, head and checkpoint, and what an attacker may do to it."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from encoding import b64, canonical, commitment, parse_strict, pseudonym, salt
from entry_vectors import LOG_KEY, OTHER_KEY, PEPPER, RECORD, SECOND_RECORD
from log_check import verify
from proofs import Key, checkpoint, hash_leaf, parse_vkey, root, subtrees
from transcripts import write_turn

_THIRD_RECORD, _TRANSCRIPT = "0n5rvd83jkqy", "k2z6w0m4s9ac"
_SIGNED = 12


class _Log:
    """Builds entries and rows in order."""

    def __init__(self, key, day="2026-11-30"):
        self.key = key
        self._day = day
        self.lines = []
        self.rows = {}
        self.erased_rows = {}
        self._credentials = {}

    def name(self, seq):
        """Return `<log id>:<seq>`."""
        return f"{self.key.log}:{seq}"

    def ts(self, seq):
        """Return the record time of an entry, a second apart."""
        return f"{self._day}T07:00:{seq:02d}.000000Z"

    def add(self, what, client="onrecord", /, **members):
        """Append an entry."""
        seq = len(self.lines)
        cred = pseudonym(PEPPER, "cred", client)
        count, prev = self._credentials.get(cred, (0, None))
        entry = {
            "v": 1,
            "log": self.key.log,
            "seq": seq,
            "ts": self.ts(seq),
            "type": what,
            "actor": pseudonym(PEPPER, "actor", f"{client}\x1f"),
            "cred": cred,
            "cseq": count + 1,
        } | {name.rstrip("_"): value for name, value in members.items()}
        if prev is not None:
            entry["prev"] = prev
        line = canonical(entry)
        self._credentials[cred] = (count + 1, b64(hash_leaf(line)))
        self.lines.append(line.decode())

    def add_version(self, kind, client, record, version, data, row, **members):
        """Append an entry with a commitment, and its row."""
        seq = len(self.lines)
        salt_bytes = salt(f"{self.key.log} {seq}")
        full = {
            "v": 1,
            "seq": seq,
            "id": record,
            "version": version,
            "kind": "note",
            "salt": b64(salt_bytes),
            "ts": self.ts(seq),
            "type": kind,
            "origin": "agent",
            "status": "current",
            "workspace": "default",
            "mode": "placed",
            "client": client,
        } | row
        try:
            text = data.decode()
            full |= {"b64": b64(data)} if "\0" in text else {"text": text}
        except UnicodeDecodeError:
            full |= {"b64": b64(data)}
        if "from_" in members:
            full["from"] = members["from_"]
        body = {"alg": "hmac-sha256", "c": commitment(salt_bytes, data)}
        self.add(
            kind,
            client,
            rec=record,
            ver=version,
            kind=full["kind"],
            origin=full["origin"],
            body=body,
            **members,
        )
        self.rows[str(seq)] = canonical(full).decode()

    def erase(self, seq, by):
        """Put a row into its erased form."""
        gone = {"text", "b64", "salt", "path", "key", "source", "session", "turn", "speaker"}
        self.erased_rows[str(seq)] = self.rows[str(seq)]
        row = {name: value for name, value in parse_strict(self.rows[str(seq)].encode()).items() if name not in gone}
        self.rows[str(seq)] = canonical(row | {"erased": self.name(by)}).decode()

    def root(self, size):
        """Return the root of the first entries."""
        return root([hash_leaf(line.encode()) for line in self.lines[:size]])

    def head(self, size):
        """Return an item of `seen`."""
        return {"log": self.key.log, "size": size, "root": b64(self.root(size)), "ts": self.ts(size - 1)}


def _build():
    other, log, added = _Log(OTHER_KEY, "2026-11-29"), _Log(LOG_KEY), Key(b"rotated", LOG_KEY.name)
    other.add("log.start", key=OTHER_KEY.vkey(), seen=[])
    other.add("import", "importer", n=2)
    text = b"---\ntitle: Tea\nid: 9h1m2k8w4x6z\nversion: 1\n---\nGreen tea: 75 \xc2\xb0C.\n"
    log.add("log.start", key=LOG_KEY.vkey(), seen=[other.head(2)])
    other.add("import", "importer", n=1)
    log.add_version("record.create", "claude", RECORD, 1, text, {"path": "memories/default/Tea.md"})
    log.add_version(
        "record.update",
        "claude",
        RECORD,
        2,
        text.replace(b"75", b"80"),
        {"path": "memories/default/Tea.md"},
        from_=[log.name(1)],
    )
    block = write_turn("claude-code", "s1", {"role": "user", "turn": "1", "origin": "user", "text": "Forget the tea."})
    log.add_version(
        "event.append",
        "claude",
        _TRANSCRIPT,
        1,
        block.encode(),
        {
            "kind": "event",
            "origin": "user",
            "path": "events/claude-code/s1.md",
            "source": "claude-code",
            "session": "s1",
            "turn": "1",
            "role": "user",
            "n": 1,
            "at": 120,
        },
        turn=1,
    )
    log.add("log.seen", seen=[other.head(3)])
    log.add_version(
        "record.observe",
        "onrecord",
        SECOND_RECORD,
        1,
        b"W\xe4rme\n",
        {"origin": "file", "path": "memories/default/w.md", "mode": "observed"},
    )
    log.add("approval.request", "claude", n=1, cause="erase", rec=RECORD)
    log.add("approval.grant", to=[log.name(6)], level="passphrase")
    log.add("erase.request", "claude", rec=RECORD, cause="user", appr=log.name(7), level="passphrase")
    log.add("erase.execute", rec=RECORD, to=[log.name(1), log.name(2)], n=2)
    log.add("erase.verify", to=[log.name(9)], n=5)
    log.add("key.rotate", key=added.vkey(), sig=b64(LOG_KEY.sign(b"onrecord/key/v1\0" + added.vkey().encode())))
    log.add_version("record.create", "claude", _THIRD_RECORD, 1, b"nul: \0\n", {"path": "memories/default/nul.md"})
    log.add("scan.complete", n=3, det="lexical-1")
    for seq in (1, 2):
        log.erase(seq, 9)
    return log, other, added


def _is_signed(vkey, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(parse_vkey(vkey)[2]).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _change(line, **members):
    entry = {name: value for name, value in parse_strict(line.encode()).items() if members.get(name, value) is not None}
    return canonical(entry | {name: value for name, value in members.items() if value is not None}).decode()


def _list_tampered(log, other, added):
    """Return (name, changes of the material) pairs."""
    lines, rows, size = log.lines, log.rows, len(log.lines)
    note = checkpoint(LOG_KEY, _SIGNED, log.root(_SIGNED))

    def at(place, line):
        return {"entries": [*lines[:place], *([line] if line else []), *lines[place + 1 :]]}

    def row(seq, line):
        return {"rows": {name: text for name, text in (rows | {str(seq): line}).items() if text is not None}}

    def sealed(key, count, hashed):
        return {"checkpoint": checkpoint(key, count, hashed)}

    def rewritten(**members):
        # The last entry has no successor of its credential: only the tree can show the edit.
        return [*lines[:-1], _change(lines[-1], **members)]

    def compromised(n, signers):
        more = _Log(LOG_KEY)
        more.lines, more._credentials = list(lines), dict(log._credentials)
        more.add("key.compromise", key=LOG_KEY.vkey(), n=n)
        text = f"{LOG_KEY.name}\n{size}\n{b64(log.root(size))}\n"
        return {"entries": more.lines, "checkpoint": text + "\n" + "".join(key.line(text) for key in signers)}

    def erasing_elsewhere():
        more = _Log(OTHER_KEY, "2026-12-01")
        more.lines, more._credentials = list(other.lines), dict(other._credentials)
        more.add("erase.execute", rec=_TRANSCRIPT, to=[log.name(3)])
        return {"others": {OTHER_KEY.log: more.lines}}

    bare = parse_strict(rows["3"].encode())
    grown = checkpoint(LOG_KEY, size, log.root(size))
    return {
        "untouched": {},
        "no_checkpoint": {"checkpoint": None},
        "signed_by_both_keys": {"checkpoint": note + added.line(note.partition("\n\n")[0] + "\n")},
        "signed_by_the_added_key": sealed(added, _SIGNED, log.root(_SIGNED)),
        "whole_log_signed": {"checkpoint": grown},
        "pinned_earlier_heads": {"pinned": [{"size": count, "root": b64(log.root(count))} for count in (1, 7, size)]},
        "unsigned_tail_cut": {"entries": lines[:_SIGNED]},
        "other_log_has_not_arrived": {"others": {}},
        "other_log_is_behind": {"others": {OTHER_KEY.log: other.lines[:2]}},
        "newer_entry_at_the_end": {"entries": [*lines, _change(lines[-1], v=2, x=1)]},
        "compromised_beyond": compromised(size, [LOG_KEY]),
        "compromised_before_but_added_key_signs": compromised(12, [added]),
        "compromised_before": compromised(12, [LOG_KEY]),
        "rotation_after_compromise": compromised(11, [added]),
        "entry_edited": at(6, _change(lines[6], n=2)),
        "entry_edited_and_resigned_by_a_stranger": {
            "entries": rewritten(n=4),
            **sealed(Key(b"stranger", LOG_KEY.name), size, log.root(size)),
        },
        "last_entry_edited": {"entries": rewritten(n=4), "checkpoint": grown},
        "entry_deleted": at(6, None),
        "entries_swapped": {"entries": [*lines[:6], lines[7], lines[6], *lines[8:]]},
        "truncated": {"entries": lines[: _SIGNED - 1]},
        "emptied": {"entries": []},
        "entry_twice": {"entries": [*lines[:6], lines[5], *lines[6:]]},
        "entry_of_another_log": at(6, other.lines[1]),
        "wrong_signature": {"checkpoint": note.replace(f"\n{_SIGNED}\n", f"\n{_SIGNED - 1}\n")},
        "checkpoint_of_another_root": sealed(LOG_KEY, _SIGNED, log.root(_SIGNED - 1)),
        "checkpoint_of_another_log": {"checkpoint": checkpoint(OTHER_KEY, 3, other.root(3))},
        "rolled_back": {"entries": lines[:_SIGNED], "pinned": [{"size": size, "root": b64(log.root(size))}]},
        "rolled_back_and_regrown": {
            "entries": rewritten(n=4),
            "pinned": [{"size": size, "root": b64(log.root(size))}],
        },
        "row_missing": row(3, None),
        "row_erased_without_entry": row(
            3,
            canonical({k: v for k, v in bare.items() if k not in ("text", "salt")} | {"erased": log.name(9)}).decode(),
        ),
        "row_missing_but_erased_by_the_other_log": row(3, None) | erasing_elsewhere(),
        "row_edited": row(3, _change(rows["3"], text=bare["text"].replace("tea", "tax"))),
        "row_salt_edited": row(3, _change(rows["3"], salt=b64(salt("x")))),
        "row_of_another_version": row(3, _change(rows["3"], version=2)),
        "row_origin_edited": row(3, _change(rows["3"], origin="confirmed")),
        "row_status_edited": row(3, _change(rows["3"], status="draft")),
        "row_protection_edited": row(3, _change(rows["3"], protection="locked")),
        "erased_row_removed": row(1, None),
        "erased_row_put_back": row(1, log.erased_rows["1"]),
        "row_sealed": row(
            3,
            canonical(
                {k: v for k, v in bare.items() if k not in ("text", "salt")} | {"sealed": {"alg": "A256GCM"}}
            ).decode(),
        ),
        "counter_gap": at(13, _change(lines[13], cseq=9)),
        "prev_edited": at(13, _change(lines[13], prev=b64(bytes(32)))),
        "prev_dropped": at(13, _change(lines[13], prev=None)),
        "time_fell": at(13, _change(lines[13], ts="2026-11-30T06:59:59.999999Z")),
        "not_canonical": at(6, lines[6].replace(":", ": ", 1)),
        "unknown_type": at(6, _change(lines[6], type="record.burn")),
        "unknown_member": at(6, _change(lines[6], note="x")),
        "second_start": at(13, _change(lines[13], type="log.start", n=None, det=None, key=LOG_KEY.vkey(), seen=[])),
        "no_start": at(0, _change(lines[0], type="scan.complete", key=None, n=0, det="x", seen=None)),
        "key_of_another_log": {"key_pub": OTHER_KEY.vkey() + "\n"},
        "rotation_by_a_stranger": at(
            11, _change(lines[11], sig=b64(added.sign(b"onrecord/key/v1\0" + added.vkey().encode())))
        ),
        "fork_of_the_other_log": {
            "others": {OTHER_KEY.log: [*other.lines[:1], _change(other.lines[1], n=9), *other.lines[2:]]}
        },
    }


def make_log_vectors():
    """Return the log, and tampered variants with the verdict of each."""
    log, other, added = _build()
    material = {
        "log": LOG_KEY.log,
        "key_pub": LOG_KEY.vkey() + "\n",
        "entries": log.lines,
        "rows": log.rows,
        "checkpoint": checkpoint(LOG_KEY, _SIGNED, log.root(_SIGNED)),
        "pinned": [],
        "others": {OTHER_KEY.log: other.lines},
    }
    tampered = []
    for name, changes in _list_tampered(log, other, added).items():
        verdict = verify(material | changes, _is_signed)
        tampered.append({"name": name, "changes": _shorten(material, changes), "verdict": verdict})
    size = len(log.lines)
    head = {"size": size, "root": b64(log.root(size)), "ts": log.ts(size - 1)}
    head["frontier"] = [b64(node) for node in subtrees([hash_leaf(line.encode()) for line in log.lines])]
    return {"material": material, "head": head, "variants": tampered}


def _shorten(material, changes):
    """Write changed entries and rows as the places that differ; other members stand whole."""
    short = dict(changes)
    if "entries" in changes:
        old, new = material["entries"], changes["entries"]
        start = next(
            (place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
            min(len(old), len(new)),
        )
        same = 0
        while same < min(len(old), len(new)) - start and old[len(old) - 1 - same] == new[len(new) - 1 - same]:
            same += 1
        short["entries"] = {"from": start, "to": len(old) - same, "lines": new[start : len(new) - same]}
    if "rows" in changes:
        seqs = sorted(set(material["rows"]) | set(changes["rows"]))
        short["rows"] = {
            seq: changes["rows"].get(seq) for seq in seqs if changes["rows"].get(seq) != material["rows"].get(seq)
        }
    return short
