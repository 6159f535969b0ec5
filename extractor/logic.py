"""Owns how a test is said: one that held or failed becomes the conjuncts that a reader is shown.

`not` goes inwards through `not`, `and`, `or` and the comparisons that have an opposite; orderings stay as they
are, since of two values neither may be the smaller (NaN, sets).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip

# how tightly an expression binds, as far as it matters here
LOOSE, OR, AND, NOT, COMPARISON, TIGHT = range(6)
_LOOSE = ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom
_BARE = ast.NamedExpr | ast.Yield | ast.YieldFrom  # no expression on its own without brackets

Code = Callable[[ast.expr], str]


def conjuncts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts that must all hold, or fail, for the test to hold, or fail."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for value in test.values:
            yield from conjuncts(value, holds)
    else:
        yield test, holds


def said(test: ast.expr, holds: bool, code: Code) -> str:
    """The test, or its opposite, as an expression."""
    text, _ = _said(test, holds, code)
    return f"({text})" if holds and isinstance(test, _BARE) else text


def all_of(terms: Iterable[tuple[ast.expr, bool]], code: Code, bracketed: bool = False) -> str:
    """Tests joined by `and`; `bracketed` where more is joined to them."""
    parts = [_said(node, polarity, code) for test, holds in terms for node, polarity in conjuncts(test, holds)]
    if len(parts) == 1 and not bracketed:
        return parts[0][0]
    return " and ".join(dict.fromkeys(_within(text, level, AND) for text, level in parts))


def _said(test: ast.expr, holds: bool, code: Code) -> tuple[str, int]:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _said(operand, not holds, code)
        case ast.BoolOp(op=op, values=values):
            level = OR if isinstance(op, ast.Or) == holds else AND
            word = " or " if level == OR else " and "
            return word.join(_within(*_said(v, holds, code), level) for v in values), level
        case ast.Compare(left=left, ops=[op], comparators=[right]) if not holds and type(op) in OPPOSITE:
            first, second = (_within(code(side), level_of(side), TIGHT) for side in (left, right))
            return f"{first} {OPPOSITE[type(op)]} {second}", COMPARISON
    text, level = code(test), level_of(test)
    return (text, level) if holds else (f"not {_within(text, level, NOT)}", NOT)


def _within(text: str, level: int, around: int) -> str:
    return f"({text})" if level < around else text


def level_of(node: ast.expr) -> int:
    """How tightly the expression binds."""
    match node:
        case ast.BoolOp(op=op):
            return OR if isinstance(op, ast.Or) else AND
        case ast.UnaryOp(op=ast.Not()):
            return NOT
        case ast.Compare():
            return COMPARISON
    return LOOSE if isinstance(node, _LOOSE) else TIGHT
