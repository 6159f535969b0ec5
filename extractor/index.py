"""Owns what one file declares: imports, constants, classes and functions, by name, as plain data.

Read with `ast` from module and class bodies alone. Values stay source text: few are ever asked for, and
`expr` evaluates those. Like all that is kept for one file, an index holds no path.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from extractor.expr import dotted
from extractor.scan import Source, statements

MAX_VALUE = 20_000  # characters of a constant's source
PLAIN = (
    ast.Constant, ast.JoinedStr, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name,
    ast.Attribute, ast.Call, ast.Subscript,
)  # fmt: skip
NEVER = re.compile(r"""['"]?(?:\w+\.)*(?:NoReturn|Never)['"]?""")
_GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)
_CHANGE = (
    r"(?:\[[^\]\n]*\]\s*(?:[-+|&]?=)(?!=)"
    r"|\.(?:append|add|update|extend|insert|setdefault|pop\w*|remove|discard|clear)\()"
)
_STORED = [  # beginning with the text itself: that is what a search is fast for
    re.compile(rf"{own}(?<!\w{own})\.(\w+)\s*(?::[^=\n]+)?(?:[-+*/%|&^@]|//|\*\*|>>|<<)?=(?!=)")
    for own in ("self", "cls")
]
FINAL = re.compile(r"\b(Final|ClassVar|TypeAlias)\b")


class Import(msgspec.Struct, frozen=True, array_like=True):
    """`from module import attribute` (`level` leading dots), or `import module` when there is no attribute."""

    module: str
    attribute: str | None = None
    level: int = 0


class Value(msgspec.Struct, frozen=True, array_like=True):
    """The source of a constant's value."""

    src: str
    line: int
    annotated: bool = False  # `NAME: T = value` that is neither Final nor ClassVar: in a class, a default


class Span(msgspec.Struct, frozen=True, array_like=True):
    """The lines of a definition, a class's docstring with its line, and the decorators as written."""

    first: int
    last: int
    doc: str | None = None
    doc_line: int = 0
    traits: tuple[str, ...] = ()  # property, app.get()
    leaves: bool = False  # a function that is annotated never to return
    swallows: bool = False  # a context manager that may keep an exception to itself


class Class(msgspec.Struct, frozen=True, array_like=True):
    """A class: its bases as written, what its body assigns, what its methods assign on `self`."""

    span: Span
    bases: tuple[str, ...]
    values: dict[str, Value]
    fields: tuple[str, ...]  # annotated names, in order: the parameters of a dataclass
    stored: frozenset[str]
    methods: dict[str, Span]


class Index(msgspec.Struct, frozen=True, array_like=True):
    """What a file declares. Names that are bound twice, or only on some path, are in none of the tables."""

    imports: dict[str, Import]
    stars: tuple[Import, ...]
    values: dict[str, Value]
    functions: dict[str, Span]
    classes: dict[str, Class]  # by qualified name


def build(tree: ast.Module, source: Source) -> Index:
    """The index of a parsed file."""
    imports: dict[str, Import] = {}
    stars: list[Import] = []
    for node in _top(tree.body):
        _import(node, imports, stars)
    values = _values(tree.body, source)
    for name in [n for n, value in values.items() if value.src[:1] in "[{" and _is_changed(n, source.text)]:
        del values[name]
    if "global " in source.text:
        for names in _GLOBAL.findall(source.text):
            for name in names.split(","):
                values.pop(name.strip(), None)
    functions = {n.name: _span(n) for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    classes: dict[str, Class] = {}
    for node in _top(tree.body):
        if isinstance(node, ast.ClassDef):
            _class(node, node.name, source, classes)
    return Index(imports, tuple(stars), values, functions, classes)


def _is_changed(name: str, text: str) -> bool:
    """Whether a collection is changed somewhere in its own file. The plain search spares most of the other."""
    mentioned = f"{name}[" in text or f"{name}." in text
    return mentioned and re.search(rf"\b{name}{_CHANGE}", text) is not None


def local_imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, Import]]:
    """The imports inside statements."""
    for node in nodes:
        for statement in statements(node):
            here: dict[str, Import] = {}
            _import(statement, here, [])
            yield from here.items()


