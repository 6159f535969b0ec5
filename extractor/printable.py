r"""Owns what others' text looks like when it is shown: characters that hide, move or steer are escaped.

A terminal obeys control characters, and a reader is misled by text that runs backwards or is not there, so
each of them is written out (`\x1b`, `\u202e`, `\ud800`). What is left is the same text, so doing it twice
changes nothing. Variation selectors and joiners stay inside emoji, where they show.
"""

import re

# Cc, Cf, Cs, Zl, Zp, and what is invisible by being ignorable (fillers, variation selectors, the joiner)
_HIDDEN = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff"
)
_EMOJI = (
    "[0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINT = (
    f"(?<!{_EMOJI})\ufe0f"  # the selector that makes the character before it an emoji
    f"|(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)\u200d|\u200d(?!{_EMOJI})"
)
LINE = re.compile(f"[\\x00-\\x1f\\x7f-\\x9f{_HIDDEN}]|{_JOINT}")
LINES = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{_HIDDEN}]|{_JOINT}")
_LINES_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MAYBE = re.compile(f"[\\x7f-\\x9f{_HIDDEN}\u200d\ufe0f]")  # a set alone is searched 50 times as fast
_JSON = re.compile(f"[\\x7f-\\x9f{_HIDDEN}]|{_JOINT}")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str, multiline: bool = False) -> str:
    """The text with an escape for each character that is not seen; `multiline` keeps line ends and tabs."""
    if text.isascii() and (text.isprintable() or (multiline and _LINES_ASCII.search(text) is None)):
        return text
    return (LINES if multiline else LINE).sub(_escape, text)


def json_safe(data: bytes) -> bytes:
    """The same JSON value with such characters inside its strings as JSON's own escapes."""
    if data.isascii() and b"\x7f" not in data:
        return data
    text = data.decode()
    return data if _MAYBE.search(text) is None else _JSON.sub(_json_escape, text).encode()


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
