"""Owns the values of programs: an expression as a node, a list whose first item says what it is.

`k` constant, `n` local name, `g` global name (a number in `globals`), `a` attribute, `i` item, `sl` slice,
`u` `o` operators, `c` comparison, `not` `and` `or` `if`, `t` `l` `s` `d` displays, `f` f-string, `comp`, `:=`,
`b()` builtin, `m` method, `v()` call of a local name, `?` a call that is not made, `~` what is only read and not
followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from extractor.expr import COMPARISONS, dotted
from extractor.targets import CHANGING

Node = list[Any]
Code = list[Node]

BUILTINS = frozenset(
    "abs all any bool callable dict divmod enumerate float frozenset getattr hasattr int isinstance len list max min "
    "ord range repr reversed round set sorted str sum tuple type zip".split()
)
# methods of texts and collections that change nothing; of another object they are called like any other
PURE = frozenset(
    "bit_length capitalize casefold copy count difference encode endswith find get index intersection is_integer "
    "isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower isnumeric isspace issubset issuperset "
    "istitle isupper items join keys lower lstrip partition removeprefix removesuffix replace rfind rindex "
    "rpartition rsplit rstrip split splitlines startswith strip swapcase symmetric_difference title union upper "
    "values".split()
)
# methods that change what they are called on, or that no one waits for: they are not made
NOT_MADE = CHANGING | frozenset(
    "center close expandtabs format format_map ljust put rjust send step translate write zfill".split()
)
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAX_INTEGER = 2**63
UNKNOWN_NAME = "<others>"  # whoever else runs meanwhile: it can change everything


class Values:
    """Writes the values of one function: `local` names are its own, `shared` and `unbound` ones not what they seem."""

    def __init__(
        self,
        params: tuple[str, ...],
        local: frozenset[str],
        shared: frozenset[str],
        unbound: frozenset[str],
        declared: frozenset[str],
    ) -> None:
        self.params = params
        self.locals = local
        self.globals: dict[str, int] = {}
        self._shared = shared
        self._unbound = unbound
        self._declared = declared
        self._inner: tuple[frozenset[str], ...] = ()  # names of comprehensions around

    def value(self, node: ast.expr) -> Node:
        """The node of an expression."""
        made = VALUES.get(type(node))
        return self._unfollowed(node) if made is None else made(self, node)

    def _unfollowed(self, node: ast.AST) -> Node:
        """Values inside an expression that is not followed itself."""
        inner = [self.value(c) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        return ["~", inner]

    def _constant(self, node: ast.Constant) -> Node:
        value = node.value
        if isinstance(value, int) and abs(value) >= MAX_INTEGER:
            return ["~", []]
        return ["k", value] if isinstance(value, str | int | float | bool | None) else ["~", []]

    def _name(self, node: ast.Name) -> Node:
        if node.id in self._shared:  # an inner function binds it too, whenever it is called
            return ["~", []]
        if node.id in self._unbound:  # it may have no value
            return ["~", [["n", node.id]]]
        if self.is_local(node.id):
            return ["n", node.id]
        return ["g", self.number(node.id)]

    def is_local(self, name: str) -> bool:
        return name in self.locals or any(name in names for names in self._inner)

    def number(self, name: str) -> int:
        """Of a global name."""
        return self.globals.setdefault(name, len(self.globals))

    def _attribute(self, node: ast.Attribute) -> Node:
        name = dotted(node)
        if name is not None and not self.is_local(name.split(".")[0]):
            return ["g", self.number(name)]
        if node.attr.startswith("__"):
            return ["~", [self.value(node.value)]]
        return ["a", self.value(node.value), node.attr]

    def _subscript(self, node: ast.Subscript) -> Node:
        return ["i", self.value(node.value), self.value(node.slice)]

    def _slice(self, node: ast.Slice) -> Node:
        return ["sl", *(part and self.value(part) for part in (node.lower, node.upper, node.step))]

    def _unary(self, node: ast.UnaryOp) -> Node:
        if isinstance(node.op, ast.Not):
            return ["not", self.value(node.operand)]
        return ["u", UNARY[type(node.op)], self.value(node.operand)]

    def _binary(self, node: ast.BinOp) -> Node:
        op = OPERATORS.get(type(node.op))
        if op is None or (op == "%" and isinstance(node.left, ast.Constant | ast.JoinedStr)):
            return self._unfollowed(node)
        return ["o", op, self.value(node.left), self.value(node.right)]

    def _compare(self, node: ast.Compare) -> Node:
        pairs = zip(node.ops, node.comparators, strict=True)
        return ["c", self.value(node.left), [[COMPARISONS[type(op)], self.value(right)] for op, right in pairs]]

    def _logic(self, node: ast.BoolOp) -> Node:
        return ["or" if isinstance(node.op, ast.Or) else "and", [self.value(v) for v in node.values]]

    def _if(self, node: ast.IfExp) -> Node:
        return ["if", self.value(node.test), self.value(node.body), self.value(node.orelse)]

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Node:
        items = [["*", self.value(e.value)] if isinstance(e, ast.Starred) else self.value(e) for e in node.elts]
        return [type(node).__name__[0].lower(), items]

    def _dict(self, node: ast.Dict) -> Node:
        pairs = zip(node.keys, node.values, strict=True)
        return ["d", [[None if key is None else self.value(key), self.value(value)] for key, value in pairs]]

    def _joined(self, node: ast.JoinedStr) -> Node:
        pieces: list[Any] = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                conversion = None if piece.conversion < 0 else chr(piece.conversion)
                if piece.format_spec is not None:
                    return self._unfollowed(node)
                pieces.append([self.value(piece.value), conversion if conversion != "s" else None])
            else:
                pieces.append(piece.value if isinstance(piece, ast.Constant) else "")
        return ["f", pieces]

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Node:
        around = self._inner
        clauses = []
        if any(clause.is_async for clause in node.generators):
            return ["?", [["n", UNKNOWN_NAME]]]
        if any(isinstance(n, ast.NamedExpr | ast.Await) for n in ast.walk(node)):
            return ["~", []]
        for clause in node.generators:
            iterable = self.value(clause.iter)
            names = frozenset(n.id for n in ast.walk(clause.target) if isinstance(n, ast.Name))
            self._inner = (*self._inner, names)
            clauses.append([self.target(clause.target), iterable, [self.value(t) for t in clause.ifs]])
        kind = type(node).__name__[0].lower()
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        made = ["comp", kind, [self.value(e) for e in elements], clauses]
        self._inner = around
        return made

    def _walrus(self, node: ast.NamedExpr) -> Node:
        return [":=", node.target.id, self.value(node.value)]

    def _call(self, node: ast.Call) -> Node:
        at_once = isinstance(node.func, ast.Name) or (isinstance(node.func, ast.Attribute) and node.func.attr == "join")
        given: list[Node] = [
            self._comprehension(a) if at_once and isinstance(a, ast.GeneratorExp) else self.value(a)
            for a in (a.value if isinstance(a, ast.Starred) else a for a in node.args)
        ]
        named: list[Any] = [[k.arg, self.value(k.value)] for k in node.keywords]
        everything: list[Node] = [*given, *(value for _, value in named)]
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        if starred:
            return not_made([self.value(node.func), *everything])
        match node.func:
            case ast.Name(id=name) if not self.is_local(name):
                if name in BUILTINS and name not in self._declared and (given or name not in ("any", "all", "type")):
                    return ["b()", name, given, named]
            case ast.Name(id=name) if name in self.params:
                return ["v()", ["n", name], given, named]
            case ast.Attribute(value=value, attr=attr) if not attr.startswith("__") and attr not in NOT_MADE:
                return ["m", self.value(value), attr, given, named]
            case ast.Name(id=name) if self.is_local(name):  # it may know all that this function knows
                return ["?", [["n", UNKNOWN_NAME]]]
            case ast.Name():
                return not_made(everything)
            case ast.Attribute(value=value):
                return not_made([self.value(value), *everything])
        return not_made([self.value(node.func), *everything])

    def _await(self, node: ast.Await) -> Node:
        return not_made([unmade(self.value(node.value))])  # nobody waits for it

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Node:
        return ["?", [["n", UNKNOWN_NAME]]]

    def _generator(self, node: ast.GeneratorExp) -> Node:
        """Run when somebody takes from it, but for the first collection."""
        return ["~", [self.value(node.generators[0].iter), *self._lambda(node)[1]]]

    def _lambda(self, node: ast.Lambda | ast.GeneratorExp) -> Node:
        names = dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return ["~", [["n", name] for name in names if self.is_local(name)]]

    def _starred(self, node: ast.Starred) -> Node:
        return ["*", self.value(node.value)]

    def target(self, node: ast.expr) -> Node:
        """What an assignment binds or sets."""
        match node:
            case ast.Name(id=name):
                return ["n", name]
            case ast.Attribute(value=value, attr=attr):
                return ["a", self.value(value), attr]
            case ast.Subscript(value=value):
                return ["i", self.value(value)]
            case ast.Starred(value=value):
                return ["*", self.target(value)]
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return ["t", [self.target(e) for e in elts]]
        raise ValueError(type(node))


def not_made(given: Iterable[Node]) -> Node:
    """A call that is not made; what cannot be changed by it is of no matter."""
    return ["?", [node for node in given if node[0] not in ("k", "g", "f", "c", "not")]]


def unmade(node: Any) -> Any:
    """The value with none of its calls made."""
    if not isinstance(node, list) or not node:
        return node
    if node[0] == "m" and node[2] not in PURE:
        return not_made(unmade(n) for n in (node[1], *node[3], *(value for _, value in node[4])))
    if node[0] == "v()":
        return not_made(unmade(n) for n in (*node[2], *(value for _, value in node[3])))
    return [unmade(part) for part in node]


VALUES: dict[type, Any] = {
    ast.Constant: Values._constant,
    ast.Name: Values._name,
    ast.Attribute: Values._attribute,
    ast.Subscript: Values._subscript,
    ast.Slice: Values._slice,
    ast.UnaryOp: Values._unary,
    ast.BinOp: Values._binary,
    ast.Compare: Values._compare,
    ast.BoolOp: Values._logic,
    ast.IfExp: Values._if,
    ast.Tuple: Values._display,
    ast.List: Values._display,
    ast.Set: Values._display,
    ast.Dict: Values._dict,
    ast.JoinedStr: Values._joined,
    ast.ListComp: Values._comprehension,
    ast.SetComp: Values._comprehension,
    ast.GeneratorExp: Values._generator,
    ast.DictComp: Values._comprehension,
    ast.NamedExpr: Values._walrus,
    ast.Call: Values._call,
    ast.Await: Values._await,
    ast.Yield: Values._yield,
    ast.YieldFrom: Values._yield,
    ast.Lambda: Values._lambda,
    ast.Starred: Values._starred,
}
