"""`absences.json` of the state folder: the memories whose file is gone (docs/format/vault.md).

A file that cannot be read counts as lost: every wait begins anew, none is shortened.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

from onrecord.domain.absences import Absence, Absences, Moment, Suspension
from onrecord.domain.entry_types import FORMS
from onrecord.domain.errors import InvalidInputError, StorageFailedError
from onrecord.domain.ids import RecordId, parse_entry_ref
from onrecord.domain.instants import Instant, is_instant
from onrecord.storage.files.disk import Disk, storage_errors

_NAME = "absences.json"
_TEMPORARY_NAME = "absences.json.tmp"


class AbsenceFile:
    """The absences of one installation; without a state folder (None) there are none, and none can be kept."""

    def __init__(self, state: Disk | None) -> None:
        self._state = state

    def read(self) -> Absences:
        """Return what is known.

        Raises:
            StorageFailedError: the file cannot be read.
        """
        with storage_errors("read the absences"):
            if self._state is None or self._state.stat(_NAME) is None:
                return Absences()
            data = self._state.read(_NAME)
        try:
            return _build(json.loads(data))
        except (ValueError, TypeError, KeyError, RecursionError, InvalidInputError):
            return Absences()

    def write(self, absences: Absences) -> None:
        """Replace what is known, synced. Under the vault's lock.

        Raises:
            StorageFailedError: not written.
        """
        if self._state is None:
            raise StorageFailedError("there is no state folder")
        data = json.dumps(_describe(absences), separators=(",", ":")).encode()
        with storage_errors("write the absences"):
            if self._state.stat(_TEMPORARY_NAME) is not None:
                self._state.unlink(_TEMPORARY_NAME)
            self._state.write_new(_TEMPORARY_NAME, data)
            self._state.sync(_TEMPORARY_NAME)
            self._state.rename(_TEMPORARY_NAME, _NAME)
            self._state.sync_folder("")


def _describe(absences: Absences) -> dict[str, object]:
    groups: dict[Absence, list[RecordId]] = {}
    for record, absence in sorted(absences.missing.items()):
        groups.setdefault(absence, []).append(record)
    return {
        "v": 1,
        "opened": absences.opened_us,
        "clock": [absences.last.boot, absences.last.boottime_us, absences.last.wall_us],
        "missing": [[absence.opened_us, absence.since, records] for absence, records in groups.items()],
        "records": absences.records,
        "suspended": absences.suspension.value,
        "withdrawn": [[record, str(ref)] for record, ref in sorted(absences.withdrawn.items())],
    }


def _build(shape: Any) -> Absences:
    """Return the value of a parsed file.

    Raises:
        ValueError, TypeError, KeyError, InvalidInputError: it is none.
    """
    if shape["v"] != 1:
        raise ValueError("another format")
    boot, boottime_us, wall_us = shape["clock"]
    opened_us = _check_count(shape["opened"])
    missing: dict[RecordId, Absence] = {}
    for count, since, records in shape["missing"]:
        if _check_count(count) > opened_us or not is_instant(since):
            raise ValueError("an absence from a later time")
        absence = Absence(count, Instant(since))
        missing |= {RecordId(record): absence for record in records if FORMS["rec"](record)}
    return Absences(
        opened_us,
        Moment(str(boot), _check_count(boottime_us), _check_count(wall_us)),
        MappingProxyType(missing),
        _check_count(shape["records"]),
        Suspension(shape["suspended"]),
        MappingProxyType({RecordId(str(record)): parse_entry_ref(str(ref)) for record, ref in shape["withdrawn"]}),
    )


def _check_count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a count is expected")
    return value
