"""Owns the colours of source: lines of a listing as HTML, by Pygments, with classes and no styles of its own.

A listing is cut out of a file and may begin inside a string. Its raise never stands in one, which tells.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from functools import cache
from html import escape

from markupsafe import Markup
from pygments.lexer import inherit
from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, Comment, Keyword, Name, Number, Operator, String, Text, _TokenType

from extractor.render.view import Listing

CLASSES = {
    kind: STANDARD_TYPES[kind]
    for kind in (
        Comment,
        Keyword,
        Number,
        String,
        String.Interpol,
        Operator.Word,
        Name.Builtin,
        Name.Class,
        Name.Decorator,
        Name.Exception,
        Name.Function,
    )
}
QUOTES = ('"""\n', "'''\n")

OPENING = "as async class def from global import nonlocal".split()  # Pygments reads on from these
WORDS: dict[str, _TokenType] = (
    dict.fromkeys((*dir(builtins), "self", "cls"), Name.Builtin)
    | dict.fromkeys(keyword.kwlist, Keyword)
    | dict.fromkeys(("and", "in", "is", "not", "or"), Operator.Word)
)

_WORD = re.compile(r"[^\W\d]\w*|\d[\w.]*")
_PLAIN = rf"""(?x)(?:
    (?!(?:{"|".join(OPENING)})\b) \w++ (?!['"])        # a word or number, no prefix of a string
  | [][(){{}}.,:;=+*/%<>|&^~!-]++
  | \n | [^\S\n]++ (?![rRuUbBfF]{{0,2}}['"])          # a docstring is one by what stands before it
)++"""
_STRING = r"""[rRbBuU]?(?:"[^"\\\n%{]*+"(?!")|'[^'\\\n%{]*+'(?!'))"""


def _words(_: object, match: re.Match[str]) -> Iterator[tuple[int, _TokenType, str]]:
    """Code without strings and comments: its words are looked up, not tried one pattern after another."""
    text, done = match[0], 0
    for word in _WORD.finditer(text):
        kind = WORDS.get(word[0]) if word[0][0] > "9" else Number
        if kind is not None and text[word.start() - 1 : word.start()] != ".":
            yield match.start() + done, Text, text[done : word.start()]
            yield match.start() + word.start(), kind, word[0]
            done = word.end()
    yield match.start() + done, Text, text[done:]


class _Lexer(PythonLexer):
    """Pygments' own, which tries up to 56 patterns a token: what is commonest before them makes it 6 times as fast."""

    tokens = {"root": [(_PLAIN, _words), (_STRING, String), (r"#.*", Comment), inherit]}  # noqa: RUF012


@cache
def _lexer() -> _Lexer:
    return _Lexer(stripnl=False, ensurenl=False)


def lines(listing: Listing) -> list[Markup]:
    """The lines as HTML, as many as there are."""
    code = "\n".join(listing.lines)
    tokens = _tokens(code)
    if _in_string(tokens, listing.first - listing.start):
        for quotes in QUOTES:
            other = _tokens(quotes + code)
            if not _in_string(other, listing.first - listing.start + 1):
                return list(_by_line(other))[1:]
    return list(_by_line(tokens))


def _tokens(code: str) -> list[tuple[_TokenType, str]]:
    return [(kind, text) for _, kind, text in _lexer().get_tokens_unprocessed(code)]


def _in_string(tokens: list[tuple[_TokenType, str]], line: int) -> bool:
    """Whether a line, counted from 0, begins inside a string."""
    for kind, text in tokens:
        if line == 0:
            return _is(kind, String) and not _is(kind, String.Interpol) and not text.isspace()
        breaks = text.count("\n")
        if breaks > line or (breaks == line and not text.endswith("\n")):
            return _is(kind, String)
        line -= breaks
    return False


def _is(kind: _TokenType, of: _TokenType) -> bool:
    """Whether a kind of token is another, or one of those below it."""
    return kind[: len(of)] == of


def _by_line(tokens: list[tuple[_TokenType, str]]) -> Iterator[Markup]:
    """Neighbours of one class share a span, and none goes over the end of a line."""
    line: list[str] = []
    open_class: str | None = None
    for kind, text in tokens:
        name = _class(kind)
        for number, piece in enumerate(text.split("\n")):
            if number:
                yield _closed(line, open_class)
                line, open_class = [], None
            if not piece:
                continue
            if name != open_class:
                if open_class is not None:
                    line.append("</span>")
                if name is not None:
                    line.append(f'<span class="{name}">')
                open_class = name
            line.append(escape(piece, quote=False))
    yield _closed(line, open_class)


def _closed(line: list[str], open_class: str | None) -> Markup:
    return Markup("".join(line) + ("</span>" if open_class is not None else ""))


@cache
def _class(kind: _TokenType) -> str | None:
    """The class of the nearest kind that has a colour."""
    current: _TokenType | None = kind
    while current is not None:
        if current in CLASSES:
            return CLASSES[current]
        current = current.parent
    return None
