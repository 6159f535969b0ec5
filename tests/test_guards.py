"""Guards: what must hold at each raise, and never one that need not hold."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from extractor.model import Tried
from tests.oracle.programs import Program, programs
from tests.trees import Found, sites_in

R = 'raise ValueError("m")'

# name, body of `def f(a, b, c, xs, self)`, the guards of its last site
ROWS = [
    # --- must not: what need not hold is not said ---
    ("must not: a branch that goes on", "if a:\n    print(b)\nraise E", []),
    ("must not: a try whose handler goes on", "try:\n    if a:\n        return\nexcept OSError:\n    pass\nraise E", []),
    ("must not: a loop that may be left early", "for x in xs:\n    if x:\n        break\nraise E", []),
    ("must not: what a loop bound on its way", "for x in xs:\n    y = x.go()\n    if y:\n        return\nraise E", []),
    ("must not: an element behind a break", "for x in xs:\n    if x == 1:\n        return\n    if x:\n        break\nraise E", []),
    ("must not: two ways out of a while", "while True:\n    if a():\n        break\n    if b():\n        break\nraise E", []),
    ("must not: orderings turned round", "if a <= b:\n    return\nraise E", ["not a <= b"]),
    ("must not: a chained comparison turned round", "if a == b == c:\n    return\nraise E", ["not a == b == c"]),
    ("must not: the body of a try whose handler goes on", "try:\n    assert a\nexcept AssertionError:\n    pass\nraise E", []),
    ("must not: a case with a guard says nothing later", "match a:\n    case 1 if b:\n        return\nraise E", []),
    ("must not: suppress", "with suppress(KeyError):\n    if a:\n        return\nraise E", []),
    ("must not: sys that is a parameter", "def g(sys):\n    if sys:\n        sys.exit()\n    raise E", []),
    # --- branches ---
    ("if, else", "if a:\n    pass\nelse:\n    raise E", ["not a"]),
    ("elif chain", "if a:\n    return\nelif b:\n    return\nelif c:\n    raise E", ["not a", "not b", "c"]),
    ("one branch leaves, the other asserts", "if a:\n    return\nelse:\n    assert b\nraise E", ["not a", "b"]),
    ("partial exit of an else", "if a:\n    pass\nelse:\n    if b:\n        return\nraise E", ["not (not a and b)"]),
    ("partial exits of two branches", "if a:\n    if b:\n        return\nelif c:\n    return\nraise E", ["not (a and b)", "not (not a and c)"]),
    ("three deep", "if a:\n    if b:\n        if c:\n            return\nraise E", ["not (a and b and c)"]),
    ("an or in a partial exit", "if a or b:\n    if c:\n        return\nraise E", ["not ((a or b) and c)"]),
    ("and that left", "if a and b:\n    return\nraise E", ["not a or not b"]),
    ("not goes inwards", "if not (a and not b):\n    raise E", ["not a or b"]),
    ("not goes inwards twice", "if not (a or (b and not c)):\n    raise E", ["not a", "not b or c"]),
    ("is not, not in", "if a is None or b not in c:\n    return\nraise E", ["a is not None", "b in c"]),
    ("conditional expression", "if a if b else c:\n    return\nraise E", ["not (a if b else c)"]),
    ("said twice", "if a:\n    if a:\n        raise E", ["a"]),
    ("several lines", "if (\n    a\n    and b.go(\n        1,\n    )\n):\n    raise E", ["a", "b.go(1)"]),
    # --- ways out ---
    ("assert", "assert a, 'text'\nraise E", ["a"]),
    ("exits", "if a:\n    os._exit(1)\nif b:\n    quit()\nraise E", ["not a", "not b"]),
    ("or that never returns", "a or sys.exit(1)\nraise E", ["a"]),
    ("and that never returns", "a and b and sys.exit(1)\nraise E", ["not (a and b)"]),
    ("a conditional expression that never returns", "x = b if a else sys.exit()\nraise E", ["a"]),
    # --- loops ---
    ("for", "for x in xs:\n    raise E", ["for x in xs"]),
    ("for two names", "for i, x in enumerate(xs):\n    if x:\n        raise E", ["for i, x in enumerate(xs)", "x"]),
    ("behind a loop that returns", "for x in xs:\n    if x is None:\n        continue\n    if x > a:\n        return\nraise E", ["not any(x is not None and x > a for x in xs)"]),
    ("behind loops in loops", "for x in xs:\n    for y in x:\n        if y:\n            return\nraise E", ["not any(y for x in xs for y in x)"]),
    ("behind a loop that returns at once", "for x in xs:\n    return\nraise E", ["not any(True for x in xs)"]),
    ("for, else that leaves", "for x in xs:\n    if x == a:\n        break\nelse:\n    return\nraise E", ["any(x == a for x in xs)"]),
    ("while, else", "while a:\n    a.step()\nelse:\n    raise E", ["not a"]),
    ("while True left by break", "while True:\n    if a:\n        break\nraise E", ["a"]),
    ("inside while True", "while True:\n    if a:\n        raise E", ["while True", "a"]),
    ("async", "async for x in xs:\n    if x:\n        raise E", ["async for x in xs", "x"]),
    # --- handlers ---
    ("handler after handler", "try:\n    a()\nexcept KeyError:\n    return\nexcept Exception:\n    raise E", ["except Exception"]),
    ("a bare handler", "try:\n    a()\nexcept:\n    raise E", ["except"]),
    ("two handlers that go on", "try:\n    return a()\nexcept KeyError:\n    pass\nexcept (OSError, ValueError):\n    pass\nraise E", ["except (KeyError, OSError, ValueError)"]),
    ("all handlers leave", "try:\n    if a:\n        return\nexcept KeyError:\n    return\nraise E", ["not a"]),
    ("finally", "try:\n    go()\nfinally:\n    if a:\n        raise E", ["a"]),
    ("behind a finally that returns", "try:\n    go()\nfinally:\n    if a:\n        return\nraise E", ["not a"]),
    ("else", "try:\n    go()\nexcept OSError:\n    return\nelse:\n    if a:\n        return\nraise E", ["not a"]),
    # --- match ---
    ("behind cases that left", "match a:\n    case 1 | 2:\n        return\n    case None:\n        return\nraise E", ["a not in (1, 2)", "a is not None"]),
    ("only one case goes on", "match a:\n    case [x, *_]:\n        pass\n    case _:\n        return\nraise E", ["case [x, *_]"]),
    # --- definitions ---
    ("a function in a function", "if a:\n    return\ndef g(x):\n    if x:\n        raise E", ["x"]),
    ("must not: what an earlier case kept from being tried", "match a:\n    case int():\n        pass\n    case 1:\n        return\nraise E", []),
    ("a case behind one of another constant", "match a:\n    case 2 | -3:\n        pass\n    case 1:\n        return\nraise E", ["a != 1"]),
    ("walrus", "if (n := len(xs)) > 3:\n    return\nraise E", ["not (n := len(xs)) > 3"]),
]  # fmt: skip


def found(body: str, head: str = "def f(a, b, c, xs, self):") -> Found:
    body = body.replace("raise E", R)
    head = f"async {head}" if "async " in body or "await " in body else head
    return sites_in({"vllm/a.py": f"import os, sys\n{head}\n{indent(body, '    ')}\n"})[-1]


@pytest.mark.parametrize(("body", "guards"), [pytest.param(body, guards, id=name) for name, body, guards in ROWS])
def test_guards(body: str, guards: list[str]) -> None:
    assert [g.text for g in found(body).site.guards] == guards


INCOMPLETE = [
    (
        "a case that an earlier one may keep from being tried",
        "match a:\n    case int():\n        pass\n    case 1:\n        return\nraise E",
    ),
    ("a handler that goes on", "try:\n    if a:\n        return\nexcept OSError:\n    pass\nraise E"),
    ("a loop with a local", "for x in xs:\n    y = x.go()\n    if y:\n        return\nraise E"),
    ("a while that returns", "while a:\n    if b():\n        return\nraise E"),
    ("a case with a guard", "match a:\n    case 1 if b:\n        return\nraise E"),
    ("twenty partial exits", "\n".join(f"if a[{i}]:\n    if b[{i}]:\n        return" for i in range(20)) + "\nraise E"),
]


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in INCOMPLETE])
def test_what_is_left_out_is_said_to_be(body: str) -> None:
    assert not found(body).site.complete


@pytest.mark.parametrize("body", [pytest.param(row[1], id=row[0]) for row in ROWS if not row[0].startswith("must not")])
def test_must_not_call_whole_guards_incomplete(body: str) -> None:
    assert found(body).site.complete


STALE = [
    ("must not: a name bound before", "a = go()\nif a:\n    raise E", False),
    ("must not: bound in a branch that left", "if a:\n    raise E\nif b:\n    a = 1\n    return\nraise E", False),
    ("must not: another attribute", "if self.x:\n    self.y = 1\n    raise E", False),
    ("bound anew", "if a:\n    a = go()\n    raise E", True),
    ("bound anew in one branch", "if a is None:\n    return\nif b:\n    a = 1\nraise E", True),
    ("an attribute set", "if self.x:\n    self.x = 1\n    raise E", True),
    ("what an attribute is read from", "if self.x.y:\n    self.x = 1\n    raise E", True),
    ("an item set", "if a[0]:\n    a[0] = 1\n    raise E", True),
    ("a loop's own name", "if a:\n    for a in xs:\n        raise E", True),
    ("bound by a loop's body", "if a:\n    for x in xs:\n        if x:\n            raise E\n        a = x\nraise ValueError", True),
    ("with … as", "if a:\n    with go() as a:\n        raise E", True),
    ("deleted", "if a:\n    del a\n    raise E", True),
    ("by an inner function", "def g():\n    nonlocal a\n    a = 1\nif a:\n    g()\n    raise E", True),
    ("augmented", "if a:\n    a += 1\n    raise E", True),
    ("must not: a name that is bound in the branch before its test", "if a:\n    n = len(a)\n    if n:\n        return\nraise E", False),
    ("must not: bound in the other branch", "if a:\n    if b:\n        return\nelse:\n    b = 1\nraise E", False),
    ("must not: an object of another name", "if a in xs:\n    b.add(a)\n    raise E", False),
    ("bound in the branch after its test", "if a:\n    if b:\n        return\n    b = 1\nraise E", True),
    ("what was tested is bound in the branch", "if a:\n    a = b\n    if b:\n        return\nraise E", True),
    ("bound in the branch, then behind it", "if a:\n    n = len(a)\n    if n:\n        return\nn = 1\nraise E", True),
    ("added to a collection", "if a not in xs:\n    xs.add(a)\n    raise E", True),
    ("taken from a collection", "if len(xs) == 1:\n    x = xs.pop()\n    raise E", True),
    ("taken from an attribute", "if a in self.xs:\n    self.xs.discard(a)\n    raise E", True),
    ("an item that is set", "if a not in xs:\n    xs[a] = 1\n    raise E", True),
    ("taken in the loop", "while xs:\n    xs.pop()\n    raise E", True),
]  # fmt: skip


@pytest.mark.parametrize(("body", "stale"), [pytest.param(body, stale, id=name) for name, body, stale in STALE])
def test_stale(body: str, stale: bool) -> None:
    assert found(body).site.guards[0].stale is stale


KINDS = [
    ("an if around", "if a:\n    raise E", ["if"]),
    ("an if before", "if a:\n    return\nraise E", ["exit"]),
    ("an elif around one that left", "if a:\n    return\nelif b:\n    raise E", ["if", "if"]),
    ("all the others", "assert a\nfor x in xs:\n    while b:\n        try:\n            go()\n        except E:\n            match x:\n                case 1:\n                    raise E", ["assert", "for", "while", "except", "case"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kinds"), [pytest.param(body, kinds, id=name) for name, body, kinds in KINDS])
def test_kinds(body: str, kinds: list[str]) -> None:
    assert [g.kind for g in found(body).site.guards] == kinds


TRIED = [  # the body starts on line 3
    ("not what a handler inside calls", "try:\n    try:\n        go()\n    except OSError:\n        stay()\nexcept E:\n    raise E", (4, 7, ["go()"], False)),
    ("no calls", "try:\n    x = a[0]\nexcept KeyError:\n    raise E", (4, 4, ["x = a[0]"], False)),
    ("imports", "try:\n    import a.b\n    from c import d\nexcept ImportError:\n    raise E", (4, 5, ["import a.b", "from c import d"], False)),
    ("not what the handler calls", "try:\n    go(a)\nexcept E:\n    stay(b)\n    raise E", (4, 4, ["go(a)"], False)),
    ("not what a function would call", "try:\n    def g():\n        h()\n    g()\nexcept E:\n    raise E", (4, 6, ["g()"], False)),
    ("a call with calls in it, on two lines", "try:\n    go(a(),\n       b())\nexcept E:\n    raise E", (4, 5, ["go(a(), b())"], False)),
    ("more than are said", "try:\n    if a():\n        b()\n    c.d(1); e()\nexcept E:\n    raise E", (4, 6, ["a()", "b()", "c.d(1)"], True)),
    ("a long one", f"try:\n    go({'a' * 90})\nexcept E:\n    raise E", (4, 4, ["go(…)"], False)),
    ("of a handler that goes on alone", "try:\n    go()\nexcept KeyError:\n    x = 1\nelse:\n    return\nraise E", (4, 4, ["go()"], False)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "tried"), [pytest.param(body, tried, id=name) for name, body, tried in TRIED])
def test_what_was_tried(body: str, tried: tuple[int, int, list[str], bool]) -> None:
    guard = next(g for g in found(body).site.guards if g.kind == "except")
    assert isinstance(guard.tried, Tried)
    assert (guard.tried.line, guard.tried.end_line, list(guard.tried.code), guard.tried.more) == tried


def test_only_handlers_tried_something() -> None:
    assert [g.tried for g in found("for x in xs:\n    if x:\n        raise E").site.guards] == [UNSET, UNSET]


CAUGHT = [
    ("must not: another type", "try:\n    raise E\nexcept KeyError:\n    pass", None),
    ("must not: raised on", "try:\n    raise E\nexcept ValueError:\n    log()\n    raise", None),
    ("must not: raised on by name", "try:\n    raise E\nexcept ValueError as e:\n    raise e", None),
    ("must not: raised on at times", "try:\n    raise E\nexcept ValueError:\n    if a:\n        raise", None),
    ("must not: from the handler", "try:\n    go()\nexcept ValueError:\n    raise E", None),
    ("must not: from the else", "try:\n    go()\nexcept ValueError:\n    pass\nelse:\n    raise E", None),
    ("must not: a type that nobody knows", "try:\n    raise E\nexcept a.Error:\n    pass", None),
    ("a base", "try:\n    raise E\nexcept Exception:\n    pass", "Exception"),
    ("one of several", "try:\n    raise E\nexcept (KeyError, ValueError):\n    pass", "KeyError | ValueError"),
    ("the first that fits", "try:\n    raise E\nexcept KeyError:\n    pass\nexcept ValueError:\n    pass\nexcept Exception:\n    pass", "ValueError"),
    ("an outer one", "try:\n    try:\n        raise E\n    except KeyError:\n        pass\nexcept ValueError:\n    pass", "ValueError"),
    ("raised as another", "try:\n    raise E\nexcept ValueError as e:\n    raise RuntimeError from e", "ValueError"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "types"), [pytest.param(body, types, id=name) for name, body, types in CAUGHT])
def test_caught_by(body: str, types: str | None) -> None:
    sites = sites_in({"vllm/a.py": f"def f(a):\n{indent(body.replace('raise E', R), '    ')}\n"})
    assert next(s.site for s in sites if s.error.message == "m").caught_by == types


def test_a_class_of_the_tree_is_caught_by_its_base() -> None:
    source = "class Own(LookupError): pass\ndef f():\n    try:\n        raise Own('m')\n    except LookupError:\n        pass\n"
    assert sites_in({"vllm/a.py": source})[0].site.caught_by == "LookupError"


LEAVING = {
    "vllm/exits.py": """
        from typing import NoReturn
        class Base:
            def fail(self) -> NoReturn:
                raise RuntimeError("failed")
        def die(text: str) -> "NoReturn":
            raise SystemExit(text)
        class Quiet:
            def __enter__(self): ...
            def __exit__(self, *args):
                return True
    """
}


@pytest.mark.parametrize(
    ("source", "guards"),
    [
        pytest.param("from vllm.exits import die\ndef f(a):\n    if a:\n        die('x')\n    raise ValueError('m')", ["not a"], id="a function"),
        pytest.param("from vllm.exits import die\ndef f(a):\n    a or die('x')\n    raise ValueError('m')", ["a"], id="in an expression"),
        pytest.param("from vllm.exits import Base\nclass C(Base):\n    def f(self, a):\n        if a:\n            self.fail()\n        raise ValueError('m')", ["not a"], id="a method of a base"),
        pytest.param("from vllm.exits import Quiet\ndef f(a):\n    with Quiet():\n        if a:\n            return\n    raise ValueError('m')", [], id="must not: a context manager that swallows"),
        pytest.param("from other import die\ndef f(a):\n    if a:\n        die('x')\n    raise ValueError('m')", [], id="must not: another's function"),
    ],
)  # fmt: skip
def test_calls_that_never_return(source: str, guards: list[str]) -> None:
    last = [f for f in sites_in({**LEAVING, "vllm/a.py": source}) if f.site.path == "vllm/a.py"][-1]
    assert [g.text for g in last.site.guards] == guards


def test_definition_guards_of_a_function_in_a_function() -> None:
    site = found("if a:\n    return\ndef g(x):\n    if x:\n        raise E").site
    assert ([g.text for g in site.guards], [g.text for g in site.definition_guards]) == (["x"], ["not a"])


VALIDATES = [
    ("must not: a method", "class C:\n    def f(self):\n        R", ()),
    ("must not: __post_init__ of no dataclass", "class C:\n    def __post_init__(self):\n        R", ()),
    ("field validators", "class C:\n    @field_validator('x', 'y')\n    def f(cls, v):\n        R", ("C.x", "C.y")),
    ("a model validator", "class C:\n    @model_validator(mode='after')\n    def f(self):\n        R", ("C",)),
    ("a dataclass", "from dataclasses import dataclass\n@dataclass\nclass C:\n    def __post_init__(self):\n        R", ("C",)),
    ("a decorator of the tree", "from vllm.b import config\n@config\nclass C:\n    def __post_init__(self):\n        R", ("C",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "fields"), [pytest.param(source, fields, id=name) for name, source, fields in VALIDATES]
)
def test_validates(source: str, fields: tuple[str, ...]) -> None:
    other = "from typing import dataclass_transform\n@dataclass_transform()\ndef config(cls): ...\n"
    assert sites_in({"vllm/a.py": source.replace("R", R), "vllm/b.py": other})[0].site.validates == fields


CONSTANTS = [
    ("must not: a parameter", "def f(LIMIT):\n    if LIMIT:\n        R", {}),
    ("must not: a list that is filled", "SEEN = []\ndef f(x):\n    SEEN.append(x)\n    if x in SEEN:\n        R", {}),
    ("must not: a name that is bound after its import", "def f(x):\n    from vllm.b import LIMIT\n    LIMIT = go()\n    if x > LIMIT:\n        R", {}),
    ("must not: a star", "A, *B = 1, 2\ndef f(x):\n    if x in B:\n        R", {}),
    ("must not: a number of its own before auto()", "from enum import Enum, auto\nclass K(Enum):\n    A = 7\n    B = auto()\ndef f(x):\n    if x is K.B:\n        R", {}),
    ("must not: numbers by a rule of the tree", "from enum import Enum, auto\nclass K(Enum):\n    def _generate_next_value_(*a):\n        return 9\n    A = auto()\ndef f(x):\n    if x is K.A:\n        R", {}),
    ("must not: text that is a number", "from enum import Enum, auto\nclass K(str, Enum):\n    A = auto()\ndef f(x):\n    if x is K.A:\n        R", {}),
    ("imported in the function", "def f(x):\n    from vllm.b import LIMIT\n    if x > LIMIT:\n        R", {"LIMIT": 7}),
    ("auto()", "import enum\nclass K(enum.Enum):\n    A = enum.auto()\n    B = enum.auto()\ndef f(x):\n    if x is K.B:\n        R", {"K.B": 2}),
    ("auto() of text", "from enum import StrEnum, auto\nclass K(StrEnum):\n    A = auto()\ndef f(x):\n    if x == K.A:\n        R", {"K.A": "a"}),
    ("several at once", "A, B = 'x', 'y'\ndef f(x):\n    if x in (A, B):\n        R", {"A": "x", "B": "y"}),
    ("arithmetic", "K = 4 * 1024\ndef f(x):\n    if x > K:\n        R", {"K": 4096}),
    ("through modules", "from vllm.b import LIMIT\ndef f(x):\n    if x > LIMIT:\n        R", {"LIMIT": 7}),
    ("a class attribute", "class C:\n    NAMES = ('a',)\n    def f(self, x):\n        if x in self.NAMES:\n            R", {"self.NAMES": ["a"]}),
    ("a Literal", "from typing import Literal, get_args\nT = Literal['a', 'b']\ndef f(x):\n    if x not in get_args(T):\n        R", {"T": ["a", "b"]}),
    ("lower case", "supported = {'a': 1}\ndef f(x):\n    if x not in supported:\n        R", {"supported": {"a": 1}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "values"), [pytest.param(source, values, id=name) for name, source, values in CONSTANTS]
)
def test_constants_of_guards(source: str, values: dict[str, object]) -> None:
    error = sites_in(
        {"vllm/a.py": source.replace("R\n", R).replace("        R", f"        {R}"), "vllm/b.py": "LIMIT = 7\n"}
    )[0].error
    assert {name: c.value for name, c in error.constants.items()} == values


@settings(max_examples=60, deadline=None)
@given(st.lists(programs(), min_size=1, max_size=4, unique_by=lambda program: program.symbol))
def test_guards_parse_back(made: list[Program]) -> None:
    for one in sites_in({"vllm/a.py": "\n\n".join(program.source for program in made)}):
        for guard in one.site.guards:
            if guard.kind in ("if", "assert", "exit"):
                ast.parse(guard.text, mode="eval")
            elif guard.kind in ("for", "while", "except", "case"):
                assert guard.text.removeprefix("async ").startswith(guard.kind)