def with_local(declared: Index, found: Iterable[tuple[str, Import]]) -> Index:
    """The index of a file with the imports inside its functions: a name that has two meanings has none."""
    inner: dict[str, Import] = {}
    clashing = set()
    for name, target in found:
        if inner.setdefault(name, target) != target:
            clashing.add(name)
    imports = {n: t for n, t in inner.items() if n not in clashing and n not in declared.imports}
    return msgspec.structs.replace(declared, imports={**declared.imports, **imports}) if imports else declared


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at module level, those under `if` and `try` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for field in ("body", "orelse", "finalbody"):
                yield from _top(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from _top(handler.body)


def _import(node: ast.stmt, imports: dict[str, Import], stars: list[Import]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds a; `import a.b as c` binds c to a.b
            name = alias.asname or alias.name.split(".")[0]
            imports.setdefault(name, Import(alias.name if alias.asname else name))
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            target = Import(node.module or "", alias.name, node.level)
            if alias.name == "*":
                stars.append(Import(node.module or "", None, node.level))
            else:
                imports.setdefault(alias.asname or alias.name, target)


def _values(body: list[ast.stmt], source: Source) -> dict[str, Value]:
    """Names that a body assigns exactly once, unconditionally, to something that may be a constant."""
    found: dict[str, Value] = {}
    bound: list[str] = []
    for node in body:
        if isinstance(node, ast.Assign):
            targets, value, annotated = node.targets, node.value, False
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value, annotated = [node.target], node.value, not _is_final(node.annotation, source)
        else:
            bound += _bound(node)
            continue
        bound += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        for target, part in _pairs(targets, value):
            if isinstance(part, PLAIN):
                src = source.segment(part)
                if len(src) <= MAX_VALUE:
                    found[target] = Value(src, node.lineno, annotated)
    counts = Counter(bound)
    return {name: value for name, value in found.items() if counts[name] == 1}


def _pairs(targets: Iterable[ast.expr], value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each name with what it is assigned: `A = B = 1`, and `A, B = 1, 2`."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
        ):
            yield from (pair for t, v in zip(target.elts, value.elts, strict=True) for pair in _pairs([t], v))


def _is_final(annotation: ast.expr, source: Source) -> bool:
    """Whether an annotated value is a constant; writing the annotation anew leaves comments in it out."""
    return FINAL.search(source.segment(annotation)) is not None and FINAL.search(ast.unparse(annotation)) is not None


def _bound(node: ast.stmt) -> Iterator[str]:
    """What any other statement of a body binds or changes, so that its first value is not the last."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func  # NAME.append(x)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            yield function.value.id
        return
    for statement in (node, *statements(node)):
        for target in _targets(statement):
            for child in ast.walk(target):
                if isinstance(child, ast.Name):
                    yield child.id


def _targets(node: ast.stmt) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            yield from targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            yield target
        case ast.With(items=items):
            yield from (item.optional_vars for item in items if item.optional_vars is not None)
        case ast.If(test=test) | ast.While(test=test):
            yield from (n.target for n in ast.walk(test) if isinstance(n, ast.NamedExpr))


def _is_class_var(annotation: ast.expr) -> bool:
    inner = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return (dotted(inner) or "").endswith("ClassVar")


def _span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Span:
    doc, line = docstring(node) if isinstance(node, ast.ClassDef) else (None, 0)
    traits = [f"{_code(d.func)}()" if isinstance(d, ast.Call) else _code(d) for d in node.decorator_list]
    returns = None if isinstance(node, ast.ClassDef) else node.returns
    is_name = isinstance(returns, ast.Name | ast.Attribute | ast.Constant)
    leaves = returns is not None and is_name and NEVER.fullmatch(_code(returns)) is not None
    return Span(node.lineno, node.end_lineno or node.lineno, doc, line, tuple(traits), leaves, _swallows(node, traits))


def _swallows(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, traits: Iterable[str]) -> bool:
    """`__exit__` that returns something, or a generator whose `yield` stands in a `try` with a handler that goes on."""
    if node.name in ("__exit__", "__aexit__"):
        returned = [s.value for s in statements(node) if isinstance(s, ast.Return) and s.value is not None]
        return any(not isinstance(value, ast.Constant) or bool(value.value) for value in returned)
    if not any(trait.split(".")[-1] in ("contextmanager", "asynccontextmanager") for trait in traits):
        return False
    return any(
        isinstance(s, ast.Try)
        and any(isinstance(n, ast.Yield) for inner in s.body for n in ast.walk(inner))
        and any(not isinstance(handler.body[-1], ast.Raise) for handler in s.handlers)
        for s in statements(node)
    )


def _stored(text: str) -> Iterator[str]:
    """What methods assign on their object or class."""
    for pattern in _STORED:
        yield from pattern.findall(text)


def _code(node: ast.expr) -> str:
    return dotted(node) or ast.unparse(node)


def docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[str | None, int]:
    """The cleaned docstring and the line that it starts on."""
    text = ast.get_docstring(node)
    return (text, node.body[0].lineno) if text else (None, 0)


def _class(node: ast.ClassDef, name: str, source: Source, found: dict[str, Class]) -> None:
    values = _values(node.body, source)
    text = "\n".join(source.lines[node.lineno - 1 : node.end_lineno]) if values else ""
    fields = tuple(
        n.target.id
        for n in node.body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and not _is_class_var(n.annotation)
    )
    methods = {n.name: _span(n) for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    bases = tuple(_code(b) for b in node.bases)
    found.setdefault(name, Class(_span(node), bases, values, fields, frozenset(_stored(text)), methods))
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            _class(child, f"{name}.{child.name}", source, found)
