"""Owns expressions: an `ast` expression and the bindings that reach it become a symbolic one.

Pure but for the memo inside a `Lowering`, of which there is one for each piece of source that is walked.
Names are followed through the bindings that `flow` keeps; a binding is lowered when it is first asked for,
since most assignments of a function have nothing to do with its messages.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from typing import Any

from extractor import strings
from extractor import symbolic as sym
from extractor.bindings import (
    NO_NAMES,
    UNKNOWN,
    Appended,
    Assigned,
    Assumed,
    Augmented,
    Binding,
    Caught,
    Defined,
    Either,
    Env,
    Given,
    Looped,
    Unknown,
    Unpacked,
)  # fmt: skip
from extractor.expr import COMPARISONS
from extractor.expr import dotted as dotted_name
from extractor.scan import Source
from extractor.strings import Field

LIMIT = 20_000  # nodes that one binding may unfold to; branches upon branches double it each time
DEPTH = 100
MAX_ASSUMED = 12
TEXT_METHODS = frozenset(
    [
        "format",
        "format_map",
        "join",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "casefold",
        "replace",
        "removeprefix",
        "removesuffix",
        "expandtabs",
        "ljust",
        "rjust",
        "center",
        "zfill",
        "split",
    ]
)
CONVERSIONS = {"str": None, "repr": "r", "ascii": "a"}
BUILTINS = frozenset(dir(builtins))
WORD = re.compile(r"[A-Za-z_]\w*")


class Lowering:
    """Lowers the expressions of one piece of source; `key()` numbers its branches."""

    def __init__(self, source: Source) -> None:
        self._file = source
        self._source = source  # of the expression at hand: the file, or a hole of an f-string
        self._memo: dict[int, tuple[Binding, sym.Expr, int]] = {}
        self._keys: dict[int, tuple[object, int]] = {}
        self._questions: dict[tuple[str, int], tuple[str, Binding]] = {}
        self._assumed: dict[int, tuple[int, sym.Expr, frozenset[int | str], Assumed]] = {}
        self._spent = 0
        self._depth = 0

    # --- source and keys --------------------------------------------------------------------------------

    def code(self, node: ast.expr) -> str:
        """The expression as it stands in the source, on one line."""
        name = dotted_name(node)
        if name is not None:
            return self._file.written.get(name, name)
        text = self._source.segment(node)
        if "\n" in text:
            try:
                return strings.one_line(strings.parse(text))[1:-1].strip()
            except ValueError:
                return ast.unparse(node)
        return text

    def key(self, node: object) -> int:
        """A number for a branch, the same each time it is asked for. The node is kept so its id stays its own."""
        return self._keys.setdefault(id(node), (node, len(self._keys)))[1]

    def asked(self, test: ast.expr, env: Env) -> int:
        """A number for a test: the same name asked twice with nothing bound in between is one question."""
        name = dotted_name(test)
        binding = None if name is None else env.get(name)
        if name is None or binding is None:
            return self.key(test)
        return self.key(self._questions.setdefault((name, id(binding)), (name, binding)))

    # --- bindings ---------------------------------------------------------------------------------------

    def binding(self, name: str, binding: Binding) -> sym.Expr:
        """What the name stands for; a name that unfolds beyond use stays a name."""
        if isinstance(binding, Unknown | Caught):
            return sym.Name(name, local=True)
        known = self._memo.get(id(binding))
        if known is not None:
            self._spent += known[2]
            return known[1]
        before = self._spent
        self._depth += 1
        around, self._source = self._source, self._file
        value = sym.Name(name, local=True) if self._depth > DEPTH else self._binding(name, binding)
        self._source = around
        self._depth -= 1
        cost = self._spent - before
        if cost > LIMIT:
            value = sym.Name(name, local=True)
            self._spent = before
            cost = 1
        self._memo[id(binding)] = (binding, value, cost)
        return value

    def _binding(self, name: str, binding: Binding) -> sym.Expr:
        match binding:
            case Assigned(value, env):
                return self.lower(value, env)
            case Unpacked(value, position, env):
                return sym.Item(self.lower(value, env), sym.Lit(position), name)
            case Augmented(before, value, env):
                items = (self.binding(name, before), self.lower(value, env))
                return sym.Add(items, f"{name} + {self.code(value)}")
            case Appended(before, value, env):
                return self._append(name, self.binding(name, before), self.lower(value, env))
            case Either(key, test, env, then, other):
                asked = sym.Opaque("...") if test is None else self.test(test, env)
                return sym.Cond(key, asked, self._branch(name, then), self._branch(name, other), name)
            case Looped(before, added):
                return sym.Add((self._branch(name, before), sym.Opaque(added)), name)
            case Defined(summary):
                function = summary()
                return sym.Name(name, local=True) if function is None else sym.Lambda(function)
            case Given(value):
                return value
            case _:
                return sym.Name(name, local=True)

    def _branch(self, name: str, binding: Binding | None) -> sym.Expr:
        return sym.Name(name, local=True) if binding is None else self.binding(name, binding)

    def _append(self, name: str, start: sym.Expr, item: sym.Expr) -> sym.Expr:
        match start:
            case sym.Sequence("list", items):
                return sym.Sequence("list", (*items, item), name)
            case sym.Add(items):
                return sym.Add((*items, sym.Sequence("list", (item,), name)), name)
            case sym.Call():  # of a function that may be followed to the list that it returns
                return sym.Add((start, sym.Sequence("list", (item,), name)), name)
            case sym.Cond(key, test, then, other, src):
                return sym.Cond(key, test, self._append(name, then, item), self._append(name, other, item), src)
        return sym.Name(name, local=True)

    # --- expressions ------------------------------------------------------------------------------------

    def lower(self, node: ast.expr, env: Env) -> sym.Expr:
        """The symbolic form of any expression."""
        self._spent += 1
        return LOWERS.get(type(node), Lowering._opaque)(self, node, env)

    def _opaque(self, node: ast.expr, env: Env) -> sym.Opaque:
        text = self.code(node)
        return sym.Opaque(text, closed=not any(word in env for word in set(WORD.findall(text))))

    def _constant(self, node: ast.Constant, env: Env) -> sym.Expr:
        value = node.value
        if isinstance(value, str):
            return sym.Lit(strings.visible_surrogates(value))
        if value is None or isinstance(value, bool | float) or (isinstance(value, int) and -(2**63) <= value < 2**63):
            return sym.Lit(value)
        return self._opaque(node, env)

    def _joined(self, node: ast.JoinedStr, env: Env) -> sym.Expr:
        try:
            return self._pieces(strings.read(self._source.segment(node)), env)
        except ValueError:
            return self._opaque(node, env)

    def _pieces(self, pieces: Iterable[str | Field], env: Env) -> sym.Join:
        return sym.Join(tuple(sym.Lit(p) if isinstance(p, str) else self._hole(p, env) for p in pieces))

    def _hole(self, field: Field, env: Env) -> sym.Expr:
        self._spent += 1
        spec = None if field.spec is None else self._pieces(field.spec, env)
        return sym.Hole(self._held(field.expression, env), field.conversion, spec)

    def _held(self, code: str, env: Env) -> sym.Expr:
        """The value of a hole. A conditional expression written inside one is shown as it is written."""
        try:
            node = ast.parse(f"({code}\n)", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return sym.Opaque(code)
        if isinstance(node, ast.IfExp | ast.BoolOp):
            return sym.Opaque(code)
        if isinstance(node, ast.Name | ast.Attribute):
            value = self._name(node, env)
            if isinstance(value, sym.Lit) or (isinstance(value, sym.Name) and value.dotted == code):
                return value
            return sym.Alias(value, code) if _may_be_text(value) else sym.Opaque(code)
        around, self._source = self._source, Source.of(f"({code}\n)")
        value = self.lower(node, env)
        self._source = around
        return value

    def _name(self, node: ast.Name | ast.Attribute, env: Env) -> sym.Expr:
        dotted = dotted_name(node)
        if dotted is None:
            assert isinstance(node, ast.Attribute)
            return sym.Attr(self.lower(node.value, env), node.attr, self.code(node))
        binding = env.get(dotted)
        if binding is not None:
            return self.binding(dotted, binding)
        if dotted in self._file.strings:
            return self._newer(self._file.strings[dotted], dotted, env)
        root, _, rest = dotted.partition(".")
        bound = env.get(root)
        if bound is None:
            return sym.Name(dotted)
        if rest and not isinstance(bound, Unknown):
            value = self.binding(root, bound)
            if not isinstance(value, sym.Name):
                for name in rest.split("."):
                    value = sym.Attr(value, name, dotted)
                return sym.Alias(value, dotted)
        return sym.Name(dotted, local=True)

    def _newer(self, literal: Any, name: str, env: Env) -> sym.Expr:
        """A literal that the running `ast` cannot read: `newer` has put a name in its place."""
        try:
            return self._pieces(strings.pieces(literal), env)
        except ValueError:
            return sym.Opaque(self._file.written[name])

    def _binary(self, node: ast.BinOp, env: Env) -> sym.Expr:
        if isinstance(node.op, ast.Add):
            return self._add(node, env)
        if isinstance(node.op, ast.Mod):
            return sym.Percent(self.lower(node.left, env), self.lower(node.right, env), self.code(node))
        if isinstance(node.op, ast.Mult):
            return sym.Times(self.lower(node.left, env), self.lower(node.right, env), self.code(node))
        return self._opaque(node, env)

    def _add(self, node: ast.BinOp, env: Env) -> sym.Expr:
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            operands.append(left.right)
            left = left.left
        operands.append(left)
        items = tuple(self.lower(o, env) for o in reversed(operands))
        return sym.Add(items, "" if any(map(_is_text, items)) else self.code(node))

    def _if(self, node: ast.IfExp, env: Env) -> sym.Expr:
        then, other = self.lower(node.body, env), self.lower(node.orelse, env)
        return sym.Cond(self.asked(node.test, env), self.test(node.test, env), then, other, self.code(node))

    def _either(self, node: ast.BoolOp, env: Env) -> sym.Expr:
        """`a or b` is a where a is true; `a and b` is b there."""
        value = self.lower(node.values[-1], env)
        for n, left in reversed(list(enumerate(node.values[:-1]))):
            first = self.lower(left, env)
            pair = (first, value) if isinstance(node.op, ast.Or) else (value, first)
            value = sym.Cond(self.key(node.values[n]), self.test(left, env), *pair, self.code(node))
        return value

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, env: Env) -> sym.Expr:
        items = tuple(self._element(e, env) for e in node.elts)
        return sym.Sequence(type(node).__name__.lower(), items, self.code(node))

    def _element(self, node: ast.expr, env: Env) -> sym.Expr:
        return sym.Star(self.lower(node.value, env)) if isinstance(node, ast.Starred) else self.lower(node, env)

    def _dict(self, node: ast.Dict, env: Env) -> sym.Expr:
        pairs = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                return self._opaque(node, env)
            pairs.append((self.lower(key, env), self.lower(value, env)))
        return sym.Mapping(tuple(pairs), self.code(node))

    def _subscript(self, node: ast.Subscript, env: Env) -> sym.Expr:
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            return self._opaque(node, env)
        return sym.Item(self.lower(node.value, env), self.lower(node.slice, env), self.code(node))

    def _lambda(self, node: ast.Lambda, env: Env) -> sym.Expr:
        """A function that is written out where it is bound."""
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            env = env.insert(arg.arg, UNKNOWN)
        if node.args.vararg is not None or node.args.kwarg is not None:
            return self._opaque(node, env)
        return sym.Lambda(sym.Function(self.signature(node.args), self.lower(node.body, env)))

    def signature(self, args: ast.arguments) -> tuple[sym.Param, ...]:
        """The parameters of a function with their defaults."""

        def default(value: ast.expr | None) -> sym.Expr | None:
            return None if value is None else self.lower(value, NO_NAMES)

        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        found = [sym.Param(a.arg, "pos", default(d)) for a, d in zip(positional, defaults, strict=True)]
        if args.vararg is not None:
            found.append(sym.Param(args.vararg.arg, "*"))
        found += [sym.Param(a.arg, "kw", default(d)) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
        if args.kwarg is not None:
            found.append(sym.Param(args.kwarg.arg, "**"))
        return tuple(found)

    def _walrus(self, node: ast.NamedExpr, env: Env) -> sym.Expr:
        return self.lower(node.value, env)

    # --- calls ------------------------------------------------------------------------------------------

    def arguments(
        self, args: Iterable[ast.expr], keywords: Iterable[ast.keyword], env: Env
    ) -> tuple[tuple[sym.Expr, ...], tuple[tuple[str, sym.Expr], ...]]:
        """Positional (`Star` for `*x`) and keyword arguments (`""` for `**x`) of a call."""
        positional = tuple(self._element(arg, env) for arg in args)
        return positional, tuple((k.arg or "", self.lower(k.value, env)) for k in keywords)

    def _call(self, node: ast.Call, env: Env) -> sym.Expr:
        args, kwargs = self.arguments(node.args, node.keywords, env)
        match node.func:
            case ast.Attribute(value=value, attr=name) if name in TEXT_METHODS:
                base = self.lower(value, env)
                certain = name != "join" and _is_text(base)
                return sym.Method(base, name, args, kwargs, "" if certain else self.code(node))
            case ast.Name(id=name) if name in CONVERSIONS and name not in env and len(args) == 1 and not kwargs:
                if not isinstance(args[0], sym.Star):
                    return sym.Hole(args[0], CONVERSIONS[name])
            case ast.Name(id="format") if "format" not in env and len(args) == 2 and not kwargs:
                return sym.Hole(args[0], None, args[1])
        return sym.Call(self.lower(node.func, env), args, kwargs, self.code(node))

    def raised(self, node: ast.expr, env: Env) -> sym.Expr:
        """What a raise statement raises: nearly always a call of a class, whose own source nobody asks for."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if name[0].isupper() and name not in env:
                return sym.Call(sym.Name(name), *self.arguments(node.args, node.keywords, env), name)
        return self.lower(node, env)

    # --- tests ------------------------------------------------------------------------------------------

    def test(self, node: ast.expr, env: Env) -> sym.Expr:
        """A condition: like any expression, but `not`, `and`, `or` and comparisons are kept to be decided."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return sym.Not(self.test(inner, env))
            case ast.BoolOp(op=op, values=items):
                return sym.Logic("and" if isinstance(op, ast.And) else "or", tuple(self.test(i, env) for i in items))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return sym.Compare(COMPARISONS[type(op)], self.lower(left, env), self.lower(right, env))
        return self.lower(node, env)

    def assumptions(self, env: Env, value: sym.Expr) -> tuple[tuple[int, sym.Expr, bool], ...]:
        """The tests passed on the way that have a say in which variants of the value are possible.

        Nearest first: the test's number, the test, how it came out.
        """
        keys = {_choice(node) for node in sym.walk(value) if node is not value} - {None}
        found: list[tuple[int, sym.Expr, bool]] = []
        step: Assumed | None = env.path if keys else None
        while step is not None and len(found) < MAX_ASSUMED:
            key, test, choices = self._question(step)
            if not keys.isdisjoint(choices):
                found.append((key, test, step.holds))
            elif key in keys:
                found.append((key, sym.Opaque("..."), step.holds))
            step = step.before
        return tuple(found)

    def _question(self, step: Assumed) -> tuple[int, sym.Expr, frozenset[int | str]]:
        """The number of a test, the test, and what in it may come out in several ways."""
        known = self._assumed.get(id(step))
        if known is None:
            test = self.test(step.test, step.env)
            choices = frozenset(c for c in map(_choice, sym.walk(test)) if c is not None)
            known = self._assumed[id(step)] = (self.asked(step.test, step.env), test, choices, step)
        return known[:3]


LOWERS: dict[type, Callable[[Lowering, Any, Env], sym.Expr]] = {
    ast.Constant: Lowering._constant,
    ast.JoinedStr: Lowering._joined,
    ast.Name: Lowering._name,
    ast.Attribute: Lowering._name,
    ast.BinOp: Lowering._binary,
    ast.Call: Lowering._call,
    ast.IfExp: Lowering._if,
    ast.BoolOp: Lowering._either,
    ast.List: Lowering._sequence,
    ast.Tuple: Lowering._sequence,
    ast.Set: Lowering._sequence,
    ast.Dict: Lowering._dict,
    ast.Subscript: Lowering._subscript,
    ast.NamedExpr: Lowering._walrus,
    ast.Lambda: Lowering._lambda,
}


def _is_text(node: sym.Expr) -> bool:
    """Text for certain: what is done to it never falls back on its source."""
    return isinstance(node, sym.Join) or (isinstance(node, sym.Lit) and isinstance(node.value, str))


def _choice(node: sym.Node) -> int | str | None:
    """What makes a value come out in several ways: a branch, or a call that has branches of its own."""
    match node:
        case sym.Cond(key):
            return key
        case sym.Call(sym.Name(name), src=src) if name not in BUILTINS and _may_be_text(node):
            return src
        case sym.Call(sym.Lambda(), src=src) | sym.Item(src=src):
            return src
    return None


def _may_be_text(node: sym.Expr) -> bool:
    """Whether linking may find text behind the node."""
    match node:
        case sym.Attr() | sym.Opaque(closed=False) | sym.Mapping() | sym.Name(local=True):
            return False
        case sym.Call(sym.Name(dotted, local=True)):
            return dotted.startswith(("self.", "cls."))
        case sym.Call(sym.Attr()):
            return True  # super().__str__()
        case sym.Call(func) | sym.Alias(func) | sym.Item(func):
            return _may_be_text(func)
        case sym.Cond(then=then, other=other):
            return _may_be_text(then) or _may_be_text(other)
    return True
