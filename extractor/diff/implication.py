"""Owns when one condition is known to follow from others: by their form alone, and never by guessing.

`a` gives `a or b`; `x > 5` gives `x > 3`; `x in ("a",)` gives `x in ("a", "b")`. Whatever is not of such a form follows
only from itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from extractor import expr

DEEPEST = 12  # of conditions in conditions


def follow(conclusions: Iterable[str], premises: Iterable[str]) -> bool:
    """Whether each of the conclusions follows from the premises, taken one by one."""
    given = frozenset(premises)
    return all(c in given or any(_implies(_parsed(p), _parsed(c), DEEPEST) for p in given) for c in conclusions)


_parsed = lru_cache(maxsize=4096)(expr.parsed)


@lru_cache(maxsize=32768)
def _written(node: ast.expr) -> str:
    return ast.dump(node)


def _implies(one: ast.expr | None, other: ast.expr | None, depth: int) -> bool:
    if one is None or other is None or not depth:
        return False
    match one, other:
        case ast.BoolOp(op=ast.Or(), values=values), _:
            return all(_implies(value, other, depth - 1) for value in values)
        case _, ast.BoolOp(op=ast.And(), values=values):
            return all(_implies(one, value, depth - 1) for value in values)
        case ast.BoolOp(values=values), _ if any(_implies(value, other, depth - 1) for value in values):
            return True
        case _, ast.BoolOp(values=values):
            return any(_implies(one, value, depth - 1) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=left), ast.UnaryOp(op=ast.Not(), operand=right):
            return _implies(right, left, depth - 1)
    return _written(one) == _written(other) or _compared(one, other)


def _compared(one: ast.expr, other: ast.expr) -> bool:
    """Two comparisons of one thing with constants."""
    match one, other:
        case (
            ast.Compare(left=left, ops=[op], comparators=[right]),
            ast.Compare(left=same, ops=[to], comparators=[bound]),
        ) if _written(left) == _written(same):
            return _of_sets(op, _constants(op, right), to, _constants(to, bound)) or _of_numbers(
                op, _number(right), to, _number(bound)
            )
    return False


def _of_sets(op: ast.cmpop, given: frozenset[Any] | None, to: ast.cmpop, asked: frozenset[Any] | None) -> bool:
    if given is None or asked is None:
        return False
    if isinstance(op, ast.In | ast.Eq):
        return given <= asked if isinstance(to, ast.In | ast.Eq) else not given & asked
    return isinstance(to, ast.NotIn | ast.NotEq) and asked <= given


def _constants(op: ast.cmpop, node: ast.expr) -> frozenset[Any] | None:
    """The values that `==`, `!=`, `in` and `not in` compare with; None where they are not all known."""
    try:
        value = ast.literal_eval(node)
        if isinstance(op, ast.Eq | ast.NotEq):
            return frozenset([value])
        if isinstance(op, ast.In | ast.NotIn) and isinstance(value, tuple | list | set):
            return frozenset(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return None


def _of_numbers(op: ast.cmpop, given: float | None, to: ast.cmpop, asked: float | None) -> bool:
    if given is None or asked is None:
        return False
    match op, to:
        case ast.Gt(), ast.Gt() | ast.GtE() | ast.NotEq():
            return given >= asked
        case ast.GtE(), ast.GtE():
            return given >= asked
        case ast.GtE(), ast.Gt() | ast.NotEq():
            return given > asked
        case ast.Lt(), ast.Lt() | ast.LtE() | ast.NotEq():
            return given <= asked
        case ast.LtE(), ast.LtE():
            return given <= asked
        case ast.LtE(), ast.Lt() | ast.NotEq():
            return given < asked
        case ast.Eq(), ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE():
            return _holds(given, to, asked)
    return False


def _holds(value: float, op: ast.cmpop, bound: float) -> bool:
    match op:
        case ast.Gt():
            return value > bound
        case ast.GtE():
            return value >= bound
        case ast.Lt():
            return value < bound
    return value <= bound


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
