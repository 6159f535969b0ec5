"""Owns the structure of a cleaned log: frames, exceptions with the frames above them, chains, processes.

Parsed once into data, apart from what is searched for. Interleaved processes are told apart by what stands in the
prefix of their lines; a line without one carries on whatever was open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from extractor.match.text import Text

MOST_FRAMES = 400  # of one traceback; recursion repeats itself


class Frame(NamedTuple):
    """A frame as the log shows it; `function` may be a beginning when a terminal cut it, or nothing."""

    path: str
    line: int
    function: str
    code: str  # the line of source below it


class Raised(NamedTuple):
    """An exception named in the log: `start` of the name, `text` where what it says begins."""

    start: int
    text: int
    exception: str  # as written; empty for the body of an answer
    final: bool  # the name begins its line, as below a traceback
    frames: tuple[Frame, ...]  # of the traceback above, innermost last
    process: str
    chained: str  # "" | "cause" | "context": what the traceback says of the exception before it


class Log(NamedTuple):
    """What is known of a piece of a log."""

    lines: list[int]  # offsets of line starts
    raised: list[Raised]
    texts: list[int]  # `text` of each, for looking up

    def line_of(self, offset: int) -> int:
        """The index of the line that holds an offset."""
        return bisect_right(self.lines, offset) - 1

    def line_at(self, offset: int) -> int:
        """Where that line starts."""
        return self.lines[self.line_of(offset)]

    def above(self, offset: int) -> Raised | None:
        """The nearest exception whose text begins at or before the offset."""
        at = bisect_right(self.texts, offset) - 1
        return self.raised[at] if at >= 0 else None


BACKWARDS = re.compile(r"[\w.]{1,200}", re.ASCII)
_Q = "[\"'“”„`]"
# a frame of Python; its path or the function's name may be broken over two lines
_FRAME = (
    rf"(?P<frame>File {_Q}(?P<path>[^\"“”\n]{{1,300}}(?:\n[^\"“”\n]{{1,200}})?){_Q}, line\s(?P<line>\d{{1,7}})"
    r"(?:,\s{1,20}in\s{1,20}(?P<function>[\w<>.]{1,200}))?)"
)
_CELL = (
    # IPython and Colab
    r"|(?P<cell>(?:^|[ \[])(?P<cellpath>[~/.\w][\w./~+-]{0,300}\.py)"
    r"(?:\]\([^)\n]{0,300}\)|:(?P<cellline>\d{1,7}))?,? in "
    r"(?P<cellfunction>[\w<>.]{1,200})\()"
    r"|(?P<tool>\b(?P<toolpath>vllm/[\w/.-]{1,200}\.py):(?P<toolline>\d{1,7}))"
)
_ELSE = (
    r"|(?P<traceback>Traceback \(most recent call last\))"
    r"|(?P<cause>The above exception was the direct cause)|(?P<context>During handling of the above exception)"
    r"|(?P<pydantic>Value error, |Assertion failed, )"
    r"|(?P<body>[\"'](?:message|detail|error|msg|title|reason)[\"'] ?[:=] {0,4}[\"'])"
    r"|(?P<raised>(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Fault|Failure|Group|Stop|Died|Dead)"
    r"(?:\)?:(?!:)|\((?=[\"'f]))\s{0,4}[\"']?)"
    r"|(?P<other>^[ \t]{0,40}(?:[A-Za-z_]\w{0,60}\.){0,10}[A-Z]\w{2,60}: )"
)
CELL_SIGNS = (".py in ", ".py, in ", ".py](", ".py:")
_COMPILED: dict[bool, re.Pattern[str]] = {}


def sought(cells: bool) -> re.Pattern[str]:
    """What to look for; frames of notebooks and tools cost as much as the rest, and are rare."""
    if cells not in _COMPILED:
        _COMPILED[cells] = re.compile(_FRAME + (_CELL if cells else "") + _ELSE, re.MULTILINE | re.ASCII)
    return _COMPILED[cells]


PID = re.compile(
    r"(?P<name>[A-Za-z]\w{0,60})[ ]?\(?pid[=: ]{1,2}(?P<number>\d{1,10})"
    r"|\((?P<worker>\w{1,40}Worker\w{0,20}|Worker\w{1,40})\)",
    re.ASCII,
)


def process_of(lead: str) -> str:
    """Which process a line's prefix names; nothing when it names none."""
    if "pid" not in lead and "Worker" not in lead:
        return ""
    m = PID.search(lead)
    return "" if m is None else (m["worker"] or f"{m['name']} {m['number']}")


