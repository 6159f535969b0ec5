"""Normalising, step by step: what is taken off, what must stay, and where each character came from."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractor.match import normalise
from extractor.match.normalise import PREFIXES, clean, squeeze, squeezed
from extractor.match.text import original, replaced

# (name, what stays as it is)
MUST_NOT = [
    ("a word in capitals", "ERRORS were found"),
    ("a number that begins a text", "3 of 4 ranks failed"),
    ("a file without a line", "core.py failed"),
    ("a sentence with a dash", "well - no"),
    ("a backslash before a letter that is none", r"\sigma"),
    ("an ampersand alone", "a & b && c"),
    ("a per cent", "100%de"),
    ("less and greater", "a <b> is not c < d > e"),
    ("a list of two", "1. one\nand then\n7. seven"),
    ("a name with a colon", "ValueError: x"),
    ("brackets", "[a, b] and (c)"),
    ("two bars", "a || b"),
]


@pytest.mark.parametrize("text", [r[1] for r in MUST_NOT], ids=[r[0] for r in MUST_NOT])
def test_what_is_the_texts_own_stays(text: str) -> None:
    kept = {"less and greater": "a   is not c < d > e"}
    assert clean(text).chars in (text, kept.get("less and greater"))


# (prefix, line, what is left)
LINES = [
    ("process", "(EngineCore pid=211) x y", " x y"),
    ("process", "(RayWorkerWrapper pid=1234, ip=10.0.0.3) x", " x"),
    ("process", "EngineCore_0 pid=124) x", " x"),
    ("level", "ERROR x", " x"),
    ("level", "INFO:     x", "     x"),
    ("level", "[error] x", " x"),
    ("short stamp", "12-29 15:00:11 x", " x"),
    ("short stamp", "15:00:11,123 x", " x"),
    ("stamp", "2026-01-12T17:00:19.123456789Z x", " x"),
    ("stamp", "[2026-01-12 17:00:19] x", " x"),
    ("stamp", "2026-01-12 17:00:19 UTC", ""),
    ("source", "[multiproc_executor.py:751] x", " x"),
    ("source", "engine.py           :170  x", "  x"),
    ("dash", "- x", " x"),
    ("logger", "vllm.engine - ERROR - x", " x"),
    ("quote", "> > x", " x"),
    ("border", "│ x", " x"),
    ("pytest", "E   x", "   x"),
    ("json log", '{"stream":"stderr","log":"x y', "x y"),
    ("logfmt", 'time="2026-01-12" level=error msg="x y', "x y"),
    ("service", "vllm-server-1  | x", " x"),
    ("pod", "[pod/vllm-0/server] x", " x"),
    ("syslog", "Jan 12 17:00:19 gpu-01 vllm[1234]: x", " x"),
    ("host", "gpu-01 vllm[1234]: x", " x"),
    ("cri", "stderr F x", " x"),
    ("unit", "vllm[1234]: x", " x"),
    ("worker", "(VllmWorker rank=0) x", " x"),
    ("rank", "[rank0]: x", " x"),
    ("rank", "[1,0]<stderr>: x", " x"),
    ("gutter", "  12 | x", " x"),
    ("ray", "ray::Worker.run() (pid=12) x", " x"),
]


@pytest.mark.parametrize(("name", "line", "left"), LINES, ids=[f"{r[0]}: {r[1][:24]}" for r in LINES])
def test_prefixes(name: str, line: str, left: str) -> None:
    assert re.match(PREFIXES[name], line.lstrip()), "its own pattern finds it"
    assert clean(line).chars == left


def test_every_prefix_has_a_row() -> None:
    assert {r[0] for r in LINES} == set(PREFIXES)


# (step, raw, cleaned)
STEPS = [
    ("colours", "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link", "red link"),
    ("colours written out", r"^[[31mred\x1b[0m", "red"),
    ("nothing to see", "a\0b\u200bc\ufeff", "abc"),
    ("line ends", "a\r\nb\rc", "a\nb\nc"),
    ("tags", "a<br>b</code>", "a b "),
    ("entities", "&quot;a&#39;&amp;&#x3c;", "\"a'&<"),
    ("addresses", "a%20b%22c%E2%80%9C", 'a b"c“'),
    ("ends of JSON lines", '{"log":"a b\\n","stream":"stderr"}', "a b"),
    ("numbers of lines", "  7  a\n  8  b\n  9  c", " a\n b\n c"),
    ("prefixes", "ERROR a", " a"),
    ("escapes", r"\"a\" \\\"b\\\" \u00e9 \ud83d\ude00 \_c\_", '"a" "b" é 😀 _c_'),
    ("prefixes of lines that were escaped", r"x\n(EngineCore pid=1) y", "x\n y"),
]


@pytest.mark.parametrize(("name", "raw", "cleaned"), STEPS, ids=[r[0] for r in STEPS])
def test_steps(name: str, raw: str, cleaned: str) -> None:
    assert clean(raw).chars == cleaned


def test_every_step_has_a_row() -> None:
    assert [r[0] for r in STEPS] == [step.name for step in normalise.STEPS]


def test_squeezing_leaves_letters_and_digits() -> None:
    assert squeeze("KV-cache “is”\n full: 3 %, İé") == "kvcacheisfull3ié"
    text = clean("a - b\n(EngineCore pid=1) C")
    small = squeezed(text)
    assert small.chars == "abc"
    assert [text.chars[small.at(i)] for i in range(3)] == ["a", "b", "C"]


@given(st.text(st.sampled_from('aB 1\n\\"%20&;<>|#-\x1b[mé'), max_size=80))
def test_every_letter_is_where_it_says(raw: str) -> None:
    text = clean(raw)
    small = squeezed(text)
    for index, letter in enumerate(small.chars):
        offset = text.origin(small.at(index))
        assert 0 <= offset < len(raw)
        if "%" not in raw and "&" not in raw and "\\" not in raw:
            assert raw[offset].lower() == letter


@given(st.text("ab", max_size=30), st.sampled_from(["", "x", "xyz"]))
def test_positions_of_replaced_text(raw: str, new: str) -> None:
    text = replaced(original(raw), re.compile("b+"), new)
    for offset, letter in enumerate(text.chars):
        assert raw[text.origin(offset)] == (letter if letter == "a" else "b")


HOSTILE = [
    "[",
    "(",
    "\\",
    "a.",
    "%20",
    "&",
    '{"a":"b",',
    "> ",
    "12",
    "<a ",
    "\x1b[",
    "INFO ",
    "vllm ",
    'File "',
    "1:",
    "E ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        started = time.process_time()
        squeezed(clean(text))
        return time.process_time() - started

    seconds(1000)
    assert seconds(400_000) < 25 * max(seconds(40_000), 0.004)
