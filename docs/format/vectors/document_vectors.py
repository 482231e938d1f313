"""Vectors of names, front matter and record files."""

from documents import (
    NotFlatError,
    decode_file,
    find_title,
    make_file,
    make_file_name,
    read_block,
    split_body,
    split_file,
    update_keys,
    update_text,
    write_block,
    write_value,
)
from encoding import describe_bytes

_WRITTEN = [
    "preference",
    "Brew temperature",
    "C++ notes",
    "a/b_c-d.e",
    "50% (about) @home",
    "naïve café",
    "咖啡 92 度",
    "Straße",
    "हिन्दी",
    "v1.2",
    "2g",
    "3 apples",
    "1Z",
    "2026-11-30T07:00:00.000000Z",
    "9h1m2k8w4x6z",
    "123456789012",
    "12e3",
    "0x1f",
    "0o17",
    "1_000",
    "2026-11-30",
    "2026-11-30T07:00:00Z",
    "2026-13-30T07:00:00.000000Z",
    "12:30",
    "12ab",
    "007",
    "-",
    "- x",
    "-1",
    ".5",
    "true",
    "True",
    "null",
    "Yes",
    "NO",
    "on",
    "y",
    "N",
    "~",
    "nullable",
    "yes sir",
    "",
    " ",
    " x",
    "x ",
    "x  y",
    "x\ty",
    "x\ny",
    "x\r\ny",
    "a: b",
    "a #b",
    "#tag",
    "[x]",
    "{x}",
    "a,b",
    '"quoted"',
    "it's",
    "back\\slash",
    "@home",
    "%d",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "=",
    "<<",
    "\u007f",
    "\u0085",
    "\u009f",
    "\u00a0x",
    "a\u00a0b",
    "\u2028",
    "\u2029",
    "\ufeffx",
    "\ufffe",
    "\uffff",
    "\u0001",
    "\b\f",
    "\u0301x",
    "x\u0301",
    "½ cup",
    "Ⅷ",
    "😀",
    "e\u0301",
    "مرحبا",
    "k=v",
    "k:v",
    "9.9.9",
    "1e5g",
    "١٢٣x",
    "5 o",
    "5 p",
]

_VALUES = [
    True,
    False,
    0,
    7,
    -3,
    999999999999999,
    0.5,
    0.85,
    0.125,
    1.0,
    0.0,
    -1.5,
    12345678.25,
    [],
    ["a"],
    ["a", "b c", "d, e", "", "null", "2026-11-30T07:00:00.000000Z"],
    [1, True, 0.5, "x]"],
    {},
    {"b": 1, "a": [True, "x"]},
    {"z": {"y": "line\u2028end", "x": '\u00e9 "q"'}, "n": -9007199254740991},
]

_BLOCKS = [
    "---\n---\n",
    "---\ntitle: Brew temperature\ntags: [coffee, home lab]\nconfidence: 0.9\nid: 9h1m2k8w4x6z\n---\n",
    '---\ntitle:\ntags: []\nkb: true\nx-y_9: "a: b"\n---\n',
    '---\nmeta: {"a":[1,true,"x"],"b":{}}\nrecorded_at: 2026-11-30T07:00:00.000000Z\n---\n',
    '---\naliases: ["a, b", "]", "\\u2028", "\\/\\t\\u0041"]\nm: -0\nd: -0.0\n---\n',
    "---\nTITLE: x\ntitle: 100000000000000000\nNo-1: y2k\nnothing: null-ish\n---\n",
]

