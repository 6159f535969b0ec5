"""Owns expressions: a libcst expression and the bindings that reach it become a symbolic one.

Pure but for the memo inside a `Lowering`, of which there is one for each piece of source that is walked.
Names are followed through the bindings that `flow` keeps; a binding is lowered when it is first asked for,
since most assignments of a function have nothing to do with its messages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import libcst as cst
from rpds import HashTrieMap

from extractor import symbolic as sym

if TYPE_CHECKING:
    from collections.abc import Iterable


EMPTY = cst.Module([])
LIMIT = 20_000  # nodes that one binding may unfold to; branches upon branches double it each time
DEPTH = 100
MAX_ASSUMED = 12
CSTNodeT = TypeVar("CSTNodeT", bound=cst.CSTNode)
TEXT_METHODS = frozenset(
    "format format_map join strip lstrip rstrip lower upper title capitalize casefold replace removeprefix "
    "removesuffix expandtabs ljust rjust center zfill split".split()
)
CONVERSIONS = {"str": None, "repr": "r", "ascii": "a"}


@dataclass(frozen=True, slots=True, eq=False)
class Assumed:
    """A test that came out one way on the way here, with the bindings that it saw."""

    before: Assumed | None
    test: cst.BaseExpression
    holds: bool
    env: Env


@dataclass(frozen=True, slots=True, eq=False)
class Env:
    """What is known at one point: which bindings reach it, and which tests were passed. Never changed."""

    names: HashTrieMap[str, Binding]
    path: Assumed | None = None

    def get(self, name: str) -> Binding | None:
        """The binding that reaches here, if the name is a local one."""
        return self.names.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def insert(self, name: str, binding: Binding) -> Env:
        """With one more name, or another binding of it."""
        return Env(self.names.insert(name, binding), self.path)

    def discard(self, name: str) -> Env:
        """Without the name."""
        return Env(self.names.discard(name), self.path) if name in self.names else self

    def assume(self, test: cst.BaseExpression, holds: bool) -> Env:
        """Behind a test that came out one way."""
        return Env(self.names, Assumed(self.path, test, holds, self))


NO_NAMES = Env(HashTrieMap())


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A local whose value is not followed: a loop's variable, a parameter, what `with … as` gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """`name = value`, with the bindings as they were."""

    value: cst.BaseExpression
    env: Env


@dataclass(frozen=True, slots=True, eq=False)
class Unpacked:
    """One name of `a, b = value`."""

    value: cst.BaseExpression
    position: int
    env: Env


@dataclass(frozen=True, slots=True, eq=False)
class Augmented:
    """`name += value`."""

    before: Binding
    value: cst.BaseExpression
    env: Env


@dataclass(frozen=True, slots=True, eq=False)
class Appended:
    """`name.append(value)` on a list display."""

    before: Binding
    value: cst.BaseExpression
    env: Env


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """A branch gave the name one value, the other branch another; `key` tells the branch apart from others."""

    key: int
    test: cst.BaseExpression | None
    env: Env
    then: Binding | None
    other: Binding | None


@dataclass(frozen=True, slots=True, eq=False)
class Looped:
    """Text before a loop, and what the loop adds to it an unknown number of times, as a reader would put it."""

    before: Binding | None
    added: str


@dataclass(frozen=True, slots=True, eq=False)
class Defined:
    """A nested function, to be summarised when it is called."""

    summary: Callable[[], sym.Function | None]


@dataclass(frozen=True, slots=True, eq=False)
class Caught:
    """The name in `except types as name`."""

    types: str


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A binding that is symbolic already."""

    value: sym.Expr


Binding = Unknown | Assigned | Unpacked | Augmented | Appended | Either | Looped | Defined | Caught | Given

UNKNOWN = Unknown()


def code(node: cst.CSTNode) -> str:
    """The node's source on one line; comments and line breaks inside brackets go."""
    kind = type(node)
    if (kind is cst.Name or kind is cst.Attribute) and not node.lpar:  # type: ignore[attr-defined]
        dotted = dotted_name(node)  # type: ignore[arg-type]
        if dotted is not None:
            return dotted
    text = EMPTY.code_for_node(node)
    if "\n" in text:
        text = EMPTY.code_for_node(node.visit(_OneLine()))  # type: ignore[arg-type]
    return text.strip()


