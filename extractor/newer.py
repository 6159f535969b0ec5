"""Owns source that is newer than the running Python: libcst reads it whole and writes an older form of it.

The older form has the same statements in the same order, so each gets its true lines back. F-strings and
other new literals become names (`Source.strings` has what they stand for); type parameters go.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from extractor import scan, strings
from extractor.scan import Source, Unreadable

COMPOUND = (
    cst.If,
    cst.For,
    cst.While,
    cst.Try,
    cst.TryStar,
    cst.With,
    cst.FunctionDef,
    cst.ClassDef,
    cst.Match,
)


def read(source: Source, error: SyntaxError) -> tuple[ast.Module, Source]:
    """The `ast` of the older form. Raises `Unreadable` with the running Python's `error` when libcst fails too."""
    from libcst.metadata import MetadataWrapper, PositionProvider  # takes as long to import as all of libcst else

    if scan.bracket_depth(source.text) > scan.MAX_DEPTH:
        raise Unreadable(f"brackets are nested more than {scan.MAX_DEPTH} deep")  # libcst would crash
    at = f"line {error.lineno}: " if error.lineno else ""
    try:
        wrapper = MetadataWrapper(cst.parse_module(source.text), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        older = _Older()
        text = wrapper.module.visit(older).code
        tree = ast.parse(text)
    except (cst.ParserSyntaxError, cst.CSTValidationError, SyntaxError, RecursionError, ValueError):
        raise Unreadable(f"syntax error at {at}{error.msg}") from None
    theirs = list(scan.statements(tree))
    ours = list(_statements(wrapper.module.body))
    if len(ours) != len(theirs):
        raise Unreadable(f"syntax error at {at}{error.msg}")
    for node, twin in zip(theirs, ours, strict=True):
        place = positions[twin]
        node.lineno, node.col_offset, node.end_lineno = place.start.line, place.start.column, place.end.line
    return tree, Source(source.text, source.lines, tuple(text.split("\n")), older.strings, older.written)


class _Older(cst.CSTTransformer):
    """Rewrites what came after Python 3.11."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: dict[str, cst.BaseExpression] = {}
        self.written: dict[str, str] = {}
        self._nested = 0

    def _named(self, original: cst.BaseExpression) -> cst.Name:
        name = f"__text_{len(self.strings)}__"
        self.strings[name] = original
        self.written[name] = strings.one_line(original)
        return cst.Name(name)

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> bool:
        return False

    def leave_ConcatenatedString(
        self, original_node: cst.ConcatenatedString, updated_node: cst.ConcatenatedString
    ) -> cst.BaseExpression:
        return self._named(original_node)

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.BaseExpression:
        return self._named(original_node)

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:
        return False

    def leave_TemplatedString(
        self, original_node: cst.TemplatedString, updated_node: cst.TemplatedString
    ) -> cst.BaseExpression:
        return self._named(original_node)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        return updated_node.with_changes(type_parameters=None)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        return updated_node.with_changes(type_parameters=None)

    def leave_TypeAlias(self, original_node: cst.TypeAlias, updated_node: cst.TypeAlias) -> cst.Assign:
        return cst.Assign([cst.AssignTarget(updated_node.name)], updated_node.value)

    def leave_ExceptHandler(
        self, original_node: cst.ExceptHandler, updated_node: cst.ExceptHandler
    ) -> cst.ExceptHandler:
        types = updated_node.type
        if isinstance(types, cst.Tuple) and not types.lpar:
            return updated_node.with_changes(type=types.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]))
        return updated_node


def _statements(body: Sequence[Any]) -> Iterator[cst.CSTNode]:
    """All statements in the order of the source, as `scan.statements` has them."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        if not isinstance(node, cst.SimpleStatementLine):
            yield node
        for suite in reversed(_suites(node)):
            stack.extend(reversed(suite))


def _suites(node: Any) -> list[Sequence[Any]]:
    if isinstance(node, cst.SimpleStatementLine):
        return [node.body]
    if isinstance(node, cst.Match):
        return [case.body.body for case in node.cases]
    if not isinstance(node, COMPOUND):
        return []
    found = [node.body.body, *(handler.body.body for handler in getattr(node, "handlers", ()))]
    orelse, final = getattr(node, "orelse", None), getattr(node, "finalbody", None)
    if isinstance(orelse, cst.If):
        found.append((orelse,))
    elif orelse is not None:
        found.append(orelse.body.body)
    return found if final is None else [*found, final.body.body]
