"""The browser's engine against the command line's: one set of pastes through both, and pattern by pattern."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from extractor.lookup import files, tables
from extractor.lookup.dialect import translated
from extractor.match import log, normalise
from extractor.match.lexicon import Lexicon, dumps, loads
from extractor.model import Error, Provenance
from extractor.render import templates
from tests import errors_like
from tests.browser import *  # noqa: F403  fixtures
from tests.lookup_cases import Agreement, Answer, agreement, cases
from tests.releases import released
from tests.test_match_normalise import HOSTILE, LINES, MUST_NOT, STEPS
from tests.trees import SOURCE, errors_in

RUN = """
async ([index, pasted]) => {
  const module = (name) => import(new URL(`assets/lookup/${name}.js`, location.href));
  const [{ Answer }, { Lexicon }, { asData }, { pieces }] = await Promise.all(
    ["engine", "lexicon", "report", "stream"].map(module));
  const lexicon = new Lexicon(await (await fetch(`assets/lookup/${index}`)).json());
  const found = [];
  for (const paste of pasted) {
    const answer = new Answer(lexicon);
    for await (const piece of pieces(new Blob([paste]))) answer.add(piece);
    found.push(asData(answer.ranked(), lexicon));
  }
  return found;
}
"""
SPANS = """
([[source, flags], texts]) =>
  texts.map((text) => [...text.matchAll(new RegExp(source, "g" + flags))].map((m) => [m.index, m.index + m[0].length]))
"""
Engine = Callable[[Path, str, list[str]], list[Answer]]


def put(folder: Path, editions: Iterable[tuple[Provenance, list[Error]]]) -> str:
    """The lookup's files in a folder; the name of the first index."""
    shutil.copytree(templates() / "site" / "assets", folder / "assets")
    made = dict(files(list(editions)))
    for name, data in made.items():
        (folder / name).write_bytes(data)
    (folder / "index.html").write_text("<!doctype html><title>x</title><link rel=icon href=data:,>")
    return str(json.loads(made["assets/lookup/releases.json"])[0]["index"])


@pytest.fixture(params=["node", "chromium"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Runs pastes: in node, where it is there, and in a browser."""
    if request.param == "node":
        if shutil.which("node") is None:
            pytest.skip("node is not there; the browser runs the same cases")

        def in_node(folder: Path, index: str, pasted: list[str]) -> list[Answer]:
            runner = Path(__file__).with_name("lookup_runner.mjs")
            given = json.dumps(pasted).encode()
            done = subprocess.run(
                ["node", runner, folder / "assets" / "lookup", index], input=given, capture_output=True, check=True
            )
            found: list[Answer] = json.loads(done.stdout)
            return found

        return in_node
    page, served = request.getfixturevalue("page"), request.getfixturevalue("served")

    def in_browser(folder: Path, index: str, pasted: list[str]) -> list[Answer]:
        page.goto(served(folder))
        found: list[Answer] = page.evaluate(RUN, [index, pasted])
        return found

    return in_browser


@pytest.fixture(scope="module")
def pasted() -> list[str]:
    return cases(errors_like.lexicon(), 3, seed=6)


def test_both_give_the_same_answers(engine: Engine, tmp_path: Path, pasted: list[str]) -> None:
    index = put(tmp_path, [(SOURCE, list(errors_in(errors_like.TREE)))])
    found = agreement(pasted, engine(tmp_path, index, pasted), errors_like.lexicon())
    assert found == Agreement(1, 1, 1)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lexicon, Path, str]:
    folder = tmp_path_factory.mktemp("real")
    source, errors = released("0.28.0", tmp_path_factory)
    return loads(dumps(source, errors)), folder, put(folder, [(source, errors)])


@pytest.mark.real
def test_both_give_the_same_answers_of_a_release(engine: Engine, real: tuple[Lexicon, Path, str]) -> None:
    lexicon, folder, index = real
    pasted = cases(lexicon, 4, seed=28)
    found = agreement(pasted, engine(folder, index, pasted), lexicon)
    assert found.first >= 0.95 and found.silent == 1 and found.whole >= 0.95


def patterns() -> list[Any]:
    """Every pattern of the tables."""
    rows = [(step.name, step.compiled()) for step in normalise.STEPS[:-1]]
    rows += [("frames", log.sought(False)), ("frames of notebooks", log.sought(True)), ("processes", log.PID)]
    more = {"rank": "SAYS_SO", "verify": "WRAP", "versions": "SAYS", "printable": "LINE"}
    modules = {m.__name__.rpartition(".")[2]: m for m in (*tables.MODULES, tables.printable)}
    rows += [(f"{name} {field}", getattr(modules[name], field)) for name, field in more.items()]
    return [pytest.param(pattern, id=name) for name, pattern in rows]


TEXTS = [
    *(row[1] for row in MUST_NOT + LINES + STEPS),
    *(piece * 40 for piece in HOSTILE),
    'Traceback (most recent call last):\n  File "/x/vllm/a.py", line 3, in f\n    raise ValueError(\nValueError: x',
    "vLLM API server version 0.28.0rc1\nvllm==0.9.1 vllm/vllm-openai:v0.8.5 site-packages/vllm-0.7.dist-info",
    "see the stack trace above for the root cause, a b\nc \n d, x\u202ey\u200d\ufe0f \u2764\ufe0f\u200d",
    "~/x/vllm/a.py in f(x)\nvllm/b.py:12 and {'message': 'm'} \u00e9\u2028E   x\x85 > y",
]


@pytest.mark.parametrize("pattern", patterns())
def test_each_pattern_finds_the_same(pattern: Any, page: Any) -> None:
    chance = random.Random(28)
    pool = "".join(TEXTS)
    mixed = ["".join(chance.choice(pool) for _ in range(60)) for _ in range(200)]
    texts = [text for text in TEXTS + mixed if all(ord(c) < 0x10000 for c in text)]
    found = page.evaluate(SPANS, [list(translated(pattern)), texts])
    assert found == [[list(m.span()) for m in pattern.finditer(text)] for text in texts]
