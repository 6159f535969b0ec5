"""Owns the shapes of statements: which names a target, a parameter list or a pattern binds, which calls end all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from extractor.expr import dotted as dotted_name
from extractor.scan import SUITES

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
EXITS = frozenset({"sys.exit", "os._exit", "quit", "exit", "os.abort"})  # calls that end the process


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def pairs_up(target: ast.Tuple | ast.List, value: ast.Tuple | ast.List) -> bool:
    starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
    return not starred and len(target.elts) == len(value.elts)


def names_of(node: ast.expr) -> Iterator[str]:
    """The names that a target binds."""
    match node:
        case ast.Name() | ast.Attribute():
            name = dotted_name(node)
            if name is not None:
                yield name
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for element in elts:
                yield from names_of(element)
        case ast.Starred(value=value):
            yield from names_of(value)


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
    found: list[str] = []
    stack: list[Any] = list(reversed(list(statements)))
    while stack:
        node = stack.pop()
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    found.extend(names_of(target))
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                found.extend(names_of(target))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
                continue
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
                found.append(name)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                found.extend(names_of(target))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        found.extend(names_of(item.optional_vars))
        for suite in reversed(SUITES):
            stack.extend(reversed(getattr(node, suite, ())))
    return found if repeat else list(dict.fromkeys(found))


def additions(
    statements: Iterable[ast.stmt], name: str, conditions: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.expr, tuple[ast.expr, ...]]]:
    for statement in statements:
        match statement:
            case ast.AugAssign(target=ast.Name(id=target), op=ast.Add(), value=value) if target == name:
                yield value, conditions
            case ast.If(test=test, body=body, orelse=[]):
                yield from additions(body, name, (*conditions, test))


def changed(nodes: Iterable[ast.AST], repeat: bool = False, walrus: bool = False) -> list[str]:
    """The names that statements (and handlers) bind or delete; an item that is set counts as its collection.

    Definitions inside are looked at for their name alone. Expressions are only looked into for a `walrus`, since
    that is most of the work and few files have one. Each name once unless `repeat`.
    """
    found: list[str] = []
    stack: list[Any] = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
                continue
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                for target in targets:
                    found += _changed_by(target)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
                found += _changed_by(target)
            case ast.AsyncFor(target=target):
                found += _changed_by(target)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        found += _changed_by(item.optional_vars)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found += [(alias.asname or alias.name).split(".")[0] for alias in names]
            case ast.ExceptHandler(name=str(name)):
                found.append(name)
            case ast.match_case(pattern=pattern):
                found += captures(pattern)
        if walrus:
            found += [
                n.target.id for part in _expressions(node) for n in ast.walk(part) if isinstance(n, ast.NamedExpr)
            ]
        for suite in reversed(SUITES):
            inner = getattr(node, suite, None)
            if type(inner) is list:
                stack += inner[::-1]
    return found if repeat else list(dict.fromkeys(found))


def _changed_by(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to the target changes."""
    match target:
        case ast.Name() | ast.Attribute():
            yield from names_of(target)
        case ast.Subscript(value=value):
            yield from names_of(value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for element in elts:
                yield from _changed_by(element)
        case ast.Starred(value=value):
            yield from _changed_by(value)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a statement itself."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
