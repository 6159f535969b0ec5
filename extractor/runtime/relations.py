"""Owns relations: whether two values are equal, one, ordered, one inside the other; and whether a value is true.

None where that cannot be told: of unknown values, and of what may have been changed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .memory import MAX_ITEMS, VIEWS, Memory
from .values import CONTAINERS, Class, Member, Typed, Unknown, is_atom, member_equals


class Relations(Memory):
    """What can be asked of values."""

    def _related(self, op: str, left: Any, right: Any) -> bool | None:
        match op:
            case "==" | "!=":
                same = self._equal(left, right)
                return same if same is None or op == "==" else not same
            case "is" | "is not":
                same = self._same(left, right)
                return same if same is None or op == "is" else not same
            case "in" | "not in":
                inside = self._contains(left, right)
                return inside if inside is None or op == "in" else not inside
        if self._changeable(left) or self._changeable(right):
            self._unsure = True
            return None
        return self._bool(lambda: ORDERINGS[op](plain(left), plain(right)))

    def _equal(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, Member) or isinstance(right, Member):
            own, other = (left, right) if isinstance(left, Member) else (right, left)
            return None if isinstance(other, Unknown) else member_equals(own, other)
        if isinstance(left, Class | type) and isinstance(right, Class | type):
            return self._same(left, right)
        if isinstance(left, Class) or isinstance(right, Class):
            return None if isinstance(left, Unknown) or isinstance(right, Unknown) else False
        if None in (left, right) if is_atom(left) and is_atom(right) else left is None or right is None:
            other = right if left is None else left
            if other is None or is_atom(other) or type(other) in CONTAINERS:
                return left is right
        if self._changeable(left) or self._changeable(right):
            return None
        if _has_member(left) or _has_member(right):
            return self._deep_equal(left, right)
        return self._bool(lambda: left == right)

    def _deep_equal(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, list | tuple) and type(left) is type(right):
            if len(left) != len(right):
                return False
            answers = [self._equal(a, b) for a, b in zip(left, right, strict=True)]
            return False if False in answers else None if None in answers else True
        return None

    def _same(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return None
        if isinstance(left, Member) or isinstance(right, Member):
            own, other = (left, right) if isinstance(left, Member) else (right, left)
            if isinstance(other, Class | type):
                return False
            same = member_equals(own, other)
            return (
                None
                if same and isinstance(other, str | int) and not (isinstance(other, str) and "." in other)
                else same
            )
        if isinstance(left, Class) and isinstance(right, Class):
            return left.name == right.name
        if isinstance(left, Class) or isinstance(right, Class):
            return False if isinstance(left, type) and left.__module__ == "builtins" else None
        if left is right:
            return True
        if type(left) is type(right) and is_atom(left) and not isinstance(left, bool | None | type):
            return None if left == right else False  # one object or two: Python's own affair
        return False

    def _is_item(self, value: Any, item: Any) -> bool | None:
        """Whether `in` finds a value in an item: the object itself is found whatever it says that it equals."""
        return True if value is item and not isinstance(value, Unknown) else self._equal(value, item)

    def _contains(self, item: Any, collection: Any) -> bool | None:
        if isinstance(collection, Unknown) or self._is_tainted(collection) or self._is_tainted(item):
            self._unsure = True
            return None
        if type(collection) in CONTAINERS or type(collection) in VIEWS:
            if len(collection) > MAX_ITEMS:
                self._spend(MAX_ITEMS)
            if isinstance(item, Unknown):
                return None if len(collection) else False
            if not is_hard(item) and not any(map(is_hard, collection)):
                return self._bool(lambda: item in collection)
            answer: bool | None = False
            for other in collection:
                self._spend()
                one = self._is_item(item, other)
                if one:
                    return True
                answer = None if one is None else answer
            return answer
        if isinstance(item, Unknown) or isinstance(collection, Typed | Member | Class):
            self._unsure = True
            return None
        if isinstance(collection, str) and isinstance(item, Member):
            return None
        if self._changeable(collection):
            return None
        if isinstance(collection, range) and not isinstance(item, int):  # Python would walk it
            return self._contains(int(item), collection) if isinstance(item, float) and item.is_integer() else False
        return self._bool(lambda: item in collection)

    def _truth(self, value: Any) -> bool | None:
        if isinstance(value, Unknown):
            self._unsure = True
            return None
        if isinstance(value, Member):
            if value.kind:
                return None if isinstance(value.value, Unknown) else bool(value.value)
            return None if isinstance(value.value, Unknown) else True
        if isinstance(value, Class) or value is None or value is True or value is False:
            return bool(value)
        if self._is_tainted(value):
            return None if type(value) in CONTAINERS or _has_truth(value) else True
        if id(value) in self._written and _has_truth(value):
            return None
        if isinstance(value, Typed):
            return True if not value._type_name else None
        return self._bool(lambda: value)

    def _bool(self, ask: Callable[[], Any]) -> bool | None:
        try:
            return bool(ask())
        except RecursionError:
            raise
        except Exception:
            self._raised = True
            return None


def plain(value: Any) -> Any:
    """A member of an enum of numbers or strings, as such."""
    if isinstance(value, Member) and value.kind and not isinstance(value.value, Unknown):
        return value.value
    return value


def is_hard(value: Any) -> bool:
    """Whether Python's own equality would not do."""
    return isinstance(value, Member | Class | Unknown) or (isinstance(value, tuple) and any(map(is_hard, value)))


def _has_member(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset | dict) and any(map(is_hard, value))


def _has_truth(value: Any) -> bool:
    return hasattr(type(value), "__bool__") or hasattr(type(value), "__len__")


ORDERINGS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
