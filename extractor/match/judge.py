"""Owns what a fit is worth: the score, and silence when the evidence is too little.

Evidence is text and place. *Text*: letters and digits of the message found in order; twelve of them halve the
doubt, so the text alone says `part * (1 - 2 ** (-found / 12))`. *Place*: an exception of the same name before it,
frames of the same file, function and line (`places`). Each takes a share of the doubt that is left. So a score
of 0.5 means that half of the doubt is gone, and 1 is never reached.

Silence: text that another library's code raised as its last frame shows; text of few letters that does not fill
what an exception says; text that is there only in part, unless it is much, or the log ends in the middle of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from extractor.match.lexicon import Lexicon, Shape
from extractor.match.log import Log, Raised
from extractor.match.normalise import squeeze
from extractor.match.places import PLACES, best_site, foreign
from extractor.match.text import Squeezed, Text
from extractor.match.verify import Fit

DOUBLING = 12  # letters that halve the doubt
LONG = 22  # letters that need no help: about thirty characters of text
SURE = 40  # letters that are enough in any words
SHORT = 9  # letters that may be told when they are all that an exception says
NAMED = 0.3  # of the doubt that is left: an exception of the same name stands before it
APART = 60  # letters that make a message sure though something stands between them
LINE = 4_000  # characters of a line, on either side, that are looked at
FEW = 12  # lines of a paste that is about one error
NEARLY = 0.95  # of a long text: a wrap or a prefix may take a word
THRESHOLD = 0.35
SOURCE = 0.8  # what is left of a score when the text is only a line of source
LEFT = 0.35  # what a missing letter counts where a cut took it away
FRAMED = 0.5  # the part of a text that is enough with a frame of its file
TORN = 0.5  # and without its beginning
OPENED = 0.72  # and with its beginning, in other words
INNER, MANY = 0.6, 60  # and without either, in so many letters
VERBATIM = 0.5  # of its texts that must be there with their marks
LEAD = 160  # characters of a value that a line begins with
BEFORE = 240  # and of one between the name of an exception and the message
BEHIND = 40  # characters after a message in which a log may end
REST = 300  # and of a value that it ends with
EDGE = 8  # characters on either side of a value
OWN_FILE = 0.5  # when the message names the file
_NAMES = """
ValueError TypeError KeyError IndexError AttributeError RuntimeError NotImplementedError ImportError OSError
ModuleNotFoundError FileNotFoundError AssertionError NameError LookupError ZeroDivisionError TimeoutError
ConnectionError PermissionError StopIteration MemoryError OverflowError UnicodeDecodeError EOFError
"""
BUILTIN = frozenset(_NAMES.split())
NAMES = ("error", "exception", "warning")


class Seen(NamedTuple):
    """How a fit stands in the log."""

    raised: Raised | None  # the exception whose text it is in
    opens: bool  # it begins where something is said: after a name, a quote, at the start of a line
    closes: bool  # it ends where something ends
    said: bool  # it is what an exception says, from the start
    cut: bool  # the log ends, or is elided, where it does
    left: bool  # its line ends where it does, or after a value
    torn: bool  # the log, or a line of it, begins in the middle of the message
    others: bool  # something else is said between its first letter and its last: an exception, a frame, many lines
    small: bool  # the log is a few lines
    source: bool  # it is a line of source that a traceback shows
    first: int  # offsets in the cleaned text
    last: int


class Judged(NamedTuple):
    """An error that a fit may be of."""

    entry: int
    variant: int
    site: int  # the likeliest
    score: float
    support: float
    near: float  # how well its marks and spaces fit, for those that letters cannot tell apart


ELIDED = ("...", "<...>", "[...")
ENDS = ("', 'type'", '", "type"', '","type"', "', 'param'", '","param"', '", "param"', " [type=")
OPENING = " \t\"'`“”‘’„«»(\\[{*_>-—–•🚫❌:|"
CLOSING = "… \t\"'`“”‘’«»)\\]}*_.,;!—–|"


def seen(fit: Fit, shape: Shape, clean: Text, squeezed: Squeezed, log: Log) -> Seen:
    """What stands around a fit."""
    chars = clean.chars
    start, end = squeezed.at(fit.start), squeezed.at(fit.end - 1) + 1
    above = log.above(start)
    line = max(log.line_at(start), start - LINE)
    raised = above
    if above is not None and position_free(chars, above.text, start, shape.lead):
        said, first = True, above.text
    else:
        said, first = False, start
        if shape.lead:
            quote = max(chars.rfind('"', line, start - 2), line)
            first = quote + 1 if chars[quote : quote + 1] == '"' else line
    before = chars[line:start].rstrip(OPENING)
    named = squeezed.chars.endswith(NAMES, max(0, fit.start - 12), fit.start)  # however the name was wrapped
    opens = said or named or not before.strip(OPENING) or (shape.lead and start - line <= LEAD)
    stop = chars.find("\n", end, end + LINE)
    stop = min(len(chars), end + LINE) if stop < 0 else stop
    rest = chars[end:stop]
    closes = shape.tail or not rest.strip(CLOSING) or rest.startswith(" [type=") or _quoted(rest)
    after = chars[end : end + BEHIND].lstrip(" \t\n'\"`)")
    cut = not after or after.lstrip(".,; ").startswith("…") or after.startswith(ELIDED)
    text = chars[line:start]
    source = "raise " in text or 'f"' in text[-2:] or "f'" in text[-2:]
    last = end
    if shape.tail:
        last = _end_of_saying(clean, end, stop, log)
    there = [i for i, p in enumerate(fit.pieces) if p is not None]
    complete = fit.pieces[there[-1]].found == len(shape.pieces[there[-1]])  # type: ignore[union-attr]
    value = complete and there[-1] < len(shape.pieces) - 1 and len(rest) <= REST
    left = value or not rest.strip(CLOSING)
    head = chars[line:start].strip(OPENING)
    torn = not head and (line == 0 or chars[line:start].strip() != "" or start == line)
    inner = log.above(end)
    # a value in the middle may be long: not wraps of a narrow terminal, not sentences that end with their lines
    others = (
        inner is not None and inner.start > start and inner.final and inner.exception.lower().endswith(NAMES)
    ) or (12 < chars.count("\n", start, end) < (end - start) / 40 or chars.count(".\n", start, end) > 1)
    small = len(log.lines) <= FEW
    return Seen(raised, opens, closes, said, cut, left, torn, others, small, source, first, last)


def _quoted(rest: str) -> bool:
    """Whether a quote is closed before anything else is said."""
    for c in rest:
        if c in "\"'`”’»":
            return True
        if c.isalnum():
            return False
    return False


def position_free(chars: str, text: int, start: int, lead: bool) -> bool:
    """Whether only a value, or nothing with letters, is between where an exception's text begins and the fit."""
    between = chars[text:start]
    if not any(c.isalnum() for c in between):
        return True
    return lead and len(between) <= BEFORE and between.count("\n") <= 1


