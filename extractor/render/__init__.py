"""Owns the jinja environment; the modules beside it turn records into Markdown, pages and terminal output."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

from extractor.errors import ToolError
from extractor.render import markdown


@cache
def environment() -> jinja2.Environment:
    """The one environment of a process: a template is compiled once, however many cards are made in pieces."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=jinja2.select_autoescape(("html",), default_for_string=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    env.filters.update(markdown.FILTERS)
    return env


def templates() -> Path:
    """The folder of the templates: in the package when it was installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "templates", package.parent / "templates"):
        if folder.is_dir():
            return folder
    raise ToolError(f"there are no templates beside {package}: install vllm-errors again")
