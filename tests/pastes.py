"""Pastes made by program: a message with plausible values, said and damaged in each of the ways that logs know."""

from __future__ import annotations

import html
import io
import json
import random
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from extractor.match import engine
from extractor.match.lexicon import Entry, Lexicon
from extractor.match.normalise import squeeze

VALUES = (
    "3", "131072", "0.9", "17.39", "None", "True", "float16", "torch.bfloat16", "cuda:0", "TP4", "'auto'", "qwen3_moe",
    "/models/llama-3", "Qwen3ForCausalLM", "['q_proj', 'v_proj']", "{'x': 1}", "torch.Size([3584, 16])", "FLASH_ATTN",
    "<class 'vllm.config.ModelConfig'>", "Cfg(head_size=576, dtype=torch.bfloat16, use_mla=True)", "chatcmpl-8d1f-44aa",
)  # fmt: skip


class Said(NamedTuple):
    """What an error says, and where it is raised."""

    exception: str
    text: str
    path: str
    line: int
    function: str


def rendered(entry: Entry, variant: int, chance: random.Random) -> Said:
    """A message with values in it."""
    text = "".join(chance.choice(VALUES) if t is None else t for t, _ in entry.variants[variant])
    site = entry.sites[0]
    name = site.exception.rpartition(".")[2]
    return Said(name, text, site.path, site.line, site.symbol.rpartition(".")[2])


def line(said: Said) -> str:
    return f"{said.exception}: {said.text}"


def traceback(said: Said, packages: str = "/opt/venv/lib/python3.12/site-packages/", away: int = 0) -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "{packages}vllm/v1/engine/core.py", line 1110, in run_engine_core\n'
        "    engine_core = EngineCoreProc(*args, **kwargs)\n"
        "                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f'  File "{packages}{said.path}", line {said.line + away}, in {said.function}\n'
        f"    raise {said.exception}(\n"
        f"{line(said)}\n"
    )


def each(prefix: str | Callable[[int], str], text: str) -> str:
    return "".join(
        (prefix if isinstance(prefix, str) else prefix(n)) + part + "\n"
        for n, part in enumerate(text.rstrip("\n").split("\n"))
    )


def hard(text: str, width: int) -> str:
    return "\n".join(part[i : i + width] for part in text.split("\n") for i in range(0, max(len(part), 1), width))


def smart(text: str) -> str:
    text = re.sub(r'"([^"]*)"', "“\\1”", re.sub(r"'([^']*)'", "‘\\1’", text))
    return text.replace("--", "—")


ENGINE = "(EngineCore pid=211) "
WORKER = "(Worker_TP1_EP1 pid=899) ERROR 12-29 15:00:11 [multiproc_executor.py:751] "
INFO = "(EngineCore pid=211) INFO 01-12 17:00:{:02} [loggers.py:127] Engine 000: Avg prompt throughput: {}.0 tokens/s, Running: 3 reqs\n"


def background(lines: int) -> str:
    return "".join(INFO.format(n % 60, n) for n in range(lines))


def consequence(said: Said) -> str:
    return each(ENGINE, traceback(said)) + each(
        "(APIServer pid=1) ",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/utils.py", line 960, in wait_for_engine_startup\n'
        "    raise RuntimeError(\n"
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    )


