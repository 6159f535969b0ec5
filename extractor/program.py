"""Owns programs: a function as plain data that `runtime.machine` can run without running any of its code.

A node is a list whose first item says what it is. Statements:
`["=", target, value]` `["o=", target, op, value]` `["e", value]` `["if", test, then, else]`
`["for", target, iterable, body, else, names, attributes]` `["while", test, body, else, names, attributes]`
`["try", body, [[types, name, body]…], else, finally]` `["match", subject, [[pattern, guard, body]…]]`
`["ret", value?]` `["brk"]` `["cont"]` `["raise", site, class]` `["assert", test, class]`
`["risk"]` may raise · `["hav", names]` these are unknown now · `["w", guard, test]` for `explain`.
Values: `k` constant, `n` local name, `g` global name (a number in `globals`), `a` attribute, `i` item, `sl` slice,
`u` `o` operators, `c` comparison, `not` `and` `or` `if`, `t` `l` `s` `d` displays, `f` f-string, `comp`, `:=`,
`b()` builtin, `m` method, `v()` call of a local name, `?` a call that is not made, `?l` one whose result has a
name of its own, `~` what is only read and not followed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from extractor.expr import COMPARISONS, dotted
from extractor.scan import Source, statements
from extractor.targets import EXITS, FunctionNode, changed, parameters

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
CHANGING = frozenset(
    "add append center clear close discard expandtabs extend format format_map insert ljust pop popitem put remove "
    "reverse rjust send setdefault sort step translate update write zfill".split()
)
QUIET = frozenset({"logger", "logging", "warnings", "log"})  # nothing that is handed to these is changed by them
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAX_INTEGER = 2**63


@dataclass(slots=True)
class _Rare:
    """Names of a function that are not what they seem, which few functions have."""

    globals: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)  # others bind them: inner functions, comprehensions
    unbound: set[str] = field(default_factory=set)  # at times without a value


def _rare(function: FunctionNode, source: Source) -> _Rare:
    found = _Rare()
    for statement in statements(function):
        match statement:
            case ast.Global(names=names):
                found.globals.update(names)
            case ast.Nonlocal(names=names):
                found.shared.update(names)
            case ast.Delete(targets=targets):
                deleted = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
                found.unbound.update(n.id for n in deleted if isinstance(n.ctx, ast.Del))
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                found.unbound.update(handler.name for handler in handlers if handler.name is not None)
    if source.walruses(function):
        inner = (n for n in ast.walk(function) if isinstance(n, COMPREHENSIONS))
        found.shared.update(n.target.id for c in inner for n in source.walruses(c))
    return found


class Builder:
    """Writes the program of one function. `site` numbers come from the id of the raise's node."""

    def __init__(
        self,
        function: FunctionNode,
        outer: frozenset[str],
        declared: frozenset[str],
        leaving: frozenset[str],
        owner: str | None,
        source: Source,
    ) -> None:
        names = Counter(changed(function.body, repeat=True, source=source))
        self.params = tuple(parameters(function))
        rare = _rare(function, source)
        self._shared, self._unbound = rare.shared, rare.unbound
        self.locals = (outer | set(self.params) | set(names)) - rare.globals
        self.own = frozenset(names) - rare.globals - set(self.params)  # bound in the body, and nowhere else
        self.free = outer - self.own - set(self.params)
        self.globals: dict[str, int] = {}
        self.sites: dict[int, int] = {}
        self.anchors: dict[int, Node] = {}  # the statement made of an `ast` one
        self.once = frozenset(n for n in self.own if names[n] == 1)
        self._declared = declared
        self._leaving = leaving
        self._owner = owner
        self._source = source
        self._loops = 0
        self._inner: tuple[frozenset[str], ...] = ()  # names of comprehensions around
        self.code = self.block(function.body)

    # --- statements -------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> Code:
        """The statements' code."""
        made: Code = []
        for node in body:
            start = len(made)
            made += self._statement(node)
            if len(made) > start:
                self.anchors[id(node)] = made[start]
        return made

    def _statement(self, node: ast.stmt) -> Code:
        match node:
            case ast.Expr(value=value):
                return self._expression(value)
            case ast.Assign(targets=targets, value=value):
                return self._assign(targets, value)
            case ast.AnnAssign(target=target, value=value):
                return [] if value is None else self._assign([target], value)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                return [["=", self._target(target), ["~", [self.value(target), self.value(value)]]]]
            case ast.AugAssign(target=target, op=op, value=value):
                return [["o=", self._target(target), OPERATORS.get(type(op), "@"), self.value(value)]]
            case ast.If(test=test, body=body, orelse=orelse):
                return [["if", self.value(test), self.block(body), self.block(orelse)]]
            case ast.For() | ast.AsyncFor() | ast.While():
                return [self._loop(node)]
            case ast.Try() | ast.TryStar():
                handlers = [[self._types(h.type), h.name, self.block(h.body)] for h in node.handlers]
                tried, rest, final = self.block(node.body), self.block(node.orelse), self.block(node.finalbody)
                return [["try", tried, handlers, rest, final]]
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Match(subject=subject, cases=cases):
                made = [[self._pattern(c.pattern), c.guard and self.value(c.guard), self.block(c.body)] for c in cases]
                return [["match", self.value(subject), made]]
            case ast.Return(value=value):
                return [["ret"] if value is None else ["ret", self.value(value)]]
            case ast.Raise():
                return self._raise(node)
            case ast.Break():
                return [["brk"]]
            case ast.Continue():
                return [["cont"]]
            case ast.Assert(test=test):
                return [["assert", self.value(test), ["g", self._global("AssertionError")]]]
            case ast.Delete(targets=targets):
                return self._deleted(targets)
            case ast.Import() | ast.ImportFrom():
                return [["risk"], ["hav", [n for n in changed([node]) if n in self.locals]]]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return [["hav", [name]]]
        return []

    def _raise(self, node: ast.Raise) -> Code:
        self.sites[id(node)] = len(self.sites)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = None if raised is None else dotted(raised)
        known = name is not None and name.split(".")[0] not in self.locals
        made: Node = ["raise", self.sites[id(node)], ["g", self._global(name)] if known and name else None]
        values = [a.value if isinstance(a, ast.keyword) else a for a in _arguments(node.exc)]
        computed = [self.value(v) for v in values if not isinstance(v, ast.Constant | ast.Name)]
        return [["e", ["~", computed]], made] if computed else [made]

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> Code:
        made = self.value(value)
        if len(targets) == 1 and self._is_unknown(made):
            return self._told(targets[0], made)
        if len(targets) == 1:
            return [["=", self._target(targets[0]), made]]
        first, *rest = targets
        keeper = "" if not isinstance(first, ast.Name) else first.id
        if not keeper:
            return [["=", self._target(t), made] for t in targets]
        return [["=", ["n", keeper], made], *(["=", self._target(t), ["n", keeper]] for t in rest)]

    def _told(self, target: ast.expr, made: Node) -> Code:
        """A local from a call that is not made: the caller may tell what it is."""
        given = [_unmade(made)]
        match target:
            case ast.Name(id=name) if self._is_own(name):
                return [["=", ["n", name], ["?l", name, given]]]
            case ast.Tuple(elts=elts) if all(isinstance(e, ast.Name) for e in elts):
                names = [e.id for e in elts if isinstance(e, ast.Name)]
                if all(map(self._is_own, names)):
                    return [["=", ["n", name], ["?l", name, given]] for name in names]
        return [["=", self._target(target), made]]

    def _is_own(self, name: str) -> bool:
        """Whether a name stands for one value only, wherever it is bound."""
        return name in self.once and not self._loops

    def _is_unknown(self, node: Any) -> bool:
        """Whether a value depends on a call that is not made, or that an assignment does not make."""
        if not isinstance(node, list) or not node:
            return False
        if node[0] in ("?", "v()") or (node[0] == "m" and node[2] not in PURE):
            return True
        return any(self._is_unknown(part) for part in node[1:])

    def _expression(self, value: ast.expr) -> Code:
        """A value that nobody takes: what it does, and whether it ends."""
        match value:
            case ast.Constant():
                return []
            case ast.Await(value=inner):
                return self._expression(inner)
            case ast.BoolOp(op=op, values=[*tests, last]) if self._leaves(last):
                test = self.value(tests[0] if len(tests) == 1 else ast.BoolOp(op, tests))
                ways: tuple[Code, Code] = (self._expression(last), [])
                return [["if", test, *(ways if isinstance(op, ast.And) else ways[::-1])]]
            case ast.IfExp(test=test_, body=body, orelse=orelse) if self._leaves(body) or self._leaves(orelse):
                return [["if", self.value(test_), self._expression(body), self._expression(orelse)]]
            case ast.Call(func=func):
                if self._leaves(value):
                    exits = (dotted(func) or "").split(".")[-1] != "_exit" and (dotted(func) or "") in EXITS
                    return [["raise", None, ["g", self._global("SystemExit")] if exits else None]]
                name = dotted(func) or ""
                if name.split(".")[0] in QUIET or name == "print":
                    return [["risk"]]
            case ast.Yield() | ast.YieldFrom():
                return [["e", ["?", [["n", UNKNOWN_NAME]]]]]
        return [["e", _unmade(self.value(value))]]  # called for what it does: no one asks for that

    def _leaves(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Await):
            return self._leaves(node.value)
        name = dotted(node.func) if isinstance(node, ast.Call) else None
        if name is None or (name in EXITS and name.split(".")[0] in self.params):
            return False
        own, _, rest = name.partition(".")
        if self._owner is not None and rest and own in self.params[:1]:
            name = f"{self._owner}:{rest}"
        return name in EXITS or name in self._leaving

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Node:
        bound = changed(node.body)
        bound += [] if isinstance(node, ast.While) else [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        bound += [n.target.id for n in self._source.walruses(node)]
        names = [n for n in dict.fromkeys(bound) if "." not in n]
        attributes = sorted({n.rpartition(".")[2] for n in bound if "." in n})
        self._loops += 1
        body = self.block(node.body)
        self._loops -= 1
        target: Node = [] if isinstance(node, ast.While) else self._target(node.target)
        if (
            any(isinstance(n, ast.Attribute | ast.Subscript) for n in ast.walk(getattr(node, "target", node.body[0])))
            and target
        ):
            body = [["=", target, ["n", ITEM]], *body]  # for self.x in xs
            target = ["n", ITEM]
        orelse = self.block(node.orelse)
        if isinstance(node, ast.While):
            return ["while", self.value(node.test), body, orelse, names, attributes]
        iterable = self.value(node.iter)
        iterable = ["?", [iterable]] if isinstance(node, ast.AsyncFor) else iterable
        return ["for", target, iterable, body, orelse, names, attributes]

    def _with(self, node: ast.With | ast.AsyncWith) -> Code:
        made: Code = []
        swallows = False
        suppressed: list[ast.expr] = []
        for item in node.items:
            swallows = swallows or entered(item.context_expr) in self._leaving
            if item.optional_vars is not None:
                made += self._assign([item.optional_vars], item.context_expr)
            else:
                made += self._expression(item.context_expr)
            match item.context_expr:
                case ast.Call(func=func, args=args) if (dotted(func) or "").split(".")[-1] == "suppress":
                    suppressed += args
        body = self.block(node.body)
        if swallows:
            return [*made, ["try", body, [[None, None, []]], [], []]]
        if suppressed:
            types = [self._type(t) for t in suppressed]
            return [*made, ["try", body, [[types, None, []]], [], []]]
        return [*made, *body]

    def _types(self, node: ast.expr | None) -> list[Node | None] | None:
        if node is None:
            return None
        return [self._type(t) for t in (node.elts if isinstance(node, ast.Tuple) else [node])]

    def _type(self, node: ast.expr) -> Node | None:
        name = dotted(node)
        if name is None or name.split(".")[0] in self.locals:
            return None
        return ["g", self._global(name)]

    def _deleted(self, targets: Iterable[ast.expr]) -> Code:
        made: Code = []
        for target in targets:
            if isinstance(target, ast.Name):
                made.append(["hav", [target.id]])
            elif isinstance(target, ast.Attribute | ast.Subscript):
                made += [["risk"], ["=", self._target(target), ["?", []]]]
        return made

    def _target(self, node: ast.expr) -> Node:
        match node:
            case ast.Name(id=name):
                return ["n", name]
            case ast.Attribute(value=value, attr=attr):
                return ["a", self.value(value), attr]
            case ast.Subscript(value=value):
                return ["i", self.value(value)]
            case ast.Starred(value=value):
                return ["*", self._target(value)]
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return ["t", [self._target(e) for e in elts]]
        raise ValueError(type(node))

    def _pattern(self, node: ast.pattern) -> Node:
        match node:
            case ast.MatchAs(pattern=pattern, name=name):
                return ["as", pattern and self._pattern(pattern), name]
            case ast.MatchSingleton(value=value):
                return ["is", value]
            case ast.MatchValue(value=value):
                return ["=", self.value(value)]
            case ast.MatchOr(patterns=patterns):
                return ["or", [self._pattern(p) for p in patterns]]
            case ast.MatchSequence(patterns=patterns):
                return ["seq", [self._pattern(p) for p in patterns]]
            case ast.MatchStar(name=name):
                return ["*", name]
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
                pairs = [[n, self._pattern(p)] for n, p in zip(names, named, strict=True)]
                return ["class", self.value(cls), [self._pattern(p) for p in patterns], pairs]
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                pairs = [[self.value(k), self._pattern(p)] for k, p in zip(keys, patterns, strict=True)]
                return ["map", pairs, rest]
        raise ValueError(type(node))

    # --- values -----------------------------------------------------------------------------------------

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
        if self._is_local(node.id):
            return ["n", node.id]
        return ["g", self._global(node.id)]

    def _is_local(self, name: str) -> bool:
        return name in self.locals or any(name in names for names in self._inner)

    def _global(self, name: str) -> int:
        return self.globals.setdefault(name, len(self.globals))

    def _attribute(self, node: ast.Attribute) -> Node:
        name = dotted(node)
        if name is not None and not self._is_local(name.split(".")[0]):
            return ["g", self._global(name)]
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
            clauses.append([self._target(clause.target), iterable, [self.value(t) for t in clause.ifs]])
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
            return _not_made([self.value(node.func), *everything])
        match node.func:
            case ast.Name(id=name) if not self._is_local(name):
                if name in BUILTINS and name not in self._declared and (given or name not in ("any", "all", "type")):
                    return ["b()", name, given, named]
            case ast.Name(id=name) if name in self.params:
                return ["v()", ["n", name], given, named]
            case ast.Attribute(value=value, attr=attr) if not attr.startswith("__") and attr not in CHANGING:
                return ["m", self.value(value), attr, given, named]
            case ast.Name(id=name) if self._is_local(name):  # it may know all that this function knows
                return ["?", [["n", UNKNOWN_NAME]]]
            case ast.Name():
                return _not_made(everything)
            case ast.Attribute(value=value):
                return _not_made([self.value(value), *everything])
        return _not_made([self.value(node.func), *everything])

    def _await(self, node: ast.Await) -> Node:
        return _not_made([_unmade(self.value(node.value))])  # nobody waits for it

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Node:
        return ["?", [["n", UNKNOWN_NAME]]]

    def _generator(self, node: ast.GeneratorExp) -> Node:
        """Run when somebody takes from it, but for the first collection."""
        return ["~", [self.value(node.generators[0].iter), *self._lambda(node)[1]]]

    def _lambda(self, node: ast.Lambda | ast.GeneratorExp) -> Node:
        names = dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return ["~", [["n", name] for name in names if self._is_local(name)]]

    def _starred(self, node: ast.Starred) -> Node:
        return ["*", self.value(node.value)]


def entered(node: ast.expr) -> str | None:
    """A context manager, as one of the calls that may have to be known: `with name`."""
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    return None if name is None else f"with {name}"


def _arguments(node: ast.expr | None) -> list[ast.expr | ast.keyword]:
    return [*node.args, *node.keywords] if isinstance(node, ast.Call) else []


def _not_made(given: Iterable[Node]) -> Node:
    """A call that is not made; what cannot be changed by it is of no matter."""
    return ["?", [node for node in given if node[0] not in ("k", "g", "f", "c", "not")]]


def _unmade(node: Any) -> Any:
    """The value with none of its calls made."""
    if not isinstance(node, list) or not node:
        return node
    if node[0] == "m" and node[2] not in PURE:
        return _not_made(_unmade(n) for n in (node[1], *node[3], *(value for _, value in node[4])))
    if node[0] == "v()":
        return _not_made(_unmade(n) for n in (*node[2], *(value for _, value in node[3])))
    return [_unmade(part) for part in node]


ITEM = "<item>"  # what a loop binds to more than a name
UNKNOWN_NAME = "<others>"  # whoever else runs meanwhile: it can change everything

VALUES: dict[type, Any] = {
    ast.Constant: Builder._constant,
    ast.Name: Builder._name,
    ast.Attribute: Builder._attribute,
    ast.Subscript: Builder._subscript,
    ast.Slice: Builder._slice,
    ast.UnaryOp: Builder._unary,
    ast.BinOp: Builder._binary,
    ast.Compare: Builder._compare,
    ast.BoolOp: Builder._logic,
    ast.IfExp: Builder._if,
    ast.Tuple: Builder._display,
    ast.List: Builder._display,
    ast.Set: Builder._display,
    ast.Dict: Builder._dict,
    ast.JoinedStr: Builder._joined,
    ast.ListComp: Builder._comprehension,
    ast.SetComp: Builder._comprehension,
    ast.GeneratorExp: Builder._generator,
    ast.DictComp: Builder._comprehension,
    ast.NamedExpr: Builder._walrus,
    ast.Call: Builder._call,
    ast.Await: Builder._await,
    ast.Yield: Builder._yield,
    ast.YieldFrom: Builder._yield,
    ast.Lambda: Builder._lambda,
    ast.Starred: Builder._starred,
}
