"""From a paste to ranked errors, on a small tree: kinds of pastes, silence, roles, values, sites."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extractor.match import engine, lexicon, report
from extractor.match.verify import fit
from tests import foreign, pastes
from tests.errors_like import lexicon as small

PREFIXES = (
    "",
    pastes.ENGINE,
    pastes.WORKER,
    "ERROR 07-01 10:00:00.123 [core.py:305] ",
    "vllm-1  | ",
    "E   ",
    "> ",
    "| ",
    "[rank0]: ",
)


def found(paste: str | bytes) -> list[dict[str, Any]]:
    """What `--json` prints."""
    data = paste if isinstance(paste, bytes) else paste.encode()
    answer = engine.answer(io.BytesIO(data), small())
    rows: list[dict[str, Any]] = json.loads(report.as_data(answer.ranked, small()))
    return rows


LONG = [
    (n, k)
    for n in range(len(small()))
    for k, parts in enumerate(small().entry(n).variants)
    if sum(len(text) for text, _ in parts if text is not None) >= 25
]


@pytest.mark.parametrize("kind", pastes.KINDS)
def test_each_kind_of_paste_gives_the_right_error_first(kind: str) -> None:
    chance = random.Random(kind)
    for number, variant in LONG:
        entry = small().entry(number)
        if "in another's message" in kind and "gave up" in entry.message:
            continue
        paste = pastes.KINDS[kind](pastes.rendered(entry, variant, chance), chance)
        assert pastes.outcome(paste, entry, small()).first, paste


@pytest.mark.parametrize("paste", [r[1] for r in pastes.SILENT], ids=[r[0] for r in pastes.SILENT])
def test_silence(paste: str) -> None:
    assert found(paste) == []


def test_a_message_of_few_letters_with_a_frame_that_supports_it() -> None:
    said = pastes.Said("KeyError", "model not found", "vllm/parse.py", 6, "thing")
    (row,) = found(pastes.traceback(said))
    assert row["message"] == "{name} not found" and row["values"] == [{"expr": "name", "value": "model"}]


# (name, paste, values)
VALUES = [
    ("numbers", "ValueError: LoRA rank 64 is greater than the largest rank 16 of this engine.", ["64", "16"]),
    ("nothing between quotes", "The worker gave up with '', please check the stack trace above for the root cause", [""]),
    ("a wrap in a value", "LoRA rank 11111111-6b8\n1-435d is greater than the largest rank 16 of this engine.", ["11111111-6b81-435d", "16"]),
    (
        "a list and a word",
        "ValueError: While loading /x, expected target modules in ['embed'] but they were not there",
        ["/x", "['embed']"],
    ),
    (
        "a dataclass and a dict",
        "No suitable kernel was found for Sel(a=[1, 2], b='x') with these settings. Reasons: {A: [no, never], B: []}.",
        ["Sel(a=[1, 2], b='x')", "{A: [no, never], B: []}"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("paste", "values"), [r[1:] for r in VALUES], ids=[r[0] for r in VALUES])
def test_values(paste: str, values: list[str]) -> None:
    assert [v["value"] for v in found(paste)[0]["values"]] == values


def test_fields_of_an_answer() -> None:
    paste = (
        "one\ntwo\n"
        + pastes.each(pastes.ENGINE, "ValueError: LoRA rank 64 is greater than the largest\n rank 16 of this engine.")
        + "x\n"
    )
    (row,) = found(paste)
    assert list(row) == ["id", "role", "score", "matched", "exception", "message", "values", "lines", "sites"]
    assert row["role"] == "root" and row["exception"] == "ValueError" and row["lines"] == [3, 4]
    assert row["matched"] in paste and row["matched"].startswith("LoRA rank 64") and 0 < row["score"] < 1
    assert (row["sites"][0]["path"], row["sites"][0]["symbol"]) == ("vllm/lora/ranks.py", "Ranks.validate")


def test_the_root_cause_is_before_its_consequences() -> None:
    said = pastes.Said(
        "ValueError",
        "LoRA rank 64 is greater than the largest rank 16 of this engine.",
        "vllm/lora/ranks.py",
        5,
        "validate",
    )
    after = "RuntimeError: Engine start was not successful. See root cause above. Failed processes: {}\n"
    rows = found(pastes.each(pastes.ENGINE, pastes.traceback(said)) + pastes.each("(APIServer pid=1) ", after))
    assert [(r["role"], r["sites"][0]["path"]) for r in rows] == [
        ("root", "vllm/lora/ranks.py"),
        ("consequence", "vllm/engine/parent.py"),
    ]
    wrapped = (
        f"RuntimeError: The worker gave up with '{said.text}', please check the stack trace above for the root cause"
    )
    assert [r["role"] for r in found(wrapped)] == ["root", "consequence"]
    assert [r["role"] for r in found(after)] == ["consequence"], "its cause is not in the log"


def test_a_chain_tells_what_came_of_what() -> None:
    first = pastes.Said(
        "ValueError",
        "LoRA rank 64 is greater than the largest rank 16 of this engine.",
        "vllm/lora/ranks.py",
        5,
        "validate",
    )
    second = pastes.Said(
        "TemplateError",
        "At most 3 image(s) may be given in one prompt, but there were more of them.",
        "vllm/chat.py",
        8,
        "apply",
    )
    chain = "\nThe above exception was the direct cause of the following exception:\n\n"
    rows = found(pastes.traceback(first) + chain + pastes.traceback(second))
    assert [(r["role"], r["sites"][0]["path"]) for r in rows] == [
        ("root", "vllm/lora/ranks.py"),
        ("consequence", "vllm/chat.py"),
    ]
    rows = found(pastes.traceback(first) + pastes.traceback(second))
    assert [r["role"] for r in rows] == ["root", "other"]


def test_frames_decide_between_errors_with_one_text() -> None:
    text = "No suitable kernel was found for x with these settings. Reasons: {}."
    for platform in ("green", "blue"):
        said = pastes.Said("ValueError", text, f"vllm/platforms/{platform}.py", 3, "backend")
        assert [r["sites"][0]["path"] for r in found(pastes.traceback(said))] == [said.path]
        assert [r["sites"][0]["path"] for r in found(pastes.traceback(said, away=40))] == [said.path]
    assert {r["sites"][0]["path"] for r in found(text)} == {"vllm/platforms/green.py", "vllm/platforms/blue.py"}
    assert found(text.replace("for x", "for blue"))[0]["sites"][0]["path"] == "vllm/platforms/blue.py"


def test_lines_decide_between_sites_of_one_error() -> None:
    text = "The tokenizer server has stopped, and requests cannot be taken any more"
    sites = found(text)[0]["sites"]
    assert len(sites) == 2
    for site in sites:
        said = pastes.Said("RuntimeError", text, site["path"], site["line"], "state")
        assert found(pastes.traceback(said))[0]["sites"][0]["line"] == site["line"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_long_message_prefixed_and_wrapped_anywhere_is_first(data: st.DataObject) -> None:
    number, variant = data.draw(st.sampled_from(LONG))
    entry = small().entry(number)
    said = pastes.rendered(entry, variant, random.Random(data.draw(st.integers(0, 99))))
    prefix, width = data.draw(st.sampled_from(PREFIXES)), data.draw(st.integers(9, 200))
    text = pastes.hard(data.draw(st.sampled_from(["", f"{said.exception}: "])) + said.text, width)
    paste = pastes.each(prefix, text) if data.draw(st.booleans()) else pastes.hard(prefix + text, width)
    assert pastes.outcome(paste, entry, small()).first, paste


@settings(max_examples=150, deadline=None)
@given(st.text("aA 1:\n\"'{}[]()\\%&|>#.é\0\x1b", max_size=300), st.integers(0, 300))
def test_noise_around_a_message_never_breaks_it(noise: str, cut: int) -> None:
    found(noise)
    found(f"{noise[:cut]}\nValueError: LoRA rank 64 is greater than the largest rank 16 of this engine.\n{noise[cut:]}")


def test_nothing_fires_on_other_libraries() -> None:
    messages = list(foreign.messages())[::4]
    assert len(messages) > 1000
    for form in (foreign.traceback, foreign.logged, foreign.bare):
        answer = engine.answer(io.BytesIO("".join(map(form, messages)).encode("utf-8", "replace")), small())
        assert [one.match.matched for one in answer.ranked] == []


@pytest.mark.parametrize("at", [0, 1, 200_000, 262_100, 278_500, 900_000])
def test_a_message_anywhere_in_a_long_log_and_its_line(at: int) -> None:
    line = "INFO 01-12 17:00:19 nothing to see in here\n"
    before = line * (at // len(line)) + " " * (at % len(line) and 1)
    rows = found(
        before + "ValueError: LoRA rank 64 is greater than the largest rank 16 of this engine.\n" + line * 20_000
    )
    assert [r["lines"] for r in rows] == [[before.count("\n") + 1] * 2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_other_encodings(encoding: str) -> None:
    paste = "first line\nValueError: LoRA rank 64 is greater than the largest rank 16 of this engine.\n"
    assert [r["lines"] for r in found(paste.encode(encoding))] == [[2, 2]]


def test_bytes_that_are_no_text() -> None:
    chance = random.Random(1)
    assert found(chance.randbytes(300_000)) == []
    text = b"\xff\xfe\x00ValueError: LoRA rank 64 is greater \x00 than the largest\xff rank 16 of this engine.\n"
    assert found(b"\x80\x81" + text[2:])[0]["sites"][0]["path"] == "vllm/lora/ranks.py"


def test_a_lexicon_is_read_back_and_anything_else_refused() -> None:
    from tests.errors_like import SOURCE, TREE, errors_in

    data = lexicon.dumps(SOURCE, errors_in(TREE))
    read = lexicon.loads(data)
    assert len(read) == len(small()) and read.entry(0) == small().entry(0)
    for broken in (b"", data[:-1], data + b"x", b"x" + data):
        with pytest.raises(ValueError, match="lexicon"):
            lexicon.loads(broken)


def test_texts_are_cut_into_blocks_that_cover_them() -> None:
    texts, _ = lexicon.pieces(
        [("Free memory on device (", None), (None, "x"), (" GiB) is less than\\n wanted. ERROR", None)]
    )
    assert texts == ["freememoryondevice", "gibislessthanwantederror"]
    assert [(o, len(t)) for o, t in lexicon.blocks(texts)] == [(0, 18), (18, 14), (32, 10)]
    assert lexicon.blocks(["ab"]) == [] and lexicon.blocks(["failed"]) == [(0, "failed")]


def test_a_fit_goes_on_over_a_few_letters() -> None:
    from extractor.match.find import Chain

    shape = lexicon.Shape(("thetokenizerserverhasstoppedandrequestscannotbetaken",), False, False, 52, True, ())
    chars = "thetokenizerserverhasXstoppedrequestscannotbetaken"
    assert (
        fit(chars, shape, Chain(0, ((0, 0, 14),))).found == 43
    )  # a run of less than eight letters is lost with its neighbours


def test_a_person_reads_when_it_is_raised_and_text_that_shows_as_it_is() -> None:
    answer = engine.answer(
        io.BytesIO(b"ValueError: LoRA rank \xe2\x80\xae64 is greater than the largest rank 16 of this engine."), small()
    )
    site = small().entry(answer.ranked[0].match.judged[0].entry).sites[0]
    guards = [{"kind": "if", "text": "rank > most", "line": site.line - 1}]
    record = {"sites": [{"path": site.path, "line": site.line, "guards": guards}]}
    text = report.as_text(answer.ranked, small(), lambda _: record)
    assert f"line {site.line - 1}: rank > most" in text and "\\u202e64" in text and "\u202e" not in text


ROUGH = [
    pytest.param("which is more than the 3 GiB that are free. Decrease `gpu_share` or", False, id="as it is"),
    pytest.param("which is more than the 3 GiB that are free. Dec", False, id="cut"),
    pytest.param("which is more\n than the 3 GiB that\n are free. Decrease `gpu_share` or", False, id="wrapped"),
    pytest.param("which is more than the 3 GiB that are free. Lower the share or", True, id="in other words"),
]


@pytest.mark.parametrize(("middle", "rough"), ROUGH)
def test_other_words_are_said_to_be_of_another_release(middle: str, rough: bool) -> None:
    end = "" if middle.endswith("Dec") else " use a smaller `window`."
    paste = f"ValueError: The cache needs 5 GiB on device cuda:0, {middle}{end}\n".encode()
    text = report.as_text(engine.answer(io.BytesIO(paste), small()).ranked, small(), lambda _: {})
    assert ("not from this release" in text) == rough
