"""Owns the files under `data/`: errors in the format that the clients of ErrLookup read (its schema, version 2).

Fields that ask for prose hold what the source says, in words; those with nothing to say stay empty.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import orjson

from extractor.model import Error, Part, Provenance
from extractor.pages import addresses
from extractor.pages.story import headline, names
from extractor.printable import json_safe, visible
from extractor.render.view import Card, Conditions, Guard

SCHEMA = 2
SLUG = 50  # characters
SUFFIX = 8  # digits of the id, where two messages begin alike
PATTERN = 500  # characters; a client skips longer ones
LINES = 40
HOLE = "(.+?)"
EPOCH = "1970-01-01T00:00:00Z"  # for a folder without a commit: no time is known, and one is asked for
NO_COMMIT = "0" * 40

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_TOKEN = re.compile(r"\(\.\+\?\)|\\?.", re.DOTALL)  # of a pattern: not to be cut


def slugs(errors: Iterable[Error]) -> dict[str, str]:
    """By id a readable name, unique among them, of letters, digits and dashes."""
    bases = {error.id: kebab(error.message or error.exception)[:SLUG].strip("-") or "error" for error in errors}
    often = Counter(bases.values())
    return {
        i: base if often[base] == 1 else f"{base[: SLUG - SUFFIX - 1].strip('-')}-{i[:SUFFIX]}"
        for i, base in bases.items()
    }


def kebab(text: str) -> str:
    """Words with dashes between."""
    return re.sub(r"[^a-z0-9]+", "-", text[:400].lower()).strip("-")


def pattern(error: Error) -> str:
    """A regular expression of JavaScript for the message, its beginning where all of it would be too long."""
    parts = next((v.parts for v in error.variants if v.message == error.message), None)
    if parts is None:
        parts = (Part(text=error.message or error.exception),)
    texts = [_escaped(part.text[:PATTERN]) if isinstance(part.text, str) else HOLE for part in parts]
    found = "".join(text for n, text in enumerate(texts) if not (n and text == texts[n - 1] == HOLE))
    if len(found) <= PATTERN:
        return found
    whole = list(accumulate(len(token) for token in _TOKEN.findall(found)))
    return found[: max(length for length in whole if length <= PATTERN)]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text).replace("\n", r"\n").replace("\r", r"\r")


def record(error: Error, source: Provenance, view: Card, slug: str) -> dict[str, Any]:
    """One full record; `view` is the error's card."""
    site = error.sites[0]
    start = max(site.context.start, min(site.line, site.context.start + len(site.context.lines) - LINES))
    lines = site.context.lines[start - site.context.start :][:LINES]
    return {
        "id": error.id,
        "repo": error.repo,
        "slug": slug,
        "errorCode": None,
        "errorMessage": error.message or headline(error),
        "messagePattern": pattern(error),
        "errorType": "exception" if error.http_status is None else "http",
        "errorClass": error.exception,
        "httpStatus": error.http_status,
        "severity": "error",
        "filePath": site.path,
        "lineNumber": site.line,
        "sourceCode": "\n".join(lines),
        "sourceCodeStart": start,
        "sourceCodeEnd": start + len(lines) - 1,
        "githubUrl": site.permalink or f"https://github.com/{error.repo}",
        "documentation": _documentation(view),
        "triggerScenarios": _scenarios(view),
        "commonSituations": _places(view),
        "solutions": _solutions(view),
        "exampleFix": None,
        "handlingStrategy": None,
        "validationCode": next((c.check for c in view.conditions if c.check), None),
        "typeGuard": None,
        "tryCatchPattern": None,
        "preventionTips": [],
        "tags": list(dict.fromkeys(filter(None, map(kebab, (*names(error), site.path.rpartition("/")[0]))))),
        "backgroundTag": None,
        "analyzedSha": commit(source),
        "analyzedAt": source.date or EPOCH,
        "schemaVersion": SCHEMA,
    }


def commit(source: Provenance) -> str:
    """40 digits. Of a commit that a release names by its beginning the rest is zeros."""
    known = (source.commit or "").lower()
    return known.ljust(40, "0") if re.fullmatch(r"[0-9a-f]{1,40}", known) else NO_COMMIT


