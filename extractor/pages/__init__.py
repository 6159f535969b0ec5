"""Owns the documentation site: datasets in, a folder of static files out."""

from extractor.pages.build import Options, Report, build
from extractor.pages.shell import checked_base, checked_version

__all__ = ["Options", "Report", "build", "checked_base", "checked_version"]
