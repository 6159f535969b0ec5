"""Owns what a run remembers: what names stand for, which attributes were set, and what may have been changed.

Objects are told apart by identity, so two names of one object are one. Attributes that the function sets are kept
beside the objects (`Env.heap`), which are never written to. What was given to a call that is not made, or had a
method called that is not known to be harmless, is tainted together with all that can be reached from it: its
content is unknown from then on. An object that nobody told may be any object. Numbers, texts and enum members
cannot be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .values import CONTAINERS, NEW, UNTOLD, Class, Member, Typed, Unknown, is_atom, member_equals

STEPS = 20_000
MAX_ITEMS = 10_000  # of a collection that is made or walked
MAX_REACHED = 5_000  # objects followed from one that may be changed

UNBOUND = Unknown(anything=True)  # a name that has a value on some ways only

Expr = list[Any]
Code = list[Expr]


class OutOfBudget(Exception):
    """The answer would take too long."""


class Set(NamedTuple):
    """An attribute as the function has set it, and when."""

    owner: Any
    value: Any
    time: int


class Env:
    """What the names stand for at a point, and attributes that the function itself has set."""

    __slots__ = ("heap", "names")

    def __init__(self, names: dict[str, Any], heap: dict[tuple[int, str], Set]) -> None:
        self.names = names
        self.heap = heap

    def copy(self) -> Env:
        return Env(dict(self.names), dict(self.heap))


def join(first: Env | None, second: Env | None) -> Env | None:
    """What is known where two ways meet."""
    if first is None or second is None or first is second:
        return first if second is None else second
    names = first.names | second.names
    for name in names:
        one, other = first.names.get(name, UNBOUND), second.names.get(name, UNBOUND)
        if one is not other:
            names[name] = either(one, other)
    heap = first.heap | second.heap
    for key, known in heap.items():
        one, other = first.heap.get(key), second.heap.get(key)
        if one is None or other is None:
            heap[key] = known._replace(value=UNTOLD)
        elif one is not other:
            heap[key] = Set(known.owner, either(one.value, other.value), min(one.time, other.time))
    return Env(names, heap)


def either(first: Any, second: Any) -> Any:
    """One of two values."""
    if first is second:
        return first
    if first is UNBOUND or second is UNBOUND:
        return UNBOUND
    if is_atom(first) and type(first) is type(second) and not isinstance(first, Unknown):
        if isinstance(first, Member):
            return first if member_equals(first, second) else NEW
        if first == second:
            return first
    return from_all((first, second))


def from_all(values: Sequence[Any]) -> Unknown:
    """An unknown value that may have to do with any of these."""
    held: list[Any] = []
    for value in values:
        if isinstance(value, Unknown):
            if value.anything:
                return UNTOLD
            held += value.held
        elif not is_atom(value):
            held.append(value)
    return Unknown(tuple(held)) if held else NEW


class Memory:
    """One run, as far as it remembers. `answers` are those of the guards that the program watches, by number."""

    def __init__(self, globals_: Mapping[int, Any], given: Mapping[str, Any]) -> None:
        self.answers: dict[int, list[bool | None]] = {}
        self.caught: set[int] = set()
        self.watching = False
        self._globals = globals_
        self._given = given
        self._left = STEPS
        self._tainted: dict[int, Any] = {}
        self._all_tainted = False
        self._set: dict[int, list[Any]] = {}  # what was ever set on an object
        self._clock = 0
        self._times: dict[int, int] = {}  # when an object was tainted last
        self._all_time = 0
        self._written: dict[int, Any] = {}  # objects with attributes that the function has set
        self._views: dict[int, tuple[Any, Sequence[Any]]] = {}  # what changes when others do, with those
        self._raised = False  # an expression raised while it was asked for
        self._unsure = False  # an expression may raise: it works on what is unknown
        self._tries = 0
        self._guarded = 0  # `try` statements around, of which somebody sees what is known where an error is raised
        self._perhaps = 0  # ways around that nobody knows to be taken
        self._undecided = 0  # tests that sent control both ways

    def _now(self) -> int:
        self._clock += 1
        return self._clock

    def _spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise OutOfBudget

    def _store(self, owner: Any, name: str, value: Any, env: Env) -> None:
        if is_atom(owner) and not isinstance(owner, Unknown):
            self._raised = True
        elif isinstance(owner, Unknown):  # any object may be meant
            for key, known in list(env.heap.items()):
                if key[1] == name:
                    env.heap[key] = known._replace(value=UNTOLD)
            env.heap[0, name] = Set(None, UNTOLD, self._now())
        else:
            env.heap[id(owner), name] = Set(owner, value, self._now())
            self._written[id(owner)] = owner
            self._set.setdefault(id(owner), []).append(value)

    def _attribute(self, owner: Any, name: str, env: Env, default: Any = None) -> Any:
        """An attribute as the function would read it. With a `default`, one that is not there is no error."""
        if isinstance(owner, Unknown):
            self._unsure = True
            return from_all((owner,))
        if name.startswith("__"):
            return UNTOLD
        known = env.heap.get((id(owner), name))
        if known is not None and known.time > max(self._times.get(id(owner), 0), self._all_time):
            return known.value
        if (0, name) in env.heap and not is_atom(owner):
            return UNTOLD
        if isinstance(owner, Member):
            return owner.name if name == "name" else owner.value if name == "value" else UNTOLD
        if isinstance(owner, Class):
            return UNTOLD
        if self._is_tainted(owner):
            self._unsure = True
            return from_all((owner,))
        if self._written and _is_computed(owner, name):
            return from_all((owner,))  # from attributes, and not as the function has set them
        try:
            return getattr(owner, name)
        except AttributeError:
            if default is not None and not isinstance(owner, Typed):
                return default
        except RecursionError:
            raise
        except Exception:
            pass
        self._raised = True
        return from_all((owner,))

    def _changeable(self, value: Any) -> bool:
        """Whether the value, or something in it, is unknown or may have been changed."""
        if isinstance(value, Unknown):
            return True
        if is_atom(value):
            return False
        if isinstance(value, Typed) or self._all_tainted:
            return True
        if type(value) in VIEWS and self._is_tainted(value):
            return True
        if type(value) in CONTAINERS or type(value) in VIEWS or self._tainted or self._written:
            found = reached((value,), self._set)
            changed = self._tainted.keys() | self._written.keys()
            return found is None or any(isinstance(o, Unknown) or id(o) in changed for o in found)
        return False

    def _items(self, value: Any) -> Sequence[Any] | None:
        """The items of a collection that can be walked without changing it."""
        if (isinstance(value, WALKABLE) or type(value) in VIEWS) and not self._is_tainted(value):
            if len(value) > MAX_ITEMS:
                raise OutOfBudget
            return list(value)
        self._unsure = True
        if isinstance(value, int | float | bool) or value is None:
            self._raised = True
        return None

    def _is_tainted(self, value: Any) -> bool:
        if id(value) in self._tainted:
            return True
        if id(value) in self._views and any(map(self._is_tainted, self._views[id(value)][1])):
            return True
        return self._all_tainted and not is_atom(value) and type(value) is not tuple

    def _taint_one(self, value: Any) -> None:
        """The object itself may have changed: an item was set."""
        if isinstance(value, Unknown):
            self._taint((value,))
        else:
            self._mark(value)

    def _mark(self, value: Any) -> None:
        self._tainted[id(value)] = value
        self._times[id(value)] = self._now()

    def _taint(self, values: Sequence[Any]) -> None:
        """All that can be reached from these may have changed."""
        if self._all_tainted:
            self._all_time = self._now()
            return
        found = reached(values, self._set)
        for value in found or ():
            if not isinstance(value, Unknown) and type(value) is not tuple:
                self._mark(value)
        if found is None or any(isinstance(v, Unknown) and v.anything for v in found):
            self._all_tainted = True
            self._all_time = self._now()


def _is_computed(owner: Any, name: str) -> bool:
    """Whether an attribute is the result of code, as a property's is."""
    found = getattr(type(owner), name, None)
    return hasattr(type(found), "__get__") and not callable(found)


def reached(values: Sequence[Any], more: Mapping[int, Sequence[Any]]) -> list[Any] | None:
    """The objects themselves, and what can be got at from them, `more` of it by their ids; None when it is too much."""
    seen: dict[int, Any] = {}
    stack = [v for v in values if not is_atom(v)]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if len(seen) > MAX_REACHED:
            return None
        if id(value) in more:
            stack += [o for o in more[id(value)] if not is_atom(o)]
        if isinstance(value, Unknown):
            stack += value.held
        elif isinstance(value, dict):
            stack += [o for pair in value.items() for o in pair if not is_atom(o)]
        elif isinstance(value, list | tuple | set | frozenset) or type(value) in VIEWS:
            stack += [o for o in value if not is_atom(o)]
        elif not isinstance(value, ModuleType) and not callable(value):
            try:
                inner = object.__getattribute__(value, "__dict__")
                stack += [o for o in inner.values() if not is_atom(o)]
            except Exception:
                continue
    return list(seen.values())


class _Missing:
    pass


MISSING: Any = _Missing()


WALKABLE = (list, tuple, range, dict, set, frozenset, str)


VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
