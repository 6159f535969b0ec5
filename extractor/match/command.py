"""Owns the command `match`, but for parsing arguments and printing: from a file's name to what is to be said."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from extractor.errors import ToolError
from extractor.match import engine, library, past, report, stream, versions


class Options(NamedTuple):
    """What the user asked for."""

    file: str = "-"
    dataset: str | None = None
    out: str = "output"
    json: bool = False
    limit: int = 5


class Outcome(NamedTuple):
    """Results for stdout, notes for stderr, and the exit code."""

    result: bytes
    notes: tuple[str, ...]
    code: int


def run(options: Options, bold: bool = False) -> Outcome:
    """Matches a log. Raises `ToolError` for what cannot be read."""
    cache = library.cache_folder()
    out = options.out
    chosen = None if options.dataset is None else library.named(options.dataset, out, cache)
    with opened(options.file) as log:
        pieces = stream.pieces(log)
        try:
            first = list(_some(pieces))
        except OSError as e:
            raise ToolError(f"{_name(options.file)} cannot be read ({e.strerror})") from None
        release = next((r for r in (versions.stated(p.text) for p in first) if r), None)
        notes: list[str] = []
        if chosen is None:
            chosen, notes = _chosen(release, out, cache)
        lexicon = library.load(chosen, cache)
        log_again = past.Kept(chain(first, pieces), past.exists(out))
        found = engine.of_pieces(log_again, lexicon).ranked
    before = None
    if log_again.kept and past.fits_badly(found):
        try:
            before = past.search(log_again.kept, out, cache)
        except ToolError as e:
            notes.append(f"the history was not asked: {e}")
    if before is not None:
        found, lexicon = before.ranked, before.lexicon
    shown = found[: options.limit]
    if options.json:
        return Outcome(report.as_data(shown, lexicon, before), tuple(notes), 0 if shown else 1)
    where = chosen.release or chosen.label
    if not shown:
        more = ", nor of any release in the history," if log_again.kept else ""
        nothing = f"nothing found: no error of vLLM {where}{more} fits what is in {_name(options.file)}"
        return Outcome(b"", (*notes, nothing), 1)
    if before is not None:
        notes.append(f"vLLM {where} has no such error: found in the history")
    text = report.as_text(shown, lexicon, _details(chosen.folder, before), bold, before)
    return Outcome(text.encode("utf-8", "replace"), tuple(notes), 0)


def _details(folder: str, before: past.Past | None) -> report.Details:
    """Where the conditions of an error are looked up."""
    if before is None:
        return lambda error_id: library.details(folder, error_id)
    wordings = before.wordings
    return lambda error_id: past.details(wordings[error_id])


def _some(pieces: Iterator[stream.Piece]) -> Iterator[stream.Piece]:
    """The first piece: the release that a log names stands at its beginning."""
    first = next(pieces, None)
    if first is not None:
        yield first


def _chosen(release: str | None, out: str, cache: str | None) -> tuple[library.Shelf, list[str]]:
    """The dataset of the release that the log names, or the newest, and what is to be said about that."""
    if release is not None:
        there = library.of_release(release, out, cache)
        if there is not None:
            return there, [f"the log says vLLM {release}: matched against {there.folder}"]
    newest = library.newest(out, cache)
    if release is None:
        return newest, []
    return newest, [
        f"the log says vLLM {release}, and there is no dataset of it: matched against {newest.folder}; "
        f"vllm-errors extract --release {release} makes the right one"
    ]


def opened(file: str) -> BinaryIO:
    """The log as a stream of bytes. Raises `ToolError` when it is not there or not a file."""
    if file == "-":
        return sys.stdin.buffer
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise ToolError(f"{file} is a folder: name a file, or give the log on stdin")
        return os.fdopen(descriptor, "rb")
    except OSError as e:
        raise ToolError(f"{file} cannot be read ({e.strerror}): name a file, or give the log on stdin") from None
    except ValueError:
        raise ToolError("the name of the log is not one: name a file, or give the log on stdin") from None


def _name(file: str) -> str:
    return "the log" if file == "-" else file
