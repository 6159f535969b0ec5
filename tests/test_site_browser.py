"""The site in a real browser: journeys of readers, hostile text, what axe finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from extractor.model import Error
from tests.browser import *  # noqa: F403  fixtures
from tests.browser import follow
from tests.sites import NEW, OLD, dataset_at, errors_of, provenance, site_of, two


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    return site_of(two(place), place / "site").folder


@pytest.fixture(scope="module")
def site(folder: Path, served: Callable[[Path], str]) -> str:
    return served(folder)


def one(files: dict[str, str], words: str) -> Error:
    return next(e for e in errors_of(files) if words in e.message)


BIG, REWORDED, WAS = one(NEW, "is over"), one(NEW, "are not left"), one(OLD, "are not there")


def address(site: str, error: Error, edition: str = "") -> str:
    return f"{site}errors/{error.id}/{edition}index.html"


# --- journeys --------------------------------------------------------------------------------------------


def test_from_a_list_to_a_card_to_a_related_one_to_its_line(page: Any, site: str) -> None:
    page.goto(f"{site}index.html")
    follow(page.get_by_role("link", name="ValueError"))
    follow(page.get_by_role("link", name="is over"))
    assert page.title() == BIG.message
    assert page.locator("h1").inner_text() == BIG.message
    follow(page.locator("#related + ul a").first)
    assert page.url != address(site, BIG)
    link = page.get_by_role("link", name="View on GitHub")
    assert link.get_attribute("href").startswith("https://github.com/vllm-project/vllm/blob/v1.1.0/vllm/")


def test_a_release_that_words_it_otherwise_is_a_click_away_and_so_is_the_way_back(page: Any, site: str) -> None:
    page.goto(address(site, REWORDED))
    versions = page.get_by_role("navigation", name="This error in other releases")
    assert versions.locator("[aria-current]").inner_text() == "1.1.0"
    assert "with other words" in versions.inner_text()
    follow(versions.get_by_role("link", name="1.0.0"))
    assert page.url == address(site, WAS)
    assert "Not in 1.1.0" in page.locator(".notice").inner_text()
    follow(page.locator(".notice a"))
    assert page.url == address(site, REWORDED)


def test_a_release_that_words_it_alike_shows_its_own_lines(page: Any, site: str) -> None:
    page.goto(address(site, BIG))
    follow(page.get_by_role("link", name="1.0.0"))
    assert page.url == address(site, BIG, "v1.0.0/")
    assert page.locator(".versions [aria-current]").inner_text() == "1.0.0"
    assert "/blob/v1.0.0/" in page.get_by_role("link", name="View on GitHub").get_attribute("href")
    page.go_back()
    assert page.url == address(site, BIG)


def test_an_error_that_is_gone_says_so(page: Any, site: str) -> None:
    page.goto(address(site, one(OLD, "the pool is closed")))
    assert "1.0.0 is the last release here that raises it" in page.locator(".notice").inner_text()
    assert "until 1.0.0" in page.locator(".facts").inner_text()


def test_an_address_that_is_none_has_a_page(page: Any, site: str, excused: set[str]) -> None:
    excused.add("404")
    answer = page.goto(f"{site}errors/0000000000000000/")
    assert answer.status == 404
    assert page.get_by_role("heading", name="There is no such page").is_visible()
    assert page.locator("h1").evaluate("e => getComputedStyle(document.body).margin") == "0px"
    follow(page.get_by_role("link", name="Look for the message"))
    assert page.url == f"{site}index.html"


def test_what_changed_between_two_releases(page: Any, site: str) -> None:
    page.goto(f"{site}releases/index.html")
    follow(page.get_by_role("link", name="since 1.0.0"))
    assert page.locator("ins", has_text="left").count() == 1
    assert page.locator("del", has_text="there").count() == 1
    follow(page.locator(".figures a").first)
    assert "below zero" in page.locator("main").inner_text()


def test_with_the_keyboard_alone(page: Any, site: str) -> None:
    page.goto(address(site, BIG))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.className") != "hole":
        page.keyboard.press("Tab")
    tip = page.locator(".hole:focus .tip")
    assert tip.is_visible() and "the value of size, as repr() writes it" in tip.inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".tip:visible").count() == 0


def test_a_hole_is_explained_under_the_pointer(page: Any, site: str) -> None:
    page.goto(address(site, BIG))
    page.locator("h1 .hole").nth(1).hover()
    tip = page.locator(".tip:visible")
    assert "self.name" in tip.inner_text() and "in the format >10" in tip.inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".tip:visible").count() == 0


def test_copying(page: Any, site: str) -> None:
    page.goto(address(site, BIG))
    for name, text in (
        ("Copy message", BIG.message),
        ("Copy id", BIG.id),
        ("Copy JSON address", f"{site}api/errors/{BIG.id}.json"),
    ):
        page.get_by_role("button", name=name).click()
        page.get_by_role("button", name="Copied").first.wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == text
    assert page.request.get(f"{site}api/errors/{BIG.id}.json").json()["message"] == BIG.message


def test_the_policy_holds(page: Any, site: str, complaints: list[str], excused: set[str]) -> None:
    excused.add("Content Security Policy")
    page.goto(address(site, BIG))
    assert page.evaluate(f"fetch('../../api/errors/{BIG.id}.json').then(() => 1, () => 0)") == 0
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.run = 1'}))")
    page.evaluate("document.body.setAttribute('onclick', 'window.run = 1')")
    page.locator("body").click()
    assert page.evaluate("window.run") is None
    assert len(complaints) >= 3


def test_light_and_dark(page: Any, site: str) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    page.emulate_media(color_scheme="dark")
    page.goto(address(site, BIG))
    dark = page.evaluate(background)
    page.get_by_role("button", name="Light").click()
    light = page.evaluate(background)
    assert dark != light
    page.reload()  # the choice is remembered
    assert page.evaluate(background) == light
    page.get_by_role("button", name="Dark").click()  # as the system wishes: nothing to remember
    assert page.evaluate("localStorage.length") == 0
    page.emulate_media(color_scheme="light")
    assert page.evaluate(background) == light


@pytest.mark.parametrize("width", [320, 390, 1600])
def test_nothing_is_cut_off_at_any_width(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for name in (f"errors/{BIG.id}/index.html", "index.html", "exceptions/index.html", "releases/index.html",
                 "diffs/v1.0.0...v1.1.0/index.html", "programs/index.html"):  # fmt: skip
        page.goto(site + name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_without_javascript(browser: Any, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address(site, BIG))
    assert page.locator("h1").inner_text() == BIG.message
    page.locator("h1 .hole").first.focus()
    assert page.locator(".tip:visible").count() == 1
    assert page.locator("button:visible").count() == 0
    follow(page.get_by_role("link", name="Exceptions"))
    follow(page.get_by_role("link", name="PoolError"))
    assert page.locator(".rows li").count() >= 2
    context.close()


def test_from_a_disk(page: Any, folder: Path) -> None:
    page.goto(f"file://{folder}/errors/{BIG.id}/index.html")
    page.get_by_role("button", name="Dark").click()
    follow(page.locator("#related + ul a").first)
    follow(page.get_by_role("link", name="Files"))
    follow(page.get_by_role("link", name="vllm/entrypoints"))
    assert page.locator(".rows li").count() == 2


def test_the_address_that_clients_cite_leads_on(page: Any, site: str, excused: set[str]) -> None:
    excused.add("404")
    page.goto(f"{site}vllm-project/vllm/no-such-kind-kind/")
    page.wait_for_url(address(site, one(NEW, "no such kind")))


# --- axe -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, site: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    kinds = ("index.html", f"errors/{BIG.id}/index.html", f"errors/{WAS.id}/index.html", "exceptions/index.html",
             "exceptions/ValueError/index.html", "files/vllm/index.html", "releases/index.html",
             "releases/v1.1.0/index.html", "diffs/v1.0.0...v1.1.0/index.html", "about/index.html",
             "programs/index.html", "404.html")  # fmt: skip
    for name in kinds:
        page.goto(site + name)
        found = Axe().run(page)
        assert found.violations_count == 0, (name, found.generate_report())


# --- hostile text ----------------------------------------------------------------------------------------

PAYLOADS = [
    "<script>document.title='run'</script>",
    "</script><script>window.run=1</script>",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
    "<img src=x onerror=window.run=1>",
    '"><a href="javascript:window.run=1" onfocus=window.run=1 autofocus>',
    "</title></textarea></style><svg/onload=window.run=1>",
    "<!-- --!> <![CDATA[ ]]> &lt;b&gt; &amp;quot;",
    "right\u202eleft\u2066in\u2069 zero\u200bwidth",
    "null\x00byte \x1b[31mred",
    "a" * 1_000_000,
]


def hostile() -> dict[str, str]:
    """A tree that holds each of the payloads as message, symbol's docstring, guard, constant, and file name."""
    files = {}
    for n, payload in enumerate(PAYLOADS):
        text = json.dumps(payload)
        safe = payload.replace("/", "").replace("\x00", "")[:60]
        files[f"vllm/{safe}/m{n}.py"] = f"""
            NAME = {text}
            def f(x):
                {json.dumps(payload[:2000])}
                if x == NAME or x == {json.dumps(payload[:2000])}:
                    raise ValueError({text})
                raise ValueError(f"got {{x[{json.dumps(payload[:300]).replace("{", "").replace("}", "")}]}} for " + {text})
        """
    return files