# Blocks that only the YAML reader takes: (block, values or None where it is broken, problem).
_FOREIGN = [
    ("---\ntitle: x # comment\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\n# comment\ntitle: x\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\n\ntitle: x\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\ntitle: 'x'\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\ntitle:  x\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\ntitle: x \n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\r\ntitle: x\r\n---\r\n", {"title": "x"}, "front_matter_foreign"),
    ("---\ntitle: x\n...\n", {"title": "x"}, "front_matter_foreign"),
    ("--- \ntitle: x\n---\n", {"title": "x"}, "front_matter_foreign"),
    ("---\ntitle: x\n---", {"title": "x"}, "front_matter_foreign"),
    ("---\ntags:\n  - a\n  - b\n---\n", {"tags": ["a", "b"]}, "front_matter_foreign"),
    ("---\ntags: [a,b]\n---\n", {"tags": ["a", "b"]}, "front_matter_foreign"),
    ("---\ntags: [a, [b]]\n---\n", {"tags": ["a", ["b"]]}, "front_matter_foreign"),
    ('---\nmeta: {"b": 1, "a": 2}\n---\n', {"meta": {"a": 2, "b": 1}}, "front_matter_foreign"),
    ('---\nmeta: {"a":null}\n---\n', {"meta": {"a": None}}, "front_matter_foreign"),
    ('---\nmeta: {"a":0.5}\n---\n', {"meta": {"a": 0.5}}, "front_matter_foreign"),
    ("---\nkb: True\n---\n", {"kb": True}, "front_matter_foreign"),
    ("---\nvalue: yes\n---\n", {"value": "yes"}, "front_matter_foreign"),
    ("---\nvalue: null\n---\n", {"value": None}, "front_matter_foreign"),
    ("---\nvalue: 0x1f\n---\n", {"value": 31}, "front_matter_foreign"),
    ("---\nvalue: 12e3\n---\n", {"value": 12000.0}, "front_matter_foreign"),
    ("---\nvalue: 0.1234\n---\n", {"value": 0.1234}, "front_matter_foreign"),
    ("---\nvalue: 2026-11-30\n---\n", {"value": "2026-11-30"}, "front_matter_foreign"),
    ("---\nvalue: 12:30:45\n---\n", {"value": "12:30:45"}, "front_matter_foreign"),
    ("---\nvalue: it's\n---\n", {"value": "it's"}, "front_matter_foreign"),
    ("---\nvalue: |\n  two\n  lines\n---\n", {"value": "two\nlines\n"}, "front_matter_foreign"),
    ("---\nno: x\n---\n", {"no": "x"}, "front_matter_foreign"),
    ("---\ntitle: x\ntitle: y\n---\n", {"title": "x"}, "front_matter_duplicate_key"),
    ("---\ntitle: [x\n---\n", None, "front_matter_broken"),
    ('---\ntitle: "x\n---\n', None, "front_matter_broken"),
    ("---\njust words\n---\n", None, "front_matter_broken"),
    ("---\n- a\n- b\n---\n", None, "front_matter_broken"),
]

_TITLES = [
    "Brew temperature",
    "Straße nach Zürich",
    "咖啡冲泡温度",
    "",
    "   ",
    "...",
    "---",
    "- list",
    ".hidden",
    "- .-x",
    "a/b\\c",
    "What? *now* <here>",
    'a:b|c"d',
    "tag #1 ^x [y]",
    "tab\there",
    "line\u2028sep",
    "next\u0085line",
    "x  y",
    "x.",
    "x. ",
    "x .. ",
    "CON",
    "con",
    "con.txt",
    "Con .txt",
    "COM1",
    "COM10",
    "lpt9.a.b",
    "nul ",
    "console",
    "e\u0301",
    "ﬁ",
    "\u00a0x\u00a0",
    "a\u3000b",
    "x" * 130,
    "é" * 70,
    "咖" * 41,
    "a" * 119 + ".b",
    "a" * 118 + " .b",
    "aux." + "x" * 130,
    "2026-11-30 notes",
    "50% off (today)",
    "😀",
    "~tilde",
    "a&b;c",
    "name.md",
    "\u202ecod",
]


def make_name_vectors():
    """Return titles and the file names made of them."""
    return {"names": [{"title": title, "name": make_file_name(title)} for title in _TITLES]}


