"""Owns talking to a package index: which files vLLM has there, and getting one of them, verified.

The index is the user's own; without an option or a variable that names one, it is the default of
pypi-simple. Every failure of the network ends as `Unreachable` or as a `ToolError` in one sentence.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from extractor.errors import ToolError
from extractor.source import resumed
from extractor.source.base import Progress
from extractor.source.members import is_archive
from extractor.source.names import one_line, without_secrets
from extractor.source.store import cannot_write

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage, PyPISimple
    from requests import RequestException

PROJECT = "vllm"
VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
ADVICE = "check --index or PIP_INDEX_URL"
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of an answer
RETRIES = 2

_NAMED = re.compile(r"^[A-Za-z0-9][\w.-]*=(?=[a-z]+://)")  # uv allows `name=url`
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*")
_HASH = re.compile(r"[0-9a-f]{64}")


class Unreachable(Exception):
    """No network, or no index at the other end; the text says what happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A file of a release on the index that could be read."""

    filename: str
    version: str
    wheel: bool
    sha256: str | None
    size: int | None
    yanked: bool
    uploaded: str | None  # ISO 8601, UTC
    package: DistributionPackage


def endpoint(option: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The index to ask; None: the default of pypi-simple."""
    for value in (option, *(environment.get(name) for name in VARIABLES)):
        if value and value.strip():
            return _NAMED.sub("", value.strip(), count=1)
    return None


class Index:
    """One package index, for as long as a release is looked for."""

    def __init__(self, address: str | None) -> None:
        self._address = address

    def candidates(self) -> list[Candidate]:
        """All readable files of the project."""
        try:
            with self._client() as client, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an index newer than the client is read as far as it goes
                page = client.get_project_page(PROJECT, timeout=TIMEOUT)
        except OSError as e:  # a file of certificates that is not there, say
            raise ToolError(f"cannot ask the package index {self._name()} ({one_line(str(e))}): check that") from e
        return [c for c in map(_candidate, page.packages) if c is not None]

    def download(self, candidate: Candidate, partial: Path, progress: Progress) -> None:
        """Writes the file to `partial`, after what is there of it already, and holds it against its hash."""
        try:
            with self._client() as client:
                progress.start(f"downloading {candidate.filename}", candidate.size)
                resumed.download(client.s, candidate.package.url, partial, candidate.size, progress, TIMEOUT)
                with partial.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() == candidate.sha256:
                        return
            partial.unlink()
            raise ToolError(f"what {self._name()} sent is not what its sha256 says: run again, or {ADVICE}")
        except OSError as e:
            raise cannot_write(partial.parent, e) from e
        finally:
            progress.done()

    @contextmanager
    def _client(self) -> Iterator[PyPISimple]:
        import requests
        from pypi_simple import PyPISimple
        from pypi_simple.errors import NoSuchProjectError, UnsupportedRepoVersionError
        from requests import exceptions
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        try:
            with PyPISimple() if self._address is None else PyPISimple(self._address) as client:
                retry = Retry(RETRIES, backoff_factor=0.2, status_forcelist=(502, 503, 504), raise_on_status=False)
                client.s.mount("http://", HTTPAdapter(max_retries=retry))
                client.s.mount("https://", HTTPAdapter(max_retries=retry))
                yield client
        except NoSuchProjectError as e:
            raise ToolError(f"the package index {self._name()} has no project {PROJECT}: {ADVICE}") from e
        except requests.HTTPError as e:
            status = "an error" if e.response is None else str(e.response.status_code)
            raise ToolError(f"the package index {self._name()} answers {status}: {ADVICE}") from e
        except (exceptions.InvalidSchema, exceptions.InvalidURL, exceptions.MissingSchema) as e:
            raise ToolError(f"{self._name()} is not the address of a package index: {ADVICE}") from e
        except requests.RequestException as e:
            raise Unreachable(f"cannot reach the package index {self._name()} ({_reason(e)})") from e
        except (UnsupportedRepoVersionError, ValueError) as e:
            raise ToolError(f"{self._name()} does not answer as a package index does: {ADVICE}") from e

    def _name(self) -> str:
        return "of pypi-simple" if self._address is None else one_line(without_secrets(self._address))


def _candidate(package: DistributionPackage) -> Candidate | None:
    name, version = package.filename, package.version
    if version is None or (package.project or "").lower() != PROJECT or package.package_type not in ("sdist", "wheel"):
        return None
    if not _PLAIN.fullmatch(name) or not is_archive(name):
        return None
    sha256 = package.digests.get("sha256", "").lower()
    uploaded = package.upload_time
    return Candidate(
        filename=name,
        version=version,
        wheel=package.package_type == "wheel",
        sha256=sha256 if _HASH.fullmatch(sha256) else None,
        size=package.size,
        yanked=package.is_yanked,
        uploaded=None if uploaded is None else uploaded.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        package=package,
    )


def _reason(e: RequestException) -> str:
    import requests

    kinds = (
        (requests.exceptions.SSLError, "its certificate is not trusted"),
        (requests.exceptions.ProxyError, "the proxy does not answer"),
        (requests.exceptions.Timeout, "it does not answer in time"),
        (requests.exceptions.ChunkedEncodingError, "the answer was cut off"),
    )
    return next((text for kind, text in kinds if isinstance(e, kind)), "no connection")
