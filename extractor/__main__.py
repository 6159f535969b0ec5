"""`python -m extractor` is the `vllm-errors` command."""

from extractor.cli import main

main()
