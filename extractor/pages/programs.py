"""Owns the files for programs and search engines: `api/`, `llms.txt`, `sitemap.xml`, `robots.txt`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

import orjson

from extractor import dataset
from extractor.model import Error
from extractor.pages.lines import Step
from extractor.pages.shell import Shell
from extractor.pages.story import Stories
from extractor.printable import json_safe, visible

SITEMAP = 50_000  # addresses in one file, as its format has it


def api(stories: Stories, taken: Sequence[Step]) -> Iterator[tuple[str, bytes]]:
    """All errors in short, the releases, and the schema of a record."""
    yield "api/index.json", _encode({"errors": [_short(stories, error) for _, error in stories.all()]})
    yield "api/releases.json", _encode({"releases": list(_releases(stories, taken))})
    yield "api/schema.json", dataset.encode(dataset.schema(), indent=True)


def _short(stories: Stories, error: Error) -> dict[str, Any]:
    span = stories.span(error.id)
    site = error.sites[0]
    return {
        "id": error.id,
        "exception": error.exception,
        "message": error.message,
        "path": site.path,
        "line": site.line,
        "title": error.title,
        "since": span.since,
        "until": span.until,
        "became": span.became,
    }


def _releases(stories: Stories, taken: Sequence[Step]) -> Iterator[dict[str, Any]]:
    for n, edition in enumerate(stories.editions):
        step = taken[n] if n < len(taken) else None
        source = edition.source
        yield {
            "label": source.label,
            "repo": source.repo,
            "release": source.release,
            "commit": source.commit,
            "date": source.date,
            "files": edition.counts.files,
            "raises": edition.counts.raises,
            "errors": edition.counts.errors,
            "new": None if step is None else sorted(e.id for e in step.added),
            "gone": None if step is None else sorted(e.id for e in step.removed),
        }


def _encode(value: Any) -> bytes:
    return json_safe(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def llms(shell: Shell, stories: Stories) -> Iterator[tuple[str, bytes]]:
    """What a language model is told about the site."""
    base = shell.base_url or ""
    newest = stories.editions[0]
    lines = [
        f"# {shell.title}",
        "",
        f"> Every error that {shell.repo} raises in {', '.join(e.name for e in shell.editions)}, read from its source "
        "without running it: message, place, conditions, what the message says to do. Nothing is invented; a value "
        "that is put into a message stands as {expression}.",
        "",
        f"{newest.counts.errors:,} errors of {newest.counts.raises:,} raise statements in {newest.name}. An error is "
        "known by 16 hex digits, made of its message and file.",
        "",
        "## Data",
        "",
        f"- [All errors]({base}api/index.json): id, exception, message, path, line, title, since, until, became",
        f"- [One error]({base}api/errors/ID.json): everything known; put the id for ID",
        f"- [Schema]({base}api/schema.json): the JSON Schema of one error",
        f"- [Releases]({base}api/releases.json): what each is, what is new and gone in it",
        f"- [For ErrLookup's clients]({base}data/manifest.json): the same errors in their format",
        "",
        "## Pages",
        "",
        f"- [One error]({base}errors/ID/index.html): the same for people",
        f"- [Exceptions]({base}exceptions/index.html), [files]({base}files/index.html), "
        f"[releases]({base}releases/index.html)",
        f"- [About]({base}about/index.html): what is derived how, and what is not known",
        "",
    ]
    yield "llms.txt", "\n".join(map(visible, lines)).encode()


def for_search(shell: Shell, pages: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The list of pages, and where it is. Without a known address there is neither: they hold whole addresses."""
    if shell.base_url is None:
        return
    every = sorted(pages)
    names: list[str] = []
    for start in range(0, len(every), SITEMAP):
        names.append(f"sitemap-{start // SITEMAP + 1}.xml" if start else "sitemap.xml")
        urls = "".join(
            f"<url><loc>{escape(shell.canonical(page) or '')}</loc></url>\n" for page in every[start : start + SITEMAP]
        )
        yield (
            names[-1],
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{urls}</urlset>\n".encode(),
        )
    yield (
        "robots.txt",
        ("User-agent: *\nAllow: /\n" + "".join(f"Sitemap: {shell.base_url}{n}\n" for n in names)).encode(),
    )
