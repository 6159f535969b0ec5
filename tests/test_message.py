"""Messages: one row for each form, what must not happen first. A row is a body of `def f(...)`."""

from __future__ import annotations

import pytest

from tests.trees import only, sites_in

# (name, source, the set of messages)
MUST_NOT = [
    ("a parameter is not a constant of that name", 'NAME = "x"\ndef f(NAME):\n    raise ValueError(f"bad {NAME}")', {"bad {NAME}"}),
    ("a name that is bound twice is no constant", 'A = "x"\nA = "y"\ndef f():\n    raise ValueError(A)', {"{A}"}),
    ("a name bound in a branch is no constant", 'if x:\n    A = "x"\ndef f():\n    raise ValueError(A)', {"{A}"}),
    ("a global that a function sets is no constant", 'A = "x"\ndef g():\n    global A\n    A = "y"\ndef f():\n    raise ValueError(A)', {"{A}"}),
    ("a list keeps its name: it may have grown", 'A = ["x"]\ndef f():\n    raise ValueError(f"one of {A}")', {"one of {A}"}),
    ("a joined list of the module keeps its name", 'A = ["x"]\ndef f():\n    raise ValueError("; ".join(A))', {'{"; ".join(A)}'}),
    ("a table that is filled later is none", 'T = {"a": "x"}\ndef g(k):\n    T[k] = "y"\ndef f():\n    raise ValueError(T["a"])', {'{T["a"]}'}),
    ("a set has no order", 'def f():\n    raise ValueError(f"one of { {1, 2} }")', {"one of {{1, 2}}"}),
    ("a default of a dataclass is no constant", "class C:\n    x: str = 'd'\n    def f(self):\n        raise ValueError(f'got {self.x}')", {"got {self.x}"}),
    ("an attribute that a method sets is no constant", "class C:\n    x = 'd'\n    def g(self):\n        self.x = 'e'\n    def f(self):\n        raise ValueError(f'got {self.x}')", {"got {self.x}"}),
    ("an attribute that a subclass sets is no constant", "class C:\n    x = 'd'\n    def f(self):\n        raise ValueError(f'got {self.x}')\nclass D(C):\n    x = 'e'", {"got {self.x}"}),
    ("a method that a subclass overrides is not followed", "class C:\n    def m(self):\n        return 'a'\n    def f(self):\n        raise ValueError(self.m())\nclass D(C):\n    def m(self):\n        return 'b'", {"{self.m()}"}),
    ("what a test ruled out is no variant", 'def f(x):\n    m = x if x else "NHD"\n    if m == "NHD":\n        return\n    raise ValueError(f"bad {m}")', {"bad {m}"}),
    ("None is no variant behind `is not None`", 'def f(x):\n    m = None\n    if x:\n        m = "why"\n    if m is not None:\n        raise ValueError(m)', {"why"}),
    ("an empty list is no variant where it was asked", 'def f(x):\n    bad = []\n    if x:\n        bad.append(f"no {x}")\n    if bad:\n        raise ValueError("; ".join(bad))', {"no {x}"}),
    ("a name rebound in a loop is unknown in it", 'def f(xs):\n    m = "first"\n    for x in xs:\n        if x:\n            raise ValueError(m)\n        m = x', {"{m}"}),
    ("a list handed to a call is not followed", 'def f(g):\n    bad = ["a"]\n    g(bad)\n    raise ValueError("; ".join(bad))', {'{"; ".join(bad)}'}),
    ("a nested function sees the last binding", 'def f(x):\n    m = "first"\n    def g():\n        raise ValueError(m)\n    m = "second"\n    g()', {"{m}"}),
    ("a function that makes exceptions is no class", 'def f(make):\n    raise make("a", 1)', {'{make("a", 1)}'}),
    ("an enum member is not its value", "import enum\nclass K(enum.Enum):\n    A = 'a'\ndef f():\n    raise ValueError(f'bad {K.A}')", {"bad {K.A}"}),
    ("an unknown key is not guessed", 'def f(table, key):\n    raise ValueError(table[key])', {"{table[key]}"}),
    ("a recursive helper ends", "def h(n):\n    return h(n - 1)\ndef f():\n    raise ValueError(h(3))", {"{h(3)}"}),
    ("another name for an attribute is shown as written", "class C:\n    def f(self):\n        n = self.n\n        raise ValueError(f'{n} and {n=}')", {"{n} and n={n!r}"}),
    ("one of several numbers keeps its name", "def f(x):\n    n = 1 if x else 2\n    raise ValueError(f'got {n}')", {"got {n}"}),
    ("a conditional expression in a hole stays as written", "def f(w):\n    raise ValueError(f\"{'on' if w else 'off'}\")", {"{'on' if w else 'off'}"}),
]  # fmt: skip

