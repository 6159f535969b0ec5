"""Random functions and environments for them, from a seed: every shape of control flow, binding and effect.

A program is one function (or a class with one method) named `f<number>`; it runs in a module that starts with
`grammar.PRELUDE`. Loops end by construction, but for those over a list that grows on the way (the runner has a clock).
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from hypothesis import strategies as st

from tests.oracle.grammar import (
    ATOMS,
    DEEPER,
    EFFECTS,
    EXCEPTIONS,
    HANDLERS,
    LOCALS,
    PARAMS,
    PATTERNS,
    SETS,
    TRIED,
    VALUES,
)

TOKEN = re.compile(r"<(=?)([a-zA-Z])>")
ANYWHERE = "NASBLCK"  # kinds whose expressions need no name in scope
RAISE = re.compile(r"raise (?!.*'inner').")
PLAIN = re.compile(r"[\w.]+|'\w*'|[\w.]+\([\w., ']*\)|\([^()]*\)|\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Program:
    """Source of one function; `symbol` is how a site in it is called, `kinds` its parameters in order."""

    symbol: str
    source: str
    kinds: dict[str, str]


@cache
def needs(template: str) -> frozenset[str]:
    """The kinds that must be in scope for a template."""
    return frozenset(kind.upper() for sets, kind in TOKEN.findall(template) if not sets and kind not in ANYWHERE)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@dataclass
class Maker:
    """Writes one function: knows what names of each kind are in scope and which loops surround it."""

    random: random.Random
    tag: str
    scope: dict[str, list[str]] = field(default_factory=dict)
    raises: int = 0
    counters: int = 0
    loops: int = 0
    is_async: bool = False

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def fits(self, template: str) -> bool:
        """Whether the names that the template uses are in scope."""
        return needs(template) <= self.scope.keys()

    def choose(self, templates: list[str]) -> str:
        fitting = [template for template in templates if self.fits(template)]
        return self.random.choice(fitting) if fitting else "pass"

    def fill(self, template: str, depth: int) -> str:
        """The template with each token replaced; names that are set come into scope after it."""
        new: list[tuple[str, str]] = []

        def one(match: re.Match[str]) -> str:
            sets, kind = match.group(1), match.group(2).upper()
            if sets:
                known = [name for name in self.scope.get(kind, []) if self.chance(60) and name != "self"]
                name = self.random.choice(known or LOCALS[kind])
                new.append((kind, name))
                return name
            if match.group(2).islower():
                return self.random.choice(self.scope[kind])
            text = self.expression(kind, depth - 1)
            return text if PLAIN.fullmatch(text) else f"({text})"

        text = TOKEN.sub(one, template)
        for kind, name in new:
            names = self.scope.setdefault(kind, [])
            if name not in names:
                names.append(name)
        return text

    def expression(self, kind: str, depth: int = 2) -> str:
        deeper = depth > 0 and self.chance(60)
        return self.fill(self.choose(DEEPER[kind] if deeper else ATOMS[kind]), depth).replace("pass", "None")

    def test(self) -> str:
        return self.expression("C", self.random.choice([0, 1, 1, 2, 2, 3]))

    def raising(self) -> str:
        self.raises += 1
        name, text = self.random.choice(EXCEPTIONS), f"{self.tag} r{self.raises}"
        shapes = [f"raise {name}('{text}')"] * 8 + [
            f"raise {name}(f'{text} {{{self.expression('N', 1)}}}')".replace("''", "0"),
            f"raise make('{text}')",
            f"raise {name}('{text}') from None",
            f"raise {name}",
            f"raise ValueError('{text}') if {self.test()} else KeyError('{text}')",
        ]
        return self.random.choice(shapes)

    def leaving(self) -> str:
        options = ["return", "return 1", f"return {self.expression('A', 1)}"]
        if self.loops:
            options += ["break", "continue", "break", "continue"]
        return self.random.choice(options)

    # Statements: each gives lines.

    def block(self, depth: int, most: int = 3) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, most)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        plain: list[tuple[int, Callable[[int], list[str]]]] = [
            (24, self.check), (20, self.set), (10, self.effect), (9, self.early), (3, self.asserting), (1, self.exit),
            (2, self.short), (1, lambda _: [self.raising()]), (1, lambda _: [self.leaving()]),
        ]  # fmt: skip
        if depth > 0:
            plain += [
                (15, self.branch), (8, self.for_loop), (4, self.while_loop), (10, self.trying), (7, self.matching),
                (4, self.within), (3, self.nested),
            ]  # fmt: skip
        weights, makers = zip(*plain, strict=True)
        make: Callable[[int], list[str]] = self.random.choices(makers, weights)[0]
        return make(depth - 1)

    def check(self, _: int) -> list[str]:
        test = self.test()
        return [f"if {test}:", f"    {self.raising()}"]

    def set(self, _: int) -> list[str]:
        return [self.fill(self.choose(SETS), 2)]

    def effect(self, _: int) -> list[str]:
        return [self.fill(self.choose(EFFECTS), 1)]

    def early(self, _: int) -> list[str]:
        test = self.test()
        return [f"if {test}:", f"    {self.leaving()}"]

    def asserting(self, _: int) -> list[str]:
        return [f"assert {self.test()}" + self.random.choice(["", ", 'no'"])]

    def exit(self, _: int) -> list[str]:
        return [
            f"if {self.test()}:",
            self.random.choice(["    sys.exit(1)", "    stop('now')", "    raise SystemExit"]),
        ]

    def short(self, _: int) -> list[str]:
        return [f"{self.random.choice(['not ', ''])}({self.test()}) {self.random.choice(['or', 'and'])} stop('short')"]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.test()}:", *indented(self.block(depth))]
        while self.chance(30):
            lines += [f"elif {self.test()}:", *indented(self.block(depth, 2))]
        if self.chance(45):
            lines += ["else:", *indented(self.block(depth, 2))]
        return lines

    def body_of_loop(self, depth: int) -> list[str]:
        self.loops += 1
        lines = self.block(depth)
        self.loops -= 1
        return indented(lines)

    def or_else(self, depth: int) -> list[str]:
        return ["else:", *indented(self.block(depth, 2))] if self.chance(25) else []

    def for_loop(self, depth: int) -> list[str]:
        heads = ["for <=n> in <L>:", "for <=n> in <l>:", "for <=a> in list(<L>):", "for <=n>, <=a> in enumerate(<L>):"]
        heads += ["for <=s> in NAMES:", "for <=s>, <=a> in <D>.items():", "for <=n> in range(3):", "for <=a> in <d>:"]
        heads += ["for <=n>, <=n> in zip(<L>, <L>):", "for <=o> in (<o>, <o>):", "for <=n> in (1, 2):"]
        head = self.fill(self.choose(heads), 1)
        if self.is_async and self.chance(30):
            head = "async " + self.fill("for <=n> in stream(<L>):", 1)
        return [head, *self.body_of_loop(depth), *self.or_else(depth)]

    def while_loop(self, depth: int) -> list[str]:
        self.counters += 1
        count = f"i{self.counters}"
        if self.chance(40):
            out = self.random.choice(["break", "return", f"return {self.expression('A', 1)}"])
            head = [
                "while True:",
                f"    {count} += 1",
                f"    if {count} > {self.random.randint(1, 3)}:",
                f"        {out}",
            ]
            return [f"{count} = 0", *head, *self.body_of_loop(depth)]
        test = f"{count} < {self.random.randint(1, 3)}" + (f" and {self.test()}" if self.chance(60) else "")
        head = [f"while {test}:", f"    {count} += 1"]
        return [f"{count} = 0", *head, *self.body_of_loop(depth), *self.or_else(depth)]

    def trying(self, depth: int) -> list[str]:
        lines = ["try:"]
        if self.chance(50):
            lines.append("    " + self.fill(self.choose(TRIED), 1))
        lines += indented(self.block(depth))
        handlers = self.random.sample(HANDLERS, self.random.choice([0, 1, 1, 1, 2, 2, 3]))
        for name in sorted(handlers, key=lambda name: name == ""):
            bound = f" as {self.random.choice(['err', 'err', 'w'])}" if name and self.chance(40) else ""
            lines += [f"except {name}{bound}:".replace("except :", "except:"), *indented(self.handler(depth, bound))]
        if handlers and self.chance(30):
            lines += ["else:", *indented(self.block(depth, 2))]
        if not handlers or self.chance(25):
            last = self.random.choice([self.set, self.early, self.check, self.effect, self.set])(0)
            lines += ["finally:", *indented([self.leaving()] if self.chance(15) else last)]
        return lines

    def handler(self, depth: int, bound: str) -> list[str]:
        if self.chance(25):
            return self.block(depth, 2)
        shapes = [["pass"], ["pass"], ["raise"], [self.leaving()], [self.raising()], self.set(0), self.set(0)]
        shapes.append([f"if {self.test()}:", "    raise"])
        if bound:
            shapes += [
                [f"raise{bound.removeprefix(' as')}"],
                [f"{self.raising().partition(' from')[0]} from {bound[4:]}"],
            ]
        return self.random.choice(shapes)

    def matching(self, depth: int) -> list[str]:
        kind = self.random.choice([kind for kind in PATTERNS if kind in self.scope] or ["A"])
        lines = [f"match {self.expression(kind, 1)}:"]
        for _ in range(self.random.randint(1, 3)):
            pattern = self.fill(self.random.choice(PATTERNS[kind]), 0)
            guard = f" if {self.test()}" if self.chance(25) else ""
            lines += [f"    case {pattern}{guard}:", *indented(indented(self.block(depth, 2)))]
        if self.chance(40):
            lines += [f"    case {self.fill(self.random.choice(['_', '_', '<=a>']), 0)}:"]
            lines += indented(indented(self.block(depth, 2)))
        return lines

    def within(self, depth: int) -> list[str]:
        shapes = [
            "suppress(ValueError)",
            "suppress(KeyError, Special)",
            "Lock()",
            "Lock()",
            "Lock() as <=n>",
            "Swallow()",
        ]
        head = self.fill(self.random.choice(shapes), 0)
        word = "async with" if self.is_async and "Lock" in head and self.chance(50) else "with"
        return [f"{word} {head}:", *indented(self.block(depth))]

    def nested(self, depth: int) -> list[str]:
        self.counters += 1
        name = f"g{self.counters}"
        shapes = [
            [f"{name} = lambda q: q + {self.expression('N', 1)}", f"<=n> = {name}({self.expression('N', 1)})"],
            [f"def {name}(q):", f"    if q == {self.expression('N', 0)}:", "        raise ValueError('inner')",
             "    return q", f"<=n> = {name}({self.expression('N', 1)})"],
            [f"def {name}():", "    nonlocal u", f"    u = {self.expression('N', 1)}", f"u = {self.expression('N', 0)}",
             f"{name}()", f"if u > {self.expression('N', 0)}:", f"    {self.raising()}"],
            [f"def {name}():", f"    {self.effect(0)[0]}", f"{name}()"],
            ["class Local:", f"    size = {self.expression('N', 1)}", "<=n> = Local.size"],
        ]  # fmt: skip
        return [self.fill(line, 0) for line in self.random.choice(shapes)]  # `q` is in scope inside alone


def candidate(rng: random.Random, number: int) -> Program:
    maker = Maker(rng, f"f{number}")
    method, maker.is_async = rng.randrange(4) == 0, rng.randrange(10) == 0
    kinds = {"self": "O"} if method else {}
    kinds |= {name: PARAMS[name] for name in rng.sample(list(PARAMS), rng.randint(2, 5))}
    for name, kind in kinds.items():
        maker.scope.setdefault(kind, []).append(name)
    size = rng.choice([1, 2, 2, 3, 3, 4, 5, 7])
    lines = [line for _ in range(size) for line in maker.statement(rng.choice([0, 1, 1, 2, 2, 3]))]
    if not maker.raises or rng.randrange(4) == 0:
        lines += [maker.raising()] if rng.randrange(3) == 0 else maker.check(0)
    if maker.is_async and rng.randrange(2) == 0:
        lines.insert(0, maker.fill("<=n> = await nap(<N>)", 1))
    defaulted = rng.choice([0, 0, 0, 0, 1, 2])
    names = [name + ("=1" if name != "self" and i >= len(kinds) - defaulted else "") for i, name in enumerate(kinds)]
    head = f"{'async ' if maker.is_async else ''}def f{number}({', '.join(names)}):"
    function = [head, *indented(lines)]
    symbol = f"C{number}.f{number}" if method else f"f{number}"
    whole = [f"class C{number}:", *indented(function)] if method else function
    return Program(symbol, "\n".join(whole) + "\n", kinds)


def program(rng: random.Random, number: int) -> Program:
    """The next function of this generator that raises something and that Python compiles."""
    while True:
        made = candidate(rng, number)
        if not RAISE.search(made.source):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(made.source, "generated", "exec")
            except SyntaxError:
                continue
        return made


def node(rng: random.Random, depth: int = 1) -> str:
    kind = rng.choice(
        ["Node", "Node", "Node", "Leaf", "SimpleNamespace", "None"] if depth < 1 else ["Node"] * 6 + ["Leaf"]
    )
    if kind == "None":
        return "None"
    value = {name: rng.choice(VALUES[of]) for name, of in (("x", "N"), ("y", "A"))}
    fields = [f"{name}={text}" for name, text in value.items()] + [f"items={rng.choice(VALUES['L'][:7])}"]
    if depth > 0:
        fields.append(f"part={node(rng, depth - 1)}")
    if rng.randrange(12) == 0:
        return f"SimpleNamespace({', '.join(fields)}, z={rng.randrange(3)})"
    return f"{kind}({', '.join(fields)})"


def environment(rng: random.Random, kinds: dict[str, str]) -> str:
    """An expression that makes `{parameter: value}` anew each time; now and then two parameters share one object."""
    values: dict[str, str] = {}
    shared: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind in shared and rng.randrange(4) == 0:
            values[name] = shared[kind] + (".part" if kind == "O" and rng.randrange(3) == 0 else "")
            continue
        text = node(rng) if kind == "O" and rng.randrange(30) else rng.choice(VALUES["A" if kind == "O" else kind])
        if kind not in shared and text.startswith(("Node", "Leaf", "Simple") if kind == "O" else "["):
            shared[kind], text = f"{name}_", f"({name}_ := {text})"
        values[name] = text
    return "dict(" + ", ".join(f"{name}={text}" for name, text in values.items()) + ")"


def programs() -> st.SearchStrategy[Program]:
    """The same generator for hypothesis."""
    return st.integers(0, 2**40).map(lambda seed: program(random.Random(seed), seed))
