"""Owns the shapes of statements: which names a target, a parameter list or a pattern binds, which calls end all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from extractor.expr import dotted as dotted_name
from extractor.scan import SUITES, Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Named = Callable[[Any], list[str]]  # the names in a statement
EXITS = frozenset({"sys.exit", "os._exit", "quit", "exit", "os.abort"})  # calls that end the process
CHANGING = frozenset(  # methods that change a collection
    "append appendleft extend extendleft insert add update setdefault pop popleft popitem remove discard clear sort"
    " reverse difference_update intersection_update symmetric_difference_update".split()
)


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, which is that of the first decorator."""
    decorators = node.decorator_list if isinstance(node, FunctionNode | ast.ClassDef) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def pairs_up(target: ast.Tuple | ast.List, value: ast.Tuple | ast.List) -> bool:
    starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
    return not starred and len(target.elts) == len(value.elts)


def names_of(node: ast.expr) -> list[str]:
    """The names that a target binds."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute():
            dotted = dotted_name(node)
            return [] if dotted is None else [dotted]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [name for element in elts for name in names_of(element)]
        case ast.Starred(value=value):
            return names_of(value)
    return []


def parameters(node: FunctionNode) -> list[str]:
    """The names of all parameters."""
    args = node.args
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    return [arg.arg for arg in found]


def is_irrefutable(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def captures(pattern: ast.pattern) -> Iterator[str]:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
        if isinstance(node, ast.MatchMapping) and node.rest is not None:
            yield node.rest


def assigned(statements: Iterable[ast.stmt], repeat: bool = False) -> list[str]:
    """The names that statements bind, nested functions and classes aside; each once unless `repeat`."""
    return _collected(statements, ASSIGNS, repeat, None)


def additions(
    statements: Iterable[ast.stmt], name: str, conditions: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.expr, tuple[ast.expr, ...]]]:
    for statement in statements:
        match statement:
            case ast.AugAssign(target=ast.Name(id=target), op=ast.Add(), value=value) if target == name:
                yield value, conditions
            case ast.If(test=test, body=body, orelse=[]):
                yield from additions(body, name, (*conditions, test))


def changed(nodes: Iterable[ast.AST], repeat: bool = False, source: Source | None = None) -> list[str]:
    """The names that statements (and handlers) bind or delete; an item that is set counts as its collection.

    Definitions inside are looked at for their name alone. Expressions are only looked into, for a `:=`, with
    their `source`. Each name once unless `repeat`.
    """
    return _collected(nodes, CHANGES, repeat, source)


def touched(nodes: Iterable[ast.AST], repeat: bool = False, source: Source | None = None) -> list[str]:
    """As `changed`, and a collection that a statement calls a changing method of counts as well."""
    return _collected(nodes, TOUCHES, repeat, source)


def _collected(nodes: Iterable[ast.AST], table: Mapping[type, Named], repeat: bool, source: Source | None) -> list[str]:
    """What the table finds in statements and in those inside them, but for definitions."""
    found: list[str] = []
    stack: list[Any] = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        kind = type(node)
        named = table.get(kind)
        if named is not None:
            found += named(node)
        if kind in DEFINITIONS:
            continue
        if source is not None:
            found += [n.target.id for part in _expressions(node) for n in source.walruses(part)]
        for suite in SUITES.get(kind, ()):
            stack += getattr(node, suite)[::-1]
    return found if repeat else list(dict.fromkeys(found))


def _changed_by(target: ast.expr) -> list[str]:
    """The names that an assignment to the target changes."""
    match target:
        case ast.Subscript(value=value):
            return names_of(value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [name for element in elts for name in _changed_by(element)]
        case ast.Starred(value=value):
            return _changed_by(value)
    return names_of(target)


def _called_on(node: ast.Expr | ast.Assign | ast.AnnAssign) -> list[str]:
    """The collection that is changed when the value of a statement is taken: `seen.add(x)`, `x = todo.pop()`."""
    match node.value:
        case ast.Call(func=ast.Attribute(value=collection, attr=name)) if name in CHANGING:
            return _changed_by(collection)
    return []


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a statement itself."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child


def _bound(names: Callable[[ast.expr], list[str]]) -> dict[type, Named]:
    """The statements that bind, with what they bind as `names` reads a target."""
    table: dict[type, Named] = {ast.Assign: lambda node: [n for target in node.targets for n in names(target)]}
    for kind in (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor):
        table[kind] = lambda node: names(node.target)
    for block in (ast.With, ast.AsyncWith):
        table[block] = lambda node: [n for item in node.items if item.optional_vars for n in names(item.optional_vars)]
    for definition in DEFINITIONS:
        table[definition] = lambda node: [node.name]
    return table


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(alias.asname or alias.name).split(".")[0] for alias in node.names]


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNS: dict[type, Named] = _bound(names_of) | {ast.Expr: _called_on}
CHANGES: dict[type, Named] = _bound(_changed_by) | {
    ast.Delete: lambda node: [n for target in node.targets for n in _changed_by(target)],
    ast.Import: _imported,
    ast.ImportFrom: _imported,
    ast.ExceptHandler: lambda node: [node.name] if node.name else [],
    ast.match_case: lambda node: list(captures(node.pattern)),
}
TOUCHES: dict[type, Named] = CHANGES | {
    ast.Expr: _called_on,
    ast.Assign: lambda node: [*_called_on(node), *CHANGES[ast.Assign](node)],
    ast.AnnAssign: lambda node: [*_called_on(node), *CHANGES[ast.AnnAssign](node)],
}
