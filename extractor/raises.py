"""Owns the reading of one file: bytes in, the symbolic record of its raise sites and its index out.

A pure function of the content, without the path, so the record can be kept under the content's hash and
made in any process. Syntax trees stay in here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import libcst as cst
import msgspec
from libcst.metadata import MetadataWrapper, PositionProvider

from extractor import index, scan, symbolic
from extractor.flow import Handler, Raised, Walker, _Scope, suites, summarise
from extractor.index import Index
from extractor.lower import NO_NAMES, Assigned, Caught, Env, code, dotted_name
from extractor.scan import Cut, Locator, Source, Unreadable

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
    context: tuple[str, ...]
    doc: RawDoc | None


class FileRecord(msgspec.Struct, frozen=True, array_like=True):
    """All that one file tells. `reason` says why it could not be read, and nothing else is set then."""

    sites: tuple[RawSite, ...]
    raises: int
    index: Index | None
    reason: str | None = None


def extract(data: bytes) -> FileRecord:
    """Reads one file; what cannot be read is a record that says why, with a guess at the raises in it."""
    try:
        if len(data) > scan.MAX_BYTES:
            raise Unreadable(f"it has {len(data):,} bytes, more than the {scan.MAX_BYTES:,} that are read")
        source = scan.decode(data)
        try:
            tree = scan.parse(source)
        except SyntaxError as e:
            return _newer(source, e)
        return _read(source, tree)
    except Unreadable as e:
        return FileRecord((), _guess(data), None, str(e))


def summary(data: bytes, first: int, last: int) -> symbolic.Function | None:
    """What the function on these lines of a file returns, for a message that is built by it."""
    lines = scan.decode(data).lines[first - 1 : last]
    try:
        module = cst.parse_module(_indented(lines))
    except (cst.ParserSyntaxError, RecursionError):
        return None
    body: Sequence[cst.CSTNode] = module.body
    while len(body) == 1 and not isinstance(body[0], cst.FunctionDef):
        inner = [child for suite in suites(body[0]) for child in suite]
        if not inner:
            return None
        body = inner
    try:
        return summarise(body[0]) if isinstance(body[0], cst.FunctionDef) else None
    except RecursionError:
        return None


def _guess(data: bytes) -> int:
    return sum(1 for line in data.splitlines() if line.split(b"#")[0].split()[:1] in ([b"raise"],))


def _read(source: Source, tree: ast.Module) -> FileRecord:
    locator = Locator(source)
    declared = index.build(tree, source)
    sites: list[RawSite] = []
    found = locator.cuts(tree, source)
    for cut in found:
        sites += _sites(cut, source)
    inner = index.local_imports((n for cut in found for n in cut.nodes), declared.imports) if found else {}
    if inner:
        declared = msgspec.structs.replace(declared, imports={**declared.imports, **inner})
    return FileRecord(tuple(sites), len(sites), declared)


def _indented(lines: Iterable[str]) -> str:
    """Lines of a class body or a branch become a module of their own under an `if`."""
    text = "\n".join(lines) + "\n"
    return "if 1:\n" + text if text[0] in " \t\f" else text


def _sites(cut: Cut, source: Source) -> list[RawSite]:
    text = _indented(source.lines[cut.first - 1 : cut.last])
    try:
        module = cst.parse_module(text)
        body: Sequence[cst.CSTNode] = module.body
        if text.startswith("if 1:\n") and isinstance(body[0], cst.If):
            body = body[0].body.body
        return _walked(body, cut, source, walrus=":=" in text)
    except (cst.ParserSyntaxError, RecursionError, Unreadable) as e:
        return [_bare(node, cut, source, e) for top in cut.nodes for node in Locator(source).raises(top)]


def _walked(body: Sequence[cst.CSTNode], cut: Cut, source: Source, walrus: bool) -> list[RawSite]:
    positions = _positions(body, cut.nodes)
    walker = Walker(walrus=walrus)
    qualified = ".".join(c.name for c in cut.classes)
    scope = _Scope(qualified or "<module>", in_class=qualified or None)
    walker.block(body, NO_NAMES, scope)
    docs = _docs(cut)
    return [_site(r, positions[id(r.node)], walker, docs, source) for r in walker.raised]


def _positions(body: Sequence[cst.CSTNode], nodes: Sequence[ast.stmt]) -> dict[int, ast.stmt]:
    """Each libcst statement's twin in `ast`, which knows its line: both trees list them in one order."""
    ours = [s for node in body for s in _statements(node)]
    theirs = [s for node in nodes for s in (node, *scan.statements(node))]
    if any(type(a).__name__[:3] != _kind(b) for a, b in zip(ours, theirs, strict=False)):
        raise Unreadable("its two readings differ")
    return {id(node): twin for node, twin in zip(ours, theirs, strict=False)}


def _kind(node: ast.stmt) -> str:
    """Enough of the name to tell two readings apart; libcst has one class for both of `def` and `async def`."""
    return type(node).__name__.removeprefix("Async")[:3]


def _statements(top: cst.CSTNode) -> Iterable[cst.CSTNode]:
    stack = [top]
    while stack:
        node = stack.pop()
        if type(node) is not cst.SimpleStatementLine:
            yield node
        for suite in reversed(suites(node)):
            stack.extend(reversed(suite))


