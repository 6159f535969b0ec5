"""Owns what the frames of a traceback say for a site, or against all of them.

A share of the doubt that is left is taken by the same file, function and line, see `PLACES`. Releases move lines,
functions and files, so each counts for itself, and what is near counts for a part.
"""

from __future__ import annotations

from collections.abc import Sequence

from extractor.match.lexicon import Lexicon, Place, Shape
from extractor.match.log import Frame, Raised

PLACES = {"file": 0.3, "function": 0.6, "line": 0.8}
MOVED = 0.4  # a function of the same name in another file
SAME_NAME = 0.05  # more, when that file has the same name
NAME = 0.15  # a file of the same name alone
FAR = 1_000  # lines: a line of the function this far off says no more than the function
FADE = 0.9
SOURCE = 0.05  # more, when the line of source is the same,
MOST = 0.85  # and at most this
SOURCE_LENGTH = 8  # characters of it that say anything
LAST = 4  # frames that an error may be raised in: helpers come after


def foreign(raised: Raised | None) -> bool:
    """Whether the last frame shows that other code raised it."""
    if raised is None or not raised.final or not raised.frames:
        return False
    return vllm_path(raised.frames[-1].path) is None


def vllm_path(path: str) -> str | None:
    """The part of a file's path that begins in vLLM's tree; None for files of others."""
    path = path.replace("\\", "/")
    for packages in ("site-packages/", "dist-packages/"):
        if packages in path:
            path = path.rpartition(packages)[2]
            return path if path.startswith(("vllm/", "vllm_")) else None
    at = path.find("vllm/vllm/")
    if at >= 0:
        return path[at + 5 :]
    if path.startswith("vllm/"):
        return path
    at = path.rfind("/vllm/")
    return path[at + 1 :] if at >= 0 else None


def near(frames: Sequence[Frame], shape: Shape, lexicon: Lexicon) -> bool:
    """Whether the last frames may speak for one of a shape's errors: a quick look before a close one."""
    names = {f.path.rpartition("/")[2] for f in frames[-LAST:]} | {f.function for f in frames[-LAST:] if f.function}
    return bool(names) and any(not names.isdisjoint(lexicon.names(number)) for number, _ in shape.errors)


def best_site(sites: Sequence[Place], frames: Sequence[Frame], name: str) -> tuple[int, float]:
    """The site that the frames speak for most, and how much they do; frames further out count less."""
    best, most = next((i for i, s in enumerate(sites) if s.exception.rpartition(".")[2] == name), 0), 0.0
    near = list(reversed(frames[-LAST:]))
    for i, site in enumerate(sites):
        for depth, frame in enumerate(near):
            support = supports(site, frame) / (1 + depth)
            if support > most:
                best, most = i, support
    return best, most


def supports(site: Place, frame: Frame) -> float:
    """What one frame says for a site: path, then function, then line; files move, so a name alone counts too."""
    path = site.path if f"/{frame.path}".endswith(f"/{site.path}") else vllm_path(frame.path)
    if path is None:
        return 0.0
    function = site.symbol.rpartition(".")[2]
    if frame.code and frame.code == site.code and len(site.code) > SOURCE_LENGTH:
        return min(MOST, _supports(site, frame, path, function) + SOURCE)
    return _supports(site, frame, path, function)


def _supports(site: Place, frame: Frame, path: str, function: str) -> float:
    same_function = (
        bool(frame.function)
        and frame.function.rpartition(".")[2] not in ("<module>", "__init__")
        and (frame.function.rpartition(".")[2] == function)
    )
    if path == site.path:
        if not same_function and not (frame.function and function.startswith(frame.function)):
            return PLACES["file"] if not frame.function or frame.function != function else PLACES["function"]
        if site.line <= frame.line <= site.end_line:
            return PLACES["line"]
        away = min(abs(frame.line - site.line), FAR)
        return PLACES["function"] + (PLACES["line"] - PLACES["function"]) * FADE * (1 - away / FAR)
    if same_function:
        return MOVED + (SAME_NAME if path.rpartition("/")[2] == site.path.rpartition("/")[2] else 0)
    if path.rpartition("/")[2] == site.path.rpartition("/")[2] and path.count("/") > 1:
        return NAME
    return 0.0
