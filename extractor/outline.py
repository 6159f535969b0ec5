"""Owns the outline of a text: where its functions are, told by lines alone, and the text without some of their bodies.

A fifth of the source of 0.28.0 is in functions that raise, and a third of that was not in 0.27.1. A body that nobody
asks for need not be parsed: `...` stands for it in the outline, on the last of its lines, so that all other
lines keep their numbers. What lines tell is a guess, which `is_true` holds against the syntax tree of what is left.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from extractor.targets import FunctionNode, first_line

# what begins no text over lines, and then one that does, or a line that the next one continues
_LONG = re.compile(
    r"(?:[^'\"#\\]++|#[^\n]*+|\"(?!\"\")(?:[^\"\\\n]|\\[^\n])*+\"|'(?!'')(?:[^'\\\n]|\\[^\n])*+'|\\[^\n])*+"
    r"(\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*+'''|\\\n|\Z)",
    re.DOTALL,
)
# begins with a plain character, which is what a search is fast for; so it sees nothing on the first line
_OPENING = re.compile(r"\n( *+)(?:(@)\w|(class|(?:async +)?def) +(\w+))")
_SHORT_HEADER = re.compile(r"[^\n]*:[ ]*+(?:#[^\n]*+)?\n")
_STEP = 4  # spaces of indentation
_ELSEWHERE = "\0"  # instead of a line end that ends no statement


class Definition(NamedTuple):
    """A function in the body of a module or class: its lines, and the offsets of its body in the text."""

    first: int  # of the first decorator, or of `def`
    line: int  # of `def`
    body: int
    last: int  # with code in it
    name: str
    owner: str  # the classes around it, dotted
    start: int  # of the first line of the body
    end: int  # before the end of the last one

    def is_of(self, node: ast.stmt, owner: str) -> bool:
        """Whether the function in a syntax tree, in the body of `owner`, stands where this says."""
        return (first_line(node), node.lineno, node.end_lineno, owner) == (self.first, self.line, self.last, self.owner)


class Outline:
    """The functions of a text whose lines end in `\\n`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def definitions(self) -> list[Definition]:
        """Those whose extent lines tell, in order."""
        if "\f" in self._text or "\n\t" in self._text:
            return []
        text = _joined(self._text)
        return [] if text is None else list(self._found(text))

    def _found(self, text: str) -> Iterator[Definition]:
        classes: list[tuple[int, int, str]] = []  # around: where they end, their indentation and name
        decorated: tuple[int, int] | None = None  # the first decorator of what comes: its indentation and offset
        behind = 0  # the function before
        for opening in _OPENING.finditer(text):
            at, depth = opening.start(1), len(opening[1])
            if at < behind:
                continue
            if opening[2]:
                if decorated is None or decorated[0] != depth:
                    decorated = depth, at
                continue
            first = decorated[1] if decorated is not None and decorated[0] == depth else at
            decorated = None
            while classes and classes[-1][0] <= at:
                classes.pop()
            if depth != (classes[-1][1] + _STEP if classes else 0):
                continue
            owner = classes[-1][2] if classes else ""
            start = _body(text, at, depth)
            if start is None:
                continue
            end = _behind(text, start, depth)
            name = opening[4]
            if opening[3] == "class":
                classes.append((end, depth, f"{owner}.{name}" if owner else name))
                continue
            behind = end
            end = _end_of_code(text, start, end)
            if start < end:
                first, line, body, last = map(self._line, (first, at, start, end))
                yield Definition(first, line, body, last, name, owner, start, end)

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def code(self, one: Definition) -> str:
        """The source of a function, its decorators with it."""
        return self._text[self._starts[one.first - 1] : one.end]

    def without(self, left_out: Iterable[Definition]) -> str:
        """The text without the bodies of these functions, given in order."""
        pieces: list[str] = []
        at = 0
        for one in left_out:
            # one space deeper than `def` is deep enough for a body
            depth = 1 + one.owner.count(".") * _STEP + (_STEP if one.owner else 0)
            pieces += [self._text[at : one.start], "\n" * (one.last - one.body), " " * depth, "..."]
            at = one.end
        return "".join((*pieces, self._text[at:]))


def _joined(text: str) -> str | None:
    """The text, as long as it is, without the ends of lines that the next line goes on with.

    None where that cannot be told.
    """
    if '"""' not in text and "'''" not in text and "\\\n" not in text:
        return text
    pieces: list[str] = []
    at = 0
    while at < len(text):
        found = _LONG.match(text, at)
        if found is None:
            return None
        pieces += [text[at : found.start(1)], found[1].replace("\n", _ELSEWHERE)]
        at = found.end()
    return "".join(pieces)


def _body(text: str, at: int, depth: int) -> int | None:
    """Where the body of the function that begins here does, on a line of its own."""
    found = _SHORT_HEADER.match(text, at)
    if found is None or any(found[0].count(a) != found[0].count(b) for a, b in ("()", "[]", "{}")):
        found = _long_header(depth).match(text, at)
    return None if found is None else found.end()


@cache
def _long_header(depth: int) -> re.Pattern[str]:
    """Over lines: what is between stands deeper, and the last one begins with the bracket."""
    return re.compile(rf"[^\n]*+\n(?:(?: {{{depth + 1}}}[^\n]*+)?\n)*+ {{{depth}}}\)[^\n]*:[ ]*+(?:#[^\n]*+)?\n")


def _behind(text: str, start: int, depth: int) -> int:
    """The end of the last line before one that stands no deeper; comments may stand anywhere."""
    found = _shallow(depth).search(text, start - 1)
    return len(text) if found is None else found.start()


@cache
def _shallow(depth: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{depth}}}+[^ #\n]")


def _end_of_code(text: str, start: int, end: int) -> int:
    """The end of the last line that holds code."""
    while end > start:
        line = text.rfind("\n", start, end) + 1 or start
        if text[line:end].lstrip(" ")[:1] not in ("", "#"):
            return end
        end = line - 1
    return start


def is_true(tree: ast.Module, left_out: Sequence[Definition]) -> bool:
    """Whether each of these is a function there, and `...` is all of its body."""
    guessed = {one.line: one for one in left_out}
    found = 0
    stack: list[tuple[ast.stmt, str]] = [(node, "") for node in tree.body]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, ast.ClassDef):
            owner = f"{owner}.{node.name}" if owner else node.name
            stack += ((child, owner) for child in node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno in guessed:
            if not guessed[node.lineno].is_of(node, owner) or not _is_empty(node):
                return False
            found += 1
    return found == len(guessed)


def _is_empty(node: FunctionNode) -> bool:
    match node.body:
        case [ast.Expr(value=ast.Constant(value=value), lineno=line)]:
            return value is ... and line == node.end_lineno
    return False
