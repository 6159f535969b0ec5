"""The site's files: links, HTML, bytes, editions, what is written again, what is refused, files for programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from extractor import serving
from extractor.errors import ToolError
from extractor.model import Error
from extractor.pages import addresses, checked_base, checked_version, editions, errlookup, highlight
from extractor.pages.build import _Made
from extractor.render.view import Listing
from tests.browser import served  # noqa: F401  a fixture
from tests.sites import NEW, OLD, POOL, dataset_at, errors_of, files_in, provenance, site_of, two

BASE = "https://example.org/errors-of-vllm/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    return site_of(two(place), place / "site", base_url=BASE).folder


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return files_in(folder)


# --- pages -----------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "data-copy-address") and value is not None:
                self.links.append(value)
            if name == "id" and value is not None:
                self.ids.append(value)


def pages(files: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    return ((name, data.decode()) for name, data in files.items() if name.endswith(".html"))


def broken(files: dict[str, bytes], base: str) -> list[tuple[str, str]]:
    """Links of the site to itself that lead nowhere."""
    known = {name: Page(text) for name, text in pages(files)}
    found = []
    for name, page in known.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if not link.startswith(base):
                    continue
                path = link.removeprefix(base)
            elif link.startswith("/"):
                path = parts.path.removeprefix(urlsplit(base).path)
            else:
                path = (
                    os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
                )
            path = path.partition("#")[0]
            target = f"{path}index.html" if path.endswith("/") or not path else path
            if target not in files or (parts.fragment and parts.fragment not in known[target].ids):
                found.append((name, link))
    return found


def test_every_link_leads_somewhere(files: dict[str, bytes]) -> None:
    assert len(list(pages(files))) > 40
    assert broken(files, BASE) == []


def test_every_page_is_valid(files: dict[str, bytes]) -> None:
    for name, text in pages(files):
        html5lib.HTMLParser(strict=True).parse(text)
        ids = Page(text).ids
        assert len(ids) == len(set(ids)), name


def test_every_page_has_the_policy_and_nothing_inline(files: dict[str, bytes]) -> None:
    for name, text in pages(files):
        assert re.search(r'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ', text) or (
            "default-src &#39;none&#39;; " in text
        ), name
        assert "unsafe" not in text.partition("</head>")[0]
        assert re.search(r"<[^>]*\s(style|on\w+)=", text) is None, name
        assert re.search(r"<script(?! src=| type=\"(application/ld\+json|module)\")", text) is None, name


def test_a_page_is_about_its_message(files: dict[str, bytes]) -> None:
    error = next(e for e in errors_of(NEW) if "is over" in e.message)
    text = files[f"errors/{error.id}/index.html"].decode()
    shown = str(Markup.escape(error.message))
    assert f"<title>{shown}</title>" in text
    assert f'<meta name="description" content="{shown}">' in text
    assert f'<link rel="canonical" href="{BASE}errors/{error.id}/">' in text
    assert f'<meta property="og:url" content="{BASE}errors/{error.id}/">' in text
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert headings == ["Error message", "What it means", "Source", "Solutions", "When it is raised", "Related errors"]
    assert text.count('class="l hit"') == 1 and 'data-n="21"' in text
    assert "--block-size" in text and "<code>LIMIT</code> is <code>8</code>" in text
    older = files[f"errors/{error.id}/v1.0.0/index.html"].decode()
    assert f'<link rel="canonical" href="{BASE}errors/{error.id}/">' in older
    assert len(text) < 50_000


def test_the_map_lists_what_stands_for_itself(files: dict[str, bytes]) -> None:
    listed = re.findall(r"<loc>(.*?)</loc>", files["sitemap.xml"].decode())
    assert f"{BASE}" in listed and f"{BASE}exceptions/PoolError/" in listed
    assert sum("/errors/" in url for url in listed) == len({e.id for e in (*errors_of(OLD), *errors_of(NEW))})
    assert not any("v1.0.0/index" in url or "vllm-project" in url or "404" in url for url in listed)
    assert files["robots.txt"].decode().endswith(f"Sitemap: {BASE}sitemap.xml\n")


@pytest.mark.parametrize("given", ["example.org", "ftp://example.org/", "https://", "https://a b/", "https://x/?q=1",
                                   "https://x/#a", "http://[", 'https://x/"><script>'])  # fmt: skip
def test_an_address_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(ToolError, match="--base-url"):
        checked_base(given)


def test_a_version_is_a_time() -> None:
    assert checked_version(None) is None
    assert checked_version("1700000000") == "2023-11-14T22:13:20Z"
    with pytest.raises(ToolError, match="SOURCE_DATE_EPOCH"):
        checked_version("soon")


# --- bytes -----------------------------------------------------------------------------------------------


def test_the_same_datasets_give_the_same_bytes(tmp_path: Path, files: dict[str, bytes]) -> None:
    folders = two(tmp_path)
    made = site_of(folders[::-1], tmp_path / "site", base_url=BASE)
    assert files_in(tmp_path / "site") == files
    assert made.fresh == made.files - 1
    again = site_of(folders, tmp_path / "site", base_url=BASE)
    assert again.fresh == 0
    assert files_in(tmp_path / "site") == files


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    before = dataset_at(tmp_path / "v1.0.0", errors_of(OLD), provenance())
    out = tmp_path / "site"
    site_of([before], out)
    old = {name: (out / name).stat().st_ino for name in files_in(out)}
    changed = {**OLD, "vllm/pool.py": POOL.replace("size > LIMIT", "size >= LIMIT")}
    after = dataset_at(tmp_path / "v1.0.0", errors_of(changed), provenance())
    made = site_of([after], out)
    new = {name: (out / name).stat().st_ino for name in files_in(out)}
    kept = {name for name in old if old[name] == new.get(name)}
    assert 0 < made.fresh < made.files / 2
    assert "assets/site.css" in kept and "exceptions/PoolError/index.html" in kept
    assert not any(name in kept for name in ("data/index.json", "site.json")) or made.fresh > 5


def test_a_build_that_is_interrupted_leaves_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = two(tmp_path)
    out = tmp_path / "site"
    site_of(folders[:1], out)
    before = files_in(out)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_Made, "put", stop)
    with pytest.raises(KeyboardInterrupt):
        site_of(folders, out)
    assert files_in(out) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["site", "v1.0.0", "v1.1.0"]


# --- what is refused -------------------------------------------------------------------------------------


def test_files_of_others_stay(tmp_path: Path) -> None:
    folders = two(tmp_path)
    out = tmp_path / "site"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(ToolError, match=r"site holds 'thesis.txt' and is not a site"):
        site_of(folders, out)
    (out / "thesis.txt").unlink()
    site_of(folders[:1], out)
    (out / "errors" / "notes.md").write_text("mine")
    with pytest.raises(ToolError, match=r"'errors/notes.md', which this tool did not write"):
        site_of(folders, out)
    with pytest.raises(ToolError, match=r"v1.0.0 holds .* and is not a site"):
        site_of(folders, folders[0])
    assert (out / "errors" / "notes.md").read_text() == "mine"


REFUSED = [
    pytest.param(lambda t: [], "needs a dataset", id="none"),
    pytest.param(
        lambda t: [*two(t)[:1], dataset_at(t / "b", errors_of(NEW), provenance("2.0.0", repo="else/where"))],
        "a site is of one repository",
        id="another repository",
    ),
    pytest.param(
        lambda t: [*two(t)[:1], dataset_at(t / "b", errors_of(NEW), provenance("2.0.0"), tool="0.0.1")],
        "extract both again",
        id="another version of the tool",
    ),
    pytest.param(
        lambda t: [*two(t)[:1], dataset_at(t / "b", errors_of(NEW), provenance("1.0.0"))],
        "are both called v1.0.0",
        id="two of one name",
    ),
    pytest.param(
        lambda t: [
            *two(t)[:1],
            dataset_at(t / "b", [replace(errors_of(OLD)[0], message="another")], provenance("2.0.0")),
        ],
        "cannot be by the rule",
        id="one id, two texts",
    ),
    pytest.param(lambda t: [other_schema(two(t)[0])], "another version of this tool", id="another schema"),
    pytest.param(lambda t: [t], "is not a dataset", id="no dataset"),
]


def other_schema(folder: Path) -> Path:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema": 1', '"schema": 0'))
    return folder


@pytest.mark.parametrize(("folders", "sentence"), REFUSED)
def test_datasets_that_do_not_belong_together(
    tmp_path: Path, folders: Callable[[Path], list[Path]], sentence: str
) -> None:
    with pytest.raises(ToolError, match=sentence):
        editions.read(folders(tmp_path))


# --- several editions ------------------------------------------------------------------------------------


def test_what_became_of_errors(files: dict[str, bytes]) -> None:
    short = {e["message"]: e for e in json.loads(files["api/index.json"])["errors"]}
    over = next(m for m in short if "is over" in m)
    left, there = "{count} blocks are not left", "{count} blocks are not there"
    assert [short[over][k] for k in ("since", "until", "became")] == [None, None, None]
    assert [short[left][k] for k in ("since", "until", "became")] == [None, None, None]
    assert [short[there][k] for k in ("since", "until", "became")] == [None, "v1.0.0", short[left]["id"]]
    assert [short["the pool is closed"][k] for k in ("since", "until", "became")] == [None, "v1.0.0", None]
    assert short["x is {x}, which is below zero"]["since"] == "v1.1.0"
    newest, oldest = json.loads(files["api/releases.json"])["releases"]
    assert short["x is {x}, which is below zero"]["id"] in newest["new"]
    assert short["the pool is closed"]["id"] in newest["gone"]
    assert oldest["new"] is None


def test_one_edition_compares_nothing(tmp_path: Path) -> None:
    site_of([dataset_at(tmp_path / "v1.0.0", errors_of(OLD), provenance())], tmp_path / "site")
    made = files_in(tmp_path / "site")
    assert broken(made, "https://at.the.root/") == []
    assert not any(name.startswith(("diffs/", "releases/v1.0.0/new", "sitemap", "robots")) for name in made)


# --- files for programs ----------------------------------------------------------------------------------

RECORD = """id repo slug errorCode errorMessage messagePattern errorType errorClass httpStatus severity filePath lineNumber
sourceCode sourceCodeStart sourceCodeEnd githubUrl documentation triggerScenarios commonSituations solutions exampleFix
handlingStrategy validationCode typeGuard tryCatchPattern preventionTips tags backgroundTag analyzedSha analyzedAt
schemaVersion""".split()


def test_records_are_what_the_schema_says(files: dict[str, bytes]) -> None:
    schema = json.loads(files["api/schema.json"])
    records = [json.loads(data) for name, data in files.items() if name.startswith("api/errors/")]
    assert len(records) == len(json.loads(files["api/index.json"])["errors"])
    for record in records:
        jsonschema.validate(record, schema)


def test_files_for_errlookup(files: dict[str, bytes]) -> None:
    from hashlib import sha256

    manifest = json.loads(files["data/manifest.json"])
    assert manifest["datasetVersion"] == "2026-01-02T10:00:00Z"
    for entry in manifest["files"].values():
        data = files[entry["path"].removeprefix("/")]
        assert (len(data), sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    index = json.loads(files["data/index.json"])["errors"]
    records = json.loads(files["data/repos/vllm-project/vllm.json"])
    assert len(index) == len(records) == manifest["counts"]["errors"] == len(errors_of(NEW))
    assert len({r["slug"] for r in records}) == len(records)
    for record in records:
        assert list(record) == RECORD
        assert json.loads(files[f"data/errors/{record['id']}.json"]) == record
        assert record["triggerScenarios"] and record["commonSituations"] and record["documentation"]
        assert len(record["slug"]) <= 50 and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", record["slug"])
        assert re.fullmatch("[0-9a-f]{40}", record["analyzedSha"])
        assert record["sourceCode"].count("\n") + 1 == record["sourceCodeEnd"] - record["sourceCodeStart"] + 1 <= 40
        assert f"vllm-project/vllm/{record['slug']}/index.html" in files
    over = next(r for r in records if "is over" in r["errorMessage"])
    assert "size > LIMIT" in over["triggerScenarios"] and "not self.closed" in over["triggerScenarios"]


@given(st.text(max_size=700), st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_patterns_are_whole_and_short(text: str, more: str) -> None:
    error = replace(errors_of_one(), message=f"{text}{more}", variants=())
    pattern = errlookup.pattern(error)
    assert len(pattern) <= errlookup.PATTERN
    assert re.match(pattern.replace("(.+?)", "(?:.+?)"), f"{text}{more}" or error.exception) is not None


@cache
def errors_of_one() -> Error:
    return errors_of(OLD)[0]


def test_llms_txt_names_the_files(files: dict[str, bytes]) -> None:
    text = files["llms.txt"].decode()
    for link in re.findall(r"\]\((.*?)\)", text):
        path = link.removeprefix(BASE)
        assert path in files or "ID" in path


# --- names in addresses ----------------------------------------------------------------------------------

PLAIN = [
    pytest.param("..", None, id="up"),
    pytest.param("a/../b", None, id="path"),
    pytest.param("", None, id="nothing"),
    pytest.param("con", None, id="device"),
    pytest.param("index.html", None, id="index"),
    pytest.param("javascript:x", None, id="scheme"),
    pytest.param("a?b#c", None, id="query"),
    pytest.param("ends.", None, id="dot at the end"),
    pytest.param("x" * 200, None, id="long"),
    pytest.param("é\u202e\ud800", None, id="not ASCII"),
    pytest.param("ValueError", "ValueError", id="class"),
    pytest.param("v0.28.0", "v0.28.0", id="release"),
]


@pytest.mark.parametrize(("name", "expected"), PLAIN)
def test_names_in_addresses(name: str, expected: str | None) -> None:
    made = addresses.slug(name)
    assert made == expected if expected else re.fullmatch("x-[0-9a-f]{12}", made)


def test_names_that_differ_in_case_have_addresses_that_differ() -> None:
    made = addresses.slugs(["Error", "error", "a/b", "a.b"])
    assert len({m.lower() for m in made.values()}) == 4


# --- source in colour ------------------------------------------------------------------------------------


@given(st.text(alphabet=st.sampled_from("abif'\"\\#{}()%:.@ \n\t0é&<>r"), max_size=200), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_colours_change_no_text(text: str, first: int) -> None:
    lines = tuple(text.split("\n"))
    made = highlight.lines(Listing(1, lines, min(first, len(lines)), len(lines)))
    assert [Markup(line).striptags() if not line.strip() else Markup(re.sub(r"</?span[^>]*>", "", line)).unescape()
            for line in made] == [line if line.strip() else "" for line in lines]  # fmt: skip


def test_a_listing_may_begin_inside_a_string() -> None:
    made = highlight.lines(Listing(5, ("  the end of a doc's text", '  """', "  raise ValueError('x')"), 7, 7))
    assert made[0] == '<span class="s">  the end of a doc\'s text</span>'
    assert made[2] == '  <span class="k">raise</span> <span class="nb">ValueError</span>(<span class="s">\'x\'</span>)'


