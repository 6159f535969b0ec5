"""The site's lookup as far as Python makes it: patterns said in JavaScript, tables, the index of a release."""

from __future__ import annotations

import json
import re

import pytest

from extractor.lookup import files, tables
from extractor.lookup.dialect import translated
from extractor.lookup.index import LONGEST, NEAREST, index
from extractor.match import judge, normalise
from tests.errors_like import TREE
from tests.trees import SOURCE, errors_in

# (name, pattern)
REFUSED = [
    pytest.param(re.compile(r"\w+"), id="letters of all languages"),
    pytest.param(re.compile(r"a$", re.ASCII), id="an end that may be before the last line end"),
    pytest.param(re.compile(r"a.", re.ASCII | re.DOTALL), id="a dot for line ends"),
    pytest.param(re.compile(r"a b", re.ASCII | re.VERBOSE), id="white space that means nothing"),
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_has_no_translation_is_refused(pattern: re.Pattern[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(pattern.pattern)):
        translated(pattern)


LINES = re.MULTILINE | re.ASCII
# (name, pattern, flags, source, flags of JavaScript)
TRANSLATED = [
    pytest.param(r"(?P<a>x)", 0, "(?<a>x)", "", id="a name"),
    pytest.param(r"^a$", LINES, r"(?<![^\n])a(?![^\n])", "", id="ends of lines are line feeds alone"),
    pytest.param(r"[\s,]\s\S", LINES, r"[ \t-\r,][ \t-\r][^ \t-\r]", "", id="white space of ASCII"),
    pytest.param(r"a++b", 0, r"(?=(?<p0>a+))\k<p0>b", "", id="possessive"),
    pytest.param(r"[]^\]]{1,3}+", 0, r"(?=(?<p0>[]^\]]{1,3}))\k<p0>", "", id="a possessive set with brackets"),
    pytest.param(
        r"(?:[a-z]*+\.){2}+",
        0,
        r"(?=(?<p1>(?:(?=(?<p0>[a-z]*))\k<p0>\.){2}))\k<p1>",
        "",
        id="one possessive in another",
    ),
    pytest.param(r"\x1b+?.", 0, r"\x1b+?[^\n]", "", id="a lazy escape and a dot"),
    pytest.param(r"(?<!a)(?=b)(?!c)(?<=d)", 0, r"(?<!a)(?=b)(?!c)(?<=d)", "", id="looking around"),
    pytest.param("a", re.IGNORECASE, "a", "i", id="any case"),
    pytest.param("[\U0001f600-\U0001f64f]", 0, "[\U0001f600-\U0001f64f]", "u", id="beyond sixteen bits"),
]


@pytest.mark.parametrize(("pattern", "flags", "source", "said"), TRANSLATED)
def test_patterns_are_said_in_javascript(pattern: str, flags: int, source: str, said: str) -> None:
    assert translated(re.compile(pattern, flags)) == (source, said)


def test_the_tables_hold_all_that_the_matcher_names() -> None:
    script = tables.script()
    assert script.isascii() and script == tables.script()
    assert f"  SURE: {judge.SURE},\n" in script and f"  THRESHOLD: {judge.THRESHOLD},\n" in script
    assert all(json.dumps(step.name) in script for step in normalise.STEPS)
    assert script.count("\nexport const ") == len({*tables.EXTRA, *(m.__name__ for m in tables.MODULES)}) - 2


def test_an_index_has_every_error_and_no_text_twice() -> None:
    errors = errors_in(TREE)
    data = index(SOURCE, errors)
    read = json.loads(data)
    assert [row[0] for row in read["errors"]] == [error.id for error in errors]
    assert len(data) < 2 * sum(len(error.message) for error in errors) + 400 * len(errors)
    assert data == index(SOURCE, errors)
    (row,) = [row for row in read["errors"] if any(place[3] == "Ranks.validate" for place in row[9])]
    assert row[1] is None and row[8] == []
    assert row[7] == [["LoRA rank ", ["rank"], " is greater than the largest rank ", ["most"], " of this engine."]]
    assert row[9][0][:2] == ["vllm/lora/ranks.py", 5] and row[9][0][7] == [[4, "rank > most"]]


def test_what_normalising_changes_in_a_message_is_told() -> None:
    (error,) = errors_in({"vllm/a.py": "def f(x):\n    raise ValueError('the first line\\\\nand the second', x)\n"})
    assert json.loads(index(SOURCE, [error]))["errors"][0][8] == [0]


def test_an_index_has_the_nearest_guards_and_the_beginnings_of_long_ones() -> None:
    tests = "".join(f"    if x == {n}:\n        return\n" for n in range(9))
    long = " + ".join(["many_words"] * 40)
    text = f"def f(x):\n{tests}    if x > {long}:\n        raise ValueError('one too many of them')\n"
    guards = json.loads(index(SOURCE, errors_in({"vllm/a.py": text})))["errors"][0][9][0][7]
    assert len(guards) == NEAREST and guards[0][1] == "x != 4"
    assert len(guards[-1][1]) == LONGEST and guards[-1][1].endswith("…")


def test_the_first_file_lists_the_indexes_newest_first() -> None:
    errors = errors_in(TREE)
    made = dict(files([(SOURCE, errors), (SOURCE, errors[:1])]))
    first, *others = made
    listed = json.loads(made[first])
    assert first == "assets/lookup/releases.json" and "assets/lookup/tables.js" in others
    assert [one["label"] for one in listed] == ["test", "test"]
    sizes = [len(made[f"assets/lookup/{one['index']}"]) for one in listed]
    assert sizes[0] > sizes[1]
    assert dict(files([])) == {first: b"[]\n", "assets/lookup/tables.js": made["assets/lookup/tables.js"]}
