"""The lookup on the site's front page, in a browser: pastes, words, keys, addresses, large logs, hostile text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests import pastes
from tests.browser import *  # noqa: F403  fixtures
from tests.errors_like import TREE
from tests.sites import dataset_at, errors_of, provenance, site_of

HOSTILE = """
    from fastapi import HTTPException

    def parse(x, y):
        if x:
            raise ValueError(f"The closing </script><script>document.title='ran'</script> of {x} was not expected here")
        raise ValueError(f"<img src=x onerror=document.title='ran'> and javascript:alert(1) are not {{ {y} }} at all")

    def answer(x):
        raise HTTPException(status_code=404, detail=f"There is no adapter that is called {x} on this server")
"""
LINE = "(EngineCore pid=211) INFO 01-12 17:00:19 [loggers.py:127] Engine 000: Running: 3 reqs, all of them fine\n"
RANK = pastes.Said(
    "ValueError",
    "LoRA rank 64 is greater than the largest rank 16 of this engine.",
    "vllm/lora/ranks.py",
    5,
    "validate",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of two small releases, of which the older has less."""
    place = tmp_path_factory.mktemp("site")
    folders = [
        dataset_at(place / "v2.0.0", errors_of({**TREE, "vllm/hostile.py": HOSTILE}), provenance("2.0.0", 2)),
        dataset_at(place / "v1.9.0", errors_of(TREE), provenance("1.9.0", 1)),
    ]
    return site_of(folders, place / "site").folder


@pytest.fixture
def front(page: Any, served: Callable[[Path], str], built: Path) -> Iterator[Any]:
    """The front page; what scripts in others' text would do is seen at the end."""
    page.goto(served(built))
    yield page
    assert page.title() != "ran"


def paste(page: Any, text: str, times: int = 1) -> None:
    """As somebody does it, with a clipboard that no test machine has."""
    page.focus("#lookup-text")
    page.evaluate(
        """([piece, times]) => {
          const text = piece.repeat(times);
          const data = new DataTransfer();
          data.setData("text/plain", text);
          const box = document.activeElement;
          if (box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}))) {
            box.value = text;
            box.dispatchEvent(new InputEvent("input", {bubbles: true}));
          }
        }""",
        [text, times],
    )


def said(page: Any, pattern: str, timeout: int = 15_000) -> str:
    """What is announced, once it is this."""
    status = page.locator("#lookup-status")
    status.filter(has_text=re.compile(pattern)).wait_for(timeout=timeout)
    return str(status.inner_text())


def links(page: Any) -> list[str]:
    found: list[str] = page.locator("#lookup-results a").all_inner_texts()
    return found


def test_a_chained_traceback_gives_the_root_cause_with_its_values(front: Any) -> None:
    after = "RuntimeError: Engine start was not successful. See root cause above. Failed processes: {}\n"
    paste(front, pastes.each(pastes.ENGINE, pastes.traceback(RANK)) + pastes.each("(APIServer pid=1) ", after))
    assert said(front, "Root cause: ValueError") == "Root cause: ValueError, line 7"
    answer = front.locator(".answer")
    assert answer.locator(".message").inner_text() == RANK.text
    assert answer.locator(".hole").all_inner_texts() == ["64", "16"]
    assert answer.locator("dt").all_inner_texts() == ["rank", "most"]
    assert "rank > most (line 4)" in answer.inner_text() and "vllm/lora/ranks.py:5" in answer.inner_text()
    assert "Raised because of it" in front.locator("#lookup-results").inner_text()
    assert links(front)[1].startswith("RuntimeError: Engine start was not successful.")
    assert front.url.endswith("/"), "what is pasted is not in the address"
    answer.get_by_role("link").click()
    front.wait_for_url("**/errors/*/index.html")
    assert "LoRA rank" in front.locator("h1").inner_text()


@pytest.mark.parametrize("text", [row[1] for row in pastes.SILENT[2:6]], ids=[row[0] for row in pastes.SILENT[2:6]])
def test_silence_is_said_plainly(front: Any, text: str) -> None:
    paste(front, text + "\nthe end\n")
    said(front, "Nothing of vLLM’s found: no error of vLLM .* fits this log")
    assert links(front) == []


def test_a_log_of_another_release_is_said_to_be_one(front: Any) -> None:
    banner = "INFO [api_server.py:1] vLLM API server version 0.7.1\n"
    text = "ValueError: The cache needs 5 GiB on device cuda:0, which is more than the 3 GiB that are free. Lower `gpu_share`"
    paste(front, f"{banner}{text} or use a smaller `window`.\nend")
    said(front, "Root cause")
    text = front.locator("#lookup-results").inner_text()
    assert "The log says vLLM 0.7.1, which is not on this site" in text and "Not from this release" in text


def test_words_with_typos_find_a_card_and_facets_narrow(front: Any) -> None:
    front.fill("#lookup-text", "tokeniser servr stoped")
    assert said(front, "with these words").startswith("1 error of vLLM")
    front.fill("#lookup-text", "server")
    said(front, "2 errors")
    front.get_by_label("HTTP status").select_option("404")
    said(front, "1 error ")
    assert "adapter that is called" in links(front)[0] and "status=404" in front.url
    front.get_by_label("Release").select_option("v1.9.0")
    said(front, "No error")
    front.keyboard.press("Escape")


