"""The structure of a log: frames, exceptions, chains, processes."""

from __future__ import annotations

import pytest

from extractor.match import versions
from extractor.match.log import Log, parse, process_of
from extractor.match.normalise import clean

# (name, text, path, line, function)
FRAMES = [
    ("Python's", 'File "/a/b.py", line 7, in f\n    x()', "/a/b.py", 7, "f"),
    ("with curly quotes", "File “/a/b.py”, line 7, in f", "/a/b.py", 7, "f"),
    ("a path on two lines", 'File "/a/site-pack\nages/b.py", line 7, in f', "/a/site-packages/b.py", 7, "f"),
    ("a name on two lines", 'File "/a/b.py", line 7, in get_kv_\ncaches', "/a/b.py", 7, "get_kv_"),
    ("without a function", 'File "/a/b.py", line 7\n    x(', "/a/b.py", 7, ""),
    ("of Colab", "[/a/b.py](https://localhost:8080/#) in f(self, *args)", "/a/b.py", 0, "f"),
    ("of IPython", "File /a/b.py:12, in f(x)", "/a/b.py", 12, "f"),
    ("of a tool", "see vllm/a/b.py:12 there", "vllm/a/b.py", 12, ""),
]


def log(raw: str) -> Log:
    return parse(clean(raw), raw)


@pytest.mark.parametrize(("text", "path", "line", "function"), [r[1:] for r in FRAMES], ids=[r[0] for r in FRAMES])
def test_frames(text: str, path: str, line: int, function: str) -> None:
    (raised,) = log(f"{text}\nValueError: x\n").raised
    (frame,) = raised.frames
    assert (frame.path, frame.line, frame.function) == (path, line, function)


# (name, text, names of the exceptions, whether each ends a traceback)
EXCEPTIONS = [
    ("none", "the Error was great\nand so on", [], []),
    ("a qualified name", "vllm.exceptions.EngineDeadError: x", ["vllm.exceptions.EngineDeadError"], [True]),
    ("inside a line", "[Bug]: ValueError: x", ["ValueError"], [False]),
    ("in a representation", "failed: ValueError('x')", ["ValueError"], [False]),
    ("a name of its own", "SomethingOdd: x", ["SomethingOdd"], [True]),
    ("pydantic's", "  Value error, x", ["ValueError"], [False]),
    ("an answer", "{'message': 'x'}", [""], [False]),
]


@pytest.mark.parametrize(("text", "names", "final"), [r[1:] for r in EXCEPTIONS], ids=[r[0] for r in EXCEPTIONS])
def test_exceptions(text: str, names: list[str], final: list[bool]) -> None:
    found = log(text).raised
    assert [r.exception for r in found] == names and [r.final for r in found] == final
    assert all(clean(text).chars[r.text :].startswith("x") for r in found)


def test_frames_belong_to_their_process() -> None:
    raised = log(
        '(EngineCore pid=1)   File "/a.py", line 1, in a\n'
        '(APIServer pid=2)   File "/b.py", line 2, in b\n'
        "(EngineCore pid=1) ValueError: one\n"
        "(APIServer pid=2) RuntimeError: two\n"
    ).raised
    assert [(r.process, [f.function for f in r.frames]) for r in raised] == [
        ("EngineCore 1", ["a"]),
        ("APIServer 2", ["b"]),
    ]


def test_a_line_without_a_process_carries_on() -> None:
    (raised,) = log('(EngineCore pid=1)   File "/a.py", line 1, in a\nValueError: one\n').raised
    assert [f.function for f in raised.frames] == ["a"]


def test_chains() -> None:
    raised = log(
        'Traceback (most recent call last):\n  File "/a.py", line 1, in a\nKeyError: 1\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/b.py", line 1, in b\nValueError: 2\n'
        "\nDuring handling of the above exception, another exception occurred:\n\nTypeError: 3\n"
    ).raised
    assert [r.chained for r in raised] == ["", "cause", "context"]
    assert [[f.function for f in r.frames] for r in raised] == [["a"], ["b"], []]


def test_processes() -> None:
    assert process_of("(Worker_TP1 pid=9) ERROR ") == "Worker_TP1 9"
    assert process_of("ERROR 12-29 15:00:11 ") == ""


# (what a log says, the release)
RELEASES = [
    ("vLLM API server version 0.13.0", "0.13.0"),
    ("Initializing a V1 LLM engine (v0.11.0) with config", "0.11.0"),
    ("pip install vllm==0.8.5.post1", "0.8.5.post1"),
    ("/site-packages/vllm-0.28.0.dist-info/", "0.28.0"),
    ("image: vllm/vllm-openai:v0.10.2", "0.10.2"),
    ("transformers version 4.44.0", None),
    ("llama.cpp 0.1", None),
]


@pytest.mark.parametrize(("text", "release"), RELEASES, ids=[r[0] for r in RELEASES])
def test_releases(text: str, release: str | None) -> None:
    assert versions.stated(text) == release