FORMS = [
    ("bytes stay an expression", "def f():\n    raise ValueError(b'x')", {"{b'x'}"}),
    ("number", "def f():\n    raise SystemExit(2)", {"2"}),
    ("string times number", 'def f():\n    raise ValueError("=" * 3 + " x")', {"=== x"}),
    ("raw string", r'def f():' "\n" r'    raise ValueError(r"\d is not" "\t.")', {"\\d is not\t."}),
    ("named unicode escape in an f-string", 'def f(x):\n    raise ValueError(f"\\N{BULLET} {x} \\u00e9")', {"• {x} é"}),
    ("doubled braces", 'def f(x):\n    raise ValueError(f"{{{x}}}")', {"{{x}}"}),
    ("adjacent plain and formatted", 'def f(x):\n    raise ValueError("{a} " f"{x}" " {b}")', {"{a} {x} {b}"}),
    ("self-documenting with a spec", 'def f(x):\n    raise ValueError(f"{x = :.2f}")', {"x = {x:.2f}"}),
    ("nested spec with text", 'def f(x, w):\n    raise ValueError(f"{x:>{w}}")', {"{x:>{w}}"}),
    ("expression over lines", "def f(a):\n    raise ValueError(g(\n        a,  # why\n        b,\n    ))", {"{g(a, b)}"}),
    ("percent with width and flags", 'def f(a, b):\n    raise ValueError("%-5s|%05d|%+.1f|%x" % (a, b, a, b))', {"{a:<5}|{b:05d}|{a:+.1f}|{b:x}"}),
    ("percent with a pair that is not written out", 'def f(pair):\n    raise ValueError("%s of %s" % pair)', {"{pair[0]} of {pair[1]}"}),
    ("percent with the wrong number stays", 'def f(a):\n    raise ValueError("%s %s" % (a,))', {'{"%s %s" % (a,)}'}),
    ("percent of a literal", 'def f():\n    raise ValueError("%s is %d" % ("x", 3))', {"x is 3"}),
    ("format with index and conversion", 'def f(a):\n    raise ValueError("{0!r:>4} {0[k]} {0[1]}".format(a))', {"{a!r:>4} {a['k']} {a[1]}"}),
    ("format with stars stays visible", 'def f(kw):\n    raise ValueError("{x} here".format(**kw))', {"{x} here"}),
    ("format on an f-string", 'def f(x):\n    raise ValueError((f"{x} " + "{}").format(x))', {"{x} {x}"}),
    ("format with a nested spec", 'def f(x, w):\n    raise ValueError("{:{}}".format(x, w))', {"{x:{w}}"}),
    ("join of a tuple with a star", 'def f(x):\n    a = ("b", "c")\n    raise ValueError(", ".join(("a", *a)))', {"a, b, c"}),
    ("join in a hole is folded when it is literal", "def f():\n    raise ValueError(f\"one of {', '.join(['a', 'b'])}\")", {"one of a, b"}),
    ("sorted literals", 'def f():\n    raise ValueError(", ".join(sorted({"b", "a"})))', {"a, b"}),
    ("join of an immutable constant", 'A = ("a", "b")\ndef f():\n    raise ValueError(f"one of {\', \'.join(A)}")', {"one of a, b"}),
    ("split and join", 'def f(x):\n    raise ValueError(" ".join(f"a\\n   b {x}".split()))', {"a b {x}"}),
    ("cleandoc", 'import inspect\ndef f(x):\n    raise ValueError(inspect.cleandoc(f"""\n        a {x}\n          b\n    """))', {"a {x}\n  b"}),
    ("strip keeps what a hole may hold", 'def f(x):\n    raise ValueError(f"  {x} a ".strip())', {"{x} a"}),
    ("replace and upper on a literal", 'def f():\n    raise ValueError("a-b".replace("-", " ").upper())', {"A B"}),
    ("concatenation over many terms", "def f(x):\n    raise ValueError(" + " + ".join(['"a"'] * 300) + " + x)", {"a" * 300 + "{x}"}),
    ("local in a hole", 'def f(x):\n    kind = "tensor"\n    raise ValueError(f"bad {kind}: {x}")', {"bad tensor: {x}"}),
    ("local number in a hole", 'def f():\n    n = 4\n    raise ValueError(f"at most {n:03d}")', {"at most 004"}),
    ("local call in a hole keeps its name", 'def f(x):\n    n = len(x)\n    raise ValueError(f"has {n}")', {"has {n}"}),
    ("tuple assignment", 'def f(x):\n    a, b = "p", "q"\n    raise ValueError(a + b)', {"pq"}),
    ("unpacked from a helper", 'def h(x):\n    if x:\n        return False, f"no {x}"\n    return True, None\ndef f(x):\n    ok, why = h(x)\n    if not ok:\n        raise ValueError(why)', {"no {x}"}),
    ("chained assignment", 'def f(x):\n    a = b = "p"\n    raise ValueError(b)', {"p"}),
    ("annotated assignment", 'def f(x):\n    a: str = "p"\n    raise ValueError(a)', {"p"}),
    ("walrus in a condition", 'def f(x):\n    if x and (a := f"p{x}"):\n        raise ValueError(a)', {"p{x}"}),
    ("augmented twice", 'def f(x):\n    m = "a"\n    m += "b"\n    m += x\n    raise ValueError(m)', {"ab{x}"}),
    ("try body and handler", 'def f(x):\n    m = "a"\n    try:\n        m = "b"\n        g()\n    except KeyError:\n        raise ValueError(m)', {"a", "b"}),
    ("handler gives the text", 'def f(x):\n    try:\n        m = "b"\n    except KeyError:\n        m = "a"\n    raise ValueError(m)', {"a", "b"}),
    ("match gives the text", 'def f(x):\n    match x:\n        case 1:\n            m = "a"\n        case _:\n            m = "b"\n    raise ValueError(m)', {"a", "b"}),
    ("with is transparent", 'def f(x):\n    with x:\n        m = "a"\n    raise ValueError(m)', {"a"}),
    ("loop leaves one of two texts", 'def f(xs):\n    m = "none"\n    for x in xs:\n        m = f"last {x}"\n    raise ValueError(m)', {"none", "last {x}"}),
    ("break carries its text", 'def f(xs):\n    m = "none"\n    for x in xs:\n        if x:\n            m = "hit"\n            break\n    raise ValueError(m)', {"none", "hit"}),
    ("appended in a loop", 'def f(xs):\n    m = "bad:"\n    for x in xs:\n        if x.bad:\n            m += f" {x}"\n    raise ValueError(m)', {"bad:{''.join(f\" {x}\" for x in xs if x.bad)}"}),
    ("or gives a default", 'def f(x):\n    raise ValueError(x or "nothing")', {"{x}", "nothing"}),
    ("pieces on one condition stay together", 'def f(x):\n    raise ValueError(("a" if x else "b") + ("c" if x else "d"))', {"ac", "bd"}),
    ("dict of texts by an unknown key", 'def f(k):\n    t = {"a": "first", "b": "second"}\n    raise ValueError(t[k])', {"first", "second"}),
    ("dict of texts by a known key", 'T = {"a": "first", "b": "second"}\ndef f():\n    raise ValueError(T["b"])', {"second"}),
    ("str() of a local exception", 'def f(x):\n    e = KeyError(f"no {x}")\n    raise ValueError(str(e))', {"no {x}"}),
    ("one argument that is a list", 'def f(x):\n    raise ValueError(["a", x])', {"['a', {x!r}]"}),
    ("a tuple of one", 'def f(x):\n    raise ValueError(("a",))', {"('a',)"}),
    ("quotes in a tuple", "def f(x):\n    raise ValueError(f\"it's {x}\", 'b')", {"(\"it's {x}\", 'b')"}),
    ("helper with a default and a keyword", 'def h(a, *, b="q"):\n    return f"{a}-{b}"\ndef f(x):\n    raise ValueError(h(x.y))', {"{x.y}-q"}),
    ("helper with stars", 'def h(*parts):\n    return " ".join(parts)\ndef f(x):\n    raise ValueError(h("a", x))', {"a {x}"}),
    ("an argument inside an expression", 'def h(a):\n    return f"has {len(a)} of {a.b}"\ndef f(x):\n    raise ValueError(h(x + 1))', {"has {len(x + 1)} of {(x + 1).b}"}),
    ("a method of the class", 'class C:\n    def _m(self, why):\n        return f"{self.name}: {why}"\n    def f(self):\n        raise ValueError(self._m("no"))', {"{self.name}: no"}),
    ("a static method", 'class C:\n    @staticmethod\n    def m(a):\n        return f"<{a}>"\n    def f(self, x):\n        raise ValueError(self.m(x))', {"<{x}>"}),
    ("a property that is the exception", 'class C:\n    @property\n    def dead(self):\n        return RuntimeError("gone")\n    def f(self):\n        raise self.dead', {"gone"}),
    ("a function handed to a helper", 'def h(g, x):\n    return f"<{x}>"\ndef f(x):\n    def g(y):\n        return y\n    raise ValueError(h(g, x))', {"<{x}>"}),
    ("a lambda", 'def f(x):\n    h = lambda a, b="q": f"{a}-{b}"\n    raise ValueError(h(x.y))', {"{x.y}-q"}),
    ("must not: without a value that was asked to be there", 'class V(ValueError):\n    def __init__(self, m, v=None):\n        super().__init__(m)\n        self.v = v\n    def __str__(self):\n        return super().__str__() + (f" (v={self.v})" if self.v is not None else "")\ndef f(x):\n    if x is not None:\n        raise V("m", x)', {"m (v={x})"}),
    ("must not: with a value that is not there", 'class V(ValueError):\n    def __init__(self, m, v=None):\n        super().__init__(m)\n        self.v = v\n    def __str__(self):\n        return super().__str__() + (f" (v={self.v})" if self.v is not None else "")\ndef f(x):\n    if x is None:\n        raise V("m", x)', {"m"}),
    ("must not: without a value that is always there", 'class V(ValueError):\n    def __init__(self, m, v=None):\n        super().__init__(m)\n        self.v = v\n    def __str__(self):\n        return super().__str__() + (f" (v={self.v})" if self.v is not None else "")\ndef f(x):\n    raise V("m", len(x))', {"m (v={len(x)})"}),
    ("without a value that was bound since", 'class V(ValueError):\n    def __init__(self, m, v=None):\n        super().__init__(m)\n        self.v = v\n    def __str__(self):\n        return super().__str__() + (f" (v={self.v})" if self.v is not None else "")\ndef f(x):\n    if x is not None:\n        x = g()\n        raise V("m", x)', {"m (v={g()})", "m"}),
    ("must not: quotes around what may hold some", 'def f(x):\n    n = f"layer {x}"\n    raise ValueError(f"bad {n!r}")', {"bad {n!r}"}),
    ("must not: a list that a loop adds to", 'def f(xs):\n    a = ["p"]\n    for x in xs:\n        a.append(x)\n    raise ValueError(" ".join(a))', {"p", '{" ".join(a)}'}),
    ("must not: a list that a loop extends", 'def f(xs):\n    a = ["p"]\n    for x in xs:\n        a.extend(["q"])\n    raise ValueError(" ".join(a))', {"p", '{" ".join(a)}'}),
    ("must not: a list that is changed in another way", 'def f():\n    a = ["p", "q"]\n    del a[0]\n    raise ValueError(" ".join(a))', {'{" ".join(a)}'}),
    ("must not: a helper's list that is changed in another way", 'def g():\n    return ["p", "q"]\ndef f():\n    a = g()\n    a.pop()\n    raise ValueError(" ".join(a))', {'{" ".join(a)}'}),
    ("a helper's list that is added to", 'def g(x):\n    a = []\n    if x:\n        a.append("p")\n    return a\ndef f(x, y):\n    a = g(x)\n    if y:\n        a.append("q")\n    if a:\n        raise ValueError(" ".join(a))', {"p q", "p", "q"}),
    ("a list that is extended", 'def f(x):\n    a = ["p"]\n    a += [f"q {x}"]\n    a.extend(["r"])\n    a.append("s")\n    raise ValueError(" ".join(a))', {"p q {x} r s"}),
    ("a list that is extended by what is not known", 'def f(x):\n    a = ["p"]\n    a.extend(x)\n    raise ValueError(" ".join(a))', {'{" ".join(a)}'}),
    ("format with a star at the end", 'def f(x):\n    raise ValueError("{} {} {}".format("a", *x))', {"a {x[0]} {x[1]}"}),
    ("a helper's local", 'def h(a):\n    n = len(a)\n    return f"{n} left"\ndef f(x):\n    raise ValueError(h(x))', {"{n} left"}),
    ("a helper with an early return", 'def h(a):\n    if not a:\n        return "none"\n    for b in a:\n        return f"first {b}"\n    return "never"\ndef f(x):\n    raise ValueError(h(x))', {"none", "first {b}", "never"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "messages"), [r[1:] for r in MUST_NOT + FORMS], ids=[r[0] for r in MUST_NOT + FORMS]
)
def test_messages(source: str, messages: set[str]) -> None:
    assert only(source).messages == messages


def test_the_message_is_the_variant_with_the_most_text() -> None:
    found = only('def f(x):\n    raise ValueError("short" if x else "a much longer text")')
    assert found.message == "a much longer text"


def test_no_more_than_sixteen_variants_then_holes() -> None:
    pieces = " + ".join(f'("a{n}" if x{n} else "b{n}")' for n in range(6))
    found = only(f'def f():\n    raise ValueError("t" + {pieces})')
    assert len(found.messages) == 16
    assert '{"a5" if x5 else "b5"}' in found.message


def test_branches_upon_branches_stay_small() -> None:
    lines = "".join(f'    if x{n}:\n        m += "{n}"\n' for n in range(60))
    found = only(f'def f():\n    m = "t"\n{lines}    raise ValueError(m)')
    assert len(found.messages) <= 16


IMPORTS = [
    ("re-exported", {"vllm/a.py": "from vllm.p import T\ndef f():\n    raise ValueError(T)", "vllm/p/__init__.py": "from .q import T", "vllm/p/q.py": 'T = "text"'}),
    ("renamed", {"vllm/a.py": "from vllm.q import T as U\ndef f():\n    raise ValueError(U)", "vllm/q.py": 'T = "text"'}),
    ("module by import", {"vllm/a.py": "import vllm.q\ndef f():\n    raise ValueError(vllm.q.T)", "vllm/q.py": 'T = "text"', "vllm/__init__.py": ""}),
    ("relative module", {"vllm/a.py": "from . import q\ndef f():\n    raise ValueError(q.T)", "vllm/q.py": 'T = "text"', "vllm/__init__.py": ""}),
    ("star import", {"vllm/a.py": "from vllm.q import *\ndef f():\n    raise ValueError(T)", "vllm/q.py": 'T = "text"'}),
    ("import in the function", {"vllm/a.py": "def f():\n    from vllm.q import T\n    raise ValueError(T)", "vllm/q.py": 'T = "text"'}),
    ("script beside a script", {"vllm/a.py": "from q import T\ndef f():\n    raise ValueError(T)", "vllm/q.py": 'T = "text"'}),
    ("class attribute elsewhere", {"vllm/a.py": "from vllm.q import Q\ndef f():\n    raise ValueError(Q.T)", "vllm/q.py": 'class Q:\n    T = "text"'}),
    ("inherited class attribute", {"vllm/a.py": "from vllm.q import Q\nclass C(Q):\n    def f(self):\n        raise ValueError(self.T)", "vllm/q.py": 'class Q:\n    T = "text"'}),
    ("built from another constant", {"vllm/a.py": "from vllm.q import T\ndef f():\n    raise ValueError(T)", "vllm/q.py": 'A = "te"\nT: "Final[str]" = A + f"{\'xt\'}"'}),
    ("helper elsewhere", {"vllm/a.py": "from vllm.q import h\ndef f():\n    raise ValueError(h())", "vllm/q.py": 'A = "text"\ndef h():\n    return A'}),
]  # fmt: skip


@pytest.mark.parametrize("files", [row[1] for row in IMPORTS], ids=[row[0] for row in IMPORTS])
def test_text_from_elsewhere(files: dict[str, str]) -> None:
    assert sites_in(files)[0].message == "text"


def test_imports_in_a_circle_end() -> None:
    files = {
        "vllm/a.py": "from vllm.b import T\ndef f():\n    raise ValueError(T)",
        "vllm/b.py": "from vllm.a import T",
    }
    assert sites_in(files)[0].message == "{T}"
