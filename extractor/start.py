"""Owns the start of the command: `match` goes straight to work, everything else through `cli`.

Somebody waits for the answer to a paste, and the parser of options alone takes longer to import than the search
takes. So the plain forms of `match` are understood here; any other, and every complaint and help, is `cli`'s.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import Any

VALUED = ("--dataset", "--out", "--limit")


def main() -> None:
    """The console script. Until it is at work, Ctrl-C ends it without a word."""
    _on_interrupt(signal.default_int_handler, signal.SIG_DFL)
    options = plain(sys.argv[1:])
    if options is None:
        from extractor import cli

        _on_interrupt(signal.SIG_DFL, signal.default_int_handler)
        cli.main()
        return
    from extractor import quick

    quick.main(options)


def _on_interrupt(before: object, now: Any) -> None:
    with contextlib.suppress(ValueError):  # not in the main thread
        if signal.getsignal(signal.SIGINT) is before:
            signal.signal(signal.SIGINT, now)


def plain(arguments: list[str]) -> dict[str, str] | None:
    """The options of a plain `match`; None for anything that needs more understanding."""
    if arguments[:1] != ["match"]:
        return None
    found: dict[str, str] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in VALUED:
            given = value if equals else next(rest, None)
            if given is None or name in found or (given.startswith("-") and not equals):
                return None
            found[name] = given
        elif argument == "--json":
            found["--json"] = "yes"
        elif (argument == "-" or not argument.startswith("-")) and "file" not in found:
            found["file"] = argument
        else:
            return None
    limit = found.get("--limit", "5")
    if not (limit.isascii() and limit.isdigit() and int(limit[:6]) > 0 and len(limit) < 6):
        return None
    return found