KINDS: dict[str, Callable[[Said, random.Random], str]] = {
    "the message alone": lambda s, _: s.text,
    "with the name of the exception": lambda s, _: line(s),
    "with its module": lambda s, _: f"vllm.exceptions.{line(s)}",
    "a traceback": lambda s, _: traceback(s),
    "a traceback of another release": lambda s, _: traceback(s, away=-57),
    "a traceback in a checkout": lambda s, _: traceback(s, packages="/home/me/vllm/"),
    "an engine's prefix": lambda s, _: each(ENGINE, traceback(s)),
    "a worker's prefix": lambda s, _: each(WORKER, traceback(s)),
    "a prefix with its first mark lost": lambda s, _: each(WORKER, line(s))[1:],
    "Docker compose": lambda s, _: each("vllm-server-1  | ", traceback(s)),
    "Kubernetes": lambda s, _: each("2026-01-12T17:00:19.123456789Z stderr F ", traceback(s)),
    "systemd": lambda s, _: each("Jan 12 17:00:19 gpu-01 vllm[1234]: ", traceback(s)),
    "logging's own format": lambda s, _: each("2026-01-12 17:00:19,123 - vllm.engine - ERROR - ", line(s)),
    "Ray": lambda s, _: each("(RayWorkerWrapper pid=1234, ip=10.0.0.3) ", traceback(s)),
    "ranks": lambda s, _: each("[rank0]: ", traceback(s)),
    "time stamps on lines of their own": lambda s, _: traceback(s).replace("\n", "\n2026-01-12 17:00:19 UTC\n"),
    "pytest": lambda s, _: each("E   ", line(s)),
    "quoted": lambda s, _: each("> ", traceback(s)),
    "quoted twice": lambda s, _: each("> > ", line(s)),
    "a table of rich": lambda s, _: each(lambda _: "│ ", hard(line(s), 74)),
    "an exception group": lambda s, _: "  + Exception Group Traceback (most recent call last):\n"
    "  +-+---------------- 1 ----------------\n" + each("    | ", traceback(s)),
    "numbered": lambda s, _: each(lambda n: f"{n + 41:4}  ", traceback(s)),
    "a numbered list": lambda s, _: each(lambda n: f"{n + 1}. ", traceback(s)),
    "JSON log lines": lambda s, _: "".join(
        json.dumps({"log": part + "\n", "stream": "stderr", "time": "2026-01-12T17:00:19Z"}) + "\n"
        for part in traceback(s).splitlines()
    ),
    "colours": lambda s, _: each("\x1b[1;36m(EngineCore pid=211)\x1b[0;0m \x1b[31mERROR\x1b[0m ", traceback(s)),
    "Windows' line ends": lambda s, _: traceback(s).replace("\n", "\r\n"),
    "a terminal's wraps": lambda s, c: hard(each(ENGINE, traceback(s)), c.randrange(60, 140)),
    "wraps with the prefix on each line": lambda s, c: each(WORKER, hard(line(s), c.randrange(12, 120))),
    "filled again": lambda s, c: "\n".join(textwrap.wrap(line(s), c.randrange(30, 90), break_on_hyphens=True)),
    "indented": lambda s, _: textwrap.indent(line(s), " " * 12),
    "doubled spaces": lambda s, _: line(s).replace(" ", "  "),
    "lost line breaks": lambda s, _: " ".join(traceback(s).split()),
    "cut at the end": lambda s, _: line(s)[: max(60, int(len(line(s)) * 0.7))],
    "cut with an ellipsis": lambda s, _: line(s)[: max(60, int(len(line(s)) * 0.7))] + "…",
    "JSON": lambda s, _: json.dumps({"error": {"message": s.text, "type": "BadRequestError", "code": 400}}),
    "JSON in JSON": lambda s, _: json.dumps({"body": json.dumps({"message": s.text, "code": 400}), "status": 400}),
    "an answer as Python shows it": lambda s, _: "openai.BadRequestError: Error code: 400 - "
    + repr({"error": {"message": s.text, "type": "BadRequestError", "param": None, "code": 400}}),
    "pydantic": lambda s, _: "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
    f"  Value error, {s.text} [type=value_error, input_value=ArgsKwargs((), {{'model': 'x'}}), input_type=ArgsKwargs]\n"
    "    For further information visit https://errors.pydantic.dev/2.12/v/value_error\n",
    "HTML": lambda s, _: f"<pre>{html.escape(line(s))}</pre>",
    "smart quotes": lambda s, _: smart(line(s)),
    "Markdown": lambda s, _: "- **" + re.sub(r"([_*`\[\]])", r"\\\1", line(s)) + "**",
    "an address": lambda s, _: "https://example.org/search?q=" + quote(line(s)),
    "a title": lambda s, _: f"[Bug]: {line(s)}",
    "in a sentence of another language": lambda s, _: f"启动的时候就报错了“ {line(s)} ”,请问怎么解决?",
    "with its consequence": lambda s, _: consequence(s),
    "once for each worker": lambda s, _: "".join(
        each(f"(Worker_TP{n} pid={900 + n}) ERROR 12-29 15:00:11 [multiproc_executor.py:751] ", traceback(s)) for n in range(4)
    ),
    "in another's message": lambda s, _: f"RuntimeError: Worker failed with error '{s.text}', please check the stack "
    "trace above for the root cause",
    "in the middle of a log": lambda s, _: background(300) + each(ENGINE, traceback(s)) + background(300),
    "a notebook": lambda s, _: f"[/usr/lib/python3.11/dist-packages/{s.path}](https://localhost:8080/#) in "
    f"{s.function}(self, x)\n    246         # make it\n--> 247         raise {s.exception}(\n{line(s)}\n",
}  # fmt: skip


# (name, paste): nothing of the small tree in `errors_like` is in these
SILENT = [
    ("nothing", ""),
    ("white space", " \n\n"),
    ("a server's own lines", background(50)),
    ("out of memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79 GiB"),
    ("an error of Python", "AttributeError: 'NoneType' object has no attribute 'shape'"),
    ("a key", "KeyError: 'layers.0.ffn.experts.w13_input_scale'"),
    ("transformers", "OSError: meta-llama/Llama-3 is not a local folder and is not a valid model identifier listed on the hub"),
    ("NCCL", "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2021, unhandled system error"),
    ("an option", "vllm: error: unrecognized arguments: --enable-reasoning --reasoning-parser deepseek_r1"),
    ("pydantic's own check", "1 validation error for Config\n  Input should be 1, 8, 16 [type=literal_error, input_value=48]"),
    ("a frame of vLLM and another's text", traceback(Said("KeyError", "'model.layers'", "vllm/engine/memory.py", 4, "check"))),
    ("a message of few letters without a frame", "KeyError: model not found"),
    ("a message that is only a value", "ValueError: it went wrong in some way"),
    ("an invented message", "ValueError: Cannot split tensors evenly. tensor_parallel_size=4 but only 2 GPUs available"),
    ("another object of the same sentence", "The tokenizer server has stopped, and its files were removed from the disk"),
    ("a text that other code raised", traceback(Said("ValueError", "Unknown role: x", "torch/nn/parse.py", 4, "role"))),
    ("common words in another order", "role: Unknown\nnot found: name"),
]  # fmt: skip


class Outcome(NamedTuple):
    """What was found for a paste."""

    first: bool  # the message itself is the first
    role: str
    messages: tuple[str, ...]


def same_text(entry: Entry) -> set[str]:
    """The texts of an error in letters: siblings that differ in none are the same answer."""
    return {"\0".join(squeeze(t) if t is not None else "" for t, _ in v).replace("\0\0", "\0") for v in entry.variants}


def outcome(paste: str, entry: Entry, lexicon: Lexicon) -> Outcome:
    """Runs a paste that holds a message of an error."""
    found = engine.answer(io.BytesIO(paste.encode("utf-8", "replace")), lexicon).ranked
    entries = [lexicon.entry(one.match.judged[one.choice].entry) for one in found]
    first = bool(entries) and bool(same_text(entries[0]) & same_text(entry))
    return Outcome(first, found[0].role if found else "", tuple(e.message for e in entries))
