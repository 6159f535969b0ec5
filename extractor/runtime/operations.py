"""Owns what operators, methods and builtins make of values: of known ones their result, as Python has it.

Only what changes nothing is called, and what the caller gave; sizes are bounded. What raises is unknown.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from .memory import MAX_ITEMS, MISSING, VIEWS, Env, from_all
from .relations import Relations, is_hard, plain
from .values import CONTAINERS, NEW, Class, Member, Typed, Unknown, is_atom

MAX_TEXT = 100_000
MAX_BITS = 2_048


class Operations(Relations):
    """What is done with values."""

    def _try_value(self, compute: Callable[[], Any], *given: Any) -> Any:
        """The result, or an unknown value when computing it raises."""
        try:
            value = compute()
        except RecursionError:
            raise
        except Exception:
            self._raised = True
            return from_all(given)
        return from_all(given) if value is NotImplemented else value

    def _operate(self, op: str, left: Any, right: Any) -> Any:
        left, right = plain(left), plain(right)
        if self._changeable(left) or self._changeable(right) or isinstance(left, Member) or isinstance(right, Member):
            self._unsure = True
            return from_all((left, right))
        if isinstance(left, Class) or isinstance(right, Class):
            return _union(left, right) if op == "|" else from_all((left, right))
        if not _is_bounded(op, left, right):
            return from_all((left, right))
        if type(left) not in BUILTIN or type(right) not in BUILTIN:
            self._taint((left, right))  # a method of theirs is called
        return self._try_value(lambda: BINARY[op](left, right), left, right)

    def _call_method(self, owner: Any, name: str, given: Sequence[Any], named: Mapping[str, Any], env: Env) -> Any:
        """Calls a method, if that changes nothing or is one of the caller's."""
        values = (owner, *given, *named.values())
        kind = type(owner)
        if kind in HARMLESS:
            if name not in HARMLESS[kind]:
                self._raised = self._raised or not hasattr(kind, name)
                self._unsure = True
                self._taint(values)
                return from_all(values)
            if any(isinstance(v, Unknown | Member) for v in values[1:]) or self._is_tainted(owner):
                self._unsure = True
                return from_all(values)
            if any(isinstance(v, int) and abs(v) > MAX_TEXT for v in values[1:]) or _is_long(name, owner, given):
                return NEW
            result: Any = self._try_value(lambda: getattr(owner, name)(*given, **named), *values)
            if type(result) in VIEWS:
                self._views[id(result)] = (result, (owner,))
            return result
        if isinstance(owner, Unknown | Member | Class | Typed) and not (
            isinstance(owner, Typed) and callable(getattr(owner, name, None))
        ):
            self._unsure = True
            self._taint(values)
            return from_all(values)
        function = self._attribute(owner, name, env)
        return self._made(function, owner, given, named)

    def _made(self, function: Any, owner: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Calls what the caller gave, if all that it is given is known. Afterwards all of that may have changed."""
        values = (owner, *given, *named.values())
        if isinstance(function, Unknown) or not callable(function) or isinstance(function, Class):
            self._unsure = True
            self._taint(values)
            return from_all(values)
        stale = owner is not None and self._written and self._changeable(owner)
        known = not any(isinstance(v, Class | Member) or self._changeable(v) for v in values[1:])
        if stale or not known or isinstance(function, type) or type(getattr(function, "__self__", self)) in BUILTIN:
            self._taint(values)
            self._unsure = True
            return from_all(values)
        result = self._try_value(lambda: function(*given, **named), *values)
        bound = getattr(function, "__self__", None)
        self._taint((*given, *named.values(), None if isinstance(bound, ModuleType) else bound))
        return result

    def _call_builtin(self, name: str, values: list[Any], named: Mapping[str, Any], env: Env) -> Any:
        """Calls a builtin, if what it is given is known and of a size that is worth having."""
        if name in COUNTING:
            values = [plain(value) for value in values]  # members of an enum of numbers
        if name in ("getattr", "hasattr"):
            return self._getattr(name, values, env)
        if name == "bool" and len(values) == 1:
            answer = self._truth(values[0])
            return NEW if answer is None else answer
        if name == "callable":
            return NEW if isinstance(values[0], Unknown | Typed) else callable(values[0])
        if name == "type":
            return _type_of(values[0])
        if name == "len" and type(values[0]) in (*CONTAINERS, *VIEWS) and not self._is_tainted(values[0]):
            return len(values[0])
        everything = (*values, *named.values())
        if name in ("str", "repr", "int", "float") and any(not is_atom(v) for v in everything):
            self._unsure = True
            return from_all(everything)
        if any(self._changeable(v) or isinstance(v, Class) or is_hard(v) for v in everything):
            self._unsure = True
            return from_all(everything)
        for value in everything:
            size = len(value) if type(value) in (*CONTAINERS, range) else 0
            if (size > MAX_ITEMS and name != "range") or (isinstance(value, str) and len(value) > MAX_TEXT):
                return from_all(everything)
        result = self._try_value(lambda: BUILTINS[name](*values, **named), *everything)
        if name in ("enumerate", "zip", "reversed") and not isinstance(result, Unknown):
            result = list(result)
            self._views[id(result)] = (result, values)  # Python takes from them turn by turn
        return result

    def _getattr(self, name: str, values: Sequence[Any], env: Env) -> Any:
        if len(values) < 2 or not isinstance(values[1], str):
            return from_all(values)
        default = values[2] if len(values) > 2 else None
        found = self._attribute(values[0], values[1], env, MISSING if name == "hasattr" or len(values) > 2 else None)
        if name == "hasattr":
            return NEW if isinstance(found, Unknown) else found is not MISSING
        return default if found is MISSING else found


def _type_of(value: Any) -> Any:
    if isinstance(value, Unknown | Typed | Member | SimpleNamespace):
        return NEW
    return type(value)


def _union(left: Any, right: Any) -> Any:
    """`A | B` in `isinstance`."""
    first = left if isinstance(left, tuple) else (left,)
    return (*first, *(right if isinstance(right, tuple) else (right,)))


def _is_long(name: str, text: Any, given: Sequence[Any]) -> bool:
    """Whether a method of texts would take or give too much."""
    if not isinstance(text, str | bytes):
        return False
    sizes = [len(v) for v in given if isinstance(v, str | bytes)]
    return len(text) * (max(sizes, default=0) if name in ("replace", "join") else 1) > MAX_TEXT


def _is_bounded(op: str, left: Any, right: Any) -> bool:
    """Whether the result is of a size that is worth having."""
    numbers = isinstance(left, int) and isinstance(right, int)
    if numbers and (left.bit_length() > MAX_BITS or right.bit_length() > MAX_BITS):
        return False
    if op == "**":
        if isinstance(left, int) and isinstance(right, int):
            return abs(right) * max(1, left.bit_length()) <= MAX_BITS
        return isinstance(left, int | float) and isinstance(right, int | float)
    if op == "<<":
        return not numbers or right <= MAX_BITS
    if op in ("*", "+"):
        sizes = [len(v) for v in (left, right) if isinstance(v, str | bytes | list | tuple)]
        count = next((v for v in (left, right) if isinstance(v, int)), 1) if op == "*" else 1
        return sum(sizes) * max(1, count) <= MAX_TEXT
    return not (op == "%" and isinstance(left, str | bytes))


BUILTIN = frozenset(
    {int, float, bool, complex, str, bytes, list, tuple, dict, set, frozenset, type(None), range, *VIEWS}
)


UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_,
    "&": operator.and_, "^": operator.xor,
}  # fmt: skip


COUNTING = frozenset("abs divmod float int max min range round sum".split())
BUILTINS: dict[str, Callable[..., Any]] = {
    name: getattr(builtins, name)
    for name in (
        "abs all any bool callable dict divmod enumerate float frozenset getattr hasattr int isinstance len list max "
        "min ord range repr reversed round set sorted str sum tuple type zip"
    ).split()
}


_SEQUENCE = frozenset("count index copy".split())


_SET = frozenset("copy difference intersection isdisjoint issubset issuperset symmetric_difference union".split())


_TEXT = frozenset(
    "capitalize casefold count encode endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier "
    "islower isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind "
    "rindex rpartition rsplit rstrip split splitlines startswith strip swapcase title upper".split()
)


HARMLESS: dict[type, frozenset[str]] = {
    str: _TEXT,
    bytes: frozenset("count endswith find isdigit startswith".split()),
    int: frozenset({"bit_count", "bit_length"}),
    bool: frozenset(),
    float: frozenset({"is_integer"}),
    type(None): frozenset(),
    list: _SEQUENCE,
    tuple: _SEQUENCE,
    range: _SEQUENCE,
    set: _SET,
    frozenset: _SET,
    dict: frozenset("copy get items keys values".split()),
}