def test_hostile_text_is_text(page: Any, tmp_path: Path, served: Callable[[Path], str]) -> None:
    errors = errors_of(hostile())
    assert len(errors) >= len(PAYLOADS)
    source = provenance()
    folder = dataset_at(tmp_path / "v1.0.0", errors, source)
    site = served(site_of([folder], tmp_path / "site").folder)
    for error in errors:
        page.goto(address(site, error))
        assert page.evaluate("[window.run, document.scripts.length]") == [None, 2]
        assert page.evaluate("document.querySelectorAll('[onerror],[onload],[onfocus],img,svg').length") == 0
        assert page.evaluate("[...document.links].every(a => /^(https?|file):/.test(a.protocol))")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shown = page.locator("h1").inner_text()
        assert "\u202e" not in shown and "\x00" not in shown
        assert json.loads(page.locator("script[type='application/ld+json']").text_content())["identifier"] == error.id
    for error in errors:
        if "<script>document" in error.message and "got" not in error.message:
            page.goto(address(site, error))
            assert page.locator("h1").inner_text() == error.message
            assert page.title() == error.message
    for name in ("index.html", "files/index.html", "exceptions/ValueError/index.html"):
        page.goto(site + name)
        assert page.evaluate("[window.run, document.title === 'run']") == [None, False]
