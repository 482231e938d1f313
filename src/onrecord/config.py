"""One frozen set of settings, each value with its source: flag > environment > project > user > default.

*Project* is the table `[settings]` of the vault's `onrecord.toml`; *user* is `config.toml` in the user's configuration
folder. Unknown keys are named, never an error; a value of the wrong form is one.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from onrecord.domain.errors import ConfigError


class Source(StrEnum):
    """Where a value comes from, strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    USER = "user"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting: name, default, one line of documentation; `is_local` ones are not read from a vault."""

    name: str
    default: str | int | float | bool
    doc: str
    is_local: bool = False
    minimum: float = 0
    maximum: float = 0

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"ONRECORD_{self.name.upper()}"


SETTINGS: Final = (
    SettingSpec("vault", "~/onrecord-vault", "folder of the vault", is_local=True),
    SettingSpec(
        "state", "", "folder for keys, journals and indexes; empty: the system's place for state", is_local=True
    ),
    SettingSpec("workspace", "default", "workspace of a memory that names none"),
    SettingSpec("client", "", "name of the program that calls, as claimed", is_local=True),
    SettingSpec("agent", "", "name of the agent that calls, as claimed", is_local=True),
    SettingSpec("redact", True, "replace secrets before anything is written", is_local=True),
    SettingSpec("reconcile", True, "take in outside edits when a vault is opened", is_local=True),
    SettingSpec("lock_wait_s", 10.0, "seconds a writer waits for another", is_local=True, minimum=0, maximum=600),
    SettingSpec("checkpoint_entries", 256, "entries after which the journal is folded in", True, 1, 100_000),
    SettingSpec("page_bytes", 65_536, "byte budget of one page of results", True, 1_024, 67_108_864),
)
_FOLDER_NAME: Final = "onrecord"
_PLATFORM: Final[str] = sys.platform
_XDG: Final = {"state": ("XDG_STATE_HOME", ".local/state"), "config": ("XDG_CONFIG_HOME", ".config")}
_BY_NAME: Final = {spec.name: spec for spec in SETTINGS}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and its source."""

    name: str
    value: str | int | float | bool
    source: Source


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one process.

    `unknown` names keys that were found and are not known, as `source:key`; `user_state` is the folder of all
    state where no setting names one. `refused` has, where it was asked to go on without them, the values and files
    that cannot be used: where each stands, and why.
    """

    values: Mapping[str, Setting]
    unknown: tuple[str, ...]
    user_state: str
    refused: tuple[tuple[str, str], ...] = ()

    def replace_vault(self, folder: str) -> Settings:
        """Return the settings with another vault, as if it had been given by flag."""
        values = dict(self.values) | {"vault": Setting("vault", folder, Source.FLAG)}
        return replace(self, values=MappingProxyType(values))

    def switch_off(self, name: str) -> Settings:
        """Return the settings with a switch off, as if it had been given by flag."""
        values = dict(self.values) | {name: Setting(name, False, Source.FLAG)}
        return replace(self, values=MappingProxyType(values))

    def refuse(self, names: tuple[str, ...], reason: str) -> Settings:
        """Return the settings with the defaults of some, whose values cannot be used for a reason."""
        values = dict(self.values) | {name: Setting(name, _BY_NAME[name].default, Source.DEFAULT) for name in names}
        return replace(self, values=MappingProxyType(values), refused=(*self.refused, (", ".join(names), reason)))

    def text(self, name: str) -> str:
        """Return a text value."""
        return str(self.values[name].value)

    def number(self, name: str) -> float:
        """Return a number."""
        return float(self.values[name].value)

    def is_on(self, name: str) -> bool:
        """Return a switch."""
        return self.values[name].value is True

    @property
    def vault_folder(self) -> str:
        """The vault's folder, absolute."""
        try:
            return os.path.abspath(os.path.expanduser(self.text("vault")))
        except FileNotFoundError as error:
            raise ConfigError("the working folder is gone, so a relative vault leads nowhere", field="vault") from error

    @property
    def state_root(self) -> str:
        """The folder of all state, absolute."""
        given = self.text("state")
        return os.path.abspath(os.path.expanduser(given)) if given else self.user_state


