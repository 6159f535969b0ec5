"""Owns the Markdown card of an error: the view of it, through the template `card.md`."""

from __future__ import annotations

import jinja2

from extractor.model import Error, Provenance
from extractor.render.compose import card

TEMPLATE = "card.md"


def markdown(error: Error, source: Provenance, env: jinja2.Environment) -> str:
    """The card, with one line end behind it."""
    return env.get_template(TEMPLATE).render(card=card(error, source))
