"""Owns programs: a function as plain data that `runtime.machine` can run without running any of its code.

A node is a list whose first item says what it is. Statements:
`["=", target, value]` `["o=", target, op, value]` `["e", value]` `["if", test, then, else]`
`["for", target, iterable, body, else, names, attributes]` `["while", test, body, else, names, attributes]`
`["try", body, [[types, name, body]…], else, finally]` `["match", subject, [[pattern, guard, body]…]]`
`["ret", value?]` `["brk"]` `["cont"]` `["raise", site, class]` `["assert", test, class]`
`["risk"]` may raise · `["hav", names]` these are unknown now · `["w", guard, test]` for `explain`.
Values are those of `nodes`; `?l` is a call that is not made, whose result has a name of its own.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from extractor.expr import dotted
from extractor.nodes import COMPREHENSIONS, OPERATORS, PURE, UNKNOWN_NAME, Code, Node, Values, unmade
from extractor.scan import Source, statements
from extractor.targets import EXITS, FunctionNode, changed, parameters

QUIET = frozenset({"logger", "logging", "warnings", "log"})  # nothing that is handed to these is changed by them


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


class Builder(Values):
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
        params = tuple(parameters(function))
        rare = _rare(function, source)
        local = (outer | set(params) | set(names)) - rare.globals
        super().__init__(params, local, frozenset(rare.shared), frozenset(rare.unbound), declared)
        self.own = frozenset(names) - rare.globals - set(params)  # bound in the body, and nowhere else
        self.free = outer - self.own - set(params)
        self.sites: dict[int, int] = {}
        self.anchors: dict[int, Node] = {}  # the statement made of an `ast` one
        self.once = frozenset(n for n in self.own if names[n] == 1)
        self._leaving = leaving
        self._owner = owner
        self._source = source
        self._loops = 0
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
                return [["=", self.target(target), ["~", [self.value(target), self.value(value)]]]]
            case ast.AugAssign(target=target, op=op, value=value):
                return [["o=", self.target(target), OPERATORS.get(type(op), "@"), self.value(value)]]
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
                return [["assert", self.value(test), ["g", self.number("AssertionError")]]]
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
        made: Node = ["raise", self.sites[id(node)], ["g", self.number(name)] if known and name else None]
        values = [a.value if isinstance(a, ast.keyword) else a for a in _arguments(node.exc)]
        computed = [self.value(v) for v in values if not isinstance(v, ast.Constant | ast.Name)]
        return [["e", ["~", computed]], made] if computed else [made]

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> Code:
        made = self.value(value)
        if len(targets) == 1 and self._is_unknown(made):
            return self._told(targets[0], made)
        if len(targets) == 1:
            return [["=", self.target(targets[0]), made]]
        first, *rest = targets
        keeper = "" if not isinstance(first, ast.Name) else first.id
        if not keeper:
            return [["=", self.target(t), made] for t in targets]
        return [["=", ["n", keeper], made], *(["=", self.target(t), ["n", keeper]] for t in rest)]

    def _told(self, target: ast.expr, made: Node) -> Code:
        """A local from a call that is not made: the caller may tell what it is."""
        given = [unmade(made)]
        match target:
            case ast.Name(id=name) if self._is_own(name):
                return [["=", ["n", name], ["?l", name, given]]]
            case ast.Tuple(elts=elts) if all(isinstance(e, ast.Name) for e in elts):
                names = [e.id for e in elts if isinstance(e, ast.Name)]
                if all(map(self._is_own, names)):
                    return [["=", ["n", name], ["?l", name, given]] for name in names]
        return [["=", self.target(target), made]]

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
                    return [["raise", None, ["g", self.number("SystemExit")] if exits else None]]
                name = dotted(func) or ""
                if name.split(".")[0] in QUIET or name == "print":
                    return [["risk"]]
            case ast.Yield() | ast.YieldFrom():
                return [["e", ["?", [["n", UNKNOWN_NAME]]]]]
        return [["e", unmade(self.value(value))]]  # called for what it does: no one asks for that

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
        target: Node = [] if isinstance(node, ast.While) else self.target(node.target)
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
        return ["g", self.number(name)]

    def _deleted(self, targets: Iterable[ast.expr]) -> Code:
        made: Code = []
        for target in targets:
            if isinstance(target, ast.Name):
                made.append(["hav", [target.id]])
            elif isinstance(target, ast.Attribute | ast.Subscript):
                made += [["risk"], ["=", self.target(target), ["?", []]]]
        return made

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


def entered(node: ast.expr) -> str | None:
    """A context manager, as one of the calls that may have to be known: `with name`."""
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    return None if name is None else f"with {name}"


def _arguments(node: ast.expr | None) -> list[ast.expr | ast.keyword]:
    return [*node.args, *node.keywords] if isinstance(node, ast.Call) else []


ITEM = "<item>"  # what a loop binds to more than a name
