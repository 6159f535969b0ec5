"""Owns the shapes of programs: what is inside a statement or a value, what it binds, reads and may change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from extractor.program import PURE, UNKNOWN_NAME, Code, Node

Live = frozenset[str]
MARKS = "*=!"  # content read, read as a whole, handed to a call: in front of a path
NOTHING: Live = frozenset()
WALKED = frozenset("all any dict enumerate frozenset len list max min reversed set sorted sum tuple zip".split())
CALLS = frozenset({"?", "?l", "m", "v()"})


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
    return live[0] in MARKS and live[1:].partition(".")[0] == name


def without(live: Live, names: Iterable[str]) -> Live:
    """What is live of all but these names."""
    gone = set(names)
    return frozenset(p for p in live if p not in gone and not (p[0] in MARKS and p[1:].partition(".")[0] in gone))


def changes(node: Node) -> Iterator[str | None]:
    """The paths of what the calls in a value may change; None for anything."""
    for inner in walk(node):
        if inner[0] in CALLS:
            yield from changed_by(inner)


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


def may_raise(node: Node) -> bool:
    return any(n[0] not in ("k", "n", "g", "t", "l", "d", "not", "and", "or", "if") for n in walk(node))


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


def classes(code: Code) -> Iterator[Node]:
    """The names of exceptions in raises and handlers."""
    for statement in every(code):
        match statement[0]:
            case "raise" | "assert" if statement[2] is not None:
                yield statement[2]
            case "try":
                yield from (t for handler in statement[2] for t in handler[0] or () if t is not None)
