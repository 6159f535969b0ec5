"""Owns calls under evaluation: what the names of one call stand for, and what an evaluation offers to others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from extractor import symbolic as sym
from extractor.tree import ClassRef, Names
from extractor.values import Series, Table, Text, Unknown, Value, source_of, text

MAX_CALLS = 8  # helpers within helpers

Summaries = Callable[[str, int, int], sym.Function | None]


class Infeasible(Exception):
    """This run took a way on which control never arrives."""


class Undecided(Exception):
    """The run may not fork any further: the branch stays a hole."""


@dataclass(slots=True, eq=False)
class Frame:
    """One call: what its names stand for. `attributes` are those of the object that its first parameter is."""

    path: str
    id: Hashable = ()  # tells the branches of this call apart from those of another
    names: dict[str, Callable[[], Value]] = field(default_factory=dict)
    outer: Frame | None = None
    self_name: str | None = None
    owner: ClassRef | None = None
    exact: ClassRef | None = None  # the class of the object, where it is known that it is of no subclass
    attributes: dict[str, Callable[[], Value]] = field(default_factory=dict)
    base_text: Callable[[], Value] | None = None  # what `super().__str__()` gives
    calls: int = 0

    def lookup(self, name: str) -> Callable[[], Value] | None:
        """The binding of a parameter, in this call or one that it is nested in."""
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.lookup(name)


class Run(Protocol):
    """One run of an evaluation, as `message` has it and `construct` uses it."""

    names: Names
    summaries: Summaries

    def value(self, node: sym.Expr, frame: Frame) -> Value:
        """The value of an expression."""
        ...

    def branch(self, node: sym.Cond, frame: Frame) -> sym.Expr:
        """The side that this run takes. Raises `Undecided`."""
        ...


def arguments(run: Run, node: sym.Call | sym.Method, frame: Frame) -> tuple[tuple[Value, ...], dict[str, Value]]:
    args: list[Value] = []
    for arg in node.args:
        if isinstance(arg, sym.Star):
            inner = run.value(arg.value, frame)
            args += inner.items if isinstance(inner, Series) else [Unknown("*" + (source_of(inner) or "..."))]
        else:
            args.append(run.value(arg, frame))
    kwargs: dict[str, Value] = {}
    for name, arg in node.kwargs:
        value = run.value(arg, frame)
        if name:
            kwargs[name] = value
        elif isinstance(value, Table):
            kwargs.update({k.literal: v for k, v in value.items if isinstance(k, Text) and k.literal})
    return tuple(args), kwargs


def bind(
    run: Run,
    function: sym.Function,
    path: str,
    id_: Hashable,
    args: tuple[Value, ...],
    kwargs: Mapping[str, Value],
    outer: Frame | None = None,
) -> Frame:
    """A frame for a call: parameters by position, by name, by default."""
    frame = Frame(path, id_, outer=outer)
    rest = list(args)
    named = dict(kwargs)
    for param in function.params:
        if param.kind == "*":
            frame.names[param.name] = given(Series("tuple", tuple(rest), param.name))
            rest = []
        elif param.kind == "**":
            pairs = tuple((text(k), v) for k, v in named.items())
            frame.names[param.name] = given(Table(pairs, param.name))
        elif param.kind == "pos" and rest:
            frame.names[param.name] = given(rest.pop(0))
        elif param.name in named:
            frame.names[param.name] = given(named.pop(param.name))
        elif param.default is not None:
            frame.names[param.name] = given(run.value(param.default, Frame(path, id_)))
    return frame


def given(value: Value) -> Callable[[], Value]:
    return lambda: value
