"""Owns the words of an expression: those of a helper become those of its caller."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

from extractor import expr


def substituted(src: str, replacement: Callable[[str], str | None]) -> str:
    """Replaces names in an expression; names that the expression binds itself are left alone."""
    out = src
    last = len(src) + 1
    for start, end, name, tight in _mentions(src):
        new = replacement(name) if end <= last else None
        if new is not None:
            out = out[:start] + (f"({new})" if tight and not _is_atom(new) else new) + out[end:]
            last = start
    return out


LOOSE = (ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Expression)


@lru_cache(maxsize=20_000)
def _mentions(src: str) -> tuple[tuple[int, int, str, bool], ...]:
    """Where an expression mentions a dotted name, last first, longer before shorter; `tight`: inside an operator.

    Not inside f-strings, whose columns are not to be trusted before Python 3.12.
    """
    tree = expr.parsed(src)
    if tree is None:
        return ()
    found: list[tuple[int, int, str, bool]] = []
    bound: set[str] = set()
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, tight = stack.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        if isinstance(node, ast.Name | ast.Attribute):
            if isinstance(node.ctx, ast.Store) and isinstance(node, ast.Name):
                bound.add(node.id)
            name = expr.dotted(node)
            if name is not None:
                found.append((node.col_offset, node.end_col_offset or 0, name, tight))
        for child in ast.iter_child_nodes(node):
            called = isinstance(node, ast.Call) and child is node.func
            stack.append((child, called or not isinstance(node, LOOSE)))
    if not src.isascii():
        data = src.encode()
        found = [(len(data[:a].decode()), len(data[:b].decode()), name, tight) for a, b, name, tight in found]
    kept = [mention for mention in found if mention[2].split(".")[0] not in bound]
    return tuple(sorted(kept, key=lambda m: (-m[0], -m[1])))


@lru_cache(maxsize=20_000)
def _is_atom(src: str) -> bool:
    """Whether the expression needs no parentheses inside another."""
    if src.isidentifier():
        return True
    return isinstance(
        expr.parsed(src),
        ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set,
    ) and not src.startswith("-")
