"""vllm-errors: every error that vLLM raises, read from its source without importing it."""

__version__ = "0.1.0"
