"""Finds in a pasted log which of vLLM's errors are in it, and which of them is the root cause.

`normalise` makes text comparable, `log` reads its structure, `lexicon` knows the messages, `find` seeks them,
`verify` scores what was found, `rank` orders it, `answer` says it. Nothing in here imports more than a cold run of
the command can afford: no typer, rich, msgspec or orjson.
"""
