"""Owns measuring `match` on pastes with known answers: `make evaluate FILE=...`.

A file has a paste a line: `paste`, `expect` (`site`, or a word why there is none), `truth.site_kind`, `tags`, and for
each release `in_028` and the like: `path:line` of the right site, or `cand_028`, several. Only pastes of raised
errors count, as long as only those are in the dataset; the others are run, and listed apart.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extractor.errors import ToolError
from extractor.match import engine, library, past, rank, stream
from extractor.match.lexicon import Lexicon

COUNTED = "raise"
FOREIGN = ("not-vllm", "nonexistent", "implicit")


class Case(NamedTuple):
    """One paste with its answer for one release."""

    name: str
    paste: str
    expect: str
    kind: str
    right: tuple[str, ...]
    tags: tuple[str, ...]


class Verdict(NamedTuple):
    """What became of a case: the place of the right site in the list, 0 for nowhere, and what came first."""

    case: Case
    rank: int
    first: str
    score: float
    found: int


def cases(path: Path, release: str) -> list[Case]:
    """The pastes of a file, with what is right in a release as `0.28.0`. Raises `ToolError`."""
    key = "".join(release.split(".")[:2]) if "." in release else release
    out = []
    for row in _rows(path):
        one, several = row.get(f"in_{key}"), row.get(f"cand_{key}") or ()
        truth = row.get("truth") or {}
        out.append(
            Case(
                str(row.get("id")),
                row["paste"],
                row["expect"],
                str(truth.get("site_kind")),
                tuple([one] if one else several),
                tuple(row.get("tags") or ()),
            )
        )
    return out


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or not {"paste", "expect"} <= row.keys():
                raise ToolError(f"{path}:{number} is no paste: a line is a JSON object with paste, expect and truth")
            yield row


def verdict(case: Case, lexicon: Lexicon, limit: int = 5) -> Verdict:
    """Runs one paste."""
    found = engine.answer(io.BytesIO(case.paste.encode("utf-8", "surrogatepass")), lexicon).ranked
    rank, first, score = 0, "", 0.0
    for n, one in enumerate(found[:limit], 1):
        judged = one.match.judged[one.choice]
        site = lexicon.entry(judged.entry).sites[judged.site]
        if n == 1:
            first, score = f"{site.path}:{site.line}", judged.score
        if not rank and any(covers(site.path, site.line, site.end_line, place) for place in case.right):
            rank = n
    return Verdict(case, rank, first, score, len(found))


def covers(path: str, line: int, end: int, place: str) -> bool:
    """Whether a site is at `path:line`; two lines off is the same statement."""
    wanted, _, number = place.rpartition(":")
    return path == wanted and number.isdigit() and line - 2 <= int(number) <= end + 2


def report(verdicts: Sequence[Verdict], label: str) -> str:
    """Figures, by tag, and the misses."""
    counted = [v for v in verdicts if v.case.kind == COUNTED and v.case.expect == "site" and v.case.right]
    foreign = [v for v in verdicts if v.case.expect in FOREIGN]
    gone = [v for v in verdicts if v.case.expect == "gone" or (v.case.expect == "site" and not v.case.right)]
    other = [v for v in verdicts if v not in counted and v not in foreign and v not in gone]
    lines = [
        f"{label}: {len(verdicts)} pastes",
        _rate("right site first", [v.rank == 1 for v in counted]),
        _rate("in the first five", [v.rank > 0 for v in counted]),
        _rate("silent on foreign ones", [v.found == 0 for v in foreign]),
        _rate("silent on those gone from the release", [v.found == 0 for v in gone]),
        _rate("not counted (no raise): right site first", [v.rank == 1 for v in other]),
    ]
    tags = sorted({t for v in counted + foreign for t in v.case.tags})
    lines.append("by tag:")
    for tag in tags:
        good = [v.rank == 1 if v in counted else v.found == 0 for v in counted + foreign if tag in v.case.tags]
        lines.append(f"  {tag:24} {sum(good):3} of {len(good)}")
    misses = [v for v in counted if v.rank != 1] + [v for v in (*foreign, *gone) if v.found]
    lines.append(f"misses: {len(misses)}")
    for v in misses:
        wanted = ", ".join(v.case.right) or "silence"
        lines.append(
            f"  {v.case.name}: wanted {wanted}; first was {v.first or 'nothing'} ({v.score:.2f}), right at {v.rank}"
        )
    return "\n".join(lines)


def with_history(pastes: Sequence[Case], lexicon: Lexicon, history: Lexicon) -> str:
    """What a history adds where the dataset has nothing: what is found of that gone, and still silence for others."""
    found: dict[str, list[rank.Ranked]] = {}
    for case in pastes:
        log = list(stream.pieces(io.BytesIO(case.paste.encode("utf-8", "surrogatepass"))))
        if past.fits_badly(engine.of_pieces(log, lexicon).ranked):
            found[case.name] = past.whole(log, history)
    gone = [c for c in pastes if c.expect == "gone" and c.name in found]
    foreign = [c for c in pastes if c.expect in FOREIGN and c.name in found]
    lines = [
        _rate("with the history: found of those gone", [bool(found[c.name]) for c in gone]),
        _rate("with the history: silent on foreign ones", [not found[c.name] for c in foreign]),
    ]
    for name, ranked in found.items():
        for one in ranked[:1]:
            site = history.entry(one.match.judged[one.choice].entry).sites[0]
            lines.append(f"    {name}: {site.path}:{site.line} ({one.match.judged[one.choice].score:.2f})")
    return "\n".join(lines)


def _rate(what: str, good: Sequence[bool]) -> str:
    share = f"{100 * sum(good) / len(good):5.1f} %" if good else "    -  "
    return f"  {what:42} {share} ({sum(good)} of {len(good)})"


def main(arguments: Sequence[str]) -> str:
    """The figures for a file of pastes, in every release of it that has a dataset under `output/`."""
    file, *given = arguments or [""]
    if not Path(file).is_file():
        raise ToolError(f"there is no file of pastes {file!r}: give one, as in make evaluate FILE=pastes.jsonl")
    cache = library.cache_folder()
    out = "output"
    shelves = [library.named(name, out, cache) for name in given] or library.shelves(out, cache)
    parts = []
    for shelf in sorted(shelves, key=lambda s: s.label):
        found = cases(Path(file), shelf.release or shelf.label)
        if any(case.right for case in found):
            lexicon = library.load(shelf, cache)
            parts.append(report([verdict(case, lexicon) for case in found], shelf.label))
            if past.exists(out):
                parts.append(with_history(found, lexicon, past.load(os.path.join(out, past.FILE), cache)))
    return "\n\n".join(parts) or "no dataset under output/ is of a release that the file has answers for"


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]) + "\n")
    except ToolError as e:
        sys.stderr.write(f"evaluate: {e}\n")
        sys.exit(e.exit_code)
