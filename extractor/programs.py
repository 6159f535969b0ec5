"""Owns the way from a raise in a syntax tree to the program that its predicate runs, not yet linked.

One program for each function, sliced for each raise in it. Guards that can be asked stand in the slice as
watches, in front of the statement that tests them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import msgspec

from extractor.nodes import Code, Node
from extractor.phrasing import Asked
from extractor.program import Builder
from extractor.scan import Source
from extractor.slicing import Slicer
from extractor.targets import FunctionNode, changed, parameters

TRUE: Node = ["k", True]


class RawProgram(msgspec.Struct, frozen=True, array_like=True):
    """The slice of one site as JSON, and the global names in it by their numbers, to be told by linking."""

    code: bytes
    site: int
    told: tuple[str, ...]
    start: tuple[str, ...]
    globals: tuple[tuple[int, str], ...]
    classes: tuple[tuple[int, str], ...]  # of exceptions, and what only guards name
    called: tuple[int, ...]
    exact: bool


class Programs:
    """The programs of the raises in one cut."""

    def __init__(self, declared: frozenset[str], leaving: frozenset[str], source: Source) -> None:
        self._source = source
        self._declared = declared
        self._leaving = leaving
        self._made: dict[int, tuple[FunctionNode, Slicer, Builder]] = {}
        self._too_deep: set[int] = set()  # functions that are nested too deeply to be followed
        self._tests: dict[tuple[int, bool], tuple[ast.expr, Node]] = {}

    def program(
        self, node: ast.Raise, around: Sequence[FunctionNode], owner: str | None, asked: Iterable[Asked | None]
    ) -> RawProgram | None:
        """The program of a raise in the innermost of these functions; None when it grows beyond use."""
        if id(around[-1]) in self._too_deep:
            return None
        try:
            return self._program(node, around, owner, asked)
        except RecursionError:
            self._too_deep.add(id(around[-1]))
            return None

    def _program(
        self, node: ast.Raise, around: Sequence[FunctionNode], owner: str | None, asked: Iterable[Asked | None]
    ) -> RawProgram | None:
        function = around[-1]
        if id(function) not in self._made:
            outer = frozenset(n for f in around[:-1] for n in (*parameters(f), *changed(f.body, source=self._source)))
            builder = Builder(function, outer, self._declared, self._leaving, owner, self._source)
            self._made[id(function)] = (function, Slicer(builder), builder)
        _, slicer, builder = self._made[id(function)]
        if slicer.is_spent:
            return None
        site = builder.sites.get(id(node))
        if site is None:  # in the body of a class inside the function
            return None
        watches: dict[int, Code] = {}
        for number, one in enumerate(asked):
            statement = None if one is None else builder.anchors.get(id(one.at))
            if one is not None and statement is not None:
                watches.setdefault(id(statement), []).append(["w", number, self._test(one, builder)])
        found = slicer.slice(site, watches)
        if found is None:
            return None
        names = {number: name for name, number in builder.globals.items()}
        return RawProgram(
            code=msgspec.json.encode(found.code),
            site=site,
            told=found.told,
            start=found.start,
            globals=tuple((number, names[number]) for number in found.globals),
            classes=tuple((number, names[number]) for number in found.classes),
            called=found.called,
            exact=found.exact,
        )

    def _test(self, asked: Asked, builder: Builder) -> Node:
        if asked.test is None:
            return TRUE
        node, holds = asked.test
        key = id(node), holds
        if key not in self._tests:
            made = builder.value(node)
            self._tests[key] = (node, made if holds else ["not", made])
        return self._tests[key][1]


def module(nodes: Sequence[ast.stmt]) -> FunctionNode:
    """Statements of a module or a class body as a function without parameters."""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name="<module>", args=empty, body=list(nodes), decorator_list=[], lineno=1)
