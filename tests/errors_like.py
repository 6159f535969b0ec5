"""A small tree that raises as a server does, and its lexicon, without a disk in between."""

from __future__ import annotations

from functools import cache

from extractor.match.lexicon import Lexicon, dumps, loads
from tests.trees import SOURCE, errors_in

TREE = {
    "vllm/engine/memory.py": """
        class Memory:
            def check(self, wanted, free):
                if wanted > free:
                    raise ValueError(
                        f"The cache needs {wanted} GiB on device {self.name}, which is more than the {free} GiB that are free. "
                        f"Decrease `gpu_share` or use a smaller `window`."
                    )
                if not free:
                    raise ValueError("There is no memory left for blocks of the cache. Decrease `gpu_share` first.")
        """,
    "vllm/engine/parent.py": """
        def start(failed):
            if failed:
                raise RuntimeError(f"Engine start was not successful. See root cause above. Failed processes: {failed}")

        def answer(result):
            raise RuntimeError(f"The worker gave up with '{result}', please check the stack trace above for the root cause")
        """,
    "vllm/platforms/green.py": """
        def backend(name, reasons):
            raise ValueError(f"No suitable kernel was found for {name} with these settings. Reasons: {reasons}.")
        """,
    "vllm/platforms/blue.py": """
        def backend(name, reasons):
            raise ValueError(f"No suitable kernel was found for {name} with these settings. Reasons: {reasons}.")
        """,
    "vllm/lora/ranks.py": """
        class Ranks:
            def validate(self, rank, most):
                if rank > most:
                    raise ValueError(f"LoRA rank {rank} is greater than the largest rank {most} of this engine.")

            def load(self, path, modules):
                raise ValueError(f"While loading {path}, expected target modules in {modules} but they were not there")
        """,
    "vllm/parse.py": """
        def role(name):
            raise ValueError(f"Unknown role: {name}")

        def thing(name):
            raise KeyError(f"{name} not found")

        def again(e):
            raise ValueError(f"{e}")

        def state(worker):
            if worker.dead:
                raise RuntimeError("The tokenizer server has stopped, and requests cannot be taken any more")
            raise RuntimeError("The tokenizer server has stopped, and requests cannot be taken any more")
        """,
    "vllm/chat.py": """
        class TemplateError(ValueError):
            pass

        def apply(model, limit):
            if model:
                raise TemplateError("\\"auto\\" choice of tools needs --enable-auto-choice and --tool-parser to be set")
            raise TemplateError(f"At most {limit} image(s) may be given in one prompt, but there were more of them.")
        """,
}


@cache
def lexicon() -> Lexicon:
    """Of the tree above."""
    return loads(dumps(SOURCE, errors_in(TREE)))
