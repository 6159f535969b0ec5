"""Owns the bare clones in the cache, and what is fetched into them from a remote repository.

Two for each remote. `objects.git` holds whole commits, each fetched alone and shallow, with a reference
`refs/extract/commits/<commit>` that is made when all of it has arrived. `graph.git` holds commits without
trees (`--filter=tree:0`), to find out what a short commit means. They are apart because git tells a remote
which commits it has, and the remote then leaves out their trees, which the graph does not have.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from extractor.errors import ToolError
from extractor.source.base import Progress
from extractor.source.command import Git, Result, reason, require
from extractor.source.local import SHORT, nearest
from extractor.source.names import one_line, without_secrets
from extractor.source.objects import ambiguous, commits_of
from extractor.source.release import without_network
from extractor.source.store import locked, writing
from extractor.source.transfer import fetch

FULL = 40
SURE = 10  # digits of a short commit that no other commit will ever share: 1 in 10^7 for a repository as vLLM's
COMMITS = "refs/extract/commits/"
TAGS = "refs/extract/tags/"
INCOMING = "refs/extract/incoming"
FETCH = ("--force", "--no-tags", "--no-recurse-submodules")
NO_SUCH = re.compile(rb"not our ref|couldn't find remote ref|no such remote ref", re.IGNORECASE)
UNADVERTISED = re.compile(rb"unadvertised object", re.IGNORECASE)
UNREACHABLE = re.compile(
    rb"unable to access|could not resolve|unable to look up|couldn't connect|failed to connect|"
    rb"connection (?:refused|timed out|reset|closed)|network is unreachable|no route to host|"
    rb"operation too slow|early EOF",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote repository and its clones in the cache."""

    url: str
    cache: Path
    progress: Progress

    def find(self, revision: str) -> tuple[Git, str]:
        """Fetches what a revision means; where it is then, and its full name. Raises `ToolError`."""
        with writing(self._folder), locked(self._folder / "lock"):
            git = self._clone("objects.git")
            return git, self._known(git, revision) or self._fetched(git, revision)

    # --- without the network ---

    def _known(self, git: Git, revision: str) -> str | None:
        """A commit or tag that was fetched before. Tags and commits do not move; branches do."""
        beginning = revision.lower()
        if SHORT.fullmatch(beginning) and len(beginning) >= SURE:
            listed = require(git, "for-each-ref", "--format=%(objectname)", f"{COMMITS}{beginning}*")
            found = listed.decode("ascii").split()
            if len(found) == 1:
                return found[0]
        tag = git.run("rev-parse", "--verify", "--quiet", f"{TAGS}{revision.removeprefix('refs/tags/')}")
        return None if tag.status else tag.output.decode("ascii").strip()

    # --- with it ---

    def _fetched(self, git: Git, revision: str) -> str:
        beginning = revision.lower()
        if SHORT.fullmatch(beginning) and len(beginning) == FULL:
            return self._fetch(git, beginning, revision)
        if revision == "HEAD" or revision.startswith("refs/pull/"):
            return self._fetch(git, revision, revision)  # in no list of branches and tags
        refs = self._refs(git)
        for ref in (revision, f"refs/tags/{revision}", f"refs/heads/{revision}"):
            if ref in refs:
                commit = refs.get(f"{ref}^{{}}", refs[ref])
                if not self._has(git, commit):
                    commit = self._fetch(git, ref, revision)
                if ref.startswith("refs/tags/"):
                    git.run("update-ref", TAGS + ref.removeprefix("refs/tags/"), commit)
                return commit
        if not SHORT.fullmatch(beginning):
            names = [ref.split("/", 2)[-1] for ref in refs if not ref.endswith("^{}")]
            raise self._absent(revision, nearest(revision, names))
        commit = self._lengthened(beginning)
        return commit if self._has(git, commit) else self._fetch(git, commit, revision)

    def _refs(self, git: Git) -> dict[str, str]:
        """Branches and tags; `name^{}` is what an annotated tag is of."""
        listed = git.run("ls-remote", "--quiet", "--heads", "--tags", "--", self.url)
        if listed.status:
            raise self._failed("its list of branches", listed)
        rows = (row.split("\t", 1) for row in listed.output.decode("utf-8", "replace").split("\n") if "\t" in row)
        return {name: oid for oid, name in rows}

    def _has(self, git: Git, commit: str) -> bool:
        return git.run("rev-parse", "--verify", "--quiet", COMMITS + commit).status == 0

    def _fetch(self, git: Git, want: str, revision: str) -> str:
        """Fetches one commit, whole and alone; its full name."""
        alone = (*FETCH, "--depth=1", "--", self.url, f"+{want}:{INCOMING}")
        fetched = fetch(git, self.progress, f"fetching {one_line(revision)}", *alone)
        if fetched.status and UNADVERTISED.search(fetched.error):  # an old server: names only, so all of them
            return self._fetch_all(git, want, revision)
        if fetched.status and NO_SUCH.search(fetched.error):
            raise self._absent(revision)
        if fetched.status:
            raise self._failed(one_line(revision), fetched)
        return self._keep(git, INCOMING, revision)

    def _fetch_all(self, git: Git, commit: str, revision: str) -> str:
        shallow = require(git, "rev-parse", "--is-shallow-repository").strip() == b"true"
        refs = ("+refs/heads/*:refs/extract/heads/*", "+refs/tags/*:refs/extract/tagged/*")
        every = (*FETCH, *(("--unshallow",) if shallow else ()), "--", self.url, *refs)
        fetched = fetch(git, self.progress, "fetching the whole repository", *every)
        if fetched.status:
            raise self._failed(one_line(revision), fetched)
        return self._keep(git, commit, revision)

    def _keep(self, git: Git, name: str, revision: str) -> str:
        found = git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found.status:
            raise self._absent(revision)
        commit = found.output.decode("ascii").strip()
        require(git, "update-ref", COMMITS + commit, commit)
        return commit

    def _lengthened(self, beginning: str) -> str:
        """The full name of a short commit, from the graph of all branches and tags."""
        graph = self._clone("graph.git")
        commits = commits_of(graph, beginning) if len(beginning) >= SURE else []
        if len(commits) != 1:
            self._fetch_graph(graph)
            commits = commits_of(graph, beginning)
        if len(commits) > 1:
            raise ambiguous(graph, beginning, commits)
        if not commits:
            raise self._absent(beginning)
        return commits[0]

    def _fetch_graph(self, graph: Git) -> None:
        graph = graph.with_config(f"remote.origin.url={self.url}")  # may hold a password: not for the disk
        refs = ("--prune", "origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        what = "fetching the commit graph"
        fetched = fetch(graph, self.progress, what, *FETCH, "--filter=tree:0", *refs)
        if fetched.status and not UNREACHABLE.search(fetched.error):
            fetched = fetch(graph, self.progress, what, *FETCH, "--no-filter", *refs)
        if fetched.status:
            raise self._failed("the commit graph", fetched)

    # --- the clones ---

    @property
    def _folder(self) -> Path:
        name = re.sub(r"[^A-Za-z0-9.-]+", "_", without_secrets(self.url).split("://")[-1]).strip("._-")[-60:]
        return self.cache / "git" / f"{name}-{hashlib.sha256(self.url.encode()).hexdigest()[:8]}"

    def _clone(self, name: str) -> Git:
        """One of the two clones, made when it is not there. Called with the lock held."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        git = Git(folder, network=True, ceiling=self._folder)
        if git.run("rev-parse", "--verify", "--quiet", "--git-dir").output.strip() not in (
            b".",
            bytes(folder),
        ):
            shutil.rmtree(folder)  # what a run left that was killed while it made the clone
            folder.mkdir()
            require(git, "init", "--quiet", "--bare", "--template=", ".")
            if name == "graph.git":
                require(git, "config", "remote.origin.promisor", "true")
                require(git, "config", "remote.origin.partialclonefilter", "tree:0")
        for stale in (
            *folder.glob("*.lock"),
            *folder.glob("refs/**/*.lock"),
            *folder.glob("objects/pack/tmp_*"),
        ):
            with contextlib.suppress(OSError):
                stale.unlink()
        return git

    # --- sentences ---

    def _name(self) -> str:
        return one_line(without_secrets(self.url))

    def _absent(self, revision: str, near: str = "") -> ToolError:
        return ToolError(
            f"{self._name()} has no commit, tag or branch {one_line(revision)}{near}: "
            "check it, or name the repository that has it with --repo"
        )

    def _failed(self, what: str, result: Result) -> ToolError:
        if b"No space left on device" in result.error:
            return ToolError(
                f"no space is left in {self._folder}: make room, or let XDG_CACHE_HOME name another folder"
            )
        if UNREACHABLE.search(result.error):
            return ToolError(
                f"cannot reach {self._name()} ({reason(result.error)}); {without_network(self.cache)}, "
                "or --repo with a local clone"
            )
        return ToolError(f"cannot fetch {what} from {self._name()} ({reason(result.error)}): check --repo and --commit")
