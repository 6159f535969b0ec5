"""Owns `history.jsonl` on disk: a header, then a line of descent a line; whole or refused, never begun anew.

The header holds the number of lines that follow and their sha256, so a file that was cut off is told from a short
one. It is written beside its place and renamed: a reader sees the old history or the new one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from extractor.dataset import encode
from extractor.errors import ToolError
from extractor.history.record import SCHEMA, Header, History, Line

FILE = "history.jsonl"
BUILD = "vllm-errors history build --all"


def path_under(out: Path) -> Path:
    """Where the history of a folder of datasets is."""
    return out / FILE


def read(path: Path) -> History:
    """A whole history. Raises `ToolError` that says what is wrong with the file, and what to do."""
    header, body = read_raw(path)
    try:
        return History(header=header, lines=tuple(msgspec.json.decode(row, type=Line) for row in body.splitlines()))
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise ToolError(f"{path} does not fit its schema ({e}): {_anew(path)}") from None


def read_raw(path: Path) -> tuple[Header, bytes]:
    """The header and the bytes of the lines, held against each other. Raises `ToolError`."""
    try:
        first, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        raise ToolError(f"there is no history at {path}: make one with {BUILD}") from None
    except OSError as e:
        raise ToolError(f"{path} cannot be read ({e.strerror}): {_anew(path)}") from None
    header = _header(path, first)
    if body.count(b"\n") != header.lines or hashlib.sha256(body).hexdigest() != header.sha256:
        raise ToolError(f"{path} was cut off or changed after it was written: {_anew(path)}")
    return header, body


def read_lines(path: Path, beginning: str) -> tuple[Header, list[Line]]:
    """The lines that have an id that begins so, without decoding the others. Raises `ToolError`."""
    header, body = read_raw(path)
    mark = b'"' + beginning.encode()
    rows = (row for row in body.splitlines() if mark in row)
    found = (msgspec.json.decode(row, type=Line) for row in rows)
    return header, [line for line in found if any(i.startswith(beginning) for i in line.ids)]


def _header(path: Path, data: bytes) -> Header:
    try:
        schema = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("schema")
        version = None if schema is None else msgspec.json.decode(schema, type=int)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ToolError(f"{path} is not a history, or only the beginning of one: {_anew(path)}") from None
    if version != SCHEMA:
        age = "a newer" if version is not None and version > SCHEMA else "another"
        raise ToolError(f"{path} was written by {age} version of this tool (schema {version}): {_anew(path)}")
    try:
        return msgspec.json.decode(data, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise ToolError(f"{path} has a header that does not fit ({e}): {_anew(path)}") from None


def _anew(path: Path) -> str:
    return f"move it away and run {BUILD}"


def write(path: Path, header: Header, lines: Iterable[Line]) -> Header:
    """Puts a history in its place, and gives its header with the sum of its lines. Raises `ToolError`."""
    rows = [encode(line) for line in lines]
    body = b"".join(rows)
    header = replace(header, lines=len(rows), sha256=hashlib.sha256(body).hexdigest())
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(encode(header) + body)
        os.replace(draft, path)
    except OSError as e:
        draft.unlink(missing_ok=True)
        raise ToolError(f"cannot write {path}: {e.strerror}; make room or name another folder with --out") from None
    return header
