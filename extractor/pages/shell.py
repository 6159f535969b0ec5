"""Owns what all pages of a site share: its name and editions, the policy that browsers hold pages to, rendering."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import jinja2

from extractor.errors import ToolError
from extractor.pages import addresses
from extractor.pages.editions import Edition
from extractor.printable import visible

# No page needs more than its own style and script; the lookup also fetches its index, and works in a worker.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
LOOKUP_POLICY = f"{POLICY}; connect-src 'self'; worker-src 'self'"
TITLE = 300  # characters
DESCRIPTION = 1_000

_ADDRESS = re.compile(r"[A-Za-z0-9:/._~%@\[\]-]+")


@dataclass(frozen=True, slots=True)
class Named:
    """An edition as pages name it."""

    name: str
    label: str
    slug: str


@dataclass(frozen=True, slots=True)
class Shell:
    """The site around its pages."""

    repo: str
    editions: tuple[Named, ...]
    base_url: str | None  # where it will be published; ends with a slash
    title: str = "vLLM errors"

    @classmethod
    def of(cls, editions: Sequence[Edition], base_url: str | None) -> Shell:
        """The site of these editions, the newest first."""
        named = tuple(Named(e.name, e.source.label, e.slug) for e in editions)
        return cls(repo=visible(editions[0].source.repo), editions=named, base_url=base_url)

    @property
    def path(self) -> str:
        """The root as an address that holds on any page, for the one that is shown at any address."""
        return "/" if self.base_url is None else urlsplit(self.base_url).path or "/"

    def canonical(self, address: str) -> str | None:
        """The one address of a page, where it is known."""
        return None if self.base_url is None else self.base_url + address.removesuffix(addresses.INDEX)


def checked_base(given: str | None) -> str | None:
    """An address that pages can be found at, with a slash at its end. Raises `ToolError`."""
    if given is None:
        return None
    try:
        parts = urlsplit(given)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        good = False
    if not good or _ADDRESS.fullmatch(given) is None:
        raise ToolError(f"{given!r} is no address of a site: give --base-url as https://example.org/path/")
    return given.rstrip("/") + "/"


def checked_version(seconds: str | None) -> str | None:
    """A time in seconds as an ISO time in UTC. Raises `ToolError`."""
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        raise ToolError(f"SOURCE_DATE_EPOCH is {seconds!r}: give whole seconds since 1970, or nothing") from None


def render(
    env: jinja2.Environment,
    template: str,
    shell: Shell,
    address: str,
    title: str,
    description: str,
    *,
    policy: str = POLICY,
    canonical: str | None = None,
    root: str | None = None,
    **more: Any,
) -> bytes:
    """A page as it is sent. `canonical` is the page that stands for this one, when it is another."""
    text = env.get_template(f"site/{template}").render(
        site=shell,
        here=address,
        root=root or addresses.root(address),
        title=one_line(title, TITLE),
        description=one_line(description, DESCRIPTION),
        csp=policy,
        canonical=shell.canonical(canonical or address),
        **more,
    )
    return text.encode()


def one_line(text: str, most: int) -> str:
    """Text in one line, cut with a mark."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
