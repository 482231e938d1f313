"""From the bytes of another program's file to its sections without secrets, and to what the index takes in of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from onrecord.app.source_scan import FILE_KIND, NO_TEXT, SECTION_KIND, hash_native
from onrecord.domain.documents import analyze_document
from onrecord.domain.heads import VersionHead
from onrecord.domain.instants import Instant
from onrecord.domain.markdown import BOM, decode_file
from onrecord.domain.redaction import redact
from onrecord.domain.sections import Format, Section, cut_sections, make_section_id, name_section
from onrecord.ports.index import Document, Partition
from onrecord.ports.native import NativeFile, NativeSource

# Sections have no record time: what is asked as of an instant never meets them.
_NO_TIME = Instant("0001-01-01T00:00:00.000000Z")


def cut_file(source: NativeSource, path: str, data: bytes) -> Sequence[Section] | None:
    """Return the sections of a file of a source, without secrets; None for what is no text."""
    return _cut(data, choose_format(source, path))


@lru_cache(maxsize=4)
def _cut(data: bytes, kind: Format) -> Sequence[Section] | None:
    """Cut a text whose secrets are replaced before, so that none is cut in two; one with U+0000 is no text."""
    text = decode_file(data)[0].removeprefix(BOM)
    return None if "\0" in text else cut_sections(redact(text).text, kind)


def choose_format(source: NativeSource, path: str) -> Format:
    """Return how a file is written: as the source says, else as its name ends."""
    if source.format is not None:
        return source.format
    return "markdown" if path.lower().endswith((".md", ".mdc", ".markdown")) else "text"


def clean_path(path: str) -> str:
    """Return a path as it may be shown: secrets in its names replaced."""
    return "/".join(redact(part).text for part in path.split("/"))


def build_sections(
    source: NativeSource, file: NativeFile, data: bytes, partition: Partition, stamp: str
) -> list[Document]:
    """Return the documents of a file: one that stands for it and is never found, then one for each section.

    Args:
        source: Whose file it is.
        file: The file as it was when it was read.
        data: Its bytes.
        partition: Whose statistics it counts in.
        stamp: What tells later whether the file has changed; kept with each document.
    """
    cut = cut_file(source, file.path, data)
    sections = cut or ()
    digest = hash_native(data)
    shown = clean_path(file.path)
    name = shown.rpartition("/")[2]

    def build(place: int, section: Section) -> Document:
        made = make_section_id(source.name, file.path, place)
        head = VersionHead(
            ref=name_section(made),
            id=made,
            version=0,
            kind=SECTION_KIND if place else FILE_KIND,
            status="current" if place else FILE_KIND if cut is not None else NO_TEXT,
            origin="agent",
            workspace="",
            partition=partition,
            path=f"{source.name}/{file.path}",
            title=section.title or name,
            recorded_at=_NO_TIME,
            text_sha256=digest,
            key=stamp,
            offset_bytes=place,
            size_bytes=0 if place else len(sections),
        )
        around = " ".join((*section.above, shown, source.name)) if place else ""
        title = head.title if place else ""
        return Document(head, analyze_document(title, (), (), section.text, around))

    whole = build(0, Section("", (), ""))
    return [whole, *(build(place, section) for place, section in enumerate(sections, 1))]
