"""Owns the diff as Markdown and as one HTML page: the view of it, through `diff.md` and `diff.html`."""

from __future__ import annotations

from extractor.diff.view import View
from extractor.render import environment


def markdown(view: View) -> str:
    """For a release note or a pull request."""
    return environment().get_template("diff.md").render(view=view)


def html(view: View) -> str:
    """One file that opens anywhere: no script, nothing from elsewhere."""
    return environment().get_template("diff.html").render(view=view)
