"""Owns the made files of the site's lookup: the matcher's tables, an index for each release, and the list of those."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from extractor.dataset import encode
from extractor.lookup import tables
from extractor.lookup.index import index
from extractor.model import Error, Provenance

FOLDER = "assets/lookup"  # beside the scripts, which are files of `templates/site/` as they are


def files(editions: Sequence[tuple[Provenance, Iterable[Error]]]) -> Iterator[tuple[str, bytes]]:
    """Names below the site's root and bytes, newest edition first: the first file lists the indexes in that order."""
    indexes = [(source, index(source, errors)) for source, errors in editions]
    names = [f"index-{hashlib.sha256(data).hexdigest()[:16]}.json" for _, data in indexes]
    releases = [
        {"label": source.label, "release": source.release, "index": name}
        for (source, _), name in zip(indexes, names, strict=True)
    ]
    yield f"{FOLDER}/releases.json", encode(releases)
    yield f"{FOLDER}/tables.js", tables.script().encode()
    for name, (_, data) in zip(names, indexes, strict=True):
        yield f"{FOLDER}/{name}", data
