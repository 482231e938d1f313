"""Finders of what the house rules forbid: each takes source and returns the places, as `line: what`."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

Finder = Callable[[str], Iterator[str]]

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "onrecord"
_CODE_FOLDERS = ("src", "tests", "demo", "bench", "scripts")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_VAGUE_WORDS = frozenset(
    {
        *("base", "common", "core", "helper", "helpers", "manager", "misc"),
        *("runner", "service", "stuff", "util", "utils"),
    }
)
_NUMBERED = re.compile(r"(?:v|version|issue|round|review|phase|milestone)\d+")
_CLOCK_AND_CHANCE_MODULES = frozenset({"time", "random", "secrets"})
_CLOCK_AND_CHANCE_CALLS = frozenset({"now", "utcnow", "today", "urandom", "uuid1", "uuid4", "time_ns"})


def list_source_files(*rooms: str) -> list[Path]:
    """List the package's Python files, or those of the rooms named, sorted."""
    folders = [SOURCE / room for room in rooms] if rooms else [SOURCE]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def list_code_files() -> list[Path]:
    """List every Python file of the project: package, tests, demo, bench, scripts; sorted."""
    return sorted(path for folder in _CODE_FOLDERS for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the path as the project names it, with slashes."""
    return path.relative_to(ROOT).as_posix()


def find_in(paths: list[Path], finder: Finder) -> list[str]:
    """Apply a finder to each file and return `path:line: what`, in order."""
    return [f"{name_of(path)}:{place}" for path in paths for place in finder(path.read_text("utf-8"))]


def find_long_functions(source: str, limit: int = 60) -> Iterator[str]:
    """Find functions whose lines, from `def` to the last statement, are more than the limit."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _FUNCTIONS):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > limit:
                yield f"{node.lineno}: {node.name} has {lines} lines"


def find_broad_handlers(source: str) -> Iterator[str]:
    """Find handlers of every exception that do not end by raising again."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _raises_again(node):
            yield f"{node.lineno}: broad except"


def find_inner_own_imports(source: str) -> Iterator[str]:
    """Find imports of this package inside functions."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, _FUNCTIONS):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and (node.level or _is_own(node.module or "")):
                yield f"{node.lineno}: imports {node.module} inside {function.name}"
            elif isinstance(node, ast.Import) and any(_is_own(alias.name) for alias in node.names):
                yield f"{node.lineno}: imports the package inside {function.name}"


def find_protocols(source: str) -> Iterator[str]:
    """Find classes that are declared as a Protocol."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and any(_last_name(parent) == "Protocol" for parent in node.bases):
            yield f"{node.lineno}: {node.name} is a Protocol"


def find_clock_and_chance(source: str) -> Iterator[str]:
    """Find what reads a clock or draws randomness: such values come in through a port."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _CLOCK_AND_CHANCE_MODULES:
                    yield f"{node.lineno}: imports {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            drawn = {alias.name for alias in node.names} & _CLOCK_AND_CHANCE_CALLS
            if node.module in _CLOCK_AND_CHANCE_MODULES or drawn:
                yield f"{node.lineno}: imports from {node.module}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = _last_name(node.func.value)
            if node.func.attr in _CLOCK_AND_CHANCE_CALLS and owner in {
                "datetime",
                "date",
                "os",
                "uuid",
                "time",
            }:
                yield f"{node.lineno}: calls {owner}.{node.func.attr}"


def find_vague_names(source: str) -> Iterator[str]:
    """Find classes with a word in their name that says nothing of what they are."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            words = re.findall(r"[A-Z]+(?![a-z0-9])|[A-Z][a-z0-9]*|[a-z0-9]+", node.name)
            if has_vague_word([word.lower() for word in words]):
                yield f"{node.lineno}: class {node.name}"


def has_vague_word(words: list[str]) -> bool:
    """Whether one of the words, in lower case, is vague or numbers a version, an issue or a review."""
    return any(word in _VAGUE_WORDS or _NUMBERED.fullmatch(word) for word in words)


def find_misnamed_errors(source: str) -> Iterator[str]:
    """Find exception classes whose name does not end in Error."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or node.name.endswith("Error"):
            continue
        if any(_is_error_name(_last_name(parent)) for parent in node.bases):
            yield f"{node.lineno}: {node.name} is an exception"


def find_unfinished_marks(source: str) -> Iterator[str]:
    """Find marks of work left to do."""
    marks = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK")) + r")\b")
    for number, line in enumerate(source.splitlines(), 1):
        if match := marks.search(line):
            yield f"{number}: {match[0]}"


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(one) for one in caught.elts)
    return caught is None or _last_name(caught) in {"Exception", "BaseException"}


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise)


def _is_error_name(name: str) -> bool:
    return name.endswith("Error") or name in {"Exception", "BaseException"}


def _is_own(module: str) -> bool:
    return module == "onrecord" or module.startswith("onrecord.")


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