def _end_of_saying(clean: Text, end: int, stop: int, log: Log) -> int:
    """Where a value at the end of a message ends: with its line, or with the quote that was opened."""
    rest = clean.chars[end:stop]
    for mark in ENDS:
        at = rest.find(mark)
        if at >= 0:
            return end + at
    return stop


def judge(fit: Fit, shape: Shape, at: Seen, lexicon: Lexicon, said: str) -> list[Judged]:
    """The errors that have the message, likeliest first; nothing when the evidence is too little.

    `said` is the cleaned text of the fit, for what squeezing cannot tell apart: spaces and marks.
    """
    part = present(fit, shape, at)
    frames = at.raised.frames if at.raised is not None else ()
    name = at.raised.exception.rpartition(".")[2] if at.raised is not None and at.said else ""
    out: list[Judged] = []
    for number, variant in shape.errors:
        entry = lexicon.entry(number)
        site, support = best_site(entry.sites, frames, name)
        same = bool(name) and (name in entry.bases or any(name == s.exception.rpartition(".")[2] for s in entry.sites))
        literal = verbatim(entry.variants[variant], said)
        plausible = not name or same or not (name in BUILTIN and any(s.exception in BUILTIN for s in entry.sites))
        if not allowed(fit, shape, at, Evidence(support, same, plausible, literal, bool(frames))):
            continue
        doubt = (1 - part * (1 - 2 ** (-fit.found / DOUBLING))) * (1 - support)
        if same:
            doubt *= 1 - NAMED
        score = (1 - doubt) * (SOURCE if at.source else 1)
        if score >= THRESHOLD:
            near = edges(entry.variants[variant], said) + (OWN_FILE if names_path(said, entry.sites[site].path) else 0)
            out.append(Judged(number, variant, site, round(score, 4), support, near))
    out.sort(key=lambda j: (-j.score, -j.near, lexicon.entry(j.entry).id))
    return out


