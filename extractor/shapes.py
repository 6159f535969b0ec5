"""Owns the shapes of programs: what is inside a statement or a value, what it binds, reads and may change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from extractor.nodes import PURE, UNKNOWN_NAME, Code, Node

Live = frozenset[str]
MARKS = "*=!"  # content read, read as a whole, handed to a call: in front of a path
NOTHING: Live = frozenset()
WALKED = frozenset("all any dict enumerate frozenset len list max min reversed set sorted sum tuple zip".split())
CALLS = frozenset({"?", "?l", "m", "v()"})


def blocks(statement: Node) -> Sequence[Code]:
    """The blocks of statements inside a statement."""
    made = BLOCKS.get(statement[0])
    return () if made is None else made(statement)


def every(code: Code) -> list[Node]:
    """All statements, those inside others too."""
    found: list[Node] = []
    for statement in code:
        found.append(statement)
        for block in blocks(statement):
            found += every(block)
    return found


def values(statement: Node) -> Sequence[Node]:
    """The values that a statement computes itself, its targets among them."""
    made = VALUES.get(statement[0])
    return () if made is None else made(statement)


def _matched(statement: Node) -> list[Node]:
    """What a `match` asks: its subject, what its patterns compare with, its guards."""
    found = [statement[1]]
    for pattern, guard, _ in statement[2]:
        found += pattern_values(pattern)
        if guard is not None:
            found.append(guard)
    return found


def parts(node: Node) -> Sequence[Node]:
    """The values that a value is computed from, in order."""
    made = PARTS.get(node[0])
    return () if made is None else made(node)


def _clauses(node: Node) -> list[Node]:
    """Of a comprehension: what it walks, its tests, and then its elements."""
    return [*(value for _, iterable, tests in node[3] for value in (iterable, *tests)), *node[2]]


def walk(node: Node) -> list[Node]:
    """The value and all values in it."""
    found: list[Node] = []
    stack = [node]
    while stack:
        one = stack.pop()
        found.append(one)
        made = PARTS.get(one[0])
        if made is not None:
            stack += made(one)[::-1]
    return found


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


def bound(target: Node) -> list[str]:
    """The names that a target binds."""
    match target[0]:
        case "n":
            return [target[1]]
        case "t":
            return [name for inner in target[1] for name in bound(inner)]
        case "*":
            return bound(target[1])
    return []


def path_of(node: Node) -> str | None:
    """`self.config` for what is read so; None for all else."""
    if node[0] == "n":
        return str(node[1])
    names: list[str] = []
    while node[0] == "a":
        names.append(node[2])
        node = node[1]
    return ".".join([node[1], *reversed(names)]) if node[0] == "n" else None


def marks_below(live: Live, names: Sequence[str]) -> set[str]:
    """How what is read from these names is: its marks."""
    return {p[0] for p in live if p[0] in MARKS and p[1:].partition(".")[0] in names}


def without(live: Live, names: Iterable[str]) -> Live:
    """What is live of all but these names."""
    gone = set(names)
    return live.difference([p for p in live if (p[1:].partition(".")[0] if p[0] in MARKS else p) in gone])


def changes(nodes: Iterable[Node]) -> list[str | None]:
    """The paths of what the calls among these values may change; None for anything."""
    return [path for node in nodes if node[0] in CALLS for path in changed_by(node)]


def changed_by(node: Node) -> Iterator[str | None]:
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


def may_raise(nodes: Iterable[Node]) -> bool:
    """Whether one of these values may raise when it is computed."""
    return any(n[0] not in ("k", "n", "g", "t", "l", "d", "not", "and", "or", "if") for n in nodes)


def escapes(statement: Node) -> bool:
    """Whether a statement of a loop's body may leave more than that loop."""
    match statement[0]:
        case "ret" | "raise" | "assert":
            return True
        case "brk" | "cont":
            return False
    return any(escapes(s) for block in blocks(statement) for s in block)


def reads_content(node: Node) -> list[Node]:
    """Those parts of a value whose content it reads."""
    match node[0]:
        case "a" | "i":
            return [node[1]]
        case "m":
            return [node[1]]
        case "c":
            return [right for op, right in node[2] if op in ("in", "not in") and not _is_constants(right)]
        case "b()" if node[1] in WALKED or node[1] in ("getattr", "hasattr"):
            return node[2][:1] if node[1] in ("getattr", "hasattr") else list(node[2])
        case "comp":
            return [iterable for _, iterable, _ in node[3]]
        case "*":
            return [node[1]]
    return []


def depended_on(node: Node) -> list[Node]:
    """The values whose own code a value runs: the object of a method, and what text is made of."""
    match node[0]:
        case "m":
            return [node[1]]
        case "f":
            return [piece[0] for piece in node[1] if not isinstance(piece, str)]
        case "b()" if node[1] in ("str", "repr"):
            return list(node[2])
    return []


def is_with_constant(node: Node) -> bool:
    """Whether a value is compared with constants that no change of it makes equal: `x == 1`, `x in (1, 2)`."""
    if node[0] != "c" or len(node[2]) != 1:
        return False
    op, right = node[2][0]
    return _is_constants(right) if op in ("in", "not in") else "k" in (node[1][0], right[0])


def _is_constants(node: Node) -> bool:
    return node[0] in ("t", "l", "s") and all(n[0] == "k" for n in node[1])


def as_value(target: Node) -> Node:
    return target[1] if target[0] == "i" else target


def classes(statements: Iterable[Node]) -> Iterator[Node]:
    """The names of exceptions in raises and handlers."""
    for statement in statements:
        match statement[0]:
            case "raise" | "assert" if statement[2] is not None:
                yield statement[2]
            case "try":
                yield from (t for handler in statement[2] for t in handler[0] or () if t is not None)


BLOCKS: dict[str, Callable[[Node], Sequence[Code]]] = {
    "if": lambda s: s[2:4],
    "for": lambda s: s[3:5],
    "while": lambda s: s[2:4],
    "try": lambda s: [s[1], *(handler[2] for handler in s[2]), *s[3:5]],
    "match": lambda s: [case[2] for case in s[2]],
}
VALUES: dict[str, Callable[[Node], Sequence[Node]]] = {
    "=": lambda s: [s[1], s[-1]],
    "o=": lambda s: [s[1], s[-1]],
    **dict.fromkeys(("e", "if", "while", "assert"), lambda s: [s[1]]),
    "ret": lambda s: s[1:],
    "for": lambda s: s[1:3],
    "match": _matched,
    "w": lambda s: [s[2]],
}
PARTS: dict[str, Callable[[Node], list[Node]]] = {
    **dict.fromkeys(("a", "not", "*"), lambda n: [n[1]]),
    **dict.fromkeys(("i", "sl"), lambda n: [part for part in n[1:] if part is not None]),
    **dict.fromkeys(("u", ":="), lambda n: [n[2]]),
    "o": lambda n: n[2:],
    "c": lambda n: [n[1], *(right for _, right in n[2])],
    **dict.fromkeys(("and", "or", "t", "l", "s", "?", "~"), lambda n: n[1]),
    "?l": lambda n: n[2],
    "if": lambda n: n[1:],
    "d": lambda n: [part for pair in n[1] for part in pair if part is not None],
    "f": lambda n: [piece[0] for piece in n[1] if not isinstance(piece, str)],
    "comp": _clauses,
    "b()": lambda n: [*n[2], *(value for _, value in n[3])],
    "m": lambda n: [n[1], *n[3], *(value for _, value in n[4])],
    "v()": lambda n: [n[1], *n[2], *(value for _, value in n[3])],
}
