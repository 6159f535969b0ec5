"""Owns the documentation site: datasets in, a folder of static files out."""
