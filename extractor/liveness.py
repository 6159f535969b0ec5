"""Owns what a value reads: the names, attributes and objects that are live before it (marks as in `slicing`)."""

from __future__ import annotations

from collections.abc import Iterator

from extractor.nodes import Node
from extractor.shapes import changed_by, is_with_constant, parts, path_of, reads_content


def all_read(node: Node, content: bool, whole: bool) -> Iterator[str]:
    """What is read for a value without calls."""
    yield from read_by(node, content, whole)
    for part, *how in parts_read(node, content):
        yield from all_read(part, *how)


def read_by(node: Node, content: bool, whole: bool) -> list[str]:
    """What a value itself reads, besides its parts."""
    own: list[str] = []
    path = path_of(node)
    if path is not None:
        if whole:
            own.append(f"={path}")
        if content:
            own.append(f"*{path}")
    match node[0]:
        case "n":
            own.append(node[1])
        case "a":
            own.append(f".{node[2]}")
        case "b()" if node[1] in ("getattr", "hasattr") and len(node[2]) > 1 and node[2][1][0] == "k":
            own.append(f".{node[2][1][1]}")
        case "m" | "v()":
            own += [f"!{one}" for one in changed_by(node) if one is not None]
    return own


def parts_read(node: Node, content: bool) -> list[tuple[Node, bool, bool]]:
    """The parts of a value, the last first, with whether their content is read and whether they are, as a whole."""
    found = parts(node)
    if not found:
        return []
    inner = reads_content(node)
    passed_on = path_of(node) is None
    whole = passed_on and not is_with_constant(node)
    made = [(p, any(p is one for one in inner) or (content and passed_on), whole) for p in reversed(found)]
    # each turn of a comprehension reads what the one before may have changed
    return [*((p, False, True) for p in found), *made] if node[0] == "comp" else made
