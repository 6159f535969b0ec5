"""Owns slices: the part of a function's program that decides whether one of its raises is reached.

Backwards from the raise, as liveness is computed: kept are the ways that leave before it, the tests in front of
those, and the bindings that those tests read. A call in between is kept when something that it may have changed
is read later. What is dropped cannot change the answer, so what is left tells which names the caller has to
know, and whether the answer is `exact`: nothing in the slice is an outside event, a call that is not made, or
read after it may have been changed.

Live are names (`x`), attributes that the function sets on whatever object (`.x`), values that are read as a whole
(`=self.size`), objects whose content is read (`*self.config`), and those that a call is given which is made
(`!self.mode`): its code may read all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from extractor.liveness import all_read, parts_read, read_by
from extractor.nodes import Code, Node
from extractor.program import Builder
from extractor.shapes import (
    CALLS,
    MARKS,
    NOTHING,
    Live,
    as_value,
    blocks,
    bound,
    captured,
    changed_by,
    changes,
    classes,
    depended_on,
    escapes,
    every,
    marks_below,
    may_raise,
    path_of,
    pattern_values,
    values,
    walk,
    without,
)  # fmt: skip
from extractor.told import Told

MAX_STATEMENTS = 400  # of a slice
MAX_VISITS = 20_000  # of statements, for all slices of a function


@dataclass(frozen=True, slots=True)
class Slice:
    """The program of one site. `told` are the names that a caller may give, `globals` those used, by number."""

    code: Code
    told: tuple[str, ...]
    start: tuple[str, ...]  # the names that the function starts with, those among them that can only be changed
    globals: tuple[int, ...]  # those read as values, then those that only raises and handlers name
    classes: tuple[int, ...]
    called: tuple[int, ...]  # the globals whose own code matters: methods are called on them, text is made of them
    exact: bool


class TooLarge(Exception):
    """The function is so large that slicing it any further is not worth the time."""


class _Shape(msgspec.Struct, frozen=True):
    """What is in some statements: sites; jumps out of them to a loop around; and whether they leave the function."""

    sites: frozenset[int]
    jumps: bool
    leaves: bool
    where: Mapping[int, int]  # the statement that a site is in


NOWHERE: Mapping[int, int] = {}


@dataclass(slots=True)
class _Loop:
    exit: Live
    head: Live


class Slicer:
    """Slices the program of one function for one site after the other."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._origins: dict[str, str | None] = {}  # the path that a local was read from
        for statement in every(builder.code):
            if statement[0] == "=" and statement[1][0] == "n":
                name = statement[1][1]
                is_plain = name in builder.once and name not in self._origins
                self._origins[name] = path_of(statement[2]) if is_plain else None
        self._shapes: dict[int, _Shape] = {}  # of statements and blocks
        self._shape(builder.code)
        self._left = MAX_VISITS
        self._reads: dict[tuple[int, bool, bool], tuple[Node, Live | None]] = {}  # of values without calls
        self._site = -1
        self._changed = False  # something is read after a call that was made may have changed it
        self._loops: list[_Loop] = []
        self._handlers: list[Live] = []
        self._watches: Mapping[int, Code] = {}

    @property
    def is_spent(self) -> bool:
        """Whether the function has had its share of time: no site of it is sliced any more."""
        return self._left < 0

    def slice(self, site: int, watches: Mapping[int, Code]) -> Slice | None:
        """The slice of a site; `watches` stand before the statements with these ids. None: it is too large."""
        self._site, self._changed, self._watches = site, False, watches
        try:
            code, _ = self._block(self._builder.code, NOTHING)
        except TooLarge:
            return None
        statements = every(code)
        if len(statements) > MAX_STATEMENTS:
            return None
        nodes = [n for s in statements if s[0] != "w" for value in values(s) for n in walk(value)]
        used = dict.fromkeys(n[1] for n in nodes if n[0] == "g")
        raised = dict.fromkeys(n[1] for n in classes(statements) if n[1] not in used)
        called = dict.fromkeys(o[1] for n in nodes for o in depended_on(n) if o[0] == "g")
        watched = dict.fromkeys(n[1] for s in statements if s[0] == "w" for n in walk(s[2]) if n[0] == "g")
        exact = not self._changed and not any(map(_is_open, statements)) and not any(n[0] in OPEN for n in nodes)
        raised |= {number: None for number in watched if number not in used}
        told, start = Told(self._builder).names(code)
        return Slice(code, told, start, tuple(used), tuple(raised), tuple(called), exact)

    def _shape(self, code: Code) -> _Shape:
        """What is in some statements, found out once for each."""
        where: dict[int, int] = {}
        jumps = leaves = False
        for position, statement in enumerate(code):
            own = frozenset([statement[1]]) if statement[0] == "raise" and statement[1] is not None else frozenset()
            inner = [self._shape(block) for block in blocks(statement)]
            is_jump = statement[0] in ("brk", "cont")
            made = _Shape(
                own.union(*(i.sites for i in inner)),
                is_jump or any(i.jumps for i in inner),
                statement[0] in ("ret", "raise") or (statement[0] == "if" and all(i.leaves for i in inner)),
                NOWHERE,
            )
            self._shapes[id(statement)] = made
            where |= dict.fromkeys(made.sites, position)
            if not leaves and not (jumps and not is_jump):
                leaves = made.leaves and not jumps
            jumps = jumps or (made.jumps and statement[0] not in ("for", "while"))
        shape = self._shapes[id(code)] = _Shape(frozenset(where), jumps, leaves, where)
        return shape

    # --- statements -------------------------------------------------------------------------------------

    def _block(self, code: Code, live: Live) -> tuple[Code, Live]:
        """What is kept of the statements, and what is live before them."""
        shape = self._shapes[id(code)]
        if not self._handlers and self._site not in shape.sites and shape.leaves:
            return [["ret"]], NOTHING
        if not self._loops and self._site in shape.sites:  # nothing behind the site is run on the way to it
            code = code[: shape.where[self._site] + 1]
        kept: list[Node] = []
        for statement in reversed(code):
            self._left -= 1
            if self._left < 0:
                raise TooLarge
            made, live = STATEMENTS[statement[0]](self, statement, live)
            if self._handlers:
                live |= self._handlers[-1]
            if made:
                kept += reversed([*self._watches.get(id(statement), ()), *made])
        return kept[::-1], live

    def _assign(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, target, value = statement
        names = bound(target)
        inner = walk(target)
        stored = [n for n in inner if n[0] == "a"]
        items = [n for n in inner if n[0] == "i"]
        below = marks_below(live, names)
        wanted = bool(below) or any(n in live for n in names) or any(f".{n[2]}" in live for n in stored)
        changed = [path_of(n[1]) for n in items]
        if any(self._is_seen(path_of(n[1]), live) for n in stored):
            wanted = self._changed = True
        if not wanted and not self._is_read_after(changed, live):
            return self._effect(value, live, raises=target[0] != "n")
        content = bool(stored) or "*" in below
        live = without(live, names)
        if value[0] == "?l" and not self._is_read_after(changes(walk(value)), live):
            return [["=", target, ["?l", value[1], []]]], live
        for node in (*stored, *items):
            live = self._read(node[1], live)
        return [statement], self._read(value, live, content)

    def _augment(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, target, _, value = statement
        path = path_of(target[1] if target[0] == "i" else target)
        names = bound(target)
        wanted = bool(marks_below(live, names)) or any(n in live for n in names)
        if target[0] == "a":
            wanted = wanted or f".{target[2]}" in live
            if self._is_seen(path_of(target[1]), live):
                wanted = self._changed = True
        if not wanted and not self._is_read_after([path], live):
            return self._effect(value, live, raises=True)
        return [statement], self._read(value, self._read(as_value(target), live, True), True)

    def _value(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return self._effect(statement[1], live)

    def _effect(self, value: Node, live: Live, raises: bool = False) -> tuple[Code, Live]:
        """A value that nobody takes: what it may change, what it binds, and that it may raise."""
        inner = walk(value)
        binds = any(n[0] == ":=" and n[1] in live for n in inner)
        if binds or self._is_read_after(changes(inner), live):
            return [["e", value]], self._read(value, live)
        if not self._handlers:
            return [], live
        unbound = any(n[0] == "n" and n[1] in self._builder.own for n in inner)
        if not raises and not unbound and not may_raise(inner):
            return [], live
        if not raises and not any(n[0] in OPEN for n in inner):
            return [["e", value]], self._read(value, live)  # where it can be computed, it is known to go well
        return self._risk(value, live)

    def _risk(self, statement: Node, live: Live) -> tuple[Code, Live]:
        """Something that may raise matters where a handler may take it."""
        return ([["risk"]], live | self._handlers[-1]) if self._handlers else ([], live)

    def _if(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, test, body, orelse = statement
        then, first = self._block(body, live)
        other, second = self._block(orelse, live)
        if not then and not other:
            return self._effect(test, live)
        return [["if", test, then, other]], self._read(test, first | second)

    def _assert(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return [statement], self._read(statement[1], live)

    def _return(self, statement: Node, live: Live) -> tuple[Code, Live]:
        if not self._handlers:
            return [["ret"]], NOTHING
        return [statement], self._read(statement[1], NOTHING) if len(statement) > 1 else NOTHING

    def _raise(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return [statement], NOTHING

    def _break(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return [statement], self._loops[-1].exit if self._loops else NOTHING

    def _continue(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return [statement], self._loops[-1].head if self._loops else NOTHING

    def _forget(self, statement: Node, live: Live) -> tuple[Code, Live]:
        wanted = any(name in live for name in statement[1])
        return ([statement] if wanted else []), without(live, statement[1])

    def _loop(self, statement: Node, live: Live) -> tuple[Code, Live]:
        *_, body, orelse, names, attributes = statement
        targets = bound(statement[1]) if statement[0] == "for" else []
        source = statement[2] if statement[0] == "for" else statement[1]
        rest, after = self._block(orelse, live)
        head = after | live
        if statement[0] == "for":  # each turn takes from what is walked
            head |= {p for p in self._read(source, NOTHING, True) if p[0] in MARKS}
        changed = self._changed
        while True:
            self._loops.append(_Loop(live, head))
            self._changed = changed
            kept, before = self._block(body, head)
            self._loops.pop()
            before = without(before, targets) if statement[0] == "for" else self._read(source, before)
            if before <= head:
                break
            head |= before
        wanted = bool(rest) or any(map(escapes, kept)) or any(n in live for n in targets)
        if not wanted and all(s[0] in ("brk", "cont", "if", "w", "risk") for s in every(kept)):
            return self._effect(source, live, raises=True)
        return [[*statement[:-4], kept, rest, names, attributes]], self._read(source, head, bool(targets))

    def _try(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, body, handlers, orelse, final = statement
        changed = self._changed
        last, behind = self._block(final, live) if final else ([], live)
        made: list[Any] = []
        entered: Live = NOTHING
        for types, name, code in handlers:
            kept, before = self._block(code, behind)
            entered |= without(before, [name] if name else [])
            made.append([types, name, kept])
        if handlers or final:
            around = self._handlers[-1] if self._handlers else NOTHING
            self._handlers.append(around | entered | behind)
        rest, after = self._block(orelse, behind)
        tried, before = self._block(body, after)
        if handlers or final:
            self._handlers.pop()
        if all(s[0] == "risk" for s in (*tried, *rest, *last, *(s for h in made for s in h[2]))):
            self._changed = changed
            return self._risk(statement, live)
        return [["try", tried, made, rest, last]], before | entered

    def _match(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, subject, cases = statement
        made: list[Any] = []
        before = live
        wanted = False
        for pattern, guard, body in cases:
            names = list(captured(pattern))
            kept, inner = self._block(body, live)
            wanted = wanted or bool(kept) or any(n in live for n in names)
            inner = inner if guard is None else self._read(guard, inner)
            before |= without(inner, names)
            made.append([pattern, guard, kept])
        if not wanted:
            return self._effect(subject, live)
        for pattern, _, _ in cases:
            for value in pattern_values(pattern):
                before = self._read(value, before)
        return [["match", subject, made]], self._read(subject, before, True)

    # --- values -----------------------------------------------------------------------------------------

    def _read(self, node: Node, live: Live, content: bool = False, whole: bool = True) -> Live:
        """What is live before a value is computed; `content` when what is in it is read afterwards, and not `whole`
        when nothing but its identity matters: what is compared with a constant."""
        key = id(node), content, whole
        if key not in self._reads:
            is_simple = all(n[0] not in CALLS and n[0] != ":=" for n in walk(node))
            self._reads[key] = node, frozenset(all_read(node, content, whole)) if is_simple else None
        found = self._reads[key][1]
        return self._read_anew(node, live, content, whole) if found is None else live | found

    def _read_anew(self, node: Node, live: Live, content: bool, whole: bool) -> Live:
        if node[0] in CALLS and self._is_read_after(changed_by(node), live):
            self._changed = True
        if node[0] == ":=":
            live = without(live, [node[1]])
        live = live.union(read_by(node, content, whole))
        for part, *how in parts_read(node, content):
            live = self._read(part, live, *how)
        return live

    def _is_seen(self, path: str | None, live: Live) -> bool:
        """Whether an attribute that is set may be read by a call or a comparison later."""
        source = None if path is None else self._origin(path)
        for one in live:
            if one[0] not in "=!":
                continue
            read = self._origin(one[1:])
            if source is None or read is None or read == source or source.startswith(f"{read}."):
                return True
            if one[0] == "!" and (read.startswith(f"{source}.") or read.split(".")[0] != source.split(".")[0]):
                return True
        return False

    def _is_read_after(self, changed: Iterable[str | None], live: Live) -> bool:
        """Whether something that may be changed is read later."""
        for one in changed:
            source = None if one is None else self._origin(one)
            for path in live:
                if path[0] not in MARKS:
                    continue
                read = self._origin(path[1:])
                if read is None or source is None or read == source or read.startswith(f"{source}."):
                    return True
                if read.split(".")[0] != source.split(".")[0]:
                    return True  # two names may mean one object
        return False

    def _origin(self, path: str) -> str | None:
        """The path from a parameter; None when it is not known."""
        root, _, rest = path.partition(".")
        seen: set[str] = set()
        while root in self._origins and root not in seen:
            seen.add(root)
            source = self._origins[root]
            if source is None:
                return None
            path = f"{source}.{rest}" if rest else source
            root, _, rest = path.partition(".")
        return path if root in self._builder.params or root in self._builder.free else None


STATEMENTS: dict[str, Any] = {
    "=": Slicer._assign,
    "o=": Slicer._augment,
    "e": Slicer._value,
    "if": Slicer._if,
    "for": Slicer._loop,
    "while": Slicer._loop,
    "try": Slicer._try,
    "match": Slicer._match,
    "ret": Slicer._return,
    "brk": Slicer._break,
    "cont": Slicer._continue,
    "raise": Slicer._raise,
    "assert": Slicer._assert,
    "risk": Slicer._risk,
    "hav": Slicer._forget,
}
OPEN = frozenset({"?", "?l", "~"})  # values that stay unknown whatever the caller tells


def _is_open(statement: Node) -> bool:
    """Whether a statement makes the answer depend on more than what the caller can tell."""
    match statement[0]:
        case "risk" | "hav":
            return True
        case "try":
            leaving = ("ret", "raise", "brk", "cont", "assert")
            return bool(statement[2]) or any(s[0] in leaving for s in every(statement[4]))
        case "=":
            return any(n[0] == "i" for n in walk(statement[1]))
        case "o=":
            return bool(statement[3][0] != "k")  # a list is changed in place
    return False
