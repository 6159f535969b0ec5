"""Owns the first reading of a file: its text and lines, its `ast`, and which definitions hold a raise.

libcst over whole files costs 6.5 times what `ast` costs (measured on vLLM), over the functions that hold a
raise 1.8 times, over the literals that need it a tenth. So `ast` reads everything.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

LINE_END = re.compile(r"\r\n|\r|\n")
# where statements stand inside one, the last first: walking goes by a stack
SUITES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Module: ("body",),
    ast.FunctionDef: ("body",),
    ast.AsyncFunctionDef: ("body",),
    ast.ClassDef: ("body",),
    ast.If: ("orelse", "body"),
    ast.For: ("orelse", "body"),
    ast.AsyncFor: ("orelse", "body"),
    ast.While: ("orelse", "body"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("finalbody", "orelse", "handlers", "body"),
    ast.TryStar: ("finalbody", "orelse", "handlers", "body"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
MAX_BYTES = 32 * 1024 * 1024
PLACEHOLDER = re.compile(r"__text_\d+__")
MAX_DEPTH = 200  # of brackets, as Python's own parser has it


class Unreadable(Exception):
    """The file cannot be read as Python; the text says why."""


@dataclass(frozen=True)
class Source:
    """A file as text, split the way Python counts lines (a form feed ends none).

    `code` is what the columns of expressions count in: other than `lines` only where the file is newer than
    the running Python. Then `strings` has the literals that names stand for, `written` their source.
    """

    text: str
    lines: tuple[str, ...]
    code: tuple[str, ...]
    strings: Mapping[str, Any] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Source:
        """The source of a text whose lines end in `\\n`."""
        lines = tuple(text.split("\n"))
        return cls(text, lines, lines)

    @cached_property
    def _walruses(self) -> list[int]:
        """The lines that may hold a `:=`."""
        return [n for n, line in enumerate(self.code, 1) if ":=" in line] if ":=" in self.text else []

    def walruses(self, node: ast.AST) -> list[ast.NamedExpr]:
        """Each `:=` in a node. Few lines have one, and walking all expressions would be most of the work."""
        lines = self._walruses
        if lines and self.code is self.lines:  # else not all nodes know their lines
            first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
            at = bisect_left(lines, first)
            if last is not None and (at == len(lines) or lines[at] > last):
                return []
        return [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)] if lines else []

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The source of an expression as it stands there; `ast` counts columns in bytes."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        end = node.end_col_offset or 0
        if first == last and self.code[first].isascii():
            text = self.code[first][node.col_offset : end]
        else:
            lines = [line.encode() for line in self.code[first : last + 1]]
            lines[-1] = lines[-1][:end]
            lines[0] = lines[0][node.col_offset :]
            text = b"\n".join(lines).decode("utf-8", "replace")
        return PLACEHOLDER.sub(lambda m: self.written.get(m[0], m[0]), text) if self.written else text


@dataclass(frozen=True, slots=True)
class Cut:
    """A function, a method, or statements of a module's or class's body, that hold a raise."""

    nodes: tuple[ast.stmt, ...]
    classes: tuple[ast.ClassDef, ...]  # the classes around it, outermost first


def decode(data: bytes) -> Source:
    """Raises `Unreadable` when the bytes are not text in the encoding that they declare."""
    if b"\0" in data:
        raise Unreadable("it holds NUL bytes, which Python refuses")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, LookupError) as e:
        missing = "missing encoding" in str(e)
        raise Unreadable("it is not utf-8 and names no other encoding" if missing else f"its encoding: {e}") from None
    except UnicodeDecodeError as e:
        raise Unreadable(f"it is not {e.encoding}: {e.reason} at byte {e.start}") from None
    if "\r" in text:
        text = LINE_END.sub("\n", text)
    return Source.of(text)


def parse(text: str) -> ast.Module:
    """`ast` of the running Python. Raises `SyntaxError`, or `Unreadable` for what its parser gives up on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (RecursionError, MemoryError):
            raise Unreadable("it is nested too deeply for Python's own parser") from None
        except ValueError as e:
            raise SyntaxError(str(e)) from None


def bracket_depth(text: str) -> int:
    """How deep brackets are nested, those in texts and comments counted too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\](){}]", text):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, in the order of the source; handlers and cases are looked through."""
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.stmt) and current is not node:
            yield current
        for suite in SUITES.get(type(current), ()):
            stack += getattr(current, suite)[::-1]


class Locator:
    """Finds the raise statements below nodes; only where the word stands is anything walked."""

    def __init__(self, source: Source) -> None:
        is_there = "raise" in source.text
        self._lines = [n for n, line in enumerate(source.lines, 1) if "raise" in line] if is_there else []

    def raises(self, node: ast.stmt) -> Iterator[ast.Raise]:
        """The raise statements at or below the node, in the order of the source."""
        if isinstance(node, ast.Raise):
            yield node
        elif self._mentioned(node):
            yield from (s for s in statements(node) if isinstance(s, ast.Raise))

    def _mentioned(self, node: ast.stmt) -> bool:
        at = bisect_left(self._lines, node.lineno)
        return at < len(self._lines) and self._lines[at] <= (node.end_lineno or node.lineno)

    def cuts(self, tree: ast.Module) -> list[Cut]:
        """The smallest definitions around each raise; a run of other statements of a body is one cut."""
        found: list[Cut] = []
        if self._lines:
            self._cut(tree.body, (), found)
        return found

    def _cut(self, body: list[ast.stmt], classes: tuple[ast.ClassDef, ...], found: list[Cut]) -> None:
        loose: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.ClassDef):
                if self._mentioned(node):
                    self._cut(node.body, (*classes, node), found)
            elif next(self.raises(node), None) is not None:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.append(Cut((node,), classes))
                else:
                    loose.append(node)
        if loose:
            found.append(Cut(tuple(loose), classes))
