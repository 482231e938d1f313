"""Records as files: names, flat front matter, parts, updates (docs/format/record.md, vault.md)."""

import codecs
import json
import re
import unicodedata
from decimal import Decimal

from encoding import RefusedError, canonical
from instants import is_instant

WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
KEY_ORDER = [
    "title",
    "tags",
    "aliases",
    "type",
    "workspace",
    "also_in",
    "event_time",
    "valid_from",
    "valid_to",
    "periods",
    "confidence",
    "source_ref",
    "review_by",
    "meta",
    "former_ids",
    "evidence",
    "subject",
    "attribute",
    "value",
    "links",
    "id",
    "kind",
    "version",
    "by",
    "recorded_at",
    "status",
    "origin",
    "client",
    "agent",
    "confirmed_by",
    "protection",
    "kb",
    "governance",
    "superseded_by",
    "supersedes",
    "isolation",
    "parent",
    "state",
    "members",
    "decision",
    "plan",
    "detector",
    "judgments",
]
_ESCAPED = re.compile("[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,8})\.[0-9]{1,3}")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_LINE_END = re.compile("\r\n|\n|\r")
_FENCE = re.compile(r"(?:---|\.\.\.)[ \t]*")
_BOM = "\ufeff"


class NotFlatError(Exception):
    """A block outside the flat subset."""


# --- file names ---


def make_file_name(title):
    """Return the name, without `.md`, that a title gives."""
    text = unicodedata.normalize("NFC", title)
    text = "".join(" " if _is_forbidden(char) else char for char in text)
    text = re.sub(" +", " ", text).lstrip(" .-").rstrip(" .")
    stem, dot, rest = text.partition(".")
    if re.fullmatch(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])", stem.rstrip(" ")):
        text = stem + "_" + dot + rest
    while len(text.encode("utf-8")) > 120:
        text = text[:-1]
    return text.rstrip(" .") or "untitled"


def _is_forbidden(char):
    return char in '<>:"/\\|?*#^[]\u2028\u2029' or unicodedata.category(char) == "Cc"


# --- the flat subset ---


def is_plain(text):
    """Tell whether a string is written without quotes."""
    if is_instant(text):
        return True
    if not text or text.lower() in WORDS or text != text.strip(" ") or "  " in text:
        return False
    if not all(unicodedata.category(char)[0] in "LMN" or char in "_-./+@%() " for char in text):
        return False
    if unicodedata.category(text[0])[0] == "L":
        return True
    return text[0] in "0123456789" and re.search("[g-np-wyzG-NP-WYZ]", text) is not None


def write_string(text):
    """Write a string plain or quoted."""
    return text if is_plain(text) else _escape(json.dumps(text, ensure_ascii=False))