def summary(error: Error, slug: str) -> dict[str, Any]:
    """The record's line in the index."""
    return {
        "id": error.id,
        "repo": error.repo,
        "slug": slug,
        "code": None,
        "msg": error.message or headline(error),
        "pattern": pattern(error),
        "type": "exception" if error.http_status is None else "http",
        "cls": error.exception,
        "tags": [],
        "sev": "error",
    }


def files(
    source: Provenance, made: Sequence[tuple[dict[str, Any], bytes]], files_read: int, version: str | None
) -> Iterator[tuple[str, bytes]]:
    """The index, the list of repositories, the records of ours in one file, and the manifest of these.

    `made` are summaries and records. The client takes the first patterns that fit, so those with the most text of
    their own stand first. `version` is an ISO time; without one it is that of the source.
    """
    version = version or source.date or EPOCH
    summaries, records = [m[0] for m in made], [m[1] for m in made]
    index = encode(
        {
            "schemaVersion": SCHEMA,
            "datasetVersion": version,
            "errors": sorted(summaries, key=lambda s: (-len(s["pattern"].replace(HOLE, "")), s["id"])),
        }
    )
    repo = {
        "repo": source.repo,
        "description": "Errors that are raised in its source, read by vllm-errors",
        "language": "Python",
        "stars": 0,
        "sourceFiles": files_read,
        "defaultBranch": "main",
        "analyzedSha": commit(source),
        "analyzedAt": source.date or EPOCH,
        "errorCount": len(records),
    }
    repos = encode([repo])
    yield "data/index.json", index
    yield "data/repos.json", repos
    yield (
        f"data/repos/{addresses.repository(source.repo)}.json",
        b"[" + b",\n".join(r.strip() for r in records) + b"]\n",
    )
    yield (
        "data/manifest.json",
        encode(
            {
                "schemaVersion": SCHEMA,
                "datasetVersion": version,
                "counts": {"repos": 1, "errors": len(records)},
                "files": {"index": _file("/data/index.json", index), "repos": _file("/data/repos.json", repos)},
            }
        ),
    )


def encode(value: Any) -> bytes:
    """JSON in one line, with a line end."""
    return json_safe(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def _file(path: str, data: bytes) -> dict[str, Any]:
    return {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


# --- in words --------------------------------------------------------------------------------------------


def _documentation(view: Card) -> str:
    said = [f"{doc.symbol}: {doc.body.text.strip()}" for doc in view.docs]
    if view.bases:
        said.insert(0, f"{view.qualified} derives from {', '.join(view.bases)}.")
    return "\n\n".join(said) or f"{view.exceptions[0]}, {view.kind} in {_symbol(view.sites[0].symbol)}."


def _scenarios(view: Card) -> str:
    said = [_condition(c) for c in view.conditions if c.guards or c.earlier or c.definition or not c.complete]
    first = view.sites[0]
    return "\n\n".join(said) or f"{_symbol(first.symbol)} raises it at {first.place.label}, without a condition."


def _condition(when: Conditions) -> str:
    text = f"{_symbol(when.symbol)} raises it at {when.place.label}"
    guards = (*when.guards, *when.earlier)
    if guards:
        rest = "" if when.complete else ", and more that are not listed"
        text += f" when all of these hold{rest}: {'; '.join(map(_guard, guards))}."
    else:
        text += "." if when.complete else ", under conditions that are not listed."
    if when.definition:
        text += f" Defined only when all of these hold: {'; '.join(map(_guard, when.definition))}."
    return text


def _guard(guard: Guard) -> str:
    known = ", ".join(f"{c.name} is {c.value}" for c in guard.constants)
    return "".join(run.text for run in guard.words) + (f"; {known}" if known else "")


def _places(view: Card) -> str:
    places = [f"{_symbol(s.symbol)} ({s.place.label})" for s in (*view.sites, *view.more_sites)]
    return f"Raised by {', '.join(places)}."


def _symbol(symbol: str) -> str:
    return "the module itself" if symbol == "<module>" else visible(symbol)


def _solutions(view: Card) -> list[str]:
    said = list(view.sentences)
    if view.flags:
        said.append(f"Flags that the message names: {', '.join(view.flags)}")
    if view.environment:
        said.append(f"Environment variables that the message names: {', '.join(view.environment)}")
    return said
