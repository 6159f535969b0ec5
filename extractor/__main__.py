"""`python -m extractor` is the `vllm-errors` command."""

from extractor.start import main

main()