def starts(chars: str) -> list[int]:
    """Where lines start, to be looked up in: looking back in a text without a line end costs all of it each time."""
    return [0, *(m.end() for m in re.finditer("\n", chars))]


def parse(text: Text, raw: str) -> Log:
    """The structure of cleaned text; `raw` is what its positions count in."""
    chars = text.chars
    log = Log(starts(chars), [], [])
    raised = log.raised
    open_frames: dict[str, list[Frame]] = {}
    chained: dict[str, str] = {}
    last_process = ""

    def process(offset: int) -> str:
        first = text.origin(log.line_at(offset))
        return process_of(raw[raw.rfind("\n", max(0, first - 400), first) + 1 : first])

    cells = any(sign in chars for sign in CELL_SIGNS)
    for m in sought(cells).finditer(chars):
        start = m.start()
        if m["frame"]:
            found = Frame(m["path"].replace("\n", ""), int(m["line"]), m["function"] or "", _below(chars, log, m.end()))
        elif cells and m["cell"]:
            found = Frame(m["cellpath"], int(m["cellline"] or 0), m["cellfunction"], "")
        elif cells and m["tool"]:
            found = Frame(m["toolpath"], int(m["toolline"]), "", "")
        else:
            who = process(start)
            if m["traceback"]:
                open_frames[who] = []
            elif m["cause"] or m["context"]:
                chained[who] = "cause" if m["cause"] else "context"
            elif m["body"] or m["pydantic"]:
                name = "ValueError" if m[0].startswith("Value") else "AssertionError" if m["pydantic"] else ""
                raised.append(Raised(start, m.end(), name, False, (), who, ""))
            else:
                _exception(m, chars, log, who, open_frames, chained, last_process)
            continue
        who = last_process = process(start)
        frames = open_frames.setdefault(who, [])
        if len(frames) >= MOST_FRAMES:
            del frames[: MOST_FRAMES // 2]
        frames.append(found)
    log.texts.extend(r.text for r in raised)
    return log


def _below(chars: str, log: Log, offset: int) -> str:
    """The line after the one that holds an offset, without its indentation."""
    below = log.line_of(offset) + 1
    if below == len(log.lines):
        return ""
    end = log.lines[below + 1] - 1 if below + 1 < len(log.lines) else len(chars)
    return chars[log.lines[below] : min(end, log.lines[below] + 200)].strip()


def _exception(
    m: re.Match[str],
    chars: str,
    log: Log,
    who: str,
    open_frames: dict[str, list[Frame]],
    chained: dict[str, str],
    last_process: str,
) -> None:
    end = m.end() - len(m[0]) + len(m[0].rstrip(" \t\n\"'(:)"))
    backwards = BACKWARDS.match(chars[max(0, end - 200) : end][::-1])
    name = backwards[0][::-1].lstrip(".0123456789") if backwards else ""
    if not name:
        return
    start = end - len(name)
    final = not chars[log.line_at(start) : start].strip(" \t|+-*•>#`_🚫❌“”\"'[]")
    frames: list[Frame] = []
    if final:
        frames = open_frames.pop(who, [])
        if not frames and not who:
            frames = open_frames.pop(last_process, [])
    log.raised.append(Raised(start, m.end(), name, final, tuple(frames), who, chained.pop(who, "") if final else ""))
