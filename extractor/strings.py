"""Owns what `ast` does not tell and libcst does: the text between the quotes of an f-string, as it is written.

Before Python 3.12 `ast` has no true columns inside f-strings, and it cannot read the quotes of newer ones.
libcst parses the one literal (0.7 ms), never the file around it; most are plain enough for a pattern (0.01 ms).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

EMPTY = cst.Module([])
NodeT = TypeVar("NodeT", bound=cst.CSTNode)
_SURROGATE = re.compile("[\ud800-\udfff]")
# literals without escapes, one after the other; the text and the holes of one, where no hole has braces or quotes
_PLAIN = re.compile(r"""([fF]?)(["'])(?!\2)([^\\\n]*?)\2\s*""")
_PIECES = re.compile(r"""([^{}]+)|\{([^{}!:=#"']+)(?:!([rsa]))?\}""")
_ESCAPED = re.compile(r"\\N\{[^}]*\}|\\.|\{\{|\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Field:
    """A hole of an f-string: the expression on one line, its conversion, the pieces of its format spec."""

    expression: str
    conversion: str | None = None
    spec: tuple[str | Field, ...] | None = None


def visible_surrogates(text: str) -> str:
    """Lone surrogates cannot be written as UTF-8: they are shown as escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def parse(source: str) -> cst.BaseExpression:
    """One expression, whatever line breaks it has. Raises `ValueError` when libcst cannot read it."""
    try:
        return cst.parse_expression(f"({source}\n)" if "\n" in source or "#" in source else source)
    except (cst.ParserSyntaxError, RecursionError) as e:
        raise ValueError(str(e)) from None


def read(source: str) -> tuple[str | Field, ...]:
    """Literal text and holes of the string literals in a source. Raises `ValueError` for others."""
    found: list[str | Field] = []
    at = 0
    while at < len(source):
        literal = _PLAIN.match(source, at)
        held = None if literal is None else _plain(literal[3], bool(literal[1]))
        if literal is None or held is None:
            return pieces(parse(source))
        found += held
        at = literal.end()
    return tuple(found)


def _plain(text: str, formatted: bool) -> list[str | Field] | None:
    """The pieces of a literal by its text between the quotes; None where they are not plain to see."""
    if not formatted:
        return [visible_surrogates(text)]
    found: list[str | Field] = []
    at = 0
    for piece in _PIECES.finditer(text):
        if piece.start() != at:
            return None
        at = piece.end()
        found.append(visible_surrogates(piece[1]) if piece[1] else Field(piece[2].strip(), piece[3]))
    return found if at == len(text) else None


def pieces(node: cst.BaseExpression) -> tuple[str | Field, ...]:
    """Literal text and holes of string literals that stand side by side. Raises `ValueError` for others."""
    found: list[str | Field] = []
    while isinstance(node, cst.ConcatenatedString):
        found += _piece(node.left)
        node = node.right
    return (*found, *_piece(node))


def _piece(node: cst.BaseExpression) -> list[str | Field]:
    if isinstance(node, cst.FormattedString):
        return _formatted(node.parts, node.quote, node.prefix)
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        return [visible_surrogates(node.evaluated_value)]
    raise ValueError("not text")


def _formatted(parts: Iterable[cst.BaseFormattedStringContent], quote: str, prefix: str) -> list[str | Field]:
    found: list[str | Field] = []
    for part in parts:
        if isinstance(part, cst.FormattedStringText):
            found.append(unescaped(part.value, quote, prefix))
        elif isinstance(part, cst.FormattedStringExpression):
            # {expression = !conversion:spec}: with `=` alone the value is shown by repr
            conversion = part.conversion
            if part.equal is not None:
                shown = EMPTY.code_for_node(part.expression) + EMPTY.code_for_node(part.equal)
                found.append(EMPTY.code_for_node(part.whitespace_before_expression) + shown)
                if conversion is None and part.format_spec is None:
                    conversion = "r"
            spec = None if part.format_spec is None else tuple(_formatted(part.format_spec, quote, prefix))
            found.append(Field(one_line(part.expression), conversion, spec))
    return found


def unescaped(raw: str, quote: str, prefix: str) -> str:
    """The text between the holes: escapes and doubled braces resolved."""
    if "{{" in raw or "}}" in raw:
        raw = _ESCAPED.sub(lambda m: m[0][0] if m[0] in ("{{", "}}") else m[0], raw)
    if "\\" in raw and "r" not in prefix.lower():
        try:
            raw = ast.literal_eval(f"{quote}{raw}{quote}")
        except (SyntaxError, ValueError):
            return visible_surrogates(raw)
    return visible_surrogates(raw)


def one_line(node: cst.CSTNode) -> str:
    """The node's source on one line; comments and line breaks inside brackets go."""
    text = EMPTY.code_for_node(node)
    if "\n" in text:
        text = EMPTY.code_for_node(node.visit(_OneLine()))  # type: ignore[arg-type]
    return text.strip()


class _OneLine(cst.CSTTransformer):
    """Line breaks inside brackets become spaces, and none right inside a bracket."""

    def leave_ParenthesizedWhitespace(self, original_node: object, updated_node: object) -> cst.SimpleWhitespace:
        return cst.SimpleWhitespace(" ")

    def leave_LeftParen(self, original_node: cst.LeftParen, updated_node: cst.LeftParen) -> cst.LeftParen:
        return _tight(original_node, updated_node, "whitespace_after")

    leave_LeftSquareBracket = leave_LeftCurlyBrace = leave_LeftParen  # type: ignore[assignment]

    def leave_RightParen(self, original_node: cst.RightParen, updated_node: cst.RightParen) -> cst.RightParen:
        return _tight(original_node, updated_node, "whitespace_before")

    leave_RightSquareBracket = leave_RightCurlyBrace = leave_RightParen  # type: ignore[assignment]

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        node = _tight(original_node, updated_node, "whitespace_before_args")
        if not node.args:
            return node
        last = _tight(original_node.args[-1], node.args[-1], "whitespace_after_arg")
        if isinstance(last.comma, cst.Comma):
            last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return node.with_changes(args=(*node.args[:-1], last))


def _tight(original: cst.CSTNode, updated: NodeT, space: str) -> NodeT:
    if isinstance(getattr(original, space, None), cst.ParenthesizedWhitespace):
        return updated.with_changes(**{space: cst.SimpleWhitespace("")})
    return updated
