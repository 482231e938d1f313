"""A file or function that grows too long is split, or a decision record says why not."""

from tests.arch.house import ROOT, find_in, find_long_functions, list_code_files, list_source_files, name_of

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

# path -> the decision record that allows it
LONGER_FILES: dict[str, str] = {}


def test_no_file_is_longer_than_400_lines_unless_a_decision_record_says_why() -> None:
    long = {
        name_of(path): lines
        for path in list_code_files()
        if (lines := len(path.read_text("utf-8").splitlines())) > FILE_LINES_MAX
    }
    assert {name: lines for name, lines in long.items() if name not in LONGER_FILES} == {}


def test_every_longer_file_is_named_in_its_decision_record() -> None:
    unnamed = {name: record for name, record in LONGER_FILES.items() if name not in (ROOT / record).read_text("utf-8")}
    assert unnamed == {}


def test_no_function_of_the_package_is_longer_than_60_lines() -> None:
    paths = list_source_files()
    assert find_in(paths, lambda source: find_long_functions(source, FUNCTION_LINES_MAX)) == []
