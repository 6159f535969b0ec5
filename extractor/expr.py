"""Owns the evaluation of constant expressions: a closed set of `ast` nodes, and an answer for "unknown".

Nothing of the source is run: literals, displays, arithmetic and a few methods and builtins without effects
are computed here, with sizes bounded. Names are asked of the caller.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

MAX_SIZE = 10_000  # characters of a text, members of a collection
MAX_NUMBER = 2**63


class UnknownValue(Exception):
    """The expression is not a constant as far as can be told."""


Lookup = Callable[[str], Any]  # dotted name -> value; raises UnknownValue

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitOr: operator.or_, ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Pow: operator.pow,
}  # fmt: skip
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
# as Python writes them
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "str": str, "int": int, "float": float, "bool": bool, "len": len, "repr": repr, "sorted": sorted,
    "tuple": tuple, "list": list, "set": set, "frozenset": frozenset, "dict": dict, "min": min, "max": max,
    "sum": sum, "abs": abs, "round": round,
}  # fmt: skip
METHODS = frozenset(
    [
        "format",
        "join",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "replace",
        "removeprefix",
        "removesuffix",
        "split",
        "keys",
        "values",
        "items",
        "union",
    ]
)


def evaluate(src: str, lookup: Lookup) -> Any:
    """The value of the expression. Raises `UnknownValue`."""
    try:
        return _Evaluator(lookup).value(ast.parse(f"({src.strip()}\n)", mode="eval").body)
    except UnknownValue:
        raise
    except (
        SyntaxError,
        ValueError,
        TypeError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
        MemoryError,
    ):
        raise UnknownValue(src) from None


def parsed(src: str) -> ast.expr | None:
    """The expression that a text is; None for any other text."""
    try:
        return ast.parse(src, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` for a chain of plain names."""
    if isinstance(node, ast.Name):  # most are
        return node.id
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


class _Evaluator:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def value(self, node: ast.expr) -> Any:
        return _bounded(self._value(node))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.Tuple(elts=elts):
                return tuple(self._members(elts))
            case ast.List(elts=elts):
                return self._members(elts)
            case ast.Set(elts=elts):
                return set(self._members(elts))
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(self.value(left), op, self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self.value(operand))
            case ast.JoinedStr(values=pieces):
                return "".join(self._piece(piece) for piece in pieces)
            case ast.Subscript(value=value, slice=key):
                return self._subscript(value, key)
            case ast.Call():
                return self._call(node)
        raise UnknownValue(ast.dump(node))

    def _name(self, node: ast.expr) -> Any:
        name = dotted(node)
        if name is None:
            raise UnknownValue(ast.dump(node))
        return self._lookup(name)

    def _members(self, elts: list[ast.expr]) -> list[Any]:
        members: list[Any] = []
        for elt in elts:
            if isinstance(elt, ast.Starred):
                members += list(self.value(elt.value))
            else:
                members.append(self.value(elt))
        return members

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                found.update(self.value(value))
            else:
                found[self.value(key)] = self.value(value)
        return found

    def _binary(self, left: Any, op: ast.operator, right: Any) -> Any:
        if isinstance(op, ast.Pow | ast.LShift) and (abs(right) > 64 or abs(left) > 1 << 32):
            raise UnknownValue("too large")
        if isinstance(op, ast.Mult):
            for size, times in ((left, right), (right, left)):
                if isinstance(size, str | list | tuple) and len(size) * times > MAX_SIZE:
                    raise UnknownValue("too large")
        if isinstance(op, ast.Mod) and isinstance(left, str) and any(c.isdigit() or c == "*" for c in left):
            raise UnknownValue("a width may be of any size")
        return BINARY[type(op)](left, right)

    def _piece(self, piece: ast.expr) -> str:
        if isinstance(piece, ast.Constant):
            return str(piece.value)
        assert isinstance(piece, ast.FormattedValue)
        value = self.value(piece.value)
        if not isinstance(value, str | int | float | bool | None):
            raise UnknownValue("the text of a collection is not followed")
        shown = {-1: value, 115: str(value), 114: repr(value), 97: ascii(value)}[piece.conversion]
        spec = "" if piece.format_spec is None else str(self.value(piece.format_spec))
        if any(len(run) > 3 for run in spec.split() if run.isdigit()):
            raise UnknownValue("a width may be of any size")
        return format(shown, spec)

    def _subscript(self, value: ast.expr, key: ast.expr) -> Any:
        if (dotted(value) or "").split(".")[-1] == "Literal":
            return tuple(self._members(key.elts if isinstance(key, ast.Tuple) else [key]))
        return self.value(value)[self.value(key)]

    def _call(self, node: ast.Call) -> Any:
        if node.keywords:
            raise UnknownValue("keywords are not followed")
        name = dotted(node.func)
        if name is not None and name.split(".")[-1] == "get_args" and len(node.args) == 1:
            return tuple(self.value(node.args[0]))
        if name in FUNCTIONS:
            return FUNCTIONS[name](*self._members(node.args))
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            target = self.value(node.func.value)
            if isinstance(target, str | dict | set | frozenset):
                if node.func.attr == "format" and "{" in target and ":" in target:
                    raise UnknownValue("a width may be of any size")
                return _list_views(getattr(target, node.func.attr)(*self._members(node.args)))
        raise UnknownValue("a call that is not followed")


def _list_views(value: Any) -> Any:
    return list(value) if isinstance(value, type({}.keys()) | type({}.values()) | type({}.items())) else value


def _bounded(value: Any) -> Any:
    if isinstance(value, str | bytes | tuple | list | set | frozenset | dict):
        if len(value) > MAX_SIZE:
            raise UnknownValue("too large")
    elif isinstance(value, int) and abs(value) >= MAX_NUMBER:
        raise UnknownValue("too large")
    return value
