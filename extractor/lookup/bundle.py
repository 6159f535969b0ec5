"""Owns the files of the site's lookup: its scripts, the tables, an index for each release and the list of those."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from extractor.dataset import encode
from extractor.lookup import tables
from extractor.lookup.index import index
from extractor.model import Error, Provenance
from extractor.render import templates

FOLDER = "lookup"
RELEASES = "releases.json"


def files(datasets: Iterable[tuple[Provenance, Iterable[Error]]]) -> Iterator[tuple[str, bytes]]:
    """All files by their names below the site's assets; datasets newest first: the first is asked unless a log says."""
    releases = []
    for source, errors in datasets:
        data = index(source, errors)
        name = f"index-{hashlib.sha256(data).hexdigest()[:16]}.json"
        releases.append({"label": source.label, "release": source.release, "index": name})
        yield f"{FOLDER}/{name}", data
    yield f"{FOLDER}/{RELEASES}", encode(releases)
    yield f"{FOLDER}/tables.js", tables.script().encode()
    for path in scripts():
        yield f"{FOLDER}/{path.name}", path.read_bytes()
    vendored = templates() / "site" / "vendor" / "minisearch"
    for path in sorted(vendored.iterdir()):
        yield f"vendor/minisearch/{path.name}", path.read_bytes()


def scripts() -> list[Path]:
    """The modules of the lookup and its style, as they are in the source."""
    return sorted((templates() / "site" / FOLDER).iterdir())