class _OneLine(cst.CSTTransformer):
    """Line breaks inside brackets become spaces, and none right inside a bracket."""

    def leave_ParenthesizedWhitespace(self, original_node: object, updated_node: object) -> cst.SimpleWhitespace:
        return cst.SimpleWhitespace(" ")

    def leave_LeftParen(self, original_node: cst.LeftParen, updated_node: cst.LeftParen) -> cst.LeftParen:
        return _tight(original_node, updated_node, "whitespace_after")

    leave_LeftSquareBracket = leave_LeftCurlyBrace = leave_LeftParen  # type: ignore[assignment]

    def leave_RightParen(self, original_node: cst.RightParen, updated_node: cst.RightParen) -> cst.RightParen:
        return _tight(original_node, updated_node, "whitespace_before")

    leave_RightSquareBracket = leave_RightCurlyBrace = leave_RightParen  # type: ignore[assignment]

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        node = _tight(original_node, updated_node, "whitespace_before_args")
        if not node.args:
            return node
        last = _tight(original_node.args[-1], node.args[-1], "whitespace_after_arg")
        if isinstance(last.comma, cst.Comma):
            last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return node.with_changes(args=(*node.args[:-1], last))


def _tight(original: cst.CSTNode, updated: CSTNodeT, space: str) -> CSTNodeT:
    if isinstance(getattr(original, space, None), cst.ParenthesizedWhitespace):
        return updated.with_changes(**{space: cst.SimpleWhitespace("")})
    return updated


def dotted_name(node: cst.BaseExpression) -> str | None:
    """`a.b.c` for a chain of plain names, None for anything else."""
    names: list[str] = []
    while isinstance(node, cst.Attribute):
        names.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join([node.value, *reversed(names)])


