"""The checks of doctor over the record files, and what waits there for a decision; a part of the list in `checks`."""

from __future__ import annotations

from typing import Final

from onrecord.app.doctor.check_values import Check, Code
from onrecord.domain.problem import Severity

_INFO, _WARNING, _CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL
_PERMISSIONS: Final = "Mend its permissions, or free space on the disk."

FILE_CHECKS: Final = (
    Check(
        "files.readable",
        "Every record file can be read",
        (
            Code("not_a_regular_file", (_WARNING, _CRITICAL), "a link, a special file, or a folder that cannot be read",
                 "Put the file itself here, or mend its permissions."),
            Code("folder_unreadable", (_WARNING,), "the folder cannot be read; nothing below it is judged",
                 "Mend its permissions or bring its disk back."),
            Code("not_utf8", (_WARNING,), "name or bytes of the file are not UTF-8", "Save it as UTF-8."),
            Code("file_too_large", (_WARNING,), "the file is above 8 MiB", "Split the file."),
            Code("too_deep", (_WARNING,), "the folder lies too deep", "Move its files further up."),
        ),
    ),
    Check(
        "files.links",
        "Every allowed link leads to the folder that was allowed",
        (
            Code("link_away", (_WARNING,), "the folder that an allowed link leads to is not there",
                 "Connect the disk or share; nothing below it is judged until then."),
            Code("link_changed", (_WARNING,), "an allowed link leads to another folder, or to where none may lie",
                 "`onrecord link PATH` allows it as it is now; `onrecord unlink PATH` forgets it."),
            Code("state_links_unreadable", (_WARNING,), "the list of the allowed links is damaged or not our own",
                 "Allow each link anew that you allowed: `onrecord link PATH`."),
        ),
    ),
    Check(
        "files.front_matter",
        "Every front matter says what it means",
        (
            Code("front_matter_unclosed", (_WARNING,), "the front matter has no end", "Close it with a line ---."),
            Code("front_matter_broken", (_WARNING,), "the front matter is no YAML", "Correct the line named."),
            Code("front_matter_duplicate_key", (_WARNING,), "a key stands twice", "Keep one of the two."),
            Code("front_matter_foreign", (_INFO,), "valid YAML outside the flat subset", "Nothing needs to be done."),
            Code("front_matter_missing", (_INFO,), "a rule stands where front matter would",
                 "Nothing needs to be done."),
            Code("byte_order_mark", (_INFO,), "a byte order mark stands first", "Nothing needs to be done."),
            Code("control_character", (_INFO,), "a control character is in the text", "Remove it if it is not wanted."),
            Code("field_invalid", (_WARNING,), "the value of a key has another form", "Correct the value."),
            Code("field_normalised", (_INFO,), "the value of a key is read in its canonical form",
                 "Nothing needs to be done."),
        ),
    ),
    Check(
        "files.secrets",
        "No file holds what looks like a secret",
        (Code("secret_found", (_WARNING,), "a rule for secrets fits; a file of yours is only flagged",
              "Remove it from the file."),),
    ),
    Check(
        "files.identity",
        "Every file has an id of its own and the keys that OnRecord wrote",
        (
            Code("duplicate_id", (_WARNING,), "the id in the file belongs to another memory",
                 "Remove the id line from the copy."),
            Code("server_key_changed", (_WARNING,), "a key that OnRecord owns was changed; it is not applied",
                 "Undo it; it has no effect."),
            Code("name_collision", (_WARNING,), "two files lie at one place for some systems", "Rename one of them."),
        ),
    ),
    Check(
        "files.taken",
        "Every outside edit is taken in",
        (
            Code("unknown_file", (_WARNING,), "the file is not taken in yet", "Run `onrecord reindex`."),
            Code("edited_outside", (_WARNING,), "the file was edited outside and is not taken in yet",
                 "Run any onrecord command."),
            Code("sync_copy", (_INFO,), "a copy of a memory's file, of a sync program or by hand; its text is kept",
                 "It may be deleted."),
            Code("copy_unkept", (_WARNING,), "a copy of a conflict or a transcript says what is kept nowhere",
                 "Write what it says into a file of its own, without the id line; then delete the copy."),
            Code("file_behind", (_INFO,), "the file holds another version than the current one",
                 "The sync may bring the newer file; where none comes, `onrecord update ID` writes it."),
            Code("pending_sync", (_WARNING,), "the file has come before its version",
                 "Wait for .onrecord of the other machine; only where that never comes, remove the `by` line."),
            Code("outside_edits_pending", (_CRITICAL,), "outside edits cannot be taken in", _PERMISSIONS),
            Code("reconciling", (_INFO,), "files have not been compared yet", "Ask again in a moment."),
        ),
    ),
    Check(
        "files.missing",
        "Every memory has its file",
        (
            Code("missing_file", (_WARNING,), "the file of a memory is gone; it says whether its versions are kept",
                 "Put it back; if you deleted it, `onrecord repair missing --retire`."),
            Code("retired_file", (_INFO,), "the memory of the file is retired; it is not found",
                 "Leave it to the sync program or remove it; what you change in it is found again."),
            Code("retirement_suspended", (_WARNING,), "so many files are gone that none of the memories is retired",
                 "Bring the files back, or see `onrecord repair missing`."),
        ),
    ),
    Check(
        "files.placed",
        "Every version has found its place",
        (Code("not_placed", (_WARNING, _CRITICAL), "a version or a checkpoint could not be written to its place",
              "Free space or mend permissions."),),
    ),
    Check(
        "files.displaced",
        "No text of a file stands aside",
        (
            Code("displaced_edit", (_WARNING,), "an edit made outside gave way to a write and is kept as a version",
                 "Compare with `onrecord read ID --entry LOG:SEQ`."),
            Code("conflict_copy", (_WARNING,), "a copy, of a sync program or by hand; its text is kept as a version",
                 "`onrecord conflicts` lists what it is part of; `settle --remove-copies` deletes it."),
        ),
    ),
    Check(
        "files.marks",
        "No file has marks of an unfinished merge",
        (Code("merge_marks", (_INFO, _WARNING), "git left its marks in the file; the memory keeps its text; or (info) "
              "lines like them are words of the memory itself",
              "Take the marks out of the file, or settle: `onrecord conflicts` lists what it is part of."),),
    ),
    Check(
        "conflicts.open",
        "No conflict is open",
        (Code("conflict_open", (_WARNING,), "texts of one memory stand against each other",
              "`onrecord settle ID --keep A`, `B` or what else it names; the file shows the sides."),),
    ),
    Check(
        "proposals.open",
        "No edit of a server-owned key asks for a decision",
        (Code("proposal_open", (_WARNING,), "an edit by hand asks for what you have to decide; it grants nothing",
              "See `onrecord proposals`; take the change back in the file if it is not wanted."),),
    ),
    Check(
        "files.transcripts",
        "Every transcript holds the turns as they were captured",
        (Code("transcript_edited", (_WARNING,), "turns are gone, changed or of nobody's capture",
              "Transcripts only grow; undo the edit."),),
    ),
    Check(
        "files.leftovers",
        "Nothing is left of a write that was cut off",
        (Code("temporary_left", (_INFO,), "a temporary file of a write or an init that was cut off", "Remove it."),),
    ),
)  # fmt: skip