def make_front_matter_vectors():
    """Return strings and values as written, blocks of the flat subset, and blocks for the YAML reader."""
    foreign = []
    for block, values, problem in _FOREIGN:
        try:
            read_block(block)
        except NotFlatError:
            foreign.append({"block": block, "values": values, "problem": problem})
            continue
        raise AssertionError(block)
    for value in [*_WRITTEN, *_VALUES]:
        assert read_block(f"---\nvalue: {write_value(value)}\n---\n") == {"value": value}, value
    return {
        "strings": [{"value": text, "written": write_value(text)} for text in _WRITTEN],
        "values": [{"value": value, "written": write_value(value)} for value in _VALUES],
        "flat": [{"block": block, "values": read_block(block)} for block in _BLOCKS],
        "foreign": foreign,
    }


_FILES = [
    ("memories/default/flat.md", b"---\ntitle: Flat\n---\nOne.\nTwo.\n", {"title": "Flat"}, []),
    ("memories/default/plain.md", b"Just text.\n", {}, ["front_matter_missing"]),
    ("memories/default/heading.md", b"\n# The heading ##\n\nText.\n", {}, ["front_matter_missing"]),
    ("memories/default/late.md", b"Text.\n# Not a title\n", {}, ["front_matter_missing"]),
    ("memories/default/no-end.md", b"---\ntitle: x\n---\nno end", {"title": "x"}, []),
    (
        "memories/default/crlf.md",
        b"---\r\ntitle: x\r\n---\r\nA\r\nB\r\n",
        {"title": "x"},
        ["front_matter_foreign"],
    ),
    ("memories/default/cr.md", b"---\rtitle: x\r---\rA\rB\r", {"title": "x"}, ["front_matter_foreign"]),
    ("memories/default/dots.md", b"---\ntitle: x\n... \t\nA\n", {"title": "x"}, ["front_matter_foreign"]),
    ("memories/default/two-ends.md", b"---\ntitle: x\n---\nA\n\n", {"title": "x"}, []),
    ("memories/default/empty.md", b"", {}, ["front_matter_missing"]),
    ("memories/default/only-end.md", b"\n", {}, ["front_matter_missing"]),
    ("memories/default/only-block.md", b"---\ntitle: x\n---\n", {"title": "x"}, []),
    ("memories/default/unclosed.md", b"---\ntitle: x\nText.\n", {}, ["front_matter_unclosed"]),
    ("memories/default/rule.md", b"--- text\n---\n", {}, ["front_matter_missing"]),
    ("memories/default/four.md", b"----\ntitle: x\n----\n", {}, ["front_matter_missing"]),
    ("memories/default/indented.md", b" ---\ntitle: x\n---\n", {}, ["front_matter_missing"]),
    ("memories/default/broken.md", b"---\ntitle: [x\n---\nText.\n", None, ["front_matter_broken"]),
    (
        "memories/default/twice.md",
        b"---\ntitle: x\ntitle: y\n---\nText.\n",
        {"title": "x"},
        ["front_matter_duplicate_key"],
    ),
    (
        "memories/default/mark.md",
        "\ufeff---\ntitle: x\n---\nText.\n".encode(),
        {"title": "x"},
        ["byte_order_mark"],
    ),
    (
        "memories/default/wide.md",
        "\ufeff---\ntitle: x\n---\nWäg\n".encode("utf-16-le"),
        {"title": "x"},
        ["not_utf8"],
    ),
    ("memories/default/latin.md", b"---\ntitle: x\n---\nW\xe4g \x80 \x81\n", {"title": "x"}, ["not_utf8"]),
    ("memories/default/mixed.md", "---\ntitle: x\n---\n会議 W".encode() + b"\xe4g\n", {"title": "x"}, ["not_utf8"]),
    (
        "memories/default/separators.md",
        "---\ntitle: x\n---\na\u2028b\u0085c\x0b\n".encode(),
        {"title": "x"},
        [],
    ),
]