def text_of(node: cst.BaseString) -> str | None:
    """The text of literals that stand side by side; None when they are bytes or not plain."""
    match node:
        case cst.SimpleString():
            value = node.evaluated_value
            return _safe(value) if isinstance(value, str) else None
        case cst.ConcatenatedString(left=left, right=right):
            first, second = text_of(left), text_of(right)
            return None if first is None or second is None else first + second
    return None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _safe(text: str) -> str:
    """Lone surrogates cannot be written as UTF-8: they are shown as escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


_ESCAPED = re.compile(r"\\N\{[^}]*\}|\\.|\{\{|\}\}", re.DOTALL)


def formatted_text(raw: str, quote: str, prefix: str) -> str:
    """The text between the holes of an f-string, escapes and doubled braces resolved."""
    if "{{" in raw or "}}" in raw:
        raw = _ESCAPED.sub(lambda m: m[0][0] if m[0] in ("{{", "}}") else m[0], raw)
    if "\\" in raw and "r" not in prefix.lower():
        try:
            raw = ast.literal_eval(f"{quote}{raw}{quote}")
        except (SyntaxError, ValueError):
            return _safe(raw)
    return _safe(raw.replace("\r\n", "\n").replace("\r", "\n"))


class Lowering:
    """Lowers the expressions of one piece of source; `key()` numbers its branches."""

    def __init__(self) -> None:
        self._memo: dict[int, tuple[Binding, sym.Expr, int]] = {}
        self._keys: dict[int, tuple[object, int]] = {}
        self._questions: dict[tuple[str, int], tuple[str, Binding]] = {}
        self._spent = 0
        self._depth = 0

    def key(self, node: object) -> int:
        """A number for a branch, the same each time it is asked for. The node is kept so its id stays its own."""
        return self._keys.setdefault(id(node), (node, len(self._keys)))[1]

    def asked(self, test: cst.BaseExpression, env: Env) -> int:
        """A number for a test: the same name asked twice with nothing bound in between is one question."""
        name = dotted_name(test)
        binding = None if name is None else env.get(name)
        if name is None or binding is None:
            return self.key(test)
        return self.key(self._questions.setdefault((name, id(binding)), (name, binding)))

    def binding(self, name: str, binding: Binding) -> sym.Expr:
        """What the name stands for; a name that unfolds beyond use stays a name."""
        if isinstance(binding, Unknown | Caught):
            return sym.Name(name, local=True)
        known = self._memo.get(id(binding))
        if known is None:
            before = self._spent
            self._depth += 1
            value = sym.Name(name, local=True) if self._depth > DEPTH else self._binding(name, binding)
            self._depth -= 1
            cost = self._spent - before
            if cost > LIMIT:
                value = sym.Name(name, local=True)
                self._spent = before
                cost = 1
            self._memo[id(binding)] = (binding, value, cost)
            return value
        self._spent += known[2]
        return known[1]

    def _binding(self, name: str, binding: Binding) -> sym.Expr:
        match binding:
            case Assigned(value, env):
                return self.lower(value, env)
            case Unpacked(value, position, env):
                return sym.Item(self.lower(value, env), sym.Lit(position), name)
            case Augmented(before, value, env):
                items = (self.binding(name, before), self.lower(value, env))
                return sym.Add(items, f"{name} + {code(value)}")
            case Appended(before, value, env):
                start = self.binding(name, before)
                return self._append(name, start, self.lower(value, env))
            case Either(key, test, env, then, other):
                asked = sym.Opaque("...") if test is None else self.test(test, env)
                return sym.Cond(key, asked, self._branch(name, then), self._branch(name, other), name)
            case Looped(before, added):
                start = self._branch(name, before)
                return sym.Add((start, sym.Opaque(added)), name)
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
            case sym.Sequence("list", items, src):
                return sym.Sequence("list", (*items, item), name)
            case sym.Cond(key, test, then, other, src):
                return sym.Cond(key, test, self._append(name, then, item), self._append(name, other, item), src)
        return sym.Name(name, local=True)

    def lower(self, node: cst.BaseExpression, env: Env) -> sym.Expr:
        """The symbolic form of any expression."""
        self._spent += 1
        return LOWERS.get(type(node), Lowering._opaque)(self, node, env)

    def _walrus(self, node: cst.NamedExpr, env: Env) -> sym.Expr:
        return self.lower(node.value, env)

    def _binary(self, node: cst.BinaryOperation, env: Env) -> sym.Expr:
        if isinstance(node.operator, cst.Add):
            return self._add(node, env)
        if isinstance(node.operator, cst.Modulo):
            return sym.Percent(self.lower(node.left, env), self.lower(node.right, env), code(node))
        if isinstance(node.operator, cst.Multiply):
            return sym.Times(self.lower(node.left, env), self.lower(node.right, env), code(node))
        return self._opaque(node, env)

    def _if(self, node: cst.IfExp, env: Env) -> sym.Expr:
        then, other = self.lower(node.body, env), self.lower(node.orelse, env)
        return sym.Cond(self.asked(node.test, env), self.test(node.test, env), then, other, code(node))

    def _either(self, node: cst.BooleanOperation, env: Env) -> sym.Expr:
        """`a or b` is a where a is true; `a and b` is b there."""
        first, second = self.lower(node.left, env), self.lower(node.right, env)
        pair = (first, second) if isinstance(node.operator, cst.Or) else (second, first)
        return sym.Cond(self.key(node), self.test(node.left, env), *pair, code(node))

    def _sequence(self, node: cst.List | cst.Tuple | cst.Set, env: Env) -> sym.Expr:
        items = tuple(self._element(e, env) for e in node.elements)
        return sym.Sequence(type(node).__name__.lower(), items, code(node))

    def _subscript(self, node: cst.Subscript, env: Env) -> sym.Expr:
        match node.slice:
            case (cst.SubscriptElement(slice=cst.Index(value=key, star=None)),):
                return sym.Item(self.lower(node.value, env), self.lower(key, env), code(node))
        return self._opaque(node, env)

    def _opaque(self, node: cst.BaseExpression, env: Env) -> sym.Opaque:
        text = code(node)
        return sym.Opaque(text, closed=not any(word in env for word in set(_WORD.findall(text))))

    def _number(self, node: cst.Integer | cst.Float, env: Env) -> sym.Expr:
        value = node.evaluated_value
        in_range = isinstance(value, float) or -(2**63) <= value < 2**63
        return sym.Lit(value) if in_range else self._opaque(node, env)

    def _element(self, element: cst.BaseElement, env: Env) -> sym.Expr:
        value = self.lower(element.value, env)
        return sym.Star(value) if isinstance(element, cst.StarredElement) else value

    def _dict(self, node: cst.Dict, env: Env) -> sym.Expr:
        if not all(isinstance(e, cst.DictElement) for e in node.elements):
            return self._opaque(node, env)
        pairs = [(self.lower(e.key, env), self.lower(e.value, env)) for e in node.elements if isinstance(e, cst.DictElement)]
        return sym.Mapping(tuple(pairs), code(node))

    def _string(self, node: cst.BaseString, env: Env) -> sym.Expr:
        text = text_of(node)
        if text is not None:
            return sym.Lit(text)
        pieces: list[sym.Expr] = []
        for piece in _side_by_side(node):
            if isinstance(piece, cst.FormattedString):
                pieces += self._formatted(piece.parts, piece.quote, piece.prefix, env)
            else:
                text = text_of(piece)
                if text is None:
                    return self._opaque(node, env)
                pieces.append(sym.Lit(text))
        return sym.Join(tuple(pieces))

    def _formatted(
        self, parts: Iterable[cst.BaseFormattedStringContent], quote: str, prefix: str, env: Env
    ) -> list[sym.Expr]:
        pieces: list[sym.Expr] = []
        for part in parts:
            if isinstance(part, cst.FormattedStringText):
                pieces.append(sym.Lit(formatted_text(part.value, quote, prefix)))
            elif isinstance(part, cst.FormattedStringExpression):
                # {expression=!conversion:spec}: with `=` alone the value is shown by repr
                conversion = part.conversion
                if part.equal is not None:
                    pieces.append(sym.Lit(EMPTY.code_for_node(part.expression) + EMPTY.code_for_node(part.equal)))
                    if conversion is None and part.format_spec is None:
                        conversion = "r"
                spec = None
                if part.format_spec is not None:
                    spec = sym.Join(tuple(self._formatted(part.format_spec, quote, prefix, env)))
                pieces.append(sym.Hole(self._held(part.expression, env), conversion, spec))
        return pieces

    def _held(self, node: cst.BaseExpression, env: Env) -> sym.Expr:
        """The value of a hole. A conditional expression written inside one is shown as it is written."""
        self._spent += 1
        match node:
            case cst.IfExp() | cst.BooleanOperation():
                return sym.Opaque(code(node))
            case cst.Name() | cst.Attribute():
                value = self._name(node, env)
                if isinstance(value, sym.Name | sym.Lit):
                    return value
                return sym.Alias(value, code(node)) if _may_be_text(value) else sym.Opaque(code(node))
            case _:
                return self.lower(node, env)

    def _name(self, node: cst.Name | cst.Attribute, env: Env) -> sym.Expr:
        dotted = dotted_name(node)
        if dotted is None:
            assert isinstance(node, cst.Attribute)
            return sym.Attr(self.lower(node.value, env), node.attr.value, code(node))
        binding = env.get(dotted)
        if binding is not None:
            return self.binding(dotted, binding)
        if dotted in ("None", "True", "False"):
            return sym.Lit({"None": None, "True": True, "False": False}[dotted])
        root, _, rest = dotted.partition(".")
        if root not in env:
            return sym.Name(dotted)
        bound = env.get(root)
        if rest and bound is not None and not isinstance(bound, Unknown):
            value = self.binding(root, bound)
            if not isinstance(value, sym.Name):
                for name in rest.split("."):
                    value = sym.Attr(value, name, dotted)
                return sym.Alias(value, dotted)
        return sym.Name(dotted, local=True)

    def _add(self, node: cst.BinaryOperation, env: Env) -> sym.Expr:
        operands: list[cst.BaseExpression] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Add):
            operands.append(left.right)
            left = left.left
        operands.append(left)
        items = tuple(self.lower(o, env) for o in reversed(operands))
        certain = any(isinstance(i, sym.Join) or (isinstance(i, sym.Lit) and isinstance(i.value, str)) for i in items)
        return sym.Add(items, "" if certain else code(node))

    def arguments(
        self, args: Iterable[cst.Arg], env: Env
    ) -> tuple[tuple[sym.Expr, ...], tuple[tuple[str, sym.Expr], ...]]:
        """Positional (`Star` for `*x`) and keyword arguments (`""` for `**x`) of a call."""
        positional: list[sym.Expr] = []
        named: list[tuple[str, sym.Expr]] = []
        for arg in args:
            value = self.lower(arg.value, env)
            if arg.star == "**":
                named.append(("", value))
            elif arg.keyword is not None:
                named.append((arg.keyword.value, value))
            else:
                positional.append(sym.Star(value) if arg.star else value)
        return tuple(positional), tuple(named)

    def _call(self, node: cst.Call, env: Env) -> sym.Expr:
        args, kwargs = self.arguments(node.args, env)
        match node.func:
            case cst.Attribute(value=value, attr=cst.Name(value=name)) if name in TEXT_METHODS:
                return sym.Method(self.lower(value, env), name, args, kwargs, code(node))
            case cst.Name(value=name) if name in CONVERSIONS and name not in env and len(args) == 1 and not kwargs:
                if not isinstance(args[0], sym.Star):
                    return sym.Hole(args[0], CONVERSIONS[name])
            case cst.Name(value="format") if "format" not in env and len(args) == 2 and not kwargs:
                return sym.Hole(args[0], None, args[1])
        func = self.lower(node.func, env)
        return sym.Call(func, args, kwargs, code(node))

    def raised(self, node: cst.BaseExpression, env: Env) -> sym.Expr:
        """What a raise statement raises: nearly always a call of a class, whose own source nobody asks for."""
        match node:
            case cst.Call(func=cst.Name(value=name)) if name[0].isupper() and name not in env:
                return sym.Call(sym.Name(name), *self.arguments(node.args, env), name)
        return self.lower(node, env)

    def test(self, node: cst.BaseExpression, env: Env) -> sym.Expr:
        """A condition: like any expression, but `not`, `and`, `or` and comparisons are kept to be decided."""
        match node:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                return sym.Not(self.test(inner, env))
            case cst.BooleanOperation(left=left, right=right, operator=operator):
                op = "and" if isinstance(operator, cst.And) else "or"
                return sym.Logic(op, (self.test(left, env), self.test(right, env)))
            case cst.Comparison(left=left, comparisons=(cst.ComparisonTarget(operator=operator, comparator=right),)):
                op = EMPTY.code_for_node(operator).strip()
                return sym.Compare(" ".join(op.split()), self.lower(left, env), self.lower(right, env))
        return self.lower(node, env)

    def assumptions(self, env: Env, value: sym.Expr) -> tuple[tuple[int, sym.Expr, bool], ...]:
        """The tests passed on the way that have a say in which variants of the value are possible.

        Nearest first: the test's number, the test, how it came out.
        """
        keys = {_choice(node) for node in sym.walk(value)} - {None}
        found: list[tuple[int, sym.Expr, bool]] = []
        step = env.path if keys else None
        while step is not None and len(found) < MAX_ASSUMED:
            key, test = self.asked(step.test, step.env), self.test(step.test, step.env)
            if any(_choice(node) in keys for node in sym.walk(test)):
                found.append((key, test, step.holds))
            elif key in keys:
                found.append((key, sym.Opaque("..."), step.holds))
            step = step.before
        return tuple(found)


LOWERS: dict[type, Callable[[Lowering, Any, Env], sym.Expr]] = {
    cst.SimpleString: Lowering._string,
    cst.ConcatenatedString: Lowering._string,
    cst.FormattedString: Lowering._string,
    cst.Name: Lowering._name,
    cst.Attribute: Lowering._name,
    cst.Integer: Lowering._number,
    cst.Float: Lowering._number,
    cst.BinaryOperation: Lowering._binary,
    cst.Call: Lowering._call,
    cst.IfExp: Lowering._if,
    cst.BooleanOperation: Lowering._either,
    cst.List: Lowering._sequence,
    cst.Tuple: Lowering._sequence,
    cst.Set: Lowering._sequence,
    cst.Dict: Lowering._dict,
    cst.Subscript: Lowering._subscript,
    cst.NamedExpr: Lowering._walrus,
}

_WORD = re.compile(r"[A-Za-z_]\w*")


def _choice(node: sym.Node) -> int | str | None:
    """What makes a value come out in several ways: a branch, or a call that has branches of its own."""
    match node:
        case sym.Cond(key):
            return key
        case sym.Call(src=src) | sym.Item(src=src) if src:
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


def _side_by_side(node: cst.BaseString) -> list[cst.BaseString]:
    pieces: list[cst.BaseString] = []
    while isinstance(node, cst.ConcatenatedString):
        pieces.append(node.left)
        node = node.right
    return [*pieces, node]