def test_keys_alone(front: Any) -> None:
    front.keyboard.press("/")
    front.keyboard.type("kernel found")
    said(front, "2 errors")
    front.keyboard.press("ArrowDown")
    front.keyboard.press("ArrowDown")
    front.keyboard.press("ArrowUp")
    front.keyboard.press("ArrowUp")
    assert front.evaluate("document.activeElement.id") == "lookup-text"
    front.keyboard.press("Escape")
    assert front.input_value("#lookup-text") == "" and links(front) == [] and front.url.endswith("/")
    front.keyboard.type("kernel found")
    said(front, "2 errors")
    front.keyboard.press("Enter")
    front.wait_for_url("**/errors/*/index.html")


def test_back_and_the_address_of_a_query(front: Any) -> None:
    front.fill("#lookup-text", "kernel")
    said(front, "2 errors")
    address = front.url
    assert address.endswith("#q=kernel")
    front.locator("#lookup-results a").first.click()
    front.wait_for_url("**/errors/*/index.html")
    front.go_back()
    said(front, "2 errors")
    assert front.input_value("#lookup-text") == "kernel"
    front.goto("about:blank")
    front.goto(address + "&exception=ValueError&package=vllm%2Fplatforms")
    said(front, "2 errors")
    assert front.get_by_label("Package").input_value() == "vllm/platforms"


def test_a_large_paste_never_stands_still_and_can_be_stopped(front: Any) -> None:
    front.evaluate("() => { window.turns = 0; setInterval(() => window.turns++, 20); }")
    paste(front, LINE, 50_000_000 // len(LINE))
    front.get_by_role("button", name="Stop").wait_for()
    while not front.evaluate("document.getElementById('lookup-progress').value"):
        front.wait_for_timeout(20)
    before = front.evaluate("window.turns")
    front.wait_for_timeout(300)
    assert front.evaluate("window.turns") > before + 3
    front.get_by_role("button", name="Stop").click()
    said(front, "Stopped")
    front.fill("#lookup-text", "kernel")
    said(front, "2 errors")


def test_a_file_is_searched_to_its_end(front: Any, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(LINE * 12_000 + pastes.traceback(RANK))
    front.set_input_files("#lookup-file", log)
    assert said(front, "Root cause") == "Root cause: ValueError, line 12,007"
    assert re.search(r"server.log: 1\.\d MB", front.locator("#lookup").inner_text())


NASTY = [
    pytest.param("<script>document.title='ran'</script>", "<script>document.title='ran'</script>", id="a script"),
    pytest.param(
        "<img src=x onerror=\"document.title='ran'\">", "<img src=x onerror=\"document.title='ran'\">", id="a handler"
    ),
    pytest.param("abc\u202edef\u2066", "abc\\u202edef\\u2066", id="text that runs backwards"),
    pytest.param("a\x1b[31mb\x07", "ab\\x07", id="a terminal's escapes"),
    pytest.param("a\0b", "ab", id="a null"),
    pytest.param("javascript:alert(1)", "javascript:alert(1)", id="an address that runs"),
    pytest.param("{{ 7 * 7 }}${7*7}", "{{ 7 * 7 }}${7*7}", id="templates"),
    pytest.param("x" * 5000, "x" * 300 + "…", id="a long word"),
    pytest.param("a\ud800b", "a\ufffdb", id="half of a pair"),
]


@pytest.mark.parametrize(("value", "shown"), NASTY)
def test_hostile_values_are_seen_as_they_are(front: Any, value: str, shown: str) -> None:
    paste(front, f"one\nValueError: LoRA rank {value} is greater than the largest rank 16 of this engine.\nthree")
    said(front, "Root cause")
    assert front.locator(".answer dd").first.text_content() == shown


def test_hostile_messages_are_seen_as_they_are(front: Any) -> None:
    text = "ValueError: The closing </script><script>document.title='ran'</script> of x was not expected here"
    paste(front, f"{text}\nend")
    said(front, "Root cause")
    assert front.locator(".answer .message").inner_text() in text
    front.fill("#lookup-text", "javascript alert onerror")
    said(front, "1 error ")
    assert links(front) == [
        "ValueError: <img src=x onerror=document.title='ran'> and javascript:alert(1) are not { {y} } at all"
    ]


@pytest.mark.parametrize(
    "piece", ["x", "\0", "\\", "Error: ", "é\n"], ids=["a word", "nulls", "backslashes", "names", "lines"]
)
def test_hostile_logs_end_soon(front: Any, piece: str) -> None:
    paste(front, piece, 1_000_000 // len(piece))
    said(front, "Nothing of vLLM’s found")


def test_an_index_that_is_not_there_is_said(front: Any, excused: set[str]) -> None:
    excused.add("404")
    front.route("**/index-*.json", lambda route: route.fulfill(status=404))
    front.fill("#lookup-text", "kernel")
    assert "cannot be loaded (404)" in said(front, "The lookup does not work here")


def test_a_page_from_a_file_says_what_it_needs(page: Any, built: Path) -> None:
    context = page.context.browser.new_context()  # which may complain
    opened = context.new_page()
    opened.goto((built / "index.html").as_uri())
    assert "comes over http" in opened.locator("#lookup-needs").inner_text()
    assert not opened.locator("#lookup-form").is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_answers(front: Any, scheme: str) -> None:
    front.emulate_media(color_scheme=scheme)
    front.set_viewport_size({"width": 320, "height": 640})
    paste(
        front,
        pastes.traceback(RANK)
        + "RuntimeError: Engine start was not successful. See root cause above. Failed processes: {}",
    )
    said(front, "Root cause")
    found = [Axe().run(front).response["violations"]]
    assert front.evaluate("document.documentElement.scrollWidth") == 320
    front.fill("#lookup-text", "server")
    said(front, "2 errors")
    found.append(Axe().run(front).response["violations"])
    assert [[(v["id"], v["nodes"][0]["html"]) for v in violations] for violations in found] == [[], []]
