"""The bare parts: what the same input costs when SQLite, a file or the file system does nothing else."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.costs import Contender, Cost, SyncCounter, measure
from onrecord.domain.stopwords import STOPWORDS

_WORD = re.compile(r"\w+")
_SCHEMA = "CREATE VIRTUAL TABLE lines USING fts5(text, tokenize = 'porter unicode61')"
_QUERY = "SELECT rowid, text FROM lines WHERE lines MATCH ? ORDER BY bm25(lines) LIMIT ?"

# size, mtime_ns, ctime_ns, inode
Stamp = tuple[int, int, int, int]


def make_match(question: str) -> str:
    """Return a question as an OR query of its words; stopwords are left out unless there is nothing else."""
    words = _WORD.findall(question.lower())
    chosen = [word for word in words if word not in STOPWORDS] or words
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(chosen))


class BareTable:
    """One FTS5 porter table in a file, WAL, every commit synced."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute(_SCHEMA)

    def fill(self, texts: Iterable[str]) -> None:
        """Insert rows in one commit."""
        with self._database:
            self._database.executemany("INSERT INTO lines (text) VALUES (?)", ((text,) for text in texts))

    def find(self, question: str, limit: int) -> list[tuple[int, str]]:
        """Return row number from 0 and text of the best rows."""
        found = self._database.execute(_QUERY, (make_match(question), limit)).fetchall()
        return [(row - 1, text) for row, text in found]

    def count_matches(self, question: str) -> int:
        """Return how many rows hold a word of the question."""
        query = "SELECT count(*) FROM lines WHERE lines MATCH ?"
        (count,) = self._database.execute(query, (make_match(question),)).fetchone()
        return int(count)

    def make_insert_contender(self) -> Contender:
        """Return who inserts and commits one row."""

        def call(text: str) -> Cost:
            with measure() as watch, self._database:
                self._database.execute("INSERT INTO lines (text) VALUES (?)", (text,))
            return watch.cost

        return Contender("bare FTS5 insert + commit", call)

    def make_find_contender(self) -> Contender:
        """Return who asks for ten rows."""

        def call(text: str) -> Cost:
            with measure() as watch:
                self.find(text, 10)
            return watch.cost

        return Contender("bare FTS5 query", call)

    def close(self) -> None:
        """Release the file."""
        self._database.close()


class BareJournal:
    """A file that grows by one line and one sync a record."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def make_contender(self, syncs: SyncCounter) -> Contender:
        """Return who appends and syncs."""

        def call(text: str) -> Cost:
            with measure(syncs) as watch:
                os.write(self._descriptor, text.encode() + b"\n")
                os.fsync(self._descriptor)
            return watch.cost

        return Contender("bare append + fsync", call)

    def close(self) -> None:
        """Release the file."""
        os.close(self._descriptor)


def parse_note(data: bytes) -> tuple[str, str, str]:
    """Return title, tags and body of a Markdown file with flat front matter, by the cheapest means there are."""
    text = data.decode("utf-8", "replace")
    if not text.startswith("---\n"):
        return "", "", text
    head, _, body = text[4:].partition("\n---\n")
    keys = dict(line.partition(": ")[::2] for line in head.split("\n"))
    return keys.get("title", ""), keys.get("tags", ""), body


def build_table(folder: Path, path: Path) -> int:
    """Parse every Markdown file under `folder` into a new FTS5 table in one commit; return how many rows it has."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE VIRTUAL TABLE notes USING fts5(title, tags, text, tokenize = 'porter unicode61')")
        rows = (parse_note(Path(file).read_bytes()) for file, _ in scan_notes(folder))
        count = database.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows).rowcount
    database.close()
    return int(count)


def scan_notes(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield path and stamp of each Markdown file under `folder`, links not followed."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.name.endswith(".md"):
                    state = entry.stat(follow_symlinks=False)
                    yield entry.path, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


class BareManifest:
    """Stamps of files in a plain table, and the comparison of all of them with the folder."""

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder = folder
        self._path = path
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE files (path TEXT PRIMARY KEY, size INT, mtime INT, ctime INT, inode INT)")
            rows = ((file, *stamp) for file, stamp in scan_notes(folder))
            database.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?)", rows)
        database.close()

    def list_changed(self) -> list[str]:
        """Load the table, scan the folder and return what is new, gone or different."""
        database = sqlite3.connect(self._path)
        known = {path: tuple(stamp) for path, *stamp in database.execute("SELECT * FROM files")}
        database.close()
        changed = [path for path, stamp in scan_notes(self._folder) if known.pop(path, None) != stamp]
        return changed + list(known)
