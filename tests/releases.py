"""Real releases, fetched by name and read anew."""

from __future__ import annotations

import os
from pathlib import Path

from extractor.cache import Cache
from extractor.cli import cache_folder
from extractor.dataset import read_errors, read_manifest
from extractor.model import Error, Provenance
from extractor.pipeline import run
from extractor.pool import default_jobs
from extractor.source import Silent, SourceOptions, open_tree


def released(release: str, out: Path) -> tuple[Provenance, list[Error]]:
    """What a release is, and its errors."""
    tree = open_tree(SourceOptions(cache=cache_folder(), release=release), Silent())
    folder = run(tree, out, Cache(None, b""), os.urandom(8), default_jobs(), Silent()).folder
    return read_manifest(folder).source, list(read_errors(folder))