# --- serving, the command --------------------------------------------------------------------------------


def test_serving(folder: Path, served: Callable[[Path], str]) -> None:  # noqa: F811
    site = served(folder)
    with urllib.request.urlopen(site) as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    with pytest.raises(urllib.error.HTTPError) as missing:
        urllib.request.urlopen(f"{site}errors/")
    assert missing.value.code == 404 and b"There is no such page" in missing.value.read()


def test_another_port_when_one_is_taken(folder: Path) -> None:
    with serving.server(folder, 0) as first:
        taken = first.server_address[1]
        with serving.server(folder, taken) as second:
            assert second.server_address[1] != taken
    with pytest.raises(ToolError, match="is not a site"):
        serving.checked(folder / "errors")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "extractor", *arguments], cwd=cwd, capture_output=True, text=True, timeout=120
    )


def test_the_command(tmp_path: Path) -> None:
    nothing = run("site", cwd=tmp_path)
    assert nothing.returncode == 2 and "make one with vllm-errors extract" in nothing.stderr
    two(tmp_path / "output")
    made = run("site", "1.0.0", "1.1.0", "--out", "here", "--jobs", "1", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (0, "here/index.html\n"), made.stderr
    assert "1.1.0, 1.0.0: 10 errors" in made.stderr
    assert (tmp_path / "here" / "index.html").exists()
    assert run("serve", "output", cwd=tmp_path).returncode == 2
