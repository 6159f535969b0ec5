"""Owns what can be decided of values: whether a test of them holds, as far as that can be told."""

from __future__ import annotations

from extractor.values import Closure, Exception_, Known, Named, Series, Table, Text, Unknown, Value


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


def compared(op: str, left: Value, right: Value) -> bool | None:
    if op in ("is", "is not", "==", "!="):
        if Known(None) in (left, right):
            other = right if left == Known(None) else left
            if isinstance(other, Unknown | Named):
                return None
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
