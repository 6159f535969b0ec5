"""Owns what is known at a point of a function: a chain of facts, each a test that came out one way, and a number for
each name's binding, by which a fact tells later whether it still speaks of the same values.

All values are immutable and share what they have in common, so there may be one state for each statement.
"""

from __future__ import annotations

import ast
import sys

import msgspec
from msgspec.structs import replace
from rpds import HashTrieMap


class Test(msgspec.Struct, frozen=True, eq=False):
    """An expression that came out true, or false."""

    node: ast.expr
    holds: bool


class Some(msgspec.Struct, frozen=True, eq=False):
    """`any(tests for … in …)`: an iteration in which all the tests came out so; or there was none."""

    parts: tuple[Test | ast.For, ...]  # the loop, then tests and loops inside it in order
    holds: bool


Term = Test | Some


class Fact(msgspec.Struct, frozen=True, eq=False):
    """One term that came out so; of several, `not` all of them; or a way that was taken, worded as `text`."""

    before: Fact | None
    kind: str
    line: int
    names: HashTrieMap[str, int]
    terms: tuple[Term, ...] = ()
    text: str | None = None
    node: ast.expr | None = None  # what `text` speaks of
    at: ast.AST | None = None  # the statement in front of which it can be asked
    until: int = 0  # the last line of an `if`: behind it, the fact is that the other branch left
    stale: bool = False
    passing: bool = False  # so whenever control gets here: the end of a `while`
    depth: int = 1


class State(msgspec.Struct, frozen=True, eq=False):
    """What is known at a point: the last fact, a number for each name's binding, whether that is all."""

    fact: Fact | None = None
    names: HashTrieMap[str, int] = HashTrieMap()
    complete: bool = True

    def given(self, fact: Fact) -> State:
        """With one more fact."""
        depth = 1 if self.fact is None else self.fact.depth + 1
        return State(replace(fact, before=self.fact, depth=depth), self.names, self.complete)

    def tested(
        self, kind: str, line: int, *terms: Term, at: ast.AST | None = None, until: int = 0, passing: bool = False
    ) -> State:
        """Behind a test; of several, not all held."""
        return self.given(Fact(None, kind, line, self.names, terms, at=at, until=until, passing=passing))

    def entered(self, kind: str, line: int, text: str, at: ast.AST | None, node: ast.expr | None = None) -> State:
        """On a way that `text` describes, whose first statement is `at`."""
        return self.given(Fact(None, kind, line, self.names, text=text, node=node, at=at))

    def less(self) -> State:
        """With something left out."""
        return replace(self, complete=False) if self.complete else self


def since(fact: Fact | None, stop: Fact | None, most: int = sys.maxsize) -> list[Fact]:
    """The facts behind `stop`, oldest first; the newest ones when there are more than `most`."""
    found: list[Fact] = []
    while fact is not None and fact is not stop and len(found) < most:
        found.append(fact)
        fact = fact.before
    return found[::-1]


def opposite(term: Term) -> Term:
    return replace(term, holds=not term.holds)


def denied(fact: Fact) -> tuple[Term, ...]:
    """The terms that all hold when the fact does not."""
    return fact.terms if len(fact.terms) > 1 else (opposite(fact.terms[0]),)
