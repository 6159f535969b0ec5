"""Owns the reading of one file: bytes in, the symbolic record of its raise sites and its index out.

A pure function of the content, without the path, so the record can be kept under the content's hash and
made in any process. Syntax trees stay in here.
"""

from __future__ import annotations

import ast

import msgspec

from extractor import index, newer, scan, symbolic
from extractor.bindings import NO_NAMES, Assigned, Binding, Caught, Either, Env
from extractor.flow import Raised, Scope, Walker, summarise
from extractor.guards import Conditions, conditions
from extractor.index import Index
from extractor.programs import Programs, RawProgram, module
from extractor.scan import Cut, Locator, Source, Unreadable
from extractor.targets import FunctionNode

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


class FileRecord(msgspec.Struct, frozen=True, array_like=True):
    """All that one file tells. `reason` says why it could not be read, and nothing else is set then.

    `calls` are calls on the way to a raise: should one of them never return, the file has to be read again.
    """

    sites: tuple[RawSite, ...]
    raises: int
    index: Index | None
    reason: str | None = None
    calls: tuple[str, ...] = ()


class PackedRecord(msgspec.Struct, frozen=True, array_like=True):
    """A `FileRecord` in MessagePack whose sites stay packed until somebody links them: most of it is theirs."""

    sites: msgspec.Raw
    raises: int
    index: Index | None
    reason: str | None = None
    calls: tuple[str, ...] = ()


def unpacked(sites: msgspec.Raw) -> tuple[RawSite, ...]:
    """The sites of a `PackedRecord`."""
    return msgspec.msgpack.decode(sites, type=tuple[RawSite, ...])


def extract(data: bytes, leaving: frozenset[str] = frozenset()) -> FileRecord:
    """Reads one file; what cannot be read is a record that says why, with a guess at the raises in it.

    `leaving` are those of its `calls` that never return.
    """
    try:
        if len(data) > scan.MAX_BYTES:
            raise Unreadable(f"it has {len(data):,} bytes, more than the {scan.MAX_BYTES:,} that are read")
        tree, source = _parsed(scan.decode(data))
        return _record(tree, source, leaving)
    except Unreadable as e:
        return FileRecord((), _guess(data), None, str(e))
    except RecursionError:
        return FileRecord((), _guess(data), None, "it is nested too deeply to be followed")


def summary(data: bytes, first: int, last: int) -> symbolic.Function | None:
    """What the function on these lines of a file returns, for a message that is built by it."""
    lines = scan.decode(data).lines[first - 1 : last]
    text = "\n".join(lines) + "\n"
    try:
        tree, source = _parsed(Source.of("if 1:\n" + text if text[0] in " \t\f" else text))
        for node in scan.statements(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return summarise(node, source)
    except (Unreadable, RecursionError):
        pass
    return None


def _guess(data: bytes) -> int:
    return sum(1 for line in data.splitlines() if line.split(b"#")[0].split()[:1] in ([b"raise"],))


def _parsed(source: Source) -> tuple[ast.Module, Source]:
    try:
        return scan.parse(source), source
    except SyntaxError as e:
        return newer.read(source, e)


def _record(tree: ast.Module, source: Source, leaving: frozenset[str]) -> FileRecord:
    locator = Locator(source)
    declared = index.build(tree, source)
    found = locator.cuts(tree)
    if not found:
        return FileRecord((), 0, declared)
    calls: set[str] = set()
    names = declared.imports.keys() | declared.functions.keys() | declared.classes.keys() | declared.values.keys()
    programs = Programs(frozenset(names), leaving, source)
    sites = tuple(site for cut in found for site in _sites(cut, source, leaving, calls, programs))
    inner = index.local_imports((n for cut in found for n in cut.nodes), declared.imports)
    if inner:
        declared = msgspec.structs.replace(declared, imports={**declared.imports, **inner})
    ordered = tuple(sorted(sites, key=lambda s: (s.line, s.column)))
    return FileRecord(ordered, len(sites), declared, calls=tuple(sorted(calls)))


def _sites(cut: Cut, source: Source, leaving: frozenset[str], calls: set[str], programs: Programs) -> list[RawSite]:
    walker = Walker(source)
    qualified = ".".join(c.name for c in cut.classes)
    walker.block(cut.nodes, NO_NAMES, Scope(qualified or "<module>", in_class=qualified or None))
    known = conditions(cut.nodes, cut.classes, source, leaving)
    calls |= known.calls
    around = module(cut.nodes)
    made = []
    for raised in walker.raised:
        key = id(raised.node)
        owner = None if raised.scope.owner is None else raised.scope.owner[1]
        program = programs.program(raised.node, _functions(raised.scope) or [around], owner, known.asked[key])
        made.append(_site(raised, walker, source, known.conditions[key], program))
    return made


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
    start = max(1, node.lineno - CONTEXT)
    lines = source.lines[start - 1 : node.lineno + CONTEXT]
    if node.lineno + CONTEXT >= len(source.lines) and lines[-1] == "":
        lines = lines[:-1]  # the line behind the last line end is none
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
        context="\n".join(lines),
        doc=_doc(raised.scope),
        conditions=known,
        program=program,
    )


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
