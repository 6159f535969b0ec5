r"""Owns what is taken off a log before it is searched: a table of named steps, each with tests of its own.

`clean` gives lines as the program wrote them: no colours, escapes decoded, no prefixes. `squeezed` leaves only
letters and digits, small: so no wrap, lost or doubled space, quote, border, emphasis or backslash matters, and
there is nothing to guess about where a terminal broke a line. Every pattern is linear: what repeats is bounded or
possessive, and no two things that repeat next to each other can match the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from extractor.match.text import Squeezed, Text, original, replaced


class Step(NamedTuple):
    """A pattern and what comes in the place of a match; a text without any of the `signs` has none."""

    name: str
    signs: tuple[str, ...]
    pattern: str
    replacement: str | Callable[[re.Match[str]], str] = ""
    only: Callable[[str, list[re.Match[str]]], set[int]] | None = None  # the starts of the matches that count
    ignore_case: bool = False

    def compiled(self) -> re.Pattern[str]:
        """The pattern, ready to search; `re` keeps it. On first use, since most logs need few of the steps."""
        return re.compile(self.pattern, re.ASCII | re.MULTILINE | (re.IGNORECASE if self.ignore_case else 0))

    def apply(self, text: Text) -> Text:
        """The text after this step."""
        pattern = self.compiled()
        if self.only is None:
            return replaced(text, pattern, self.replacement)
        counted = self.only(text.chars, list(pattern.finditer(text.chars)))
        return replaced(text, pattern, lambda m: "" if m.start() in counted else m[0]) if counted else text


# --- colours, line ends ----------------------------------------------------------------------------------

ANSI = r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[ -/]{0,4}[0-~])"
CARET_ANSI = r"(?:\^\[|\\(?:x1[bB]|033|u001[bB]|e))\[[0-9;]{0,32}m"  # colours as an editor or a file shows them

# --- escapes ---------------------------------------------------------------------------------------------

_NAMES = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " "}
_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\++u[dD][c-fC-F][0-9a-fA-F]{2}"
ESCAPE = rf"(?<!\\)\\++(?:{_PAIR}|" + r"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^A-Za-z0-9\s\\]|[nrtbf])"


def _unescaped(m: re.Match[str]) -> str:
    r"""`\"`, `\n`, `A`, behind any number of backslashes: JSON in JSON doubles them each time."""
    body = m[0].lstrip("\\")
    if body[0] == "u" and len(body) > 5:
        high, low = int(body[1:5], 16), int(body[-4:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if body[0] in "ux" and len(body) > 1:
        code = int(body[1:], 16)
        return chr(code) if code >= 0x20 and not 0xD800 <= code < 0xE000 else _CONTROLS.get(code, " ")
    return _NAMES.get(body, body)


_CONTROLS = {9: "\t", 10: "\n", 13: "\n"}


def _entity(m: re.Match[str]) -> str:
    from html import unescape  # a table of two thousand names: only for a text that has one

    return unescape(m[0]).replace("\xa0", " ")


def _percent(m: re.Match[str]) -> str:
    from urllib.parse import unquote

    return unquote(m[0])


TAG = (
    r"</?(?:br|p|pre|code|span|div|b|i|em|strong|a|tt|td|tr|th|table|tbody|li|ul|ol|font|details|summary|h[1-6])"
    r"(?:\s[^<>\n]{0,300})?/?>"
)
URL = r"(?:%[0-9A-Fa-f]{2})+"  # `+` for a space is a mark, and marks do not count

# --- prefixes --------------------------------------------------------------------------------------------

_DATE = r"\d{4}[-/]\d\d[-/]\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\b)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_SAID = "(?:log|message|msg|MESSAGE|line|text|textPayload|event)"
_KEY = rf'"(?!{_SAID}")[\w.@/-]{{1,40}}" ?: ?'
_SCALAR = r'(?:"[^"\\\n]{0,120}"|-?[\d.]{1,24}|null|true|false)'
PREFIXES: dict[str, str] = {  # the most frequent first
    "process": r"[\[(]?[A-Za-z_][\w.:/-]{0,60}+[ \t]{1,2}+pid[=: ]\d{1,10}+(?:,[^()\n]{0,80})?[\])]:?",
    "level": r"(?:ERROR|INFO|WARNING|WARN|DEBUG|CRITICAL|FATAL|TRACE|SEVERE)(?![\w-])(?:[ \t]{0,8}:(?!:))?"
    r"|\[(?:error|info|warning|warn|debug|critical|fatal|ERROR|INFO|WARNING|WARN|DEBUG|CRITICAL|FATAL)\]"
    r"|[EWIF]\d{4}(?=[ \t])",
    "short stamp": rf"[\[(]?(?:{_DATE}|\d\d-\d\d|\d{{4}})?[ T]?{_CLOCK}{_ZONE}[\])]?:?(?!\w)",
    "stamp": rf"[\[(]?{_DATE}(?:[T _]{_CLOCK}{_ZONE})?[\])]?:?(?![\w-])",
    "source": r"\[?(?:[\w/-]{1,120}+\.){1,6}+(?:py|cc|cpp|cu|cuh|rs|h|go)[ \t]{0,20}+:[ \t]?\d{1,6}+\]?"
    r"(?::(?!\d)|(?=[ \t\n]|$))(?:[ \t]?-(?=\s))?",
    "dash": r"-(?=[ \t])",
    "logger": r"[\w.]{1,80}+ - (?=(?:ERROR|INFO|WARNING|WARN|DEBUG|CRITICAL|FATAL)\b)",
    "quote": r">(?:[ \t]?>){0,8}(?!>)",
    "border": r"[|│┃║▌╎┆]",
    "pytest": r"E(?=[ \t]{2}|[ \t]\S|$)",
    "json log": rf'\{{[ \t]?(?:{_KEY}{_SCALAR}, ?){{0,10}}"{_SAID}" ?: ?"(?!error")',
    "logfmt": r"(?:(?:time|ts|t|level|lvl|severity|logger|caller)="
    r'(?:"[^"\n]{0,80}"|[^\s"]{1,80})[ \t]{0,4}){1,6}(?:msg=)?"?',
    "service": r"[A-Za-z][\w.-]{0,60}+[ \t]{0,30}+[|│](?=[ \t\n]|$)",
    "pod": r"\[?(?:pod|container)/[\w./-]{1,120}+\]?",
    "syslog": rf"{_MONTH} [ \d]\d {_CLOCK}(?:[ \t][\w.-]{{1,64}}+[ \t][\w./@-]{{1,64}}+(?:\[\d{{1,10}}\])?:)?",
    "host": r"[\w.-]{1,64}+[ \t][\w./@-]{1,64}+\[\d{1,10}\]:",
    "cri": r"std(?:out|err) [FP]\b",
    "unit": r"[\w./@-]{1,64}+\[\d{1,10}\]:",
    "worker": r"\((?=\w{0,20}(?:Worker|Engine|Server|Actor))\w{1,60}+(?:[ \t][\w=. ]{1,40}+)?\)",
    "rank": r"\[(?:default|rank|Rank|GPU|gpu|worker|node)[ _-]?\d{1,5}\]:?|\[\d{1,4},\d{1,4}\](?:<std(?:out|err)>)?:",
    "gutter": r"\d{1,6}+[ \t]?[|│](?=[ \t])",
    "ray": r"ray::[\w.()]{1,80}+ \(pid=[^()\n]{1,80}\)",
}
PREFIX = r"^(?:[ \t]*+(?:" + "|".join(PREFIXES.values()) + r")){1,12}"
JSON_TAIL = (
    r'(?:\\n)?"(?:, ?"[\w.@-]{1,40}" ?: ?'
    r'(?:"[^"\\\n]{0,120}"|-?[\d.]{1,24}|null|true|false|\{[^{}\n]{0,300}\})){0,10}\}$'
)

NUMBERED = r"^[ \t>|]{0,12}+(?P<number>\d{1,6}+)(?:[.:)]|\t)?[ \t]"


def _in_sequence(chars: str, found: list[re.Match[str]]) -> set[int]:
    """Numbers before lines, where those of neighbours follow each other: one alone may belong to the text."""
    starts: set[int] = set()
    for before, after in pairwise(found):
        on = int(after["number"]) - int(before["number"])
        if 0 <= on <= 1 and chars.count("\n", before.end(), after.start() + 1) <= 1:
            starts |= {before.start(), after.start()}
    return starts


STEPS: tuple[Step, ...] = (
    Step("colours", ("\x1b",), ANSI),
    Step("colours written out", ("[",), CARET_ANSI),
    Step("nothing to see", ("\0", "\ufeff", "\u200b", "\u00ad", "\u2060"), "[\0\ufeff\u200b\u00ad\u2060]"),
    Step("line ends", ("\r", "\x85", "\u2028"), "\r\n?|[\x85\u2028\u2029]", "\n"),
    Step("tags", ("<",), TAG, " ", ignore_case=True),
    Step("entities", ("&",), r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8}\d{0,2});", _entity),
    Step("addresses", ("%20", "%22", "%27", "%0A", "%0a"), URL, _percent),
    Step("ends of JSON lines", ('"}', "}}", "}\n"), JSON_TAIL),
    Step("numbers of lines", (), NUMBERED, only=_in_sequence),
    Step("prefixes", (), PREFIX),
    Step("escapes", ("\\",), ESCAPE, _unescaped),
    Step("prefixes of lines that were escaped", ("\\",), PREFIX),
)


def clean(raw: str) -> Text:
    """The text as it was written, with positions in `raw`."""
    text = original(raw)
    for step in STEPS:
        if not step.signs or any(sign in raw for sign in step.signs):
            text = step.apply(text)
    return text


def squeezed(text: Text) -> Squeezed:
    """Letters and digits alone, in small letters."""
    return Squeezed(squeeze(text.chars), text.chars)


def squeeze(text: str) -> str:
    """The same without positions."""
    if text.isascii():
        return text.encode().translate(_SMALL, _MARKS).decode()
    return lowered("".join(filter(str.isalnum, text)))


_MARKS = bytes(c for c in range(256) if not (c < 128 and chr(c).isalnum()))
_SMALL = bytes(range(256)).lower()


def lowered(text: str) -> str:
    """Small letters, one for one: `İ` alone would become two."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower()[:1] or c for c in text)