def _escape(text):
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def write_value(value):
    """Write a value of front matter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = format(Decimal(str(value)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, list):
        return "[" + ", ".join(write_value(item) for item in value) + "]"
    return _escape(canonical(value).decode("utf-8"))


def write_block(keys):
    """Write the block of a new record."""
    names = sorted(keys, key=lambda name: KEY_ORDER.index(name) if name in KEY_ORDER else len(KEY_ORDER))
    return "---\n" + "".join(f"{name}: {write_value(keys[name])}\n" for name in names) + "---\n"


def read_block(block):
    """Read a block of the flat subset into its values; raise NotFlatError for any other."""
    lines = block.split("\n")
    if len(lines) < 3 or lines[0] != "---" or lines[-2:] != ["---", ""]:
        raise NotFlatError("fences")
    values = {}
    for line in lines[1:-2]:
        key, colon, rest = line.partition(":")
        if not colon or not _KEY.fullmatch(key) or key.lower() in WORDS or key in values:
            raise NotFlatError("key")
        if rest == "":
            values[key] = None
        elif rest[0] == " ":
            values[key] = _read_value(rest[1:])
        else:
            raise NotFlatError("blank")
    return values


def _read_value(text):
    if text.startswith("{"):
        return _read_map(text)
    if text.startswith("["):
        return _read_list(text)
    return _read_scalar(text)


def _read_map(text):
    try:
        value = json.loads(text, parse_float=_refuse, parse_constant=_refuse)
        if write_value(value) != text:
            raise NotFlatError("map")
    except (ValueError, RefusedError):
        raise NotFlatError("map") from None
    return value


def _refuse(text):
    raise NotFlatError(text)


def _read_list(text):
    if not text.endswith("]"):
        raise NotFlatError("list")
    rest, items = text[1:-1], []
    while rest:
        quoted = _QUOTED.match(rest)
        scalar = quoted[0] if quoted else rest.partition(",")[0]
        items.append(_read_scalar(scalar))
        rest = rest[len(scalar) :]
        if rest and (not rest.startswith(", ") or rest == ", "):
            raise NotFlatError("list")
        rest = rest[2:]
    return items


def _read_scalar(text):
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if text.startswith('"'):
        return _read_quoted(text)
    if is_plain(text):
        return text
    raise NotFlatError("scalar")


def _read_quoted(text):
    if _ESCAPED.search(text) or re.search(r"(?<!\\)(?:\\\\)*\\u[dD][89abAB]|(?<!\\)(?:\\\\)*\\u[dD][c-fC-F]", text):
        raise NotFlatError("quoted")
    try:
        return json.loads(text)
    except ValueError:
        raise NotFlatError("quoted") from None


# --- parts and updates ---


def decode_file(data):
    """Return (text of the whole file, whether it is UTF-8)."""
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        pass
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), False
    text = data.decode("utf-8", "surrogateescape")
    return "".join(_decode_1252(ord(char) - 0xDC00) if "\udc80" <= char <= "\udcff" else char for char in text), False


def _decode_1252(byte):
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def split_file(text):
    """Return (mark, block, body, whether a block was begun and not closed)."""
    mark = _BOM if text.startswith(_BOM) else ""
    rest = text[len(mark) :]
    place, is_first = 0, True
    while True:
        end = _LINE_END.search(rest, place)
        line = rest[place : end.start()] if end else rest[place:]
        if is_first and not re.fullmatch(r"---[ \t]*", line):
            return mark, "", rest, False
        if not is_first and _FENCE.fullmatch(line):
            after = end.end() if end else len(rest)
            return mark, rest[:after], rest[after:], False
        if end is None:
            return mark, "", rest, True
        place, is_first = end.end(), False


def split_body(body):
    """Return (text, final terminator)."""
    for end in ("\r\n", "\n", "\r"):
        if body.endswith(end):
            return body[: -len(end)], end
    return body, ""


def find_title(values, text, path):
    """Return the title that is shown."""
    if isinstance(values.get("title"), str):
        return values["title"]
    for line in _LINE_END.split(text):
        if line.strip(" \t"):
            found = re.fullmatch(r"#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*", line)
            if found and found[1]:
                return found[1]
            if re.fullmatch("[0-9a-hjkmnp-tv-z]{12}", str(values.get("id"))):
                return line.strip(" \t")[:80]
            break
    return path.rpartition("/")[2].removesuffix(".md")


def make_file(keys, text):
    """Return the bytes of a new record."""
    return (write_block(keys) + _join_body(text, "\n")).encode("utf-8")


def _join_body(text, end):
    if split_body(text + end) != (text, end):
        end = "\r" if text.endswith("\r") else "\n"
    return text + end


def update_text(data, text):
    """Return the bytes after the text was replaced."""
    mark, block, body, _ = split_file(data.decode("utf-8"))
    body = _join_body(text, split_body(body)[1])
    if not block and ((not mark and body.startswith(_BOM)) or split_file(mark + body)[1]):
        block = "---\n---\n"
    if block and not block.endswith(("\n", "\r")):
        block += _LINE_END.search(block)[0]
    return (mark + block + body).encode("utf-8")


def update_keys(data, changes):
    """Return the bytes after top-level keys were set, or removed where the value is None."""
    mark, block, body, _ = split_file(data.decode("utf-8"))
    lines = re.findall("[^\r\n]*(?:\r\n|\n|\r|$)", block)
    lines = [line for line in lines if line]
    end = _LINE_END.search(lines[0])[0]
    old = _read_loosely(lines)
    for key in sorted(changes, key=KEY_ORDER.index):
        value = changes[key]
        new = [] if value is None else [f"{key}: {write_value(value)}{end}"]
        start, stop = _find_key(lines, key)
        if start is None:
            lines[-1:-1] = new
        elif value is None or key not in old or old[key] != value:
            lines[start:stop] = new
    return (mark + "".join(lines) + body).encode("utf-8")


def _read_loosely(lines):
    values = {}
    for line in lines[1:-1]:
        try:
            values |= read_block(f"---\n{line.rstrip()}\n---\n")
        except NotFlatError:
            continue
    return values


def _find_key(lines, key):
    for start, line in enumerate(lines[1:-1], 1):
        if line.startswith(f"{key}:"):
            stop = start + 1
            for place in range(start + 1, len(lines) - 1):
                if re.match(r"[ \t]+[^ \t\r\n]|- |-[\r\n]|[\]}]", lines[place]):
                    stop = place + 1
                elif re.match(r"[^ \t\r\n#]", lines[place]):
                    break
            return start, stop
    return None, None
