"""Owns the parameters of a predicate: the names that its program reads and has not bound itself."""

from __future__ import annotations

from extractor.nodes import Code, Node
from extractor.program import Builder
from extractor.shapes import blocks, bound, captured, parts, values, walk


class Told:
    """Which names a program reads that it has not bound itself."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._found: dict[str, None] = {}
        self._given: dict[str, None] = {}  # to calls that are not made

    def names(self, code: Code) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What can settle the answer: parameters in the order of the signature, then others in the order of their
        use. And all that the function starts with and the program mentions."""
        self._block(code, frozenset())
        params = [p for p in self._builder.params if p in self._found]
        told = (*params, *(name for name in self._found if name not in params))
        return told, tuple(name for name in self._found | self._given if self._is_given(name))

    def _block(self, code: Code, known: frozenset[str]) -> frozenset[str] | None:
        """The names bound behind the statements, None when control never gets there."""
        for statement in code:
            after = self._statement(statement, known)
            if after is None:
                return None
            known = after
        return known

    def _statement(self, statement: Node, known: frozenset[str]) -> frozenset[str] | None:
        kind = statement[0]
        if kind == "w":
            return known
        for value in values(statement):
            is_target = kind in ("=", "for") and value is statement[1]
            self._value(value, known, is_target)
        inner = list(blocks(statement))
        match kind:
            case "=" | "o=":
                return known | set(bound(statement[1]))
            case "ret" | "raise" | "brk" | "cont":
                return None
            case "if":
                ways = [self._block(b, known) for b in inner]
                falling = [w for w in ways if w is not None]
                return frozenset.intersection(*falling) if falling else None
            case "for":
                self._block(inner[0], known | set(bound(statement[1])))
                self._block(inner[1], known)
                return known
            case "match":
                for case in statement[2]:
                    self._block(case[2], known | set(captured(case[0])))
                return known
        for block in inner:
            self._block(block, known)
        return known

    def _value(self, node: Node, known: frozenset[str], is_target: bool = False) -> None:
        match node[0]:
            case "n":
                if not is_target and node[1] not in known and self._is_given(node[1]):
                    self._found.setdefault(node[1])
            case "?":
                for inner in walk(node):
                    if inner[0] == "n" and self._is_given(inner[1]):
                        self._given.setdefault(inner[1])
            case "t" | "*" if is_target:
                for part in parts(node):
                    self._value(part, known, is_target=True)
            case "?l":
                self._value(["?", node[2]], known)
                self._found.setdefault(node[1])
            case "comp":
                for target, iterable, tests in node[3]:
                    self._value(iterable, known)
                    known = known | set(bound(target))
                    for test in tests:
                        self._value(test, known)
                for element in node[2]:
                    self._value(element, known)
            case _:
                for part in parts(node):
                    self._value(part, known)

    def _is_given(self, name: str) -> bool:
        return name in self._builder.params or name in self._builder.free
