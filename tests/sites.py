"""Small datasets on a disk, and the sites made of them, without extraction in other processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from extractor import __version__, dataset, facts
from extractor.dataset import Draft, encode
from extractor.model import SCHEMA_VERSION, Counts, Error, Manifest, Provenance, Site
from extractor.pages import Options, Report, build
from extractor.source import Silent
from tests.trees import errors_in

POOL = '''
    """Where blocks come from."""

    LIMIT = 8
    KINDS = ["paged", "flat"]


    class PoolError(ValueError):
        """Nothing is left."""


    class Pool:
        def resize(self, size, kind):
            """Makes the pool larger."""
            if self.closed:
                return
            if size > LIMIT:
                raise ValueError(f"size {size!r} of {self.name:>10} is over {LIMIT}; use --block-size to lower it")
            if kind not in KINDS:
                raise PoolError("no such kind: %s" % kind)

        def take(self, count):
            if count > self.left:
                raise PoolError(f"{count} blocks are not there")
            raise NotImplementedError

        def give(self, block):
            try:
                self.blocks.append(block)
            except AttributeError as e:
                raise RuntimeError("the pool is closed") from e
'''
SERVER = """
    from fastapi import HTTPException


    def models(name):
        if name is None:
            raise HTTPException(status_code=404, detail="there is no such model")
        raise ValueError("a model is asked for" if name else "an empty name")
"""
OLD = {"vllm/pool.py": POOL, "vllm/entrypoints/server.py": SERVER}
NEW = {
    "vllm/pool.py": POOL.replace("blocks are not there", "blocks are not left").replace(
        'raise RuntimeError("the pool is closed") from e', "raise"
    ),
    "vllm/entrypoints/server.py": SERVER,
    "vllm/extra.py": """
        def more(x):
            if x < 0:
                raise ValueError(f"x is {x}, which is below zero")
    """,
}


def provenance(release: str = "1.0.0", day: int = 1, repo: str = "vllm-project/vllm") -> Provenance:
    return Provenance(
        repo=repo,
        label=f"v{release}",
        commit="0123456789abcdef0123456789abcdef01234567",
        release=release,
        date=f"2026-01-{day:02}T10:00:00Z",
        permalink=f"https://github.com/{repo}/blob/v{release}",
    )


def errors_of(files: Mapping[str, str | bytes]) -> tuple[Error, ...]:
    found = facts.with_related([facts.with_hints(e) for e in errors_in(files)])
    return tuple(sorted(found, key=lambda e: e.id))


def dataset_at(folder: Path, errors: Sequence[Error], source: Provenance, tool: str = __version__) -> Path:
    """A dataset as `extract` leaves it, but for the predicates."""
    errors = [replace(e, sites=tuple(replace(s, permalink=_link(s, source)) for s in e.sites)) for e in errors]
    sites = sum(len(e.sites) for e in errors)
    with Draft(folder) as draft:
        draft.write(dataset.ERRORS, b"".join(map(encode, errors)))
        draft.write(dataset.SKIPPED, encode(()))
        counts = Counts(files=3, raises=sites, sites=sites, errors=len(errors), merged=sites - len(errors), skipped=0)
        draft.publish(
            Manifest(
                schema=SCHEMA_VERSION,
                tool=f"vllm-errors {tool}",
                source=source,
                counts=counts,
                inputs="x",
                files=dict(draft.files),
            )
        )
    return folder


def _link(site: Site, source: Provenance) -> str:
    return f"{source.permalink}/{site.path}#L{site.line}-L{site.end_line}"


def two(folder: Path) -> list[Path]:
    """Two releases: one error reworded, one gone, one new, the others as they were."""
    return [
        dataset_at(folder / "v1.0.0", errors_of(OLD), provenance("1.0.0", 1)),
        dataset_at(folder / "v1.1.0", errors_of(NEW), provenance("1.1.0", 2)),
    ]


def site_of(folders: Sequence[Path], out: Path, **options: str | None) -> Report:
    return build(folders, Options(out=out, jobs=1, **options), Silent())  # type: ignore[arg-type]


def files_in(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
