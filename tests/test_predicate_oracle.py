"""Python itself as the oracle: no predicate is ever wrong about what a function does, none of its guards untrue."""

from __future__ import annotations

import ast
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.asking import Crash, Site, asker, load
from tests.oracle.judging import Function, guards
from tests.oracle.nasty import QUICKLY, ROWS, Row
from tests.oracle.programs import Program, environment, programs
from tests.oracle.rounds import ENVIRONMENTS, one_round, pairs, shown, smallest
from tests.oracle.running import OTHER, RAISE, Module, Outcome, marked
from tests.oracle.table import Table, decided, in_child, outcome, quickly, table, verdict
from tests.oracle.trial import Pair, one, trial

PAIRS, SEED = 20_000, 20_261_201


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return table(tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_the_table_says_what_python_does(row: Row) -> None:
    assert {text: outcome(row, text)[0] for text, _ in row.cases} == dict(row.cases)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_no_answer_is_wrong(asked: Table, row: Row) -> None:
    assert verdict(asked, row) == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS if row.name in QUICKLY])
def test_what_would_take_for_ever_is_answered_quickly(asked: Table, row: Row) -> None:
    assert in_child(lambda: quickly(asked, row)) == []


def test_the_rows_are_not_all_unknown(asked: Table) -> None:
    counts: Counter[str] = Counter()
    for row in ROWS:
        counts += decided(asked, row)
    assert counts["exact answered"] > 100, counts


def test_must_not_be_wrong_about_random_functions(asked: Table) -> None:
    counts, failures = one_round(SEED, count=PAIRS // ENVIRONMENTS)
    print(counts)
    assert not failures, "\n".join(shown(failure) for failure in smallest(failures, 2))
    assert counts["pairs"] > PAIRS * 0.95 and counts["exact left True"] > 100


@settings(max_examples=3, deadline=None)
@given(st.lists(programs(), min_size=10, max_size=30, unique_by=lambda program: program.symbol), st.randoms())
def test_must_not_be_wrong_whatever_hypothesis_thinks_of(asked: Table, made: list[Program], rng: random.Random) -> None:
    failures = trial([Pair(program, environment(rng, program.kinds)) for program in made for _ in range(5)], Counter())
    assert not failures, "\n".join(shown(failure) for failure in smallest(failures, 1))


# The oracle itself: it lets the truth pass and finds each kind of lie.


def truth(site: Site, ended: Outcome) -> bool:
    return site.line in ended.left


LIES = {
    "must not find fault with the truth": (truth, set()),
    "not knowing where exact is promised": (lambda site, ended: None, {"exact but None"}),
    "always True": (lambda site, ended: True, {"True where it did not raise", "True where it was caught"}),
    "always False": (lambda site, ended: False, {"False where it raised"}),
    "reached is not left": (lambda site, ended: site.line in ended.reached, {"True where it was caught"}),
}


@pytest.mark.parametrize("name", LIES)
def test_the_oracle_finds_lies_and_nothing_else(name: str) -> None:
    lie, expected = LIES[name]
    failures = trial(pairs(7, 60, 8), Counter(), lie=lie)
    ours = {f.wrong.kind for f in failures if f.wrong.kind.startswith(("True", "False", "exact"))}
    assert ours == expected


SITE = Site("vllm/a.py", 1, "f", "p", ("a",), "exact", (), True, None)


def slow(values: dict[str, Any]) -> None:
    end = time.process_time() + 3
    while time.process_time() < end:
        pass


FAULTS = {
    "no answer at all": (lambda values: 1, "answered 1"),
    "raises": (lambda values: values["missing"], "raised KeyError"),
    "takes for ever": (slow, "took"),
    "leaves the program": (lambda values: sys.exit(1), "raised SystemExit"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_asking_must_end_in_an_answer(name: str) -> None:
    evaluate, expected = FAULTS[name]
    predicate = SimpleNamespace(params=("a",), precision="exact", evaluate=evaluate)
    with pytest.raises(Crash, match=expected):
        asker(SimpleNamespace(REGISTRY={"p": predicate}))(SITE, {"a": 1})


def test_each_dataset_brings_its_own_predicates(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "predicates").mkdir(parents=True)
        (tmp_path / name / "predicates" / "__init__.py").write_text(f"REGISTRY = {{'p': {name!r}}}")
    assert [load(tmp_path / name).REGISTRY["p"] for name in ("one", "two", "one")] == ["one", "two", "one"]
    assert load(tmp_path) is None


def test_must_not_let_an_exact_none_or_a_change_pass() -> None:
    made = Program("f1", "def f1(xs):\n    if xs:\n        raise ValueError('m')\n", {"xs": "L"})
    known = replace(SITE, line=3, symbol="f1", params=("xs",))
    module = Module(marked(ast.parse(made.source), "a.py"))
    changed = {"exact but None", "asking changed the environment"}
    for text, expected in (("dict(xs=[1])", changed), ("dict(xs=None)", {"exact but None"})):
        wrong = one(Pair(made, text), module, [known], Function(made.source, "f1"), forgetful, None, Counter())
        assert {w.kind for w in wrong} == expected


def forgetful(site: Site, values: dict[str, Any]) -> None:
    if values["xs"]:
        values["xs"].clear()


def test_guards_that_need_not_hold_are_found() -> None:
    source = "def f(a, b):\n    if a:\n        b = 1\n    if b:\n        raise ValueError('m')\n"
    module = Module(marked(ast.parse(source), "a.py"))
    ended = module.run("f", {"a": 0, "b": 1})
    texts = {"not a": set(), "a": {"guard did not hold"}, "b > 3": set(), "a.x": {"guard raises"}}
    texts |= {"a a": {"guard is no Python"}}
    for text, expected in texts.items():
        known = replace(SITE, line=5, guards=({"kind": "if", "text": text, "line": 1},))
        wrong = guards([known], Function(source, "f"), ended, module.scope, {"a": 0, "b": 1}, Counter())
        assert {w.kind for w in wrong} == expected, text


def test_runs_end_in_every_way() -> None:
    counts: Counter[str] = Counter()
    trial(pairs(3, 100, 5), counts, lie=truth)
    assert min(counts[f"runs: {how}"] for how in (RAISE, OTHER, "return")) > 50