_TEXT_UPDATES = [
    (b"---\ntitle: x\n---\nold\n", "new"),
    (b"---\ntitle: x\n---\nold\n", "new\n"),
    (b"---\ntitle: x\n---\nold\n", ""),
    (b"---\ntitle: x\n---\nold", "new"),
    (b"---\ntitle: x\n---\nold", "new\n"),
    (b"---\ntitle: x\n---\nold\n", "new\r"),
    (b"---\ntitle: x\n---\nold", "new\r"),
    (b"---\r\ntitle: x\r\n---\r\nold\r\n", "a\nb"),
    (b"---\ntitle: x # kept\n\n# kept\n---\nold\n", "new"),
    (b"---\ntitle: x\n---", "new"),
    (b"---\r\ntitle: x\r\n---", "new"),
    (b"---\ntitle: [x\n---\nold\n", "new"),
    (b"old\n", "new"),
    (b"old\n", "---\ntitle: y\n---\nnew"),
    (b"old\n", "---\nnot closed"),
    (b"old\n", "\ufeffnew"),
    ("\ufeffold\n".encode(), "new"),
    ("\ufeffold\n".encode(), "\ufeffnew"),
]

_KEY_UPDATES = [
    (b"---\ntitle: x\n---\nbody\n", {"title": "y"}),
    (b"---\ntitle: x\n---\nbody\n", {"title": "x"}),
    (b"---\ntitle: 'x'  # mine\n---\nbody\n", {"tags": ["a"]}),
    (b"---\ntitle: x\nmood: good\n---\nbody\n", {"tags": ["a", "b"], "aliases": ["c"], "version": 2}),
    (b"---\ntitle: x\ntags: [a]\n---\nbody\n", {"tags": None}),
    (b"---\r\ntitle: x\r\n---\r\nbody\r\n", {"confidence": 0.9}),
    (b"---\ntags:\n  - a\n  # inner\n  - b\n\n# after\ntitle: x\n---\nbody\n", {"tags": ["c"]}),
    (b"---\ntags:\n- a\n- b\ntitle: x\n---\nbody\n", {"tags": ["c"]}),
    (b"---\nsource_ref: >\n  one\n\n  two\ntitle: x\n---\nbody\n", {"source_ref": "page 4"}),
    (b"---\ntags: [\n  a,\n]\ntitle: x\n---\nbody\n", {"tags": ["a", "z"]}),
    (b"---\n---\nbody\n", {"title": "a: b"}),
    (b"--- \ntitle: x\n...\nbody", {"title": "y"}),
    ("\ufeff---\ntitle: x\n---\nbody\n".encode(), {"title": "y"}),
]

_NEW = [
    (
        {
            "title": "Brew temperature",
            "tags": ["coffee"],
            "confidence": 0.9,
            "id": "9h1m2k8w4x6z",
            "version": 1,
        },
        "92 °C",
    ),
    ({"version": 1, "id": "9h1m2k8w4x6z", "title": "a: b", "workspace": "home lab"}, "ends\n"),
    ({"id": "9h1m2k8w4x6z"}, ""),
    ({"id": "9h1m2k8w4x6z"}, "ends in CR\r"),
    (
        {"id": "9h1m2k8w4x6z", "meta": {"b": [1], "a": "x"}, "valid_from": "2026-01-01T00:00:00.000000Z"},
        "---\nx\n---",
    ),
]


def _read_file(path, data, values, problems):
    text, is_utf8 = decode_file(data)
    mark, block, body, is_unclosed = split_file(text)
    assert is_utf8 != ("not_utf8" in problems)
    assert is_unclosed == ("front_matter_unclosed" in problems)
    plain = split_body(body)[0]
    shape = {"path": path, **describe_bytes(data), "mark": bool(mark), "block": block, "body": body}
    return shape | {
        "record_text": plain,
        "keys": values if values is not None else {},
        "title": find_title(values or {}, plain, path),
        "problems": sorted(problems),
    }


def make_record_vectors():
    """Return files and their parts, new files, and updates."""
    return {
        "files": [_read_file(*item) for item in _FILES],
        "new": [{"keys": keys, "text": text, "bytes": make_file(keys, text).decode()} for keys, text in _NEW],
        "text_updates": [
            {"before": before.decode(), "text": text, "after": update_text(before, text).decode()}
            for before, text in _TEXT_UPDATES
        ],
        "key_updates": [
            {"before": before.decode(), "changes": changes, "after": update_keys(before, changes).decode()}
            for before, changes in _KEY_UPDATES
        ],
        "block_order": [{"keys": keys, "block": write_block(keys)} for keys, _ in _NEW],
    }
