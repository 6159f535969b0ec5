"""Predicates: what they ask for, how sure they are, what they answer; and that asking is safe and soon done."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from textwrap import dedent, indent
from types import SimpleNamespace as NS
from typing import Any

import pytest

from extractor.predicates import module_names, package
from extractor.runtime.registry import Predicate
from extractor.runtime.values import Typed, member
from tests.trees import assembled_in, predicates_in

R = 'raise ValueError("m")'
KINDS = """
import enum
class Kind(enum.Enum):
    A = 1
    B = 2
    ALIAS = 1
class Word(str, enum.Enum):
    YES = "yes"
class Level(enum.IntEnum):
    LOW = 0
    HIGH = 5
class Base:
    pass
class Sub(Base):
    pass
LIMIT = 8
NAMES = ("a", "b")
TABLE = {"a": 1}
SEEN = {}
"""


def last(body: str, head: str = "def f(a, b, xs, self):", before: str = "") -> Predicate:
    body = indent(body.replace("raise E", R), "    ")
    source = f"from vllm.kinds import *\n{before}\n{head}\n{body}\n"
    return [p for p in predicates_in({"vllm/a.py": source, "vllm/kinds.py": KINDS}) if p.path == "vllm/a.py"][-1]


class Takes:
    def __init__(self) -> None:
        self.n = 1

    def take(self) -> bool:
        self.n -= 1
        return True


class Lies:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise KeyError("no")

    def __len__(self) -> int:
        return -5


# name, body, environment, answer
ANSWERS: list[tuple[str, str, dict[str, Any], bool | None]] = [
    # --- must not: an answer where nobody knows ---
    ("must not: nothing is told", "if a:\n    raise E", {}, None),
    ("must not: the object may have changed", "if self.x:\n    return\nself.go()\nif self.x:\n    raise E", dict(self=NS(x=0)), None),
    ("must not: another name of the object", "a.go()\nif b.x:\n    raise E", dict(a=(o := NS(x=1)), b=o), None),
    ("must not: an object inside the object", "n = self.part\nprobe(self)\nif n.x:\n    raise E", dict(self=NS(part=NS(x=1))), None),
    ("must not: an object that nobody told was changed", "b.go()\nif a.x:\n    raise E", dict(a=NS(x=1)), None),
    ("must not: a list that was handed on", "probe(xs)\nif xs:\n    raise E", dict(xs=[1]), None),
    ("must not: a list that was filled", "xs.append(1)\nif xs:\n    raise E", dict(xs=[]), None),
    ("must not: an attribute that is not there", "if a.x:\n    raise E", dict(a=NS()), None),
    ("must not: a comparison that raises", "if a < 3:\n    raise E", dict(a="x"), None),
    ("must not: an outside event", "try:\n    probe()\nexcept OSError:\n    raise E", {}, None),
    ("must not: what is caught in the function", f"try:\n    {R}\nexcept ValueError:\n    pass", {}, None),
    ("must not: kept by finally", f"try:\n    {R}\nfinally:\n    return", {}, None),
    ("must not: behind an unknown call in a try", "try:\n    probe()\nexcept OSError:\n    return\nraise E", {}, None),
    ("must not: bound in a loop that nobody knows", "n = 1\nfor x in xs:\n    n = x\nif n == 1:\n    raise E", {}, None),
    ("must not: a member that has no such value", "if a == Kind.A:\n    raise E", dict(a=1), False),
    ("must not: a namespace is of no known class", "if isinstance(a, Base):\n    raise E", dict(a=NS()), None),
    ("must not: the caller's name for a local", "b = probe(b)\nif b is None:\n    raise E", dict(b=None), None),
    ("must not: what a global call gave in a loop", "for x in xs:\n    n = probe(x)\n    if n is None:\n        raise E", dict(xs=[1], n=None), None),
    ("must not: a method that None does not have", "try:\n    n = a.get('x')\nexcept Exception:\n    raise E", dict(a=None), None),
    ("must not: values that lie", "if a == 1 or not b:\n    raise E", dict(a=Lies(), b=Lies()), None),
    ("must not: a table that begins empty", "if a not in SEEN:\n    raise E", dict(a=1), None),
    ("must not: attributes with two underscores", "if a.__class__ == b:\n    raise E", dict(a=1, b=int), None),
    # --- tests ---
    ("one false test decides", "if a and b:\n    raise E", dict(b=0), False),
    ("or decides as well", "if a or b:\n    raise E", dict(b=1), True),
    ("what Python would not have asked", "if a is None or a.x:\n    return\nraise E", dict(a=None), False),
    ("a chain", "if 1 < a <= 3 != b:\n    raise E", dict(a=2, b=0), True),
    ("among values, one of them not known", "if a in (1, b):\n    raise E", dict(a=1), True),
    ("a conditional expression", "if (1 if a else b):\n    raise E", dict(a=True), True),
    ("an f-string", "if f'{a}-{b!r}' == \"1-'x'\":\n    raise E", dict(a=1, b="x"), True),
    ("walrus", "if (n := a + 1) > 3:\n    return\nif n == 3:\n    raise E", dict(a=2), True),
    # --- bindings ---
    ("unpacked", "n, *rest = xs\nif rest == [2, 3]:\n    raise E", dict(xs=[1, 2, 3]), True),
    ("in both branches", "if a:\n    n = 1\nelse:\n    n = 2\nif n == 2:\n    raise E", dict(a=0), True),
    ("the same in both branches", "if a:\n    n = 1\nelse:\n    n = 1\nif n == 2:\n    raise E", {}, False),
    ("an attribute that is set", "self.x = a\nif self.x == 2:\n    raise E", dict(self=NS(x=0), a=2), True),
    ("an attribute set by another name", "n = self.part\nn.x = 1\nif self.part.x:\n    raise E", dict(self=NS(part=NS(x=0))), True),
    ("subscripts", "if xs['k'][0] == 1:\n    raise E", dict(xs={"k": (1,)}), True),
    ("counted", "n = 0\nfor x in xs:\n    if x:\n        n += 1\nif n > 1:\n    raise E", dict(xs=[1, 0, 1]), True),
    ("comprehension", "n = [x * 2 for x in xs if x]\nif n == [2]:\n    raise E", dict(xs=[0, 1]), True),
    ("getattr with a default", "if getattr(a, 'x', 3) == 3:\n    raise E", dict(a=NS()), True),
    # --- loops ---
    ("an element", "for x in xs:\n    if x > 3:\n        raise E", dict(xs=[1, 5]), True),
    ("no element", "for x in xs:\n    if x > 3:\n        raise E", dict(xs=[1, 2]), False),
    ("for, else", "for x in xs:\n    if x == a:\n        break\nelse:\n    raise E", dict(xs=[1, 2], a=3), True),
    ("left before the element", "for x in xs:\n    if x is None:\n        return\n    if x > 3:\n        raise E", dict(xs=[1, None, 5]), False),
    ("while", "n = a\nwhile n > 3:\n    n -= 3\nif n == 2:\n    raise E", dict(a=8), True),
    ("any over what nobody knows is false when its test is", "if any(a for x in xs):\n    raise E", dict(a=False), False),
    # --- classes and enums ---
    ("a member", "if a is Kind.A:\n    raise E", dict(a=member("Kind.A")), True),
    ("another member", "if a == Kind.A:\n    raise E", dict(a=member("Kind.B")), False),
    ("an alias", "if a == Kind.A:\n    raise E", dict(a=member("Kind.ALIAS")), True),
    ("its dotted name", "if a == Kind.A:\n    raise E", dict(a="vllm.kinds.Kind.A"), True),
    ("the value of a string enum", "if a in (Word.YES,):\n    raise E", dict(a="yes"), True),
    ("a real member", "if a == Kind.A:\n    raise E", dict(a=enum.Enum("Kind", {"A": 1}).A), True),
    ("numbers of an enum", "if a >= Level.HIGH:\n    raise E", dict(a=5), True),
    ("a class by name", "if isinstance(a, Base):\n    raise E", dict(a=Typed("Base")), True),
    ("a text is no object of a class", "if isinstance(a, Base):\n    raise E", dict(a="x"), False),
    ("builtin classes", "if not isinstance(a, (int, str)):\n    raise E", dict(a=[]), True),
    ("constants", "if a > LIMIT and b in NAMES and TABLE[b] == 1:\n    raise E", dict(a=9, b="a"), True),
    # --- calls ---
    ("a method of the caller's object", "if a.go(1) == 2:\n    raise E", dict(a=NS(go=lambda n: n + 1)), True),
    ("methods of texts", "if a.strip().lower().startswith(('x', 'y')):\n    raise E", dict(a="  Yes"), True),
    ("a call's result that is told", "n = probe(a)\nif n > 3:\n    raise E", dict(n=4), True),
    ("a module that the caller stands in for", "if envs.FLAG:\n    raise E", dict(envs=NS(FLAG=1)), True),
    # --- handlers and match ---
    ("what certainly goes well", "try:\n    n = int(a)\nexcept ValueError:\n    raise E", dict(a="1"), False),
    ("raised and caught as another", "try:\n    if a:\n        raise KeyError(1)\nexcept KeyError:\n    raise E", dict(a=1), True),
    ("match", "match a:\n    case {'k': [x, y]} if x > y:\n        raise E", dict(a={"k": [2, 1]}), True),
    ("match, another case", "match a:\n    case 1:\n        return\n    case int():\n        raise E", dict(a=2), True),
    ("match, an object that is no mapping", "match a:\n    case {'k': 1}:\n        raise E", dict(a=object()), False),
    ("match, an object that is no sequence", "match a:\n    case [1, _]:\n        return\nraise E", dict(a=object()), True),
    ("match, what stands for an object may be a mapping", "match a:\n    case {'k': 1}:\n        raise E", dict(a=NS(k=1)), None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "env", "answer"), [pytest.param(body, env, answer, id=name) for name, body, env, answer in ANSWERS]
)
def test_answers(body: str, env: dict[str, Any], answer: bool | None) -> None:
    assert last(body, before="import envs" if "envs" in body else "").evaluate(env) is answer


PARAMS: list[tuple[str, str, tuple[str, ...], str]] = [
    ("must not: what no guard reads", "n = a.x\nif b:\n    raise E", ("b",), "exact"),
    ("must not: what a call that is not made was given", "n = probe(a)\nif n:\n    raise E", ("n",), "partial"),
    ("must not: logging", "logger.info(a)\nif b:\n    raise E", ("b",), "exact"),
    ("must not: what stands behind the raise", "if a:\n    raise E\nprobe(b)", ("a",), "exact"),
    ("must not: a branch that never gets there", "if a:\n    for x in xs:\n        b.go(x)\n    return\nraise E", ("a",), "exact"),
    ("must not: exact, when what was read may have changed", "self.go()\nif self.x:\n    raise E", ("self",), "partial"),
    ("must not: exact, in a handler", "try:\n    a.go()\nexcept E1:\n    raise E", (), "partial"),
    ("must not: exact, with a call that is not made", "if probe(a):\n    raise E", (), "partial"),
    ("in the order of the signature", "if xs or b or a:\n    raise E", ("a", "b", "xs"), "exact"),
    ("nothing", "raise E", (), "exact"),
    ("constants are no parameters", "if a > LIMIT and b == Kind.A:\n    raise E", ("a", "b"), "exact"),
    ("a method in a test", "if self.mode.full():\n    raise E", ("self",), "exact"),
    ("followed through locals", "n = a.x\nm = n * 2\nif m > b:\n    raise E", ("a", "b"), "exact"),
    ("several results of a call", "m, n = probe(a)\nif m > n:\n    raise E", ("m", "n"), "partial"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "params", "precision"), [pytest.param(b, params, how, id=name) for name, b, params, how in PARAMS]
)
def test_parameters(body: str, params: tuple[str, ...], precision: str) -> None:
    predicate = last(body)
    assert (predicate.params, predicate.precision) == (params, precision)


ENDLESS = [
    ("a range", "if sum(range(a)) == 1:\n    raise E", dict(a=10**12)),
    ("a text", "if 'a' * a == b:\n    raise E", dict(a=10**9, b="")),
    ("a power", "if 10 ** 10 ** a:\n    raise E", dict(a=10)),
    ("a shift", "if 1 << a:\n    raise E", dict(a=10**9)),
    ("a loop", "while a:\n    a = a + 1\nraise E", dict(a=1)),
    ("loops in loops", "\n".join(f"{'    ' * i}for x{i} in xs:" for i in range(8)) + f"\n{'    ' * 8}if x0 > 9:\n{'    ' * 9}raise E", dict(xs=list(range(9)))),
    ("a list of lists", "if [x for x in xs for y in xs for z in xs] == a:\n    raise E", dict(xs=list(range(5000)), a=1)),
    ("a regular expression", "if re.match('(a+)+$', a):\n    raise E", dict(a="a" * 50 + "b")),
    ("a replacement", "if a.replace('a', a) == b:\n    raise E", dict(a="a" * 100_000, b="")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "env"), [pytest.param(body, env, id=name) for name, body, env in ENDLESS])
def test_must_not_take_for_ever(body: str, env: dict[str, Any]) -> None:
    started = time.monotonic()
    assert last(body, before="import re").evaluate(env) is None
    assert time.monotonic() - started < 5


def test_must_not_change_what_is_asked_of() -> None:
    env = dict(a=NS(x=0, ys=[1]), xs=[1, 2])
    predicate = last("a.x = 1\na.ys.append(2)\nn = xs.pop()\ndel a.ys[0]\nif a.x:\n    raise E")
    assert predicate.evaluate(env) is True
    assert env == dict(a=NS(x=0, ys=[1]), xs=[1, 2])


def test_must_not_take_from_a_queue_that_it_is_given() -> None:
    env = dict(xs=deque([1, 2]))
    last("if xs.popleft():\n    raise E").evaluate(env)
    assert list(env["xs"]) == [1, 2]


def test_must_not_trust_an_object_after_its_method_was_called() -> None:
    assert last("if a.take() and a.n == 0:\n    raise E").evaluate({"a": Takes()}) is None


def test_explain_tells_the_answer_of_each_guard() -> None:
    predicate = last("if a is None:\n    return\nfor x in xs:\n    if x > a:\n        raise E")
    told = {g["text"]: g["answer"] for g in predicate.explain({"a": 3, "xs": [1, 5]})}
    assert told == {"a is not None": True, "for x in xs": True, "x > a": True}
    told = {g["text"]: g["answer"] for g in predicate.explain({"a": 3, "xs": [1]})}
    assert told["x > a"] is False
    assert [g["answer"] for g in predicate.explain({})] == [None, None, None]


def test_a_docstring_says_what_a_person_needs() -> None:
    doc = last("if a:\n    return\nif b:\n    raise E").__doc__
    for part in ("ValueError: m", "vllm/a.py:7 https://example.org/blob/abc/vllm/a.py#L7", "not a   (else line", "b=…"):
        assert part in doc


def test_must_not_follow_in_circles_what_an_object_holds() -> None:
    predicate = last("self.a = make(self)\nuse(self)\nif self.a and b:\n    raise E")
    assert predicate.evaluate({"self": NS(), "b": False}) is False


def test_must_not_run_what_messages_and_names_say() -> None:
    hostile = "'''\"\"\" + __import__('os').system('false') \\ {% raw %} </script> \u202e"
    made = assembled_in(
        {"vllm/a'b.py": f"def f(a):\n    if a == {hostile!r}:\n        raise ValueError({hostile!r})\n"}
    )
    data = dict(package(made.errors, made.programs))
    module = next(text for name, text in data.items() if text.startswith(b"# Predicates"))
    scope: dict[str, Any] = {}
    exec(module, scope)
    assert Predicate(json.loads(scope["PREDICATES"][0])).evaluate({"a": hostile}) is True


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        pytest.param(["vllm/a.py"], ["vllm_a"], id="plain"),
        pytest.param(["vllm/a-b.py", "vllm/a_b.py"], ["vllm_a_b", "vllm_a_b_2"], id="must not: two of one name"),
        pytest.param(["Machine.py"], ["Machine_2"], id="must not: a module of the runtime"),
        pytest.param(["1 x/ü.py"], ["in_1_x__"], id="no name at all"),
    ],
)
def test_module_names(paths: list[str], names: list[str]) -> None:
    assert list(module_names(paths).values()) == names


def test_the_package_needs_the_standard_library_alone(tmp_path: Path) -> None:
    made = assembled_in(
        {
            "vllm/a.py": dedent("""
        def f(a):
            if a:
                raise ValueError("m")
    """)
        }
    )
    for name, data in package(made.errors, made.programs):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    code = """
        import sys
        before = set(sys.modules)
        from predicates import REGISTRY, member
        (name,) = REGISTRY
        print(REGISTRY[name].holds(a=1), REGISTRY[name].params, len(REGISTRY))
        outside = {m.partition('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names - {'predicates'}
        print(sorted(outside))
    """
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{dedent(code)}"],
        capture_output=True,
        text=True,
    )
    assert ran.stdout.split("\n")[:2] == ["True ('a',) 1", "[]"], ran.stderr