def present(fit: Fit, shape: Shape, at: Seen) -> float:
    """Which part of the message is there; what a cut took away counts a third, for nobody can tell."""
    missing = shape.total - fit.found
    return fit.found / (fit.found + missing * (LEFT if fit.head and (at.cut or at.left) else 1))


class Evidence(NamedTuple):
    """What speaks for one error beside the letters of its text."""

    support: float  # of the frames
    same: bool  # the exception's name, or that of one of its bases
    plausible: bool  # nothing is known against it: releases put exceptions of their own in the place of builtin ones
    literal: float  # which part of its text is there with its spaces and marks
    framed: bool  # there are frames


def allowed(fit: Fit, shape: Shape, at: Seen, evidence: Evidence) -> bool:
    """Whether there is enough to speak at all."""
    part = fit.found / shape.total
    first = next(i for i, p in enumerate(fit.pieces) if p is not None)
    whole = part == 1 or (part >= NEARLY and fit.found >= SURE)
    if at.said and foreign(at.raised) and evidence.support == 0:
        return False
    if evidence.support >= PLACES["file"] and at.said and (part >= FRAMED or fit.found >= LONG):
        return True
    if fit.found < APART and at.others:
        return False
    if whole:
        if fit.found >= (LONG + 8 if shape.special else SURE):
            return True
        if fit.found >= LONG and shape.special:
            return (at.opens or at.closes) and evidence.literal >= VERBATIM
        if not (fit.found >= SHORT and at.opens and at.closes and evidence.literal == 1 and evidence.plausible):
            return False
        return shape.special or (not evidence.framed and at.small)
    if fit.head and not fit.foot and (at.cut or at.left):
        if at.opens and fit.found >= (LONG if at.cut else LONG + 4):
            return True
        return fit.found >= SURE
    if fit.foot and not fit.head:  # its beginning is cut off, in a value or with the line
        begins = first > 0 and fit.pieces[first].found == len(shape.pieces[first])  # type: ignore[union-attr]
        return part >= TORN and fit.found >= LONG + 8 and (begins or at.torn)
    # other words: between its ends, or after values that fit. A text that only ends otherwise is another message's
    complete = sum(p is not None and p.found == len(text) for p, text in zip(fit.pieces, shape.pieces, strict=True))
    if not (fit.head and fit.foot) and complete < 2:
        return False
    return part >= OPENED and fit.found >= SURE and at.opens if fit.head else part >= INNER and fit.found >= MANY


def verbatim(parts: Sequence[tuple[str | None, str | None]], said: str) -> float:
    """Which part of a message's texts is in the log with its marks; where lines were broken, spaces do not count."""
    space = "" if "\n" in said.strip() else " "
    flat = space.join(plain(said).split())
    texts = [space.join(plain(text).split()) for text, _ in parts if text is not None and squeeze(text)]
    return sum(text in flat for text in texts) / len(texts) if texts else 1.0


def edges(parts: Sequence[tuple[str | None, str | None]], said: str) -> float:
    """The same, of the eight characters on either side of each value: what siblings differ in."""
    flat, exact = " ".join(plain(said).split()), " ".join(said.split())
    texts = [" ".join(f"|{text}|".split())[1:-1] for text, _ in parts if text]
    ends = [end for text in texts for end in (text[:EDGE], text[-EDGE:])]
    if not ends:
        return 1.0
    return sum((plain(end) in flat) + (end in exact) for end in ends) / (2 * len(ends))


def plain(text: str) -> str:
    """Marks that are written in several ways, in one."""
    return text.translate(_PLAIN).lower()


PLAIN = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", '"': "'", "–": "-", "—": "-", "*": "", "\\": ""}
_PLAIN = str.maketrans(PLAIN)


def names_path(said: str, path: str) -> bool:
    """Whether a word of the message is the name of the file: `for cuda with` in `platforms/cuda.py`."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return len(stem) >= 3 and stem in said.lower().replace("(", " ").replace("'", " ").split()
