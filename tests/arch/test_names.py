"""A name says the thing, and a test's place says what it tests."""

from tests.arch.house import (
    ROOT,
    SOURCE,
    find_in,
    find_misnamed_errors,
    find_vague_names,
    has_vague_word,
    list_code_files,
    list_source_files,
    name_of,
)


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [
        name_of(path)
        for path in list_code_files()
        if any(has_vague_word(part.lower().split("_")) for part in path.relative_to(ROOT).with_suffix("").parts)
    ]
    assert vague == []


def test_no_class_has_a_name_that_says_nothing() -> None:
    assert find_in(list_code_files(), find_vague_names) == []


def test_exception_names_end_in_error() -> None:
    assert find_in(list_source_files(), find_misnamed_errors) == []


def test_unit_tests_lie_where_their_subject_lies() -> None:
    unit = ROOT / "tests" / "unit"
    rooms = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    assert [room.as_posix() for room in sorted(rooms) if not (SOURCE / room).is_dir()] == []
