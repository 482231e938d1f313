"""The checks of doctor and the codes of their findings: the one list, from which `docs/DOCTOR.md` is made.

A code belongs to one check. What a check finds comes from the functions that `diagnosis` lists; a finding names its
code alone and is put under the check that owns it.
"""

from __future__ import annotations

from typing import Final

from onrecord.app.doctor.check_values import Check, Code
from onrecord.app.doctor.file_checks import FILE_CHECKS
from onrecord.domain.problem import Severity

_INFO, _WARNING, _CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL


_COPY: Final = "Put it back from a copy of the vault."
_VERIFY: Final = "`onrecord verify` judges the log; put its folder back from a copy."
_PERMISSIONS: Final = "Mend its permissions, or free space on the disk."

CHECKS: Final = (
    Check(
        "vault.folder",
        "The vault is there",
        (
            Code("no_vault", (_CRITICAL,), "there is no vault at the place given, or a half-made one",
                 "Name the right folder with --vault, put .onrecord back from a copy, or run `onrecord init DIR`."),
            Code("vault_closed", (_CRITICAL,), "this user may not look into the folder, or into its `.onrecord`",
                 "Let the user who runs onrecord enter, read and write it, or run it as its owner."),
            Code("vault_unusable", (_CRITICAL,), "`.onrecord` is a link: nothing is read or written through it",
                 "Put the folder itself in its place."),
            Code("vault_incomplete", (_CRITICAL,), "`onrecord.toml` is here, `.onrecord` is not",
                 "Wait for the sync program; if .onrecord is lost for good, `onrecord init DIR` begins anew."),
        ),
    ),
    Check(
        "vault.config",
        "onrecord.toml is there and names this vault",
        (
            Code("vault_offline", (_CRITICAL,), "`onrecord.toml` is absent, cannot be read or names another vault",
                 "Put onrecord.toml back from a copy of the vault; where its permissions are at fault, mend them."),
        ),
    ),
    Check(
        "vault.format",
        "Nothing was written by a newer program",
        (
            Code("newer_format", (_CRITICAL,), "the vault, an entry or a row has a newer format",
                 "Upgrade onrecord; what is here stays as it is."),
        ),
    ),
    Check(
        "vault.parts",
        "Every part of the machine folder can be read",
        (
            Code("damaged", (_WARNING, _CRITICAL), "something else stands in the place of a part, or it cannot be read",
                 "Move it away and put the folder of the log back from a copy of the vault."),
            Code("storage_failed", (_CRITICAL,), "the disk refused to read or to write a part", _PERMISSIONS),
        ),
    ),
    Check(
        "vault.writable",
        "The vault can be written",
        (
            Code("vault_read_only", (_WARNING, _CRITICAL), "a folder of the vault cannot be written",
                 "Mend its permissions; until then new memories go to the backup."),
        ),
    ),
    Check(
        "vault.strays",
        "Every file of the machine and state folders belongs to a part",
        (Code("stray_file", (_WARNING,), "no part of OnRecord knows the file", "Move it away if it is not needed."),),
    ),
    Check(
        "state.installation",
        "The state folder is whole",
        (
            Code("state_damaged", (_CRITICAL,), "a file of the state folder is absent or damaged",
                 "Put the state folder back from a copy, or move it away: a new installation begins then."),
            Code("state_absent", (_INFO,), "this machine has no installation of this vault yet",
                 "Nothing needs to be done: the next command begins one, `doctor` apart."),
            Code("state_set_aside", (_INFO, _WARNING), "an earlier state folder was set aside, with its key",
                 "Keep it while anything of its log may be missing; then move it to where you keep backups."),
            Code("installation_new", (_INFO,), "this machine has, or had, another installation of this vault",
                 "Use one of the two folders; keep the other's state folder, which has its key."),
            Code("hard_link_parted", (_INFO,), "an own file had other names (hard links) and got bytes of its own",
                 "Nothing needs to be done: the other names keep the bytes of then, as a backup made of links should."),
            Code("state_read_only", (_CRITICAL,), "the state folder cannot be written", _PERMISSIONS),
            Code("state_newer_format", (_CRITICAL,), "a newer program wrote the state folder", "Upgrade onrecord."),
        ),
    ),
    Check(
        "state.key",
        "The key signs for the own log",
        (
            Code("key_unusable", (_CRITICAL,), "the private key is absent, damaged or of another log",
                 "Put the file key back from where you keep secrets."),
        ),
    ),
    Check(
        "index.usable",
        "The index can be used",
        (
            Code("index_unusable", (_INFO, _CRITICAL), "the index is absent, damaged, of another owner, or a folder",
                 "Run `onrecord reindex`."),
            Code("index_in_memory", (_CRITICAL,), "the index cannot be used where it lies and is made in memory",
                 "Free space on the disk of the state folder, or mend its permissions."),
        ),
    ),
    Check(
        "index.level",
        "The index has taken in every log",
        (
            Code("index_behind", (_CRITICAL,), "the index lacks entries of a log", "Run `onrecord reindex`."),
            Code("locked", (_INFO,), "another process writes, so that nothing was taken in",
                 "Ask again in a moment; if the named process hangs, end it."),
        ),
    ),
    Check(
        "index.equal",
        "The index is the one that a rebuild would make",
        (Code("index_differs", (_CRITICAL,), "the index says other things than the versions stores",
              "Run `onrecord reindex`."),),
        is_deep=True,
    ),
    Check(
        "ledger.lines",
        "Every entry can be read",
        (
            Code("entry_unreadable", (_WARNING, _CRITICAL), "a line of a ledger is no entry of this format", _VERIFY),
        ),
    ),
    Check(
        "ledger.heads",
        "Every log goes on from what was seen of it",
        (
            Code("ledger_rolled_back", (_CRITICAL,), "the own ledger does not continue the head acknowledged here",
                 "Put the newest vault back; if it is lost, `onrecord adopt` shows what would be given up."),
            Code("log_forked", (_WARNING,), "another log is not the one that was seen here before",
                 "`onrecord verify` judges it; put the log's folder back from the machine that writes it."),
            Code("log_cut_back", (_WARNING,), "another log is shorter than it was when it was seen here",
                 "Put the log's folder back from the machine that writes it, or from a backup."),
            Code("head_gone", (_INFO,), "the signed head of the own log is gone",
                 "Put it back from a copy of the vault, or go on: a later write signs a new one."),
            Code("checkpoint_unproven", (_WARNING,), "no key of another log signed its checkpoint",
                 "`onrecord verify` judges it; put the log's folder back from the machine that writes it."),
        ),
    ),
    Check(
        "ledger.others",
        "Every other log is one of yours",
        (
            Code("log_new", (_WARNING,), "another installation's log, which no entry of the own log names yet",
                 "Use it if it is a machine of yours; else move its folder away: what it says of origins is its word."),
            Code("log_other", (_INFO,), "another installation's log; origins of its versions are its word",
                 "If it is no machine of yours, move its folder away and run `onrecord reindex`; `verify` tells it."),
        ),
    ),
    Check(
        "ledger.proof",
        "Every log verifies: tree, counters, keys, signatures, heads",
        (Code("ledger_broken", (_CRITICAL,), "the verification of a log fails",
              "The finding says it, by the log at fault; `onrecord verify` explains it."),),
        is_deep=True,
    ),
    Check(
        "versions.rows",
        "Every version can be read",
        (Code("version_unreadable", (_CRITICAL,), "a line of a versions store is no row", _COPY),),
    ),
    Check(
        "versions.commitments",
        "Every version is the one that its entry commits to",
        (
            Code("version_altered", (_CRITICAL,), "a row says something else than its entry, or is gone", _VERIFY),
            Code("rows_waiting", (_WARNING,), "the last versions or entries of another machine's log have not come",
                 "Wait for the sync program; if it is done, see that it carries all of .onrecord."),
        ),
    ),
    *FILE_CHECKS,
    Check(
        "backup.waiting",
        "No write waits in the backup",
        (Code("backup_waiting", (_WARNING,), "writes wait in the backup, or could not be replayed",
              "Run `onrecord repair replay`."),),
    ),
    Check(
        "settings.known",
        "Every setting is known and can be used",
        (
            Code("unknown_setting", (_INFO, _WARNING), "a setting of this name has no effect",
                 "`onrecord config` lists the names; correct or remove it."),
            Code("config_invalid", (_CRITICAL,), "a setting, a file of settings or a variable cannot be used",
                 "Correct or remove it; `onrecord config` shows each setting."),
        ),
    ),
    Check(
        "sync.patterns",
        "Every sync program leaves alone what is this machine's",
        (Code("sync_patterns_missing", (_WARNING,), "a sync program handles the vault and its patterns lack lines",
              "Add the lines named; docs/SYNC.md tells why."),),
    ),
    Check(
        "sources.readable",
        "Every source can be read",
        (
            Code("source_unavailable", (_WARNING,), "a file of a source is gone, too large, unreadable or no text",
                 "Put it back or mend it, or run `onrecord source remove NAME`."),
            Code("source_left_out", (_INFO,), "names below a source are left out by rule: hidden, links, too many",
                 "Name a file of its own as a source if it matters."),
            Code("state_sources_unreadable", (_WARNING,), "the list of sources is damaged, newer or not our own",
                 "Put sources.json back from a copy of the state folder, or remove it and add the sources again."),
        ),
    ),
    Check(
        "clock",
        "The clock agrees with the logs",
        (Code("clock_jump", (_WARNING,), "a clock jumped, or a log is ahead of it", "Set the machine's clock."),),
    ),
    Check(
        "platform.exchange",
        "The file system exchanges two files in one step",
        (Code("cas_weak", (_INFO,), "it has no atomic exchange; a hard link keeps old bytes instead",
              "Nothing needs to be done; a local file system of Linux or macOS has it."),),
    ),
)  # fmt: skip

BY_ID: Final = {check.id: check for check in CHECKS}
OWNERS: Final = {code.name: check for check in CHECKS for code in check.codes}
MENDS: Final = {code.name: code.mend for check in CHECKS for code in check.codes}


def find_severity(code: str) -> Severity:
    """Return how much a reason of degradation matters: a note where its code can be one, else critical."""
    owner = OWNERS.get(code)
    has_note = owner is not None and any(item.name == code and _INFO in item.severities for item in owner.codes)
    return _INFO if has_note else _CRITICAL
