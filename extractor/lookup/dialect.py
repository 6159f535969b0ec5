r"""Owns saying a pattern of Python's `re` as one of JavaScript's that finds the same.

Of what the two write differently, only what the matcher uses is known; anything else is an error when the site is
built, not a difference in its answers. A possessive part `a++` becomes `(?=(a+))\1`: a look-ahead never gives back.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
      |(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.))
      |(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[+?]?)
      |(?P<open>\((?:\?(?:P<\w+>|:|=|!|<=|<!))?)
      |(?P<close>\))
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_SPACE = r" \t-\r"  # what \s is in ASCII; JavaScript's own is not
_ESCAPES = {r"\s": f"[{_SPACE}]", r"\S": f"[^{_SPACE}]"}
_ASCII_ONLY = re.compile(r"\\[wWdDsSbB]")
_KNOWN = re.ASCII | re.MULTILINE | re.IGNORECASE | re.UNICODE


class Pattern(NamedTuple):
    """The two arguments of JavaScript's `RegExp`."""

    source: str
    flags: str


def translated(pattern: re.Pattern[str]) -> Pattern:
    """The same pattern for JavaScript. Raises `ValueError` for what has no translation here."""
    if pattern.flags & ~_KNOWN:
        raise ValueError(f"flags of {pattern.pattern!r}")
    if not pattern.flags & re.ASCII and _ASCII_ONLY.search(pattern.pattern):
        raise ValueError(f"{pattern.pattern!r} means letters of all languages: give re.ASCII")
    flags = "i" if pattern.flags & re.IGNORECASE else ""
    if any(ord(c) > 0xFFFF for c in pattern.pattern):
        flags += "u"
    return Pattern(_source(pattern), flags)


def _source(pattern: re.Pattern[str]) -> str:
    anchors = {"^": r"(?<![^\n])", "$": r"(?![^\n])"} if pattern.flags & re.MULTILINE else {"^": "^"}
    out: list[str] = []
    opened: list[int] = []
    atom = possessive = 0  # where the last thing that can be repeated begins in `out`
    for token in _TOKEN.finditer(pattern.pattern):
        text = token[0]
        if token.lastgroup == "repeat":
            if text[-1] == "+" and len(text) > 1:
                out[atom:] = [f"(?=(?<p{possessive}>", *out[atom:], text[:-1], rf"))\k<p{possessive}>"]
                possessive += 1
            else:
                out.append(text)
            continue
        if token.lastgroup == "close":
            atom = opened.pop()
            out.append(text)
            continue
        atom = len(out)
        if token.lastgroup == "open":
            opened.append(atom)
            text = text.replace("?P<", "?<")
        elif token.lastgroup == "set":
            text = text.replace(r"\s", _SPACE)
        elif token.lastgroup == "escape":
            text = _ESCAPES.get(text, text)
        elif text in "^$":
            if text not in anchors:
                raise ValueError(f"$ in {pattern.pattern!r}")
            text = anchors[text]
        elif text == ".":
            text = r"[^\n]"
        out.append(text)
    return "".join(out)
