"""Owns slices: the part of a function's program that decides whether one of its raises is reached.

Backwards from the raise, as liveness is computed: kept are the ways that leave before it, the tests in front of
those, and the bindings that those tests read. A call in between is kept when something that it may have changed
is read later. What is dropped cannot change the answer, so what is left tells which names the caller has to
know, and whether the answer is `exact`: nothing in the slice is an outside event, a call that is not made, or
read after it may have been changed.

Live are names (`x`), attributes that the function sets on whatever object (`.x`), values that are read as a whole
(`=self.size`), and objects whose content is read (`*self.config`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from extractor.program import PURE, UNKNOWN_NAME, Builder, Code, Node

MAX_STATEMENTS = 400
Live = frozenset[str]
NOTHING: Live = frozenset()
WALKED = frozenset("all any dict enumerate frozenset len list max min reversed set sorted sum tuple zip".split())


@dataclass(frozen=True, slots=True)
class Slice:
    """The program of one site. `told` are the names that a caller may give, `globals` those used, by number."""

    code: Code
    told: tuple[str, ...]
    start: tuple[str, ...]  # the names that the function starts with, those among them that can only be changed
    globals: tuple[int, ...]  # those read as values, then those that only raises and handlers name
    classes: tuple[int, ...]
    called: tuple[int, ...]  # the globals on which methods are called
    exact: bool


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
        self._holds: dict[int, frozenset[int]] = {}  # the sites in a statement
        self._hold(builder.code)
        self._site = -1
        self._changed = False  # something is read after a call that was made may have changed it
        self._loops: list[_Loop] = []
        self._handlers: list[Live] = []
        self._watches: Mapping[int, Code] = {}

    def slice(self, site: int, watches: Mapping[int, Code]) -> Slice | None:
        """The slice of a site; `watches` stand before the statements with these ids. None: it is too large."""
        self._site, self._changed, self._watches = site, False, watches
        code, _ = self._block(self._builder.code, NOTHING)
        if sum(1 for _ in every(code)) > MAX_STATEMENTS:
            return None
        nodes = [n for s in every(code) if s[0] != "w" for value in values(s) for n in walk(value)]
        used = dict.fromkeys(n[1] for n in nodes if n[0] == "g")
        classes = dict.fromkeys(n[1] for n in _classes(code) if n[1] not in used)
        called = dict.fromkeys(n[1][1] for n in nodes if n[0] == "m" and n[1][0] == "g")
        watched = dict.fromkeys(n[1] for s in every(code) if s[0] == "w" for n in walk(s[2]) if n[0] == "g")
        exact = not self._changed and not any(map(_is_open, every(code))) and not any(n[0] in OPEN for n in nodes)
        classes |= {number: None for number in watched if number not in used}
        told, start = _Told(self._builder).names(code)
        return Slice(code, told, start, tuple(used), tuple(classes), tuple(called), exact)

    def _hold(self, code: Code) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        for statement in code:
            own = {statement[1]} if statement[0] == "raise" and statement[1] is not None else set()
            inner = frozenset(own).union(*map(self._hold, blocks(statement)))
            self._holds[id(statement)] = inner
            found |= inner
        return found

    def _has_site(self, statement: Node) -> bool:
        """Whether the site that is sliced for is in the statement."""
        return self._site in self._holds[id(statement)]

    # --- statements -------------------------------------------------------------------------------------

    def _block(self, code: Code, live: Live) -> tuple[Code, Live]:
        """What is kept of the statements, and what is live before them."""
        if not self._loops:  # nothing behind the site is run on the way to it
            last = next((i for i, s in enumerate(code) if self._has_site(s)), None)
            code = code if last is None else code[: last + 1]
        if not self._handlers and not any(map(self._has_site, code)) and leaves(code):
            return [["ret"]], NOTHING
        kept: list[Node] = []
        for statement in reversed(code):
            made, live = STATEMENTS[statement[0]](self, statement, live)
            if self._handlers:
                live |= self._handlers[-1]
            if made:
                kept += reversed([*self._watches.get(id(statement), ()), *made])
        return kept[::-1], live

    def _assign(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, target, value = statement
        names = list(bound(target))
        stored = [n for n in walk(target) if n[0] == "a"]
        items = [n for n in walk(target) if n[0] == "i"]
        wanted = any(n in live for n in names) or any(f".{n[2]}" in live for n in stored)
        changed = [path_of(n[1]) for n in items]
        wanted = wanted or any(is_below(p, n) for p in live for n in names)
        if not wanted and not self._is_read_after(changed, live):
            return self._effect(value, live, raises=target[0] != "n")
        content = bool(stored) or any(p[0] == "*" and is_below(p, n) for p in live for n in names)
        live = without(live, names)
        if value[0] == "?l" and not self._is_read_after(list(changes(value)), live):
            return [["=", target, ["?l", value[1], []]]], live
        for node in (*stored, *items):
            live = self._read(node[1], live)
        return [statement], self._read(value, live, content)

    def _augment(self, statement: Node, live: Live) -> tuple[Code, Live]:
        _, target, _, value = statement
        path = path_of(target[1] if target[0] == "i" else target)
        names = list(bound(target))
        wanted = any(n in live or any(is_below(p, n) for p in live) for n in names)
        wanted = wanted or (target[0] == "a" and f".{target[2]}" in live)
        if not wanted and not self._is_read_after([path], live):
            return self._effect(value, live, raises=True)
        return [statement], self._read(value, self._read(_as_value(target), live, True), True)

    def _value(self, statement: Node, live: Live) -> tuple[Code, Live]:
        return self._effect(statement[1], live)

    def _effect(self, value: Node, live: Live, raises: bool = False) -> tuple[Code, Live]:
        """A value that nobody takes: what it may change, what it binds, and that it may raise."""
        binds = any(n[0] == ":=" and n[1] in live for n in walk(value))
        if binds or self._is_read_after(list(changes(value)), live):
            return [["e", value]], self._read(value, live)
        return self._risk(value, live) if raises or may_raise(value) else ([], live)

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
        targets = list(bound(statement[1])) if statement[0] == "for" else []
        source = statement[2] if statement[0] == "for" else statement[1]
        rest, after = self._block(orelse, live)
        head = after | live
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
        if node[0] in CALLS and self._is_read_after(list(_changed_by(node)), live):
            self._changed = True
        path = path_of(node)
        own: set[str] = set()
        if path is not None:
            if whole:
                own.add(f"={path}")
            if content:
                own.add(f"*{path}")
        match node[0]:
            case "n":
                own.add(node[1])
            case "a":
                own.add(f".{node[2]}")
            case "b()" if node[1] in ("getattr", "hasattr") and len(node[2]) > 1 and node[2][1][0] == "k":
                own.add(f".{node[2][1][1]}")
            case ":=":
                live = without(live, [node[1]])
        live = live.union(own)
        if node[0] == "comp":  # each turn reads what the one before may have changed
            for part in parts(node):
                live = self._read(part, live)
        inner = _reads_content(node)
        is_plain = node[0] == "c" and any(_is_atom(n) for n in parts(node)) and not inner
        for part in reversed(list(parts(node))):
            content_ = any(part is one for one in inner) or (content and path is None)
            live = self._read(part, live, content_, path is None and not is_plain)
        return live

    def _is_read_after(self, changed: Iterable[str | None], live: Live) -> bool:
        """Whether something that may be changed is read later."""
        later = [p for p in live if p[0] in "*="]
        for one in changed:
            source = None if one is None else self._origin(one)
            for path in later:
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
CALLS = frozenset({"?", "?l", "m", "v()"})
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


# --- shapes of programs ------------------------------------------------------------------------------------


def blocks(statement: Node) -> Iterator[Code]:
    """The blocks of statements inside a statement."""
    match statement[0]:
        case "if":
            yield from statement[2:4]
        case "for":
            yield from statement[3:5]
        case "while":
            yield from statement[2:4]
        case "try":
            yield statement[1]
            yield from (handler[2] for handler in statement[2])
            yield from statement[3:5]
        case "match":
            yield from (case[2] for case in statement[2])


def every(code: Code) -> Iterator[Node]:
    """All statements, those inside others too."""
    for statement in code:
        yield statement
        for block in blocks(statement):
            yield from every(block)


def values(statement: Node) -> Iterator[Node]:
    """The values that a statement computes itself, its targets among them."""
    match statement[0]:
        case "=" | "o=":
            yield statement[1]
            yield statement[-1]
        case "e" | "if" | "while" | "assert":
            yield statement[1]
        case "ret":
            yield from statement[1:]
        case "for":
            yield from statement[1:3]
        case "match":
            yield statement[1]
            for pattern, guard, _ in statement[2]:
                yield from pattern_values(pattern)
                if guard is not None:
                    yield guard
        case "w":
            yield statement[2]


def parts(node: Node) -> Iterator[Node]:
    """The values that a value is computed from, in order."""
    match node[0]:
        case "a" | "not" | "*":
            yield node[1]
        case "i" | "sl":
            yield from (n for n in node[1:] if n is not None)
        case "u" | ":=":
            yield node[2]
        case "o":
            yield from node[2:]
        case "c":
            yield node[1]
            yield from (right for _, right in node[2])
        case "and" | "or" | "t" | "l" | "s" | "?" | "~":
            yield from node[1]
        case "?l":
            yield from node[2]
        case "if":
            yield from node[1:]
        case "d":
            yield from (n for pair in node[1] for n in pair if n is not None)
        case "f":
            yield from (piece[0] for piece in node[1] if not isinstance(piece, str))
        case "comp":
            for _, iterable, tests in node[3]:
                yield iterable
                yield from tests
            yield from node[2]
        case "b()":
            yield from node[2]
            yield from (value for _, value in node[3])
        case "m":
            yield node[1]
            yield from node[3]
            yield from (value for _, value in node[4])
        case "v()":
            yield node[1]
            yield from node[2]
            yield from (value for _, value in node[3])


def walk(node: Node) -> Iterator[Node]:
    """The value and all values in it."""
    yield node
    for part in parts(node):
        yield from walk(part)


def pattern_values(pattern: Node) -> Iterator[Node]:
    """The values and classes that a pattern compares with."""
    match pattern[0]:
        case "=":
            yield pattern[1]
        case "as" if pattern[1] is not None:
            yield from pattern_values(pattern[1])
        case "or" | "seq":
            for inner in pattern[1]:
                yield from pattern_values(inner)
        case "map":
            for key, inner in pattern[1]:
                yield key
                yield from pattern_values(inner)
        case "class":
            yield pattern[1]
            for inner in (*pattern[2], *(p for _, p in pattern[3])):
                yield from pattern_values(inner)


def captured(pattern: Node) -> Iterator[str]:
    """The names that a pattern binds."""
    match pattern[0]:
        case "as":
            if pattern[2] is not None:
                yield pattern[2]
            if pattern[1] is not None:
                yield from captured(pattern[1])
        case "*":
            yield from filter(None, pattern[1:2])
        case "or" | "seq":
            for inner in pattern[1]:
                yield from captured(inner)
        case "class":
            for inner in (*pattern[2], *(p for _, p in pattern[3])):
                yield from captured(inner)
        case "map":
            yield from filter(None, pattern[2:])
            for _, inner in pattern[1]:
                yield from captured(inner)


def bound(target: Node) -> Iterator[str]:
    """The names that a target binds."""
    match target[0]:
        case "n":
            yield target[1]
        case "t":
            for inner in target[1]:
                yield from bound(inner)
        case "*":
            yield from bound(target[1])


def path_of(node: Node) -> str | None:
    """`self.config` for what is read so; None for all else."""
    names: list[str] = []
    while node[0] == "a":
        names.append(node[2])
        node = node[1]
    return ".".join([node[1], *reversed(names)]) if node[0] == "n" else None


def is_below(live: str, name: str) -> bool:
    """Whether something live is read from this name."""
    return live[0] in "*=" and live[1:].partition(".")[0] == name


def without(live: Live, names: Iterable[str]) -> Live:
    """What is live of all but these names."""
    gone = set(names)
    return frozenset(p for p in live if p not in gone and not (p[0] in "*=" and p[1:].partition(".")[0] in gone))


def changes(node: Node) -> Iterator[str | None]:
    """The paths of what the calls in a value may change; None for anything."""
    for inner in walk(node):
        if inner[0] in CALLS:
            yield from _changed_by(inner)


def _changed_by(node: Node) -> Iterator[str | None]:
    """What one call may change: all that it is given."""
    given: list[Node] = []
    match node[0]:
        case "?":
            given = node[1]
        case "?l":
            given = node[2]
        case "v()":
            given = [*node[2], *(value for _, value in node[3])]
        case "m":
            if node[2] in PURE:
                return
            given = [*([] if node[1][0] == "g" else [node[1]]), *node[3], *(value for _, value in node[4])]
    for one in given:
        path = path_of(one)
        if path == UNKNOWN_NAME:
            yield None
        elif path is not None:
            yield path
        elif one[0] not in ("k", "f", "c", "not", "g"):
            yield from (n[1] for n in walk(one) if n[0] == "n")


def may_raise(node: Node) -> bool:
    return any(n[0] not in ("k", "n", "g", "t", "l", "d", "not", "and", "or", "if") for n in walk(node))


def leaves(code: Code) -> bool:
    """Whether control never gets behind the statements, and leaves the function."""
    for statement in code:
        match statement[0]:
            case "ret" | "raise":
                return True
            case "brk" | "cont":
                return False
            case "if":
                if leaves(statement[2]) and leaves(statement[3]):
                    return True
                if any(map(escapes_loop, every([statement]))):
                    return False
            case "for" | "while":
                continue
            case "try" | "match":
                if any(map(escapes_loop, every([statement]))):
                    return False
    return False


def escapes_loop(statement: Node) -> bool:
    return statement[0] in ("brk", "cont")


def escapes(statement: Node) -> bool:
    """Whether a statement of a loop's body may leave more than that loop."""
    match statement[0]:
        case "ret" | "raise" | "assert":
            return True
        case "brk" | "cont":
            return False
    return any(escapes(s) for block in blocks(statement) for s in block)


def _reads_content(node: Node) -> list[Node]:
    """Those parts of a value whose content it reads."""
    match node[0]:
        case "a" | "i":
            return [node[1]]
        case "m":
            return [node[1]]
        case "c":
            return [right for op, right in node[2] if op in ("in", "not in") and not _is_atom(right)]
        case "b()" if node[1] in WALKED or node[1] in ("getattr", "hasattr"):
            return node[2][:1] if node[1] in ("getattr", "hasattr") else list(node[2])
        case "comp":
            return [iterable for _, iterable, _ in node[3]]
        case "*":
            return [node[1]]
    return []


def _is_atom(node: Node) -> bool:
    """Whether a value is one that no call can change."""
    return node[0] == "k" or (node[0] in ("t", "l", "s") and all(map(_is_atom, node[1])))


def _as_value(target: Node) -> Node:
    return target[1] if target[0] == "i" else target


def _classes(code: Code) -> Iterator[Node]:
    """The names of exceptions in raises and handlers."""
    for statement in every(code):
        match statement[0]:
            case "raise" | "assert" if statement[2] is not None:
                yield statement[2]
            case "try":
                yield from (t for handler in statement[2] for t in handler[0] or () if t is not None)


class _Told:
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