def _docs(cut: Cut) -> list[tuple[int, int, RawDoc]]:
    """The docstrings of the functions in the cut with the lines that they speak of, innermost last."""
    found: list[tuple[int, int, RawDoc]] = []
    outer = "".join(f"{c.name}." for c in cut.classes)

    def visit(nodes: Iterable[ast.AST], prefix: str) -> None:
        for node in nodes:
            inside = prefix
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text, line = index.docstring(node)
                if text:
                    found.append((node.lineno, node.end_lineno or node.lineno, RawDoc(prefix + node.name, line, text)))
                inside = f"{prefix}{node.name}.<locals>."
            elif isinstance(node, ast.ClassDef):
                inside = f"{prefix}{node.name}."
            for field in scan.SUITES:
                visit(getattr(node, field, ()), inside)

    visit(cut.nodes, outer)
    return found


def _site(
    raised: Raised, at: ast.stmt, walker: Walker, docs: list[tuple[int, int, RawDoc]], source: Source
) -> RawSite:
    types = _again(raised.node, raised.env, raised.handlers)
    value = None
    if types is None and raised.node.exc is not None:
        value = walker.lowering.raised(raised.node.exc, raised.env)
    assumed = () if value is None else walker.lowering.assumptions(raised.env, value)
    own = [doc for first, last, doc in docs if first <= at.lineno <= last]
    return _placed(at, source, raised.symbol, raised.owner, value, assumed, types, _cause(raised), own[-1] if own else None)


def _placed(
    at: ast.stmt,
    source: Source,
    symbol: str,
    owner: tuple[str, str] | None,
    value: symbolic.Expr | None,
    assumed: tuple[tuple[int, symbolic.Expr, bool], ...],
    types: str | None,
    cause: str | None,
    doc: RawDoc | None,
) -> RawSite:
    start = max(1, at.lineno - CONTEXT)
    lines = source.lines[start - 1 : at.lineno + CONTEXT]
    if at.lineno + CONTEXT >= len(source.lines) and lines[-1] == "":
        lines = lines[:-1]  # the line behind the last line end is none
    line = source.lines[at.lineno - 1]
    column = at.col_offset if line.isascii() else len(line.encode()[: at.col_offset].decode("utf-8", "replace"))
    end = at.end_lineno or at.lineno
    return RawSite(at.lineno, end, column, symbol, owner, value, assumed, types, cause, start, lines, doc)


def _again(node: cst.Raise, env: Env, handlers: tuple[Handler, ...]) -> str | None:
    """The types of what is raised again: by a bare `raise`, or by the name that its handler gave it."""
    if node.exc is None:
        return handlers[-1].types if handlers else "BaseException"
    return _caught(node.exc, env)


def _caught(node: cst.BaseExpression, env: Env) -> str | None:
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="with_traceback"))):
            return _caught(inner, env)
        case cst.Name(value=name):
            match env.get(name):
                case Caught(types):
                    return types
                case Assigned(cst.Name() as value, before):
                    return _caught(value, before)
    return None


def _cause(raised: Raised) -> str | None:
    cause = raised.node.cause
    if cause is None:
        return None
    return _caught(cause.item, raised.env) or code(cause.item)


def _bare(node: ast.Raise, cut: Cut, source: Source, error: Exception) -> RawSite:
    """A site whose surroundings cannot be followed: its own text is all that is said."""
    value = symbolic.Opaque(index.segment(node.exc, source)) if node.exc is not None else None
    symbol = ".".join([*(c.name for c in cut.classes), *(n.name for n in cut.nodes if hasattr(n, "name"))])
    types = "BaseException" if value is None else None
    return _placed(node, source, symbol or "<module>", None, value, (), types, None, None)


# --- source that is newer than the running Python --------------------------------------------------------


def _newer(source: Source, error: SyntaxError) -> FileRecord:
    """libcst knows newer grammar than the running `ast`: the whole file goes through it."""
    at = f"line {error.lineno}: " if error.lineno else ""
    if scan.bracket_depth(source.text) > scan.MAX_DEPTH:
        raise Unreadable(f"brackets are nested more than {scan.MAX_DEPTH} deep")  # libcst would crash
    try:
        wrapper = MetadataWrapper(cst.parse_module(source.text), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        raise Unreadable(f"syntax error at {at}{error.msg}") from None
    walker = Walker()
    walker.block(wrapper.module.body, NO_NAMES, _Scope("<module>"))
    sites = []
    for raised in walker.raised:
        place = positions[raised.node]
        at_node = ast.Raise(
            lineno=place.start.line, end_lineno=place.end.line, col_offset=place.start.column, end_col_offset=0
        )
        site = _site(raised, at_node, walker, [], source)
        sites.append(msgspec.structs.replace(site, column=place.start.column))
    return FileRecord(tuple(sites), len(sites), _index_of_parts(wrapper.module))


def _index_of_parts(module: cst.Module) -> Index:
    """The index from those top-level statements that the running `ast` can read one by one."""
    blank = [""] * (module.code.count("\n") + 2)
    body: list[ast.stmt] = []
    for statement in module.body:
        try:
            body += ast.parse(module.code_for_node(statement)).body
        except SyntaxError:
            continue
    simple = [n for n in body if isinstance(n, ast.Import | ast.ImportFrom)]
    return index.build(ast.Module(simple, []), Source("", tuple(blank)))
