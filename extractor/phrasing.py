"""Owns the wording of facts: guards as a reader is shown them, each worded once, and how each can be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from extractor import logic
from extractor.expr import dotted
from extractor.paths import Fact, State, Term, Test, since
from extractor.scan import Source, statements
from extractor.targets import names_of

MAX_PARTIAL = 12  # `not (a and b)` beyond which nobody reads
MAX_GUARDS = 100  # of one site
MAX_TRIED = 3  # calls that are named
MAX_CALL = 80  # characters of one


class RawTried(msgspec.Struct, frozen=True, array_like=True):
    """What a handler is for: the lines of its `try`, and the first imports and calls in them, or a statement."""

    line: int
    end_line: int
    code: tuple[str, ...]
    more: bool


class RawGuard(msgspec.Struct, frozen=True, array_like=True):
    """A guard; `names` are the dotted names in it that are no local ones."""

    kind: str
    text: str
    line: int
    stale: bool = False
    names: tuple[str, ...] = ()
    tried: RawTried | None = None


class Asked(msgspec.Struct, frozen=True):
    """Where a guard can be asked, and how: a test and whether it has to hold; None for a way that is taken."""

    at: ast.AST
    test: tuple[ast.expr, bool] | None


class Worded(msgspec.Struct, frozen=True):
    """A conjunct of a fact: its text and line, the names in it, and the test that it is."""

    text: str
    line: int
    mentioned: frozenset[str]
    test: tuple[ast.expr, bool] | None


class Wording:
    """Facts as text, each worded once."""

    def __init__(self, source: Source) -> None:
        self.loops: dict[int, ast.For] = {}
        self.shared: set[str] = set()  # names that inner functions bind
        self.imported: set[int] = set()  # the bindings of names that imports in functions made
        self.tried: dict[int, Sequence[ast.stmt]] = {}  # what the handler on a line is for
        self._source = source
        self._mentioned: dict[int, tuple[ast.AST, frozenset[str]]] = {}
        self._worded: dict[int, tuple[Fact, list[Worded]]] = {}

    def share(self, function: ast.AST) -> None:
        """Takes down the names of others that a function binds."""
        self.shared |= {n for s in statements(function) if isinstance(s, ast.Nonlocal) for n in s.names}

    def code(self, node: ast.expr | ast.stmt) -> str:
        """The expression or short statement as it stands in the source, on one line."""
        name = dotted(node)
        if name is not None:
            return self._source.written.get(name, name)
        text = self._source.segment(node) if getattr(node, "end_col_offset", 0) else ""
        if text and "\n" not in text:
            return text
        text = ast.unparse(node)
        for placeholder, written in self._source.written.items():
            text = text.replace(placeholder, written)
        return text

    def target(self, node: ast.expr) -> str:
        """What a loop binds, without brackets around it."""
        text = ast.unparse(node)
        return text[1:-1] if isinstance(node, ast.Tuple) and node.elts else text

    def walrus(self, node: ast.AST) -> list[str]:
        """The names that `:=` binds in an expression."""
        return [inner.target.id for inner in self._source.walruses(node)]

    def mentions(self, node: ast.AST) -> frozenset[str]:
        """The names in an expression; a dotted one with each of its beginnings."""
        known = self._mentioned.get(id(node))
        if known is None:
            inner = (dotted(n) for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
            names = {name for name in inner if name is not None}
            known = self._mentioned[id(node)] = (node, frozenset(names))
        return known[1]

    def guards(self, state: State, line: int, own: str = "") -> tuple[list[tuple[RawGuard, Asked | None]], bool]:
        """The guards of a site on this line with how they are asked, and whether they are all.

        `own` is the object whose method it is in.
        """
        found: dict[tuple[str, bool], tuple[RawGuard, Asked | None]] = {}
        partial = 0
        whole = state.fact is None or state.fact.depth <= MAX_GUARDS
        for fact in since(state.fact, None, MAX_GUARDS):
            partial += len(fact.terms) > 1
            if len(fact.terms) > 1 and partial > MAX_PARTIAL:
                whole = False
                continue
            kind = "exit" if fact.kind == "if" and line > fact.until else fact.kind
            for worded in self._facts(fact):
                stale = fact.stale or any(
                    fact.names.get(name) != state.names.get(name) or name in self.shared for name in worded.mentioned
                )
                names = tuple(sorted(n for n in worded.mentioned if self._is_global(n, state, own)))
                asked = None if fact.at is None else Asked(fact.at, worded.test)
                tried = self._tried(worded.line) if kind == "except" else None
                guard = RawGuard(kind, worded.text, worded.line, stale, names, tried)
                found.setdefault((guard.text, stale), (guard, asked))
        return list(found.values()), whole

    def _facts(self, fact: Fact) -> list[Worded]:
        known = self._worded.get(id(fact))
        if known is None:
            known = self._worded[id(fact)] = (fact, list(self._word(fact)))
        return known[1]

    def _word(self, fact: Fact) -> Iterator[Worded]:
        """The conjuncts of a fact."""
        if fact.text is not None:
            yield Worded(fact.text, fact.line, frozenset() if fact.node is None else self.mentions(fact.node), None)
            return
        term = fact.terms[0]
        if len(fact.terms) == 1 and isinstance(term, Test):
            for node, holds in logic.conjuncts(term.node, term.holds):
                text = logic.said(node, holds, self.code)
                yield Worded(text, node.lineno, self.mentions(node), (node, holds))
            return
        parts = [self._said(t) for t in fact.terms]
        text = parts[0] if len(parts) == 1 else f"not ({' and '.join(parts)})"
        mentioned = self.named(fact)
        yield Worded(text, fact.line, mentioned, (ast.parse(text, mode="eval").body, True))

    def named(self, fact: Fact) -> frozenset[str]:
        """The names in the terms of a fact."""
        return frozenset[str]().union(*map(self._names, fact.terms))

    def _tried(self, handler: int) -> RawTried | None:
        statements = self.tried.get(handler)
        if not statements:
            return None
        done = list(islice(_done(statements), MAX_TRIED + 1)) or statements[:1]
        said = tuple(_shortened(self.code(node).partition("\n")[0]) for node in done[:MAX_TRIED])
        last = statements[-1]
        return RawTried(statements[0].lineno, last.end_lineno or last.lineno, said, len(done) > MAX_TRIED)

    def _said(self, term: Term) -> str:
        if isinstance(term, Test):
            return logic.all_of([(term.node, term.holds)], self.code, bracketed=True)
        clauses: list[str] = []
        tests: list[tuple[ast.expr, bool]] = []
        for part in term.parts:
            if isinstance(part, Test):
                tests.append((part.node, part.holds))
                continue
            if tests:
                clauses.append(f"if {logic.all_of(tests, self.code)}")
                tests = []
            clauses.append(f"for {self.target(part.target)} in {self.code(part.iter)}")
        what = logic.all_of(tests, self.code) if tests else "True"
        return f"{'' if term.holds else 'not '}any({what} {' '.join(clauses)})"

    def _is_global(self, name: str, state: State, own: str) -> bool:
        """Whether the tree may tell what the name stands for: the names of modules, and attributes of the object."""
        root, _, rest = name.partition(".")
        bound = state.names.get(root)
        return bound is None or bound in self.imported or (root == own and bool(rest))

    def _names(self, term: Term) -> frozenset[str]:
        if isinstance(term, Test):
            return self.mentions(term.node)
        found: set[str] = set()
        own: set[str] = set()
        for part in term.parts:
            found |= self.mentions(part.node if isinstance(part, Test) else part.iter)
            own |= set(names_of(part.target)) if isinstance(part, ast.For) else set()
        return frozenset(name for name in found if name.split(".")[0] not in own)


def _done(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt | ast.expr]:
    """The imports and calls of the statements in the order of the source, without those inside of other calls, of
    definitions, and of handlers."""
    todo: list[ast.AST] = list(reversed(statements))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call | ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.ExceptHandler
        ):
            todo += reversed(list(ast.iter_child_nodes(node)))


def _shortened(code: str) -> str:
    """What a reader takes in at once: a call by its function when it is long."""
    if len(code) <= MAX_CALL:
        return code
    function = code.partition("(")[0]
    return f"{function}(…)" if function.isascii() and len(function) < MAX_CALL else f"{code[:MAX_CALL]}…"
