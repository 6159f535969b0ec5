"""Owns the ways out of statements, each with what is known there, and which of them a handler takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .memory import Env, join
from .values import Class


class Exits:
    """The ways out of some statements, each with what is known there; None for those that cannot happen."""

    __slots__ = ("again", "breaks", "error", "falls", "raised", "returns")

    def __init__(self, falls: Env | None = None) -> None:
        self.falls = falls
        self.breaks: Env | None = None
        self.again: Env | None = None
        self.returns: Env | None = None
        self.error: Env | None = None
        self.raised: list[tuple[int | None, Class | None, Env]] = []

    def take(self, other: Exits) -> None:
        """The other's ways out as well, all but `falls`."""
        if other.breaks is not None:
            self.breaks = join(self.breaks, other.breaks)
        if other.again is not None:
            self.again = join(self.again, other.again)
        if other.returns is not None:
            self.returns = join(self.returns, other.returns)
        if other.error is not None:
            self.error = join(self.error, other.error)
        if other.raised:
            self.raised += other.raised


@cache
def builtin(class_: type) -> Class:
    """A builtin class as one of the tree's are."""
    bases = tuple(f"builtins.{base.__name__}" for base in class_.__mro__[1:-1])
    return Class(f"builtins.{class_.__name__}", bases, True)


def catches(handlers: Sequence[Class | None], raised: Class | None) -> bool | None:
    """Whether handlers of these classes take what is raised."""
    names = {h.name for h in handlers if h is not None}
    if "builtins.BaseException" in names:
        return True
    if raised is None:
        return None
    if names & {raised.name, *raised.bases}:
        return True
    return False if raised.known and None not in handlers else None
