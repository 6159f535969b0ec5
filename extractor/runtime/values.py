"""Owns the values that predicates work on beside Python's own: unknown ones, and stand-ins for what is vLLM's.

A stand-in of an enum member equals the real member, another stand-in of it, its dotted name and, where the
enum is one of strings or numbers, its value. A stand-in of an object knows the name of its class.
"""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any


class Unknown:
    """A value that nobody told. `held` are objects that may be reached from it, `anything` when any may be."""

    __slots__ = ("anything", "held")

    def __init__(self, held: tuple[Any, ...] = (), anything: bool = False) -> None:
        self.held = held
        self.anything = anything

    def __repr__(self) -> str:
        return "unknown"


UNTOLD = Unknown(anything=True)
NEW = Unknown()


class Member:
    """Stands for a member of an enum of the tree; `aliases` are other names of it, where the tree tells them."""

    __slots__ = ("aliases", "dotted", "kind", "value")

    def __init__(self, dotted: str, value: Any = NEW, kind: str = "", aliases: tuple[str, ...] | None = None) -> None:
        self.dotted = dotted
        self.value = value
        self.kind = kind  # "str", "int": the enum is one of these too
        self.aliases = aliases

    @property
    def name(self) -> str:
        return self.dotted.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The name of the enum, without the module."""
        return self.dotted.rpartition(".")[0].rpartition(".")[2]

    def __eq__(self, other: object) -> bool:
        return member_equals(self, other) is True

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.dotted


def member(dotted: str) -> Member:
    """A member of an enum that the caller cannot import: `member("Support.NEVER")`."""
    return Member(dotted)


def member_equals(own: Member, other: object) -> bool | None:
    """Whether both are one member; None when a value would have to be known."""
    if isinstance(other, Member):
        if own.owner == other.owner:
            return _same_name(own, other.name) or _same_name(other, own.name) or _unless_told(own, other)
        return _same_value(own.value, other.value) if own.kind and other.kind else _unless_given(own, other)
    if isinstance(other, enum.Enum):
        if type(other).__name__ == own.owner:
            return _same_name(own, other.name) or _unless_given(own)
        if not isinstance(other, str | int):
            return False
        return _same_value(own.value, other.value) if own.kind else _unless_given(own)
    if isinstance(other, str) and "." in other:
        before, _, name = other.rpartition(".")
        if before.rpartition(".")[2] == own.owner and _same_name(own, name):
            return True
    if type(other) not in PLAIN:
        return False if type(other) in CONTAINERS or type(other).__eq__ is object.__eq__ else None
    if own.aliases is None and not own.kind:  # given by the caller: who knows what its enum is
        return None if isinstance(other, str | int | float) else False
    if own.kind and isinstance(other, str | int | float):
        return None if isinstance(own.value, Unknown) else bool(own.value == other)
    return False


def _unless_given(*members: Member) -> bool | None:
    """No, but for members that the caller named: who knows what their enums are."""
    return None if any(m.aliases is None for m in members) else False


def _same_name(own: Member, name: str) -> bool:
    return own.name == name or name in (own.aliases or ())


def _unless_told(own: Member, other: Member) -> bool | None:
    """No, if the tree tells all names of one of the two."""
    return None if own.aliases is None and other.aliases is None else False


def _tail(given: str, dotted: str) -> bool:
    """Whether one dotted name is the end of the other."""
    return given == dotted or dotted.endswith("." + given) or given.endswith("." + dotted)


def _same_value(first: object, second: object) -> bool | None:
    if isinstance(first, Unknown) or isinstance(second, Unknown):
        return None
    return bool(first == second)


class Typed(SimpleNamespace):
    """Stands for an object with the attributes that the caller knows, of a known class or of any."""

    def __init__(self, type_: str = "", /, **fields: Any) -> None:
        super().__init__(**fields)
        self._type_name = type_


class Class:
    """A class of the tree, in `isinstance` and in handlers: its name and those of its bases, `known` if all."""

    __slots__ = ("bases", "known", "name")

    def __init__(self, name: str, bases: tuple[str, ...], known: bool) -> None:
        self.name = name
        self.bases = bases
        self.known = known

    def __repr__(self) -> str:
        return self.name


class Told:
    """A global name of the function that the caller may tell, and what is read from it."""

    __slots__ = ("attributes", "name")

    def __init__(self, name: str, attributes: tuple[str, ...]) -> None:
        self.name = name
        self.attributes = attributes


PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, range, type(...)})
CONTAINERS = (list, tuple, dict, set, frozenset)
FIXED = (enum.Enum, Member, Class, type)


def is_atom(value: object) -> bool:
    """Whether no call can change what the value is."""
    return type(value) in PLAIN or isinstance(value, FIXED)


def is_instance(value: object, class_: object) -> bool | None:
    """`isinstance` for real and stand-in values and classes."""
    if isinstance(class_, tuple):
        answers = [is_instance(value, one) for one in class_]
        return True if True in answers else (None if None in answers else False)
    if isinstance(class_, Class):
        return _is_of_tree(value, class_)
    if isinstance(value, Member):
        if class_ in (int, str, float):
            return None if value.aliases is None else value.kind == class_.__name__
        return False if class_ in (list, tuple, dict, set, frozenset, bool, bytes, type(None)) else None
    if isinstance(value, Typed):
        return True if class_ is object else None
    if isinstance(class_, type):
        return isinstance(value, class_)
    try:
        return isinstance(value, class_)  # type: ignore[arg-type]
    except TypeError:
        return None


def _is_of_tree(value: object, class_: Class) -> bool | None:
    if isinstance(value, Typed):
        name = value._type_name
        return True if name and _tail(name, class_.name) else None
    if isinstance(value, Member):
        return value.owner == class_.name.rpartition(".")[2]
    if type(value) in PLAIN or type(value) in CONTAINERS:
        return False if class_.known else None
    answers = [_is_class(base, class_) for base in type(value).__mro__]
    if True in answers:
        return True
    return None if type(value) is SimpleNamespace or not class_.known else False


def _is_class(real: type, class_: Class) -> bool:
    """Whether a real class is the tree's: by module and name, or by name alone where it was made elsewhere."""
    if f"{real.__module__}.{real.__qualname__}" == class_.name:
        return True
    package = class_.name.partition(".")[0]
    return real.__module__.partition(".")[0] != package and class_.name.endswith(f".{real.__qualname__}")
