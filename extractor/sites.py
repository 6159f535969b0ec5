"""Owns the raise sites of one definition, in symbolic form, not yet linked with the rest of the tree.

Where it stands decides about the numbers of lines and the lines around, which `moved` gives anew. So what was read of
a function counts wherever its text stands again, in classes of the same names.
"""

from __future__ import annotations

import ast

import msgspec
from msgspec.structs import replace

from extractor import index, symbolic
from extractor.bindings import NO_NAMES, Assigned, Binding, Caught, Either, Env
from extractor.flow import Raised, Scope, Walker
from extractor.guards import Conditions, conditions
from extractor.index import Import
from extractor.phrasing import RawGuard
from extractor.programs import Programs, RawProgram, module
from extractor.scan import Cut, Source
from extractor.targets import FunctionNode, first_line

CONTEXT = 18  # lines before and after a raise


class RawDoc(msgspec.Struct, frozen=True, array_like=True):
    """A function's docstring."""

    symbol: str
    line: int
    text: str


class RawSite(msgspec.Struct, frozen=True, array_like=True):
    """A raise statement, not yet linked with the rest of the tree."""

    line: int
    end_line: int
    column: int
    symbol: str
    owner: tuple[str, str] | None  # (first parameter, class) of the method around it
    raised: symbolic.Expr | None  # None for what is raised again
    assumed: tuple[tuple[int, symbolic.Expr, bool], ...]  # tests passed on the way, where variants depend on them
    types: str | None  # the handler's types, for what is raised again
    cause: str | None
    context_start: int
    context: str
    doc: RawDoc | None
    conditions: Conditions
    program: RawProgram | None


class Found(msgspec.Struct, frozen=True, array_like=True):
    """What one definition tells: its sites, the calls on the way to them, and what is imported inside it.

    `shadowed` are the builtins that mean something else in its file, the one thing in there that it depends on.
    """

    line: int  # where it begins
    sites: tuple[RawSite, ...]
    calls: tuple[str, ...]
    imports: tuple[tuple[str, Import], ...]
    shadowed: tuple[str, ...]


def sites(cut: Cut, source: Source, leaving: frozenset[str], shadowed: tuple[str, ...]) -> Found:
    """The sites of a cut. `leaving` are those calls that never return."""
    walker = Walker(source)
    programs = Programs(frozenset(shadowed), leaving, source)
    qualified = ".".join(c.name for c in cut.classes)
    walker.block(cut.nodes, NO_NAMES, Scope(qualified or "<module>", in_class=qualified or None))
    known = conditions(cut.nodes, cut.classes, source, leaving)
    around = module(cut.nodes)
    made = []
    for raised in walker.raised:
        key = id(raised.node)
        owner = None if raised.scope.owner is None else raised.scope.owner[1]
        program = programs.program(raised.node, _functions(raised.scope) or [around], owner, known.asked[key])
        made.append(_site(raised, walker, source, known.conditions[key], program))
    imports = tuple(index.local_imports(cut.nodes))
    return Found(first_line(cut.nodes[0]), tuple(made), tuple(sorted(known.calls)), imports, shadowed)


def bare(found: Found) -> Found:
    """Without the lines around the sites, for `moved` to give anew."""
    return replace(found, sites=tuple(replace(site, context="") for site in found.sites))


def moved(found: Found, line: int, source: Source) -> Found:
    """What a definition tells where its text begins on another line, or in another file."""
    by = line - found.line
    return replace(found, line=line, sites=tuple(_moved(site, by, source) for site in found.sites))


def _moved(site: RawSite, by: int, source: Source) -> RawSite:
    start, context = _context(site.line + by, source)
    if not by:
        return replace(site, context_start=start, context=context)
    known = site.conditions
    return replace(
        site,
        line=site.line + by,
        end_line=site.end_line + by,
        context_start=start,
        context=context,
        doc=None if site.doc is None else replace(site.doc, line=site.doc.line + by),
        conditions=replace(
            known,
            guards=tuple(_moved_guard(guard, by) for guard in known.guards),
            definition=tuple(_moved_guard(guard, by) for guard in known.definition),
        ),
    )


