"""Cuts functions out of a real tree so that they run alone: their globals resolved, or stood in for.

Nothing of the tree is imported. A global is a literal of the tree, an enum or exception class or function of it (cut
in its turn), a harmless module of the standard library, or a stand-in for `torch`, a logger or another class. A
function with any other global is not taken. The text of the tree is read at run time and never kept.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import symtable
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.oracle.running import Module, marked

LIBRARY = {"math", "re", "itertools", "functools", "collections", "contextlib", "typing", "enum", "json", "operator"}
LIBRARY |= {"collections.abc", "dataclasses", "typing_extensions", "types", "numbers", "string", "textwrap", "copy"}
NEVER = {
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "input",
    "breakpoint",
    "exit",
    "quit",
    "setattr",
    "globals",
    "super",
}
LITERAL = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp)


class Alien(Exception):
    """A name that cannot be stood in for."""


class Opaque:
    """Stands for what is not Python of the tree: any attribute, any call, equal to itself alone."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Opaque:
        if name.startswith("_"):
            raise AttributeError(name)
        made = self.__dict__[name] = Opaque(f"{self._name}.{name}")
        return made

    def __call__(self, *args: object, **kwargs: object) -> None:
        return None

    def __repr__(self) -> str:
        return self._name


@dataclass
class Cut:
    """A function that runs alone: in the tree it is `symbol` of `path`."""

    path: str
    symbol: str
    node: ast.FunctionDef
    scope: dict[str, Any]

    def module(self) -> Module:
        tree = ast.parse("")
        tree.body = [stripped(self.node)]
        return Module(marked(tree, self.path), dict(self.scope))

    @property
    def params(self) -> list[str]:
        given = self.node.args
        names = [a.arg for a in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
        return names + [a.arg for a in (given.vararg, given.kwarg) if a is not None]


def stripped(node: ast.FunctionDef) -> ast.FunctionDef:
    """A copy without decorators, annotations and defaults that would need globals; the lines are kept."""
    copy = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    for old, new in zip(ast.walk(node), ast.walk(copy), strict=True):
        for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(old, name):
                setattr(new, name, getattr(old, name))
    copy.decorator_list, copy.returns = [], None
    for argument in ast.walk(copy.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    none = ast.copy_location(ast.Constant(None), node)
    copy.args.defaults = [none for _ in copy.args.defaults]
    copy.args.kw_defaults = [d and none for d in copy.args.kw_defaults]
    return copy


def used(node: ast.FunctionDef) -> set[str]:
    """The globals of a function, those of its inner functions and comprehensions as well."""
    names: set[str] = set()
    waiting = [symtable.symtable(ast.unparse(stripped(node)), "cut", "exec").get_children()[0]]
    while waiting:
        table = waiting.pop()
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        waiting += table.get_children()
    return names


@dataclass
class Files:
    """The modules of a tree, parsed when they are asked for."""

    texts: dict[str, bytes]
    trees: dict[str, ast.Module | None] = field(default_factory=dict)

    def tree(self, path: str) -> ast.Module | None:
        if path not in self.trees:
            try:
                self.trees[path] = ast.parse(self.texts[path]) if path in self.texts else None
            except SyntaxError:
                self.trees[path] = None
        return self.trees[path]

    def module(self, name: str) -> str:
        path = name.replace(".", "/")
        return f"{path}.py" if f"{path}.py" in self.texts else f"{path}/__init__.py"

    def resolve(self, path: str, name: str, depth: int = 0) -> Any:
        """What the name stands for at the top of the file."""
        if name in NEVER or depth > 4:
            raise Alien(name)
        found = [n for n in (self.tree(path) or ast.parse("")).body if name in names_of(n)]
        if not found and hasattr(builtins, name):
            return getattr(builtins, name)
        if len(found) != 1:
            raise Alien(name)
        match found[0]:
            case (
                ast.Assign(targets=[ast.Name()], value=value)
                | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
            ):
                if name == "logger":
                    return Opaque(name)
                return self.literal(value, name)
            case ast.Import(names=names):
                whole = next(a.name for a in names if (a.asname or a.name.split(".")[0]) == name)
                return self.library(whole if "." not in whole or whole in LIBRARY else whole.split(".")[0])
            case ast.ImportFrom(module=str(module), names=names, level=0):
                real = next(a.name for a in names if (a.asname or a.name) == name)
                if module.split(".")[0] == "vllm":
                    return self.resolve(self.module(module), real, depth + 1)
                return getattr(self.library(module), real)
            case ast.FunctionDef() as node if not node.decorator_list:
                return self.function(path, node, depth)
            case ast.ClassDef() as node:
                return self.klass(path, node, depth)
        raise Alien(name)

    def literal(self, value: ast.expr, name: str) -> Any:
        try:
            if isinstance(value, LITERAL):
                return ast.literal_eval(value)
        except ValueError:
            pass
        raise Alien(name)

    def library(self, name: str) -> Any:
        if name in LIBRARY:
            return importlib.import_module(name)
        if name.split(".")[0] == "torch":
            return Opaque(name)
        raise Alien(name)

    def function(self, path: str, node: ast.FunctionDef, depth: int) -> Any:
        scope = self.scope(path, node, depth + 1)
        tree = ast.parse("")
        tree.body = [stripped(node)]
        exec(compile(tree, path, "exec"), scope)
        return scope[node.name]

    def klass(self, path: str, node: ast.ClassDef, depth: int) -> Any:
        bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
        if any(base.endswith(("Enum", "Flag")) for base in bases):
            if not all(isinstance(s, ast.Assign | ast.Expr) for s in node.body):
                raise Alien(node.name)
            tree = ast.parse("")
            tree.body = [node]
            scope = {base: self.resolve(path, base, depth + 1) for base in bases} | {
                "enum": importlib.import_module("enum")
            }
            scope |= {"auto": scope["enum"].auto}
            exec(compile(tree, path, "exec"), scope)
            return scope[node.name]
        resolved = [self.resolve(path, base, depth + 1) for base in bases if hasattr(builtins, base)]
        if resolved and issubclass(resolved[0], BaseException):
            return type(node.name, tuple(resolved), {})
        if resolved or any(base.endswith(("Error", "Exception")) for base in bases):
            raise Alien(node.name)
        return type(node.name, (), {"__init__": lambda self, *args, **kwargs: self.__dict__.update(kwargs)})

    def scope(self, path: str, node: ast.FunctionDef, depth: int = 0) -> dict[str, Any]:
        return {name: self.resolve(path, name, depth) for name in used(node) if name != node.name}


def names_of(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a file binds."""
    match node:
        case ast.Assign(targets=targets):
            return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {a.asname or (a.name.split(".")[0] if isinstance(node, ast.Import) else a.name) for a in names}
        case ast.If() | ast.Try():
            return {n for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt) for n in names_of(inner)}
    return set()


def read(archive: Path) -> Files:
    """The Python files under `vllm/` of a source distribution."""
    texts: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            if path.startswith("vllm/") and path.endswith(".py") and (data := tar.extractfile(member)) is not None:
                texts[path] = data.read()
    return Files(texts)


def cuts(files: Files, most_lines: int = 60) -> list[Cut]:
    """All functions with a raise that run alone, in the order of paths."""
    found: list[Cut] = []
    for path in sorted(files.texts):
        if b"raise " not in files.texts[path]:
            continue
        for symbol, node in functions(files.tree(path) or ast.parse("")):
            size = (node.end_lineno or node.lineno) - node.lineno
            if size > most_lines or not any(isinstance(n, ast.Raise) for n in ast.walk(node)):
                continue
            if any(
                isinstance(n, ast.Import | ast.ImportFrom | ast.Global | ast.Yield | ast.Await) for n in ast.walk(node)
            ):
                continue
            try:
                found.append(Cut(path, symbol, node, files.scope(path, node)))
            except (Alien, AttributeError, KeyError, RecursionError, NameError, TypeError, SyntaxError):
                continue
    return found


def functions(tree: ast.Module) -> list[tuple[str, ast.FunctionDef]]:
    found = [(n.name, n) for n in tree.body if isinstance(n, ast.FunctionDef)]
    for klass in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        found += [(f"{klass.name}.{n.name}", n) for n in klass.body if isinstance(n, ast.FunctionDef)]
    return found