def find_user_folder(kind: Literal["state", "config"], environment: Mapping[str, str]) -> str:
    """Return the system's folder for state or settings of this program.

    On Linux that is said here (XDG Base Directory Specification, by which a relative value does not count), elsewhere
    by platformdirs, whose start costs more than all else that settings need.
    """
    if _PLATFORM == "linux":
        variable, fallback = _XDG[kind]
        given = environment.get(variable, "").strip()
        home = environment.get("HOME") or os.path.expanduser("~")
        return os.path.join(given if os.path.isabs(given) else os.path.join(home, fallback), _FOLDER_NAME)
    import platformdirs

    find = platformdirs.user_state_dir if kind == "state" else platformdirs.user_config_dir
    return find(_FOLDER_NAME, False)


def load_settings(
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    project: Mapping[str, object] | None = None,
    *,
    is_lenient: bool = False,
) -> Settings:
    """Put the settings together.

    Args:
        flags: Values given on the command line or to the library; None stands for absent.
        environment: The process's environment.
        project: The table `[settings]` of the vault, once it is known.
        is_lenient: Whether what cannot be used is named in `refused`, and the next weaker source asked.

    Raises:
        ConfigError: a value has the wrong form; the field names setting and source.
    """
    refused: list[tuple[str, str]] = []
    user: dict[str, object] = {}
    with _refusing(refused, is_lenient):
        user = _read_user_file(environment)
    unknown = [f"user:{name}" for name in user if name not in _BY_NAME]
    known = {"ONRECORD_CONFIG", *(spec.variable for spec in SETTINGS)}
    unknown += [f"environment:{name}" for name in environment if name.startswith("ONRECORD_") and name not in known]
    unknown += [f"project:{name}" for name in project or {} if name not in _BY_NAME or _BY_NAME[name].is_local]
    values: dict[str, Setting] = {}
    for spec in SETTINGS:
        layers = (
            (Source.FLAG, flags.get(spec.name)),
            (Source.ENVIRONMENT, environment.get(spec.variable)),
            (Source.PROJECT, None if spec.is_local else (project or {}).get(spec.name)),
            (Source.USER, user.get(spec.name)),
        )
        chosen = Setting(spec.name, spec.default, Source.DEFAULT)
        for source, value in layers:
            if value is not None and value != "":
                with _refusing(refused, is_lenient):
                    chosen = Setting(spec.name, _convert(spec, value, source), source)
                    break
        values[spec.name] = chosen
    user_state = find_user_folder("state", environment)
    return Settings(MappingProxyType(values), tuple(sorted(unknown)), user_state, tuple(refused))


@contextmanager
def _refusing(refused: list[tuple[str, str]], is_lenient: bool) -> Iterator[None]:
    """Keep the refusal of a value as a pair, where going on without it is asked for."""
    try:
        yield
    except ConfigError as error:
        if not is_lenient:
            raise
        refused.append((error.field or "", error.reason))


def _read_user_file(environment: Mapping[str, str]) -> dict[str, object]:
    given = environment.get("ONRECORD_CONFIG")
    path = given or os.path.join(find_user_folder("config", environment), "config.toml")
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ConfigError(f"the user's config.toml cannot be read: {reason}", field="user") from error
    except ValueError as error:
        raise ConfigError(f"the user's config.toml cannot be read: {error}", field="user") from error


def _convert(spec: SettingSpec, value: object, source: Source) -> str | int | float | bool:
    where = f"{source.value}:{spec.name}"
    match spec.default:
        case bool():
            if isinstance(value, bool):
                return value
            words = {
                "true": True,
                "1": True,
                "yes": True,
                "on": True,
                "false": False,
                "0": False,
                "no": False,
                "off": False,
            }
            if isinstance(value, str) and value.lower() in words:
                return words[value.lower()]
            raise ConfigError("true or false is expected", field=where)
        case int() | float():
            return _convert_number(spec, value, where)
        case _:
            if not isinstance(value, str) or "\0" in value:
                raise ConfigError("a text is expected", field=where)
            return value


def _convert_number(spec: SettingSpec, value: object, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ConfigError("a number is expected", field=where)
    try:
        number = float(value)
    except ValueError as error:
        raise ConfigError("a number is expected", field=where) from error
    if not spec.minimum <= number <= spec.maximum:
        raise ConfigError(f"from {spec.minimum:g} to {spec.maximum:g}", field=where)
    return int(number) if isinstance(spec.default, int) else number