def _moved_guard(guard: RawGuard, by: int) -> RawGuard:
    tried = guard.tried
    tried = None if tried is None else replace(tried, line=tried.line + by, end_line=tried.end_line + by)
    return replace(guard, line=guard.line + by, tried=tried)


def _functions(scope: Scope | None) -> list[FunctionNode]:
    """The functions around a place, innermost last; none in the body of a class inside one."""
    found: list[FunctionNode] = []
    if scope is not None and scope.function is None and scope.in_class is not None and scope.around is not None:
        return []
    while scope is not None:
        if scope.function is not None:
            found.append(scope.function)
        scope = scope.around
    return found[::-1]


def _doc(scope: Scope | None) -> RawDoc | None:
    """The docstring of the innermost function around the site that has one."""
    while scope is not None:
        if scope.function is not None:
            text, line = index.docstring(scope.function)
            if text:
                return RawDoc(scope.symbol, line, text)
        scope = scope.around
    return None


def _site(raised: Raised, walker: Walker, source: Source, known: Conditions, program: RawProgram | None) -> RawSite:
    node = raised.node
    types = _again(raised)
    value = None if types is not None or node.exc is None else walker.lowering.raised(node.exc, raised.env)
    start, context = _context(node.lineno, source)
    return RawSite(
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        column=_column(node, source),
        symbol=raised.scope.symbol,
        owner=raised.scope.owner,
        raised=value,
        assumed=() if value is None else walker.lowering.assumptions(raised.env, value),
        types=types,
        cause=_cause(raised, walker),
        context_start=start,
        context=context,
        doc=_doc(raised.scope),
        conditions=known,
        program=program,
    )


def _context(line: int, source: Source) -> tuple[int, str]:
    """The number of the first line around a raise, and the lines."""
    start = max(1, line - CONTEXT)
    lines = source.lines[start - 1 : line + CONTEXT]
    if line + CONTEXT >= len(source.lines) and lines[-1] == "":
        lines = lines[:-1]  # the line behind the last line end is none
    return start, "\n".join(lines)


def _column(node: ast.stmt, source: Source) -> int:
    line = source.lines[node.lineno - 1]
    if line.isascii() or source.written:
        return node.col_offset
    return len(line.encode()[: node.col_offset].decode("utf-8", "replace"))


def _again(raised: Raised) -> str | None:
    """The types of what is raised again: by a bare `raise`, or by the name that its handler gave it."""
    if raised.node.exc is None:
        return raised.scope.handlers[-1] if raised.scope.handlers else "BaseException"
    return _caught(raised.node.exc, raised.env)


def _caught(node: ast.expr, env: Env) -> str | None:
    """The types of a handler, when the expression can only be what that handler caught."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="with_traceback")):
            return _caught(inner, env)
        case ast.Name(id=name):
            found = _caught_by(env.get(name))
            return " | ".join(dict.fromkeys(t for types in found for t in types.split(" | "))) if found else None
    return None


def _caught_by(binding: Binding | None) -> list[str] | None:
    """The types that reach a name from handlers, or None when something else may. `None` itself cannot be raised."""
    match binding:
        case Caught(types):
            return [types]
        case Assigned(ast.Constant(value=None)):
            return []
        case Assigned(ast.Name(id=name), env):
            return _caught_by(env.get(name))
        case Either(then=then, other=other):
            first, second = _caught_by(then), _caught_by(other)
            return None if first is None or second is None else first + second
    return None


def _cause(raised: Raised, walker: Walker) -> str | None:
    cause = raised.node.cause
    if cause is None:
        return None
    return _caught(cause, raised.env) or walker.lowering.code(cause)
