"""Owns what can be decided of values: whether a test of them holds, as far as that can be told."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache

from extractor.expr import dotted, parsed
from extractor.values import Closure, Exception_, Known, Named, Series, Table, Text, Unknown, Value

ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)  # nothing is less than None
BUILDERS = frozenset("bool bytes dict float frozenset int len list range repr set sorted str sum tuple type".split())


def truth(value: Value) -> bool | None:
    match value:
        case Known(known):
            return bool(known)
        case Text(pieces):
            return True if any(isinstance(p, str) for p in pieces) else (False if not pieces else None)
        case Series(_, items) | Table(items):
            return bool(items)
        case Exception_() | Closure():
            return True
    return None


def compared(op: str, left: Value, right: Value, none: Mapping[str, bool]) -> bool | None:
    """Whether a comparison holds; `none` tells of expressions whether they are None."""
    if op in ("is", "is not", "==", "!="):
        if Known(None) in (left, right):
            other = right if left == Known(None) else left
            if isinstance(other, Unknown | Named):
                told = none.get(other.src, False if _is_something(other.src) else None)
                return None if told is None else told == (op in ("is", "=="))
            return (other == Known(None)) == (op in ("is", "=="))
        if isinstance(left, Known) and isinstance(right, Known):
            return (left.value == right.value) == (op in ("is", "=="))
        if isinstance(left, Text) and isinstance(right, Text) and None not in (left.literal, right.literal):
            return (left.literal == right.literal) == (op in ("is", "=="))
    if op in ("in", "not in") and isinstance(right, Series | Table):
        members = right.items if isinstance(right, Series) else tuple(key for key, _ in right.items)
        if all(_is_plain(i) for i in (left, *members)):
            return (left in members) == (op == "in")
    return None


def told_of_none(conditions: Iterable[str]) -> dict[str, bool]:
    """Of names that hold conditions tell of: whether they are None."""
    found: dict[str, bool] = {}
    for condition in conditions:
        for name, is_none in _told(condition):
            found.setdefault(name, is_none)
    return found


@lru_cache(maxsize=20_000)
def _told(condition: str) -> tuple[tuple[str, bool], ...]:
    match parsed(condition):
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            nodes, is_none = [left], True
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            nodes, is_none = [left], False
        case ast.Compare(left=left, ops=ops, comparators=others) if all(isinstance(op, ORDERED) for op in ops):
            nodes, is_none = [left, *others], False
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() | int() | float())]):
            nodes, is_none = [left], False
        case ast.Name() | ast.Attribute() as node:
            nodes, is_none = [node], False
        case _:
            return ()
    return tuple((name, is_none) for node in nodes if (name := dotted(node)) is not None)


@lru_cache(maxsize=20_000)
def _is_something(src: str) -> bool:
    """Whether an expression is never None, by its form alone."""
    match parsed(src):
        case ast.Call(func=ast.Name(id=name)):
            return name in BUILDERS
        case ast.Attribute(value=ast.Call(func=ast.Name(id="type")), attr=attribute):
            return attribute in ("__name__", "__qualname__", "__module__")
        case ast.BinOp() | ast.JoinedStr() | ast.Compare() | ast.List() | ast.Tuple() | ast.Dict() | ast.Set():
            return True
        case ast.UnaryOp(op=ast.Not()) | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
    return False


def _is_plain(value: Value) -> bool:
    """Whether two such values are equal exactly when they are the same."""
    match value:
        case Known():
            return True
        case Text():
            return value.literal is not None
        case Series("tuple", items):
            return all(_is_plain(i) for i in items)
    return False
