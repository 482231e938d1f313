"""The project speaks of itself alone: no machine's folders, no registry, no document outside the tree."""

import re
import subprocess

import pytest

from tests.arch.house import ROOT

# Written in halves so that this file does not find itself.
_MACHINE_FOLDER = re.compile(r"(?<![\w.~/$}*-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "tm" + "p")) + r")(?![\w-])")
_REGISTRY = re.compile(
    "|".join(("py" + r"pi\.org", "python" + r"hosted\.org", "registry\\.npm" + "js", "cra" + r"tes\.io"))
)
_OUTSIDE = re.compile(
    "|".join(
        (
            "DES" + r"IGN\b",
            "FEAT" + r"URES\.md",
            "shared" + r"/(?:data|research)",
            r"research" + r"/\w+\.md",
        )
    )
)

# Where uv writes the source of each package, and rules of others kept as they came.
_HOSTS_ALLOWED = {"uv.lock"}
_KEPT_AS_THEY_CAME = "src/onrecord/domain/data/"


def list_project_files() -> list[str]:
    """List what is, or would be, under version control."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = {name for name in listed.stdout.decode().split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file() and not name.startswith(_KEPT_AS_THEY_CAME))


def find_pattern(pattern: re.Pattern[str], names: list[str]) -> list[str]:
    """Find the pattern in the files and return `path:line: match`."""
    return [
        f"{name}:{number}: {match[0]}"
        for name in names
        for number, line in enumerate((ROOT / name).read_text("utf-8", "replace").split("\n"), 1)
        for match in pattern.finditer(line)
    ]


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert find_pattern(_MACHINE_FOLDER, list_project_files()) == []


def test_no_file_but_the_lock_names_a_package_registry() -> None:
    names = [name for name in list_project_files() if name not in _HOSTS_ALLOWED]
    assert find_pattern(_REGISTRY, names) == []


def test_the_lock_takes_every_package_from_one_registry() -> None:
    sources = set(re.findall(r"^source = \{ (\w+ = \"[^\"]*\")", (ROOT / "uv.lock").read_text("utf-8"), re.MULTILINE))
    registries = {source for source in sources if source.startswith("registry")}
    assert len(registries) == 1
    assert sources - registries == {'editable = "."'}


def test_no_file_leans_on_a_document_outside_the_tree() -> None:
    assert find_pattern(_OUTSIDE, list_project_files()) == []
