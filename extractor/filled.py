"""Owns a message with the values in it that it would have: those that are certain, the rest stays `{expression}`.

A value is written where three things hold. The hole stands in the raise statement itself, so that it is taken
there. A guard reads the same name or dotted name, so that the predicate's program follows it up to that guard,
whose own answer is known. And between that guard and the raise nothing binds a name anew, sets an attribute,
calls anything that could, or goes round in a loop. Only Python's own plain values are written: no method of a
value that somebody gave is called for its text.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from extractor import expr
from extractor.model import Part, Site
from extractor.runtime.machine import Machine
from extractor.runtime.memory import Env, OutOfBudget
from extractor.runtime.registry import Predicate

MAX_ITEMS, MAX_TEXT = 100, 1_000  # of a value that is written out
SPEC = re.compile(r"[,dxX]|\.\d{1,2}[fg%]")
CUTS = re.compile(r"%(\(\w*\))?[-+ #0]*(\d+|\*)?(\.\d*)?[diu]")
TESTED = frozenset({"if", "exit", "assert"})
HARMLESS = frozenset(
    "abs all any bool dict float getattr hasattr int isinstance len list max min repr round set sorted str sum tuple "
    "type zip endswith format items join keys lower split startswith strip upper values".split()
)
LOOKS_BACK = 12  # lines from a guard to the beginning of its statement
IDLE = (
    ast.expr, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.keyword,
    ast.If, ast.Raise, ast.Return, ast.Continue, ast.Break, ast.Assert, ast.Pass, ast.Expr,
)  # fmt: skip

Node = list[Any]


def filled(
    parts: Sequence[Part], site: Site, answers: Iterable[Any], predicate: Predicate, env: Mapping[str, Any]
) -> str:
    """The message of these parts. `answers` are those of the site's guards, in their order."""
    holes = {part.expr for part in parts if isinstance(part.expr, str)}
    sure = holes & _sure(site, answers) if holes else set()
    values = _at_the_raise(predicate, env, {hole: _lowered(hole) for hole in sure}) if sure else {}
    values = {hole: value for hole, value in values.items() if not _is_cut(site, value)}
    return "".join(_shown(part, values) for part in parts)


def _shown(part: Part, values: Mapping[str, Any]) -> str:
    if not isinstance(part.expr, str):
        return part.text if isinstance(part.text, str) else ""
    conversion = part.conversion if isinstance(part.conversion, str) else ""
    spec = part.spec if isinstance(part.spec, str) else ""
    if part.expr in values:
        text = _text(values[part.expr], conversion, spec)
        if text is not None and len(text) <= MAX_TEXT:
            return text
    return f"{{{part.expr}{'!' * bool(conversion)}{conversion}{':' * bool(spec)}{spec}}}"


def _text(value: Any, conversion: str, spec: str) -> str | None:
    """What an f-string would make of a plain value."""
    if (
        not _is_plain(value)
        or conversion not in ("", "r", "s", "a")
        or (spec and (conversion or not SPEC.fullmatch(spec)))
    ):
        return None
    try:
        if conversion in ("r", "a"):
            return repr(value) if conversion == "r" else ascii(value)
        return format(value, spec)
    except (ValueError, TypeError, OverflowError):  # also: a number of too many digits
        return None


def _is_plain(value: Any, depth: int = 5) -> bool:
    if type(value) in (str, bytes):
        return len(value) <= MAX_TEXT
    if type(value) in (list, tuple, dict) and depth and len(value) <= MAX_ITEMS:
        inner = (*value, *value.values()) if type(value) is dict else value
        return all(_is_plain(item, depth - 1) for item in inner)
    if type(value) is int:
        return value.bit_length() <= MAX_TEXT
    return value is None or type(value) in (bool, float)


# --- which holes are certain -----------------------------------------------------------------------------


def _sure(site: Site, answers: Iterable[Any]) -> set[str]:
    """Names and dotted names in the raise statement that are there what a guard read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parser, about the tree's own text
        raised = _parsed(site, site.line, site.end_line)
        if raised is None or len(raised) != 1 or not isinstance(raised[0], ast.Raise):
            return set()
        taken = _reads(raised[0])
        found: set[str] = set()
        for guard, answer in zip(site.guards, answers, strict=True):
            if guard.kind in TESTED and answer is not None and not guard.stale:
                read = taken & _reads_of(guard.text)
                if read - found and _is_quiet(site, guard.line):
                    found |= read
    return found


def _parsed(site: Site, first: int, last: int) -> list[ast.stmt] | None:
    """The statements in these lines, if they are whole; `elif` begins one."""
    lines = site.context.lines[first - site.context.start : last - site.context.start + 1]
    if first < site.context.start or len(lines) != last - first + 1:
        return None
    text = re.sub(r"\A(\s*)elif\b", r"\1if", textwrap.dedent("\n".join(lines)))
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _reads_of(text: str) -> set[str]:
    node = expr.parsed(text)
    return set() if node is None else _reads(node)


def _reads(tree: ast.AST) -> set[str]:
    """The names and dotted names that are read, but for those of comprehensions and lambdas."""
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    chains = (_dotted(n) for n in ast.walk(tree) if isinstance(n, ast.Name | ast.Attribute))
    return {".".join(chain) for chain in chains if chain and chain[0] not in own}


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """`a.b` as a tuple; empty for what is no such chain, or asks for what Python keeps for itself."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and not node.attr.startswith("__"):
        before = _dotted(node.value)
        return (*before, node.attr) if before else ()
    return ()


def _is_quiet(site: Site, line: int) -> bool:
    """Whether nothing changes between a guard and the raise: neither a name nor what can be reached from one."""
    for first in range(line, max(line - LOOKS_BACK, site.context.start - 1), -1):
        statements = _parsed(site, first, site.end_line)
        if statements is not None:
            return all(_is_idle(node) for tree in statements for node in _without_exceptions(tree))
    return False


def _without_exceptions(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but the outermost call of a raise, which makes the exception."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.Raise) and child is tree.exc and isinstance(child, ast.Call):
            for argument in (*child.args, *(k.value for k in child.keywords)):
                yield from _without_exceptions(argument)
        else:
            yield from _without_exceptions(child)


def _is_idle(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return name in HARMLESS
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, IDLE) and not isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr)


# --- the values there ------------------------------------------------------------------------------------


def _lowered(dotted: str) -> Node:
    root, *attributes = dotted.split(".")
    node: Node = ["n", root]
    for name in attributes:
        node = ["a", node, name]
    return node


def _at_the_raise(predicate: Predicate, env: Mapping[str, Any], nodes: Mapping[str, Node]) -> dict[str, Any]:
    """The values of these expressions where control meets the raise, if all ways there agree on them."""
    machine = Machine(predicate._globals, env)
    code = predicate._code or []
    try:
        start = Env({name: env[name] for name in predicate._start if name in env}, {})
        ways = [way for site, _, way in machine.block(code, start).raised if site == predicate._site]
        found = {hole: [machine.value(node, way) for way in ways] for hole, node in nodes.items()}
    except (OutOfBudget, RecursionError):
        return {}
    return {hole: values[0] for hole, values in found.items() if values and _agree(values)}


def _is_cut(site: Site, value: Any) -> bool:
    """Whether `%d` would make another number of it; the message's hole does not tell `%d` from `%s`."""
    return type(value) in (float, bool) and any(CUTS.search(line) for line in site.context.lines)


def _agree(values: Sequence[Any]) -> bool:
    return all(map(_is_plain, values)) and len({repr(value) for value in values}) == 1
