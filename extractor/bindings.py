"""Owns what may be known of a local name at a point of a function, as immutable values.

`flow` makes them while it walks, `lower` follows them. An `Env` shares all that it has in common with the
one before it, so there may be one for each statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import msgspec
from rpds import HashTrieMap

from extractor import symbolic as sym


class Assumed(msgspec.Struct, frozen=True, eq=False):
    """A test that came out one way on the way here, with the bindings that it saw."""

    before: Assumed | None
    test: ast.expr
    holds: bool
    env: Env


class Env(msgspec.Struct, frozen=True, eq=False):
    """What is known at one point: which bindings reach it, and which tests were passed. Never changed."""

    names: HashTrieMap[str, Binding]
    path: Assumed | None = None

    def get(self, name: str) -> Binding | None:
        """The binding that reaches here, if the name is a local one."""
        return self.names.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def insert(self, name: str, binding: Binding) -> Env:
        """With one more name, or another binding of it."""
        return Env(self.names.insert(name, binding), self.path)

    def discard(self, name: str) -> Env:
        """Without the name."""
        return Env(self.names.discard(name), self.path) if name in self.names else self

    def assume(self, test: ast.expr, holds: bool) -> Env:
        """Behind a test that came out one way."""
        return Env(self.names, Assumed(self.path, test, holds, self))


class Unknown(msgspec.Struct, frozen=True, eq=False):
    """A local whose value is not followed: a loop's variable, a parameter, what `with … as` gives."""


class Assigned(msgspec.Struct, frozen=True, eq=False):
    """`name = value`, with the bindings as they were."""

    value: ast.expr
    env: Env


class Unpacked(msgspec.Struct, frozen=True, eq=False):
    """One name of `a, b = value`."""

    value: ast.expr
    position: int
    env: Env


class Augmented(msgspec.Struct, frozen=True, eq=False):
    """`name += value`."""

    before: Binding
    value: ast.expr
    env: Env


class Appended(msgspec.Struct, frozen=True, eq=False):
    """`name.append(value)` on a list display."""

    before: Binding
    value: ast.expr
    env: Env


class Either(msgspec.Struct, frozen=True, eq=False):
    """A branch gave the name one value, the other branch another; `key` tells the branch apart from others."""

    key: int
    test: ast.expr | None
    env: Env
    then: Binding | None
    other: Binding | None


class Looped(msgspec.Struct, frozen=True, eq=False):
    """Text before a loop, and what the loop adds to it an unknown number of times, as a reader would put it."""

    before: Binding | None
    added: str


class Defined(msgspec.Struct, frozen=True, eq=False):
    """A nested function, to be summarised when it is called."""

    summary: Callable[[], sym.Function | None]


class Caught(msgspec.Struct, frozen=True, eq=False):
    """The name in `except types as name`."""

    types: str


class Given(msgspec.Struct, frozen=True, eq=False):
    """A binding that is symbolic already."""

    value: sym.Expr


Binding = Unknown | Assigned | Unpacked | Augmented | Appended | Either | Looped | Defined | Caught | Given

UNKNOWN = Unknown()
NO_NAMES = Env(HashTrieMap())
