"""Owns the reading of one file: bytes in, the symbolic record of its raise sites and its index out.

A pure function of the content, without the path, so the record can be kept under the content's hash and made in any
process. Syntax trees stay in here. What functions tell may be kept as well, under their own text: then only those are
parsed that have changed since some other file was read.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from extractor import index, newer, scan, symbolic
from extractor.flow import summarise
from extractor.index import Index
from extractor.nodes import BUILTINS
from extractor.outline import Definition, Outline, is_true
from extractor.scan import Cut, Locator, Source, Unreadable
from extractor.sites import Found, RawSite, bare, moved, sites

RAISE = re.compile(r"raise\b")


class Kept(Protocol):
    """Where what functions tell is kept."""

    def get(self, names: Iterable[str]) -> Mapping[str, bytes]: ...
    def put(self, values: Mapping[str, bytes]) -> None: ...


class FileRecord(msgspec.Struct, frozen=True, array_like=True):
    """All that one file tells. `reason` says why it could not be read, and nothing else is set then.

    `calls` are calls on the way to a raise: should one of them never return, the file has to be read again.
    """

    sites: tuple[RawSite, ...]
    raises: int
    index: Index | None
    reason: str | None = None
    calls: tuple[str, ...] = ()


class PackedRecord(msgspec.Struct, frozen=True, array_like=True):
    """A `FileRecord` in MessagePack whose sites stay packed until somebody links them: most of it is theirs."""

    sites: msgspec.Raw
    raises: int
    index: Index | None
    reason: str | None = None
    calls: tuple[str, ...] = ()


def unpacked(sites: msgspec.Raw) -> tuple[RawSite, ...]:
    """The sites of a `PackedRecord`."""
    return msgspec.msgpack.decode(sites, type=tuple[RawSite, ...])


def extract(data: bytes, leaving: frozenset[str] = frozenset(), kept: Kept | None = None) -> FileRecord:
    """Reads one file; what cannot be read is a record that says why, with a guess at the raises in it.

    `leaving` are those of its `calls` that never return.
    """
    try:
        if len(data) > scan.MAX_BYTES:
            raise Unreadable(f"it has {len(data):,} bytes, more than the {scan.MAX_BYTES:,} that are read")
        return _record(scan.decode(data), leaving, kept)
    except Unreadable as e:
        return FileRecord((), _guess(data), None, str(e))
    except RecursionError:
        return FileRecord((), _guess(data), None, "it is nested too deeply to be followed")


def summary(data: bytes, first: int, last: int) -> symbolic.Function | None:
    """What the function on these lines of a file returns, for a message that is built by it."""
    lines = scan.decode(data).lines[first - 1 : last]
    text = "\n".join(lines) + "\n"
    try:
        tree, source = _parsed(Source.of("if 1:\n" + text if text[0] in " \t\f" else text))
        for node in scan.statements(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return summarise(node, source)
    except (Unreadable, RecursionError):
        pass
    return None


def _guess(data: bytes) -> int:
    return sum(1 for line in data.splitlines() if line.split(b"#")[0].split()[:1] in ([b"raise"],))


def _parsed(source: Source) -> tuple[ast.Module, Source]:
    try:
        return scan.parse(source.text), source
    except SyntaxError as e:
        return newer.read(source, e)


def _record(source: Source, leaving: frozenset[str], kept: Kept | None) -> FileRecord:
    outline = Outline(source.text)
    functions = [f for f in outline.definitions() if not _is_looked_into(f, source.text)]
    names = {} if kept is None else _names(functions, outline, leaving)
    known = {} if kept is None else _known(names, kept)
    tree = _outlined(outline, [f for f in functions if f in known or not RAISE.search(source.text, f.start, f.end)])
    declared = None if tree is None else index.build(tree, source)
    if tree is None or declared is None or any(one.shadowed != _shadowed(declared) for one in known.values()):
        known = {}
        tree, source = _parsed(source)
        declared = index.build(tree, source)
    shadowed = _shadowed(declared)
    new = {cut: sites(cut, source, leaving, shadowed) for cut in Locator(source).cuts(tree)}
    if kept is not None and source.code is source.lines:
        kept.put(_to_keep(new, names))
    found = sorted(
        (*new.values(), *(moved(one, function.first, source) for function, one in known.items())), key=lambda f: f.line
    )
    ordered = tuple(sorted((site for one in found for site in one.sites), key=lambda s: (s.line, s.column)))
    declared = index.with_local(declared, (pair for one in found for pair in one.imports))
    calls = {call for one in found for call in one.calls}
    return FileRecord(ordered, len(ordered), declared, calls=tuple(sorted(calls)))


def _shadowed(declared: Index) -> tuple[str, ...]:
    """The builtins whose names the file gives another meaning."""
    tables = (declared.imports, declared.functions, declared.classes, declared.values)
    return tuple(sorted(name for name in BUILTINS if any(name in table for table in tables)))


# --- functions one by one --------------------------------------------------------------------------------


def _is_looked_into(function: Definition, text: str) -> bool:
    """Whether more counts than what the function raises: a way out of `with` blocks, what its class makes of it."""
    if function.name in ("__exit__", "__aexit__", "__post_init__"):
        return True
    return "contextmanager" in text and text.find("yield", function.start, function.end) >= 0


def _names(functions: Iterable[Definition], outline: Outline, leaving: frozenset[str]) -> dict[Definition, str]:
    """What is kept of functions that may raise is kept under these names: all that they tell is in them."""
    left = " ".join(sorted(leaving))
    found: dict[Definition, str] = {}
    for function in functions:
        code = outline.code(function)
        if RAISE.search(code):
            digest = hashlib.blake2b(code.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
            found[function] = f"function {function.owner} {digest} {left}"
    return found


def _known(names: Mapping[Definition, str], kept: Kept) -> dict[Definition, Found]:
    stored = kept.get(names.values()) if names else {}
    return {f: msgspec.msgpack.decode(stored[name], type=Found) for f, name in names.items() if name in stored}


def _to_keep(new: Mapping[Cut, Found], names: Mapping[Definition, str]) -> dict[str, bytes]:
    by_line = {function.line: function for function in names}
    made: dict[str, bytes] = {}
    for cut, one in new.items():
        function = by_line.get(cut.nodes[0].lineno)
        if function is not None and function.is_of(cut.nodes[0], ".".join(c.name for c in cut.classes)):
            made[names[function]] = msgspec.msgpack.encode(bare(one))
    return made


def _outlined(outline: Outline, left_out: list[Definition]) -> ast.Module | None:
    """The file without the bodies of these functions; None when they cannot be left out."""
    if not left_out:
        return None
    try:
        tree = scan.parse(outline.without(left_out))
    except (SyntaxError, Unreadable):
        return None
    return tree if is_true(tree, left_out) else None
