"""Owns what is said of the errors in a log: as data for `--json`, as text for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from extractor.match.lexicon import Entry, Lexicon
from extractor.match.rank import Ranked

if TYPE_CHECKING:
    from extractor.history.wording import Wording
    from extractor.match.past import Past

VALUE = 300  # characters of a value that a person is shown
MESSAGE = 1_500
Details = Callable[[str], dict[str, Any]]


def visible(text: str) -> str:
    """As `printable` has it, which is only needed for what is out of the ordinary."""
    if text.isascii() and text.isprintable():
        return text
    from extractor.printable import visible

    return visible(text)


def as_data(found: Sequence[Ranked], lexicon: Lexicon, past: Past | None = None) -> bytes:
    """The list that `--json` prints; of errors of other releases with what became of them."""
    rows = [_data(one, lexicon) for one in found]
    if past is not None:
        for row in rows:
            row["history"] = _became(past.wordings[row["id"]])
    text = json.dumps(rows, ensure_ascii=False, indent=2)
    data = text.encode("utf-8", "replace") + b"\n"
    if data.isascii() and b"\x7f" not in data:
        return data
    from extractor.printable import json_safe

    return json_safe(data)


def _data(one: Ranked, lexicon: Lexicon) -> dict[str, Any]:
    judged = one.match.judged[one.choice]
    entry = lexicon.entry(judged.entry)
    sites = [entry.sites[judged.site], *(s for i, s in enumerate(entry.sites) if i != judged.site)]
    return {
        "id": entry.id,
        "role": one.role,
        "score": judged.score,
        "matched": one.match.matched,
        "exception": sites[0].exception,
        "message": entry.message,
        "values": [{"expr": expr, "value": value} for expr, value in one.match.values[one.choice]],
        "lines": [one.match.first_line, one.match.last_line],
        "sites": [
            {
                "path": s.path,
                "line": s.line,
                "end_line": s.end_line,
                "symbol": s.symbol,
                "kind": s.kind,
                "exception": s.exception,
                "permalink": s.permalink,
            }
            for s in sites
        ],
    }


def _became(wording: Wording) -> dict[str, Any]:
    now = wording.now
    return {
        "releases": [{"first": first, "last": last} for first, last in wording.spans],
        "alive": wording.alive,
        "now": None if now is None else {"id": now.id, "message": now.message, "path": now.path},
        "said": wording.said,
    }


def as_text(
    found: Sequence[Ranked], lexicon: Lexicon, details: Details, bold: bool = False, past: Past | None = None
) -> str:
    """What a person reads: the root cause at length, the others in a line each."""
    heading: Callable[[str], str] = (lambda t: f"\x1b[1m{t}\x1b[0m") if bold else (lambda t: t)
    first, *rest = found
    lines = _first(first, lexicon, details, heading, past)
    groups = (
        ("Raised because of it", [r for r in rest if r.role == "consequence"]),
        ("The same text, or another error in the log", [r for r in rest if r.role != "consequence"]),
    )
    for title, group in groups:
        if group:
            lines += ["", heading(title)]
            lines += [_line(one, lexicon) for one in group]
    return "\n".join(lines) + "\n"


def _first(
    one: Ranked, lexicon: Lexicon, details: Details, heading: Callable[[str], str], past: Past | None
) -> list[str]:
    judged = one.match.judged[one.choice]
    entry = lexicon.entry(judged.entry)
    site = entry.sites[judged.site]
    lines = [heading(f"{visible(site.exception)}: {visible(_filled(one, entry)[:MESSAGE])}"), ""]
    role = "root cause" if one.role == "root" else "raised because of another error, which this log does not show"
    release = lexicon.source.get("release") or lexicon.source.get("label")
    card = f"card: vllm-errors show {entry.id}"
    if past is not None:
        wording = past.wordings[entry.id]
        release, card = wording.state.release, f"story: vllm-errors history show {entry.id}"
    lines.append(f"  {role}; {_where(one)}; score {judged.score:.2f}; {card}")
    if past is not None:
        lines.append(f"  {visible(wording.said)}")
        if wording.alive and wording.now is not None:
            lines.append(f"  card of what it is now: vllm-errors show {wording.now.id}")
    elif one.match.rough:
        lines.append(f"  not from this release: the nearest is {entry.id} of {visible(str(release))}")
    values = [(expr, value) for expr, value in one.match.values[one.choice] if expr and value]
    if values:
        lines += ["", heading("Values in the log")]
        lines += [f"  {visible(expr)} = {visible(value[:VALUE])}{'…' * (len(value) > VALUE)}" for expr, value in values]
    record = details(entry.id)
    lines += ["", heading("When it is raised")]
    lines.append(f"  {visible(site.path)}:{site.line} in {visible(site.symbol)} ({visible(str(release))})")
    if site.permalink:
        lines.append(f"  {visible(site.permalink)}")
    lines += [f"  {text}" for text in _guards(record, site.path, site.line)]
    if len(entry.sites) > 1:
        others = ", ".join(f"{visible(s.path)}:{s.line}" for i, s in enumerate(entry.sites[:6]) if i != judged.site)
        lines.append(f"  also raised at {others}")
    if entry.hints:
        lines += ["", heading("What to change")]
        lines += [f"  - {visible(' '.join(hint.split()))}" for hint in entry.hints]
    return lines


def _guards(record: dict[str, Any], path: str, line: int) -> list[str]:
    """The conditions of a site, when the dataset has them."""
    for site in record.get("sites", ()):
        if isinstance(site, dict) and site.get("path") == path and site.get("line") == line:
            guards = [g for g in site.get("guards") or () if isinstance(g, dict)]
            return [_guard(g) for g in guards]
    return []


def _guard(guard: dict[str, Any]) -> str:
    text = visible(" ".join(str(guard.get("text")).split()))
    return f"line {guard['line']}: {text}" if "line" in guard else f"when {text}"


def _line(one: Ranked, lexicon: Lexicon) -> str:
    judged = one.match.judged[one.choice]
    entry = lexicon.entry(judged.entry)
    site = entry.sites[judged.site]
    text = visible(" ".join(_filled(one, entry).split()))
    short = text if len(text) <= 90 else text[:89] + "…"
    return f"  {visible(site.exception)}: {short} ({visible(site.path)}:{site.line}, {_where(one)}, {entry.id})"


def _where(one: Ranked) -> str:
    first, last = one.match.first_line, one.match.last_line
    return f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"


def _filled(one: Ranked, entry: Entry) -> str:
    """The message with the values of the log in it, as far as they are there."""
    values: dict[str, list[str]] = {}
    for expr, value in one.match.values[one.choice]:
        values.setdefault(expr, []).append(value)
    out = []
    for text, name in entry.variants[one.match.judged[one.choice].variant]:
        if text is not None:
            out.append(text)
        elif name is not None and values.get(name):
            out.append(values[name].pop(0)[:VALUE])
        else:
            out.append(f"{{{name}}}")
    return "".join(out)
