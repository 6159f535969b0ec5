"""Owns what a message itself tells its reader to do: sentences of advice, flags, environment variables.

Everything is quoted as it stands in the message; nothing is put into other words. A sentence is advice when
a verb of advice stands where an imperative stands (at the start of a sentence or of a clause, after "please",
"you can", "you must"), so that "cannot use", "is not set" and "use of" are not. Holes are covered while this
is decided: their expressions are code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from extractor.model import Hint, Variant

HOLE = "\ufffc"  # stands for each character of a hole
MAX_TEXT = 20_000  # of a message: advice is for a person, who does not read more

_VERBS = (
    "use|set|unset|try|consider|install|reinstall|upgrade|update|downgrade|pass|enable|disable|reduce|increase|"
    "decrease|lower|raise|specify|provide|supply|check|verify|confirm|see|refer|add|remove|omit|drop|switch|"
    "choose|pick|select|run|rerun|re-run|retry|restart|change|adjust|replace|rename|export|call|build|rebuild|"
    "recompile|recreate|register|wrap|split|separate|resize|start|stop|configure|define|declare|"
    "(?:file|open|report) (?:an?|the) (?:new )?(?:issue|bug)|ensure|make sure|double-check|"
    "move|delete|convert|contact|leave|limit|keep|put|load|"
    "import|ask|skip|wait|apply|implement|avoid|launch|do not(?! support)|don't|never"
)
_NOT_A_VERB = (  # what follows when the word is a noun, or an item of a list of names
    "of|for which|failed|fails|failing|failure|is|are|was|were|has|have|had|did|does|must|cannot|can|could|"
    "should|will|would|may|exceeds|requires|returned|received|raised|error|errors|case|cases|mode|modes|method|"
    "methods|time|times|type|types|size|sizes|and|or|not|argument|arguments|operation|operations|got|found|"
    "expected|already|name|names|id|ids|path|paths|format|formats|without|but"
)
_VERB = rf"(?:{_VERBS})\b(?=\s+[^\s.,;:)\]=])(?!\s+(?:{_NOT_A_VERB})\b)(?!\s+{HOLE}+\s+(?:is|does|has|was|not)\b)"
_BEFORE = (
    r"(?:(?:also|and|or|either|then|first|alternatively|otherwise|just|simply|explicitly|instead|so|"
    r"you could|but|must|hint|tip|note|finally|next)[,:]?\s+)*"
)
_ADVICE = re.compile(
    rf"\bplease\b(?!\s*$)"
    rf"|^[\s\"'`(\[*_-]*{_BEFORE}{_VERB}"
    rf"|(?:[,:(]|\s[-–—]{{1,2}})\s*{_BEFORE}{_VERB}"
    rf"|\byou (?:must|should(?: only)?|need to|have to|can|could|(?:may|might|will) (?:need|want) to|may|"
    rf"might)(?: (?:either|also|explicitly|instead|first|simply))* (?!only\b|be\b|not\b|have\b|no\b)[a-z-]+ "
    rf"|\bdid you mean\b|\bwe recommend\b|\bconsider \w+ing\b|(?<!\bto )\bmake sure\b"
    rf"|\b(?:fix|workaround|solution|remedy|alternative) (?:is|would be) to\b"
    rf"|\b(?:must|should|needs to|expected to|has to|have to) be (?:either )?(?:one|any) of\b"
    rf"|\bexpected one of\b|\bchoose from\b"
    rf"|\b(?:must|needs? to|has to|have to) be (?:explicitly )?(?:set|enabled|disabled|installed|specified)\b"
    rf"|\bshould be (?:handled|provided|passed|specified)\b",
    re.IGNORECASE,
)

_STARTERS = (  # a dot without a space ends a sentence only before one of these; else it is `a.B`
    r"(?:This|That|These|The|It|If|You|Your|We|For|To|In|When|Only|Please|Make|However|Note|Use|Set|Try|See|"
    r"Consider|Install|Upgrade|Ensure|Check|Pass|Enable|Disable|Reduce|Increase|Decrease|Specify|Provide|Add|"
    r"Remove|Run|Got|Expected|Supported|Available|Valid|please)"
)
_CLOSE = r"[\"'`)\]]*"
_END = re.compile(
    rf"[.!?]+{_CLOSE}(?=\s|$)"
    rf"|(?<=[\w`\"')\]}}{HOLE}])[.!?]{_CLOSE}(?={_STARTERS}\s)"
    rf"|;(?=\s)"
    rf"|(?<!:)\n(?=\s*\n)|\n(?=\s*(?:[-*•]|\d+[.)])\s)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'`])(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|nr|fig|al|[a-z])\.$", re.IGNORECASE
)
_BULLET = re.compile(r"\s*(?:(?:[-*•]|\d+[.)])\s+)?")
_LISTED = re.compile(r"^\s*\n\s*(?:[-*•]|\d+[.)])\s+$")
_NUMBER = re.compile(r"^\s*\d+\.$")

_FLAG = re.compile(rf"(?<![\w-])--[a-z](?:[\w-]*\w)?(?:\.[a-z]\w*)*(?![\w*{HOLE}-])", re.IGNORECASE)
_OTHERS_COMMAND = re.compile(r"\b(?:pip3? install|torchrun|curl|docker run|git \w+)\b[^`\"';,.\n]*$")
_TOKEN = r"[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]"
_FAMILIES = (  # not all that starts with TORCH_ or TRITON_: backends have such names
    r"(?:VLLM|HF|NCCL|RCCL|PYTORCH|TORCHINDUCTOR|RAY|OMP|MKL|UCX|NVIDIA|TRANSFORMERS|HUGGINGFACE|HUGGING_FACE|"
    r"TOKENIZERS|XDG|LMCACHE|MOONCAKE|CUDA(?=_(?:VISIBLE|HOME|PATH|LAUNCH|DEVICE_))|(?:HIP|ROCR)(?=_VISIBLE)|LD(?=_(?:LIBRARY|PRELOAD)))"
)
_ENVIRONMENT = re.compile(
    rf"(?<![\w.{HOLE}])(?:"
    rf"(?P<family>{_FAMILIES}_[A-Z0-9_]*[A-Z0-9]|PYTHON(?:HASHSEED|PATH))"
    rf"|(?P<assigned>{_TOKEN})(?==[^=\s{HOLE},)])"
    rf"|(?P<said>{_TOKEN}|[A-Z]{{4,}})(?=[\"'`]?\s+env(?:ironment)?\b)"
    rf")(?![\w*{HOLE}])"
    rf"|\benv(?:ironment)?(?:[ -]var(?:iable)?s?)?:?\s+[\"'`$]*(?P<named>{_TOKEN})(?![\w*{HOLE}])"
)
NOT_ENVIRONMENT = frozenset({"VLLM_COMPILE"})  # a compilation mode, and the messages say so


def hints(variants: Iterable[Variant]) -> tuple[Hint, ...]:
    """What the messages tell their reader to do: sentences, then flags, then environment variables."""
    sentences: list[str] = []
    flags: list[str] = []
    environment: list[str] = []
    for variant in variants:
        text, covered = _covered(variant)
        sentences += _advice(text, covered)
        flags += _flags(covered)
        environment += _environment(covered)
    found = [("sentence", sentences), ("flag", flags), ("environment", environment)]
    return tuple(Hint(kind=kind, text=text) for kind, texts in found for text in dict.fromkeys(texts))


def _covered(variant: Variant) -> tuple[str, str]:
    """The message, and the same with `HOLE` for each character of a hole."""
    written: list[str] = []
    covered: list[str] = []
    size = 0
    for part in variant.parts:
        if isinstance(part.text, str):
            text = part.text
            covered.append(text)
        else:
            conversion = f"!{part.conversion}" if part.conversion else ""
            text = f"{{{part.expr}{conversion}{f':{part.spec}' if part.spec else ''}}}"
            covered.append(HOLE * len(text))
        written.append(text)
        size += len(text)
        if size > MAX_TEXT:
            break
    return "".join(written)[:MAX_TEXT], "".join(covered)[:MAX_TEXT]


def _advice(text: str, covered: str) -> Iterator[str]:
    """The sentences that are advice; one that announces a list (`Check that:`) is quoted with the list."""
    spans = list(sentences(covered))
    until = 0
    for number, (start, end) in enumerate(spans):
        if start < until or not _ADVICE.search(covered[start:end]):
            continue
        if covered[end - 1] == ":":
            for following, last in spans[number + 1 :]:
                if not _LISTED.search(covered[end:following]):
                    break
                end = until = last
        yield text[start:end]


def _flags(covered: str) -> Iterator[str]:
    for match in _FLAG.finditer(covered):
        if not _OTHERS_COMMAND.search(covered[max(0, match.start() - 60) : match.start()]):
            yield match[0]


def _environment(covered: str) -> Iterator[str]:
    for match in _ENVIRONMENT.finditer(covered):
        name = match[match.lastgroup or 0]
        if name not in NOT_ENVIRONMENT:
            yield name


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence starts and ends: at its mark, semicolon, empty line, or the next bullet."""
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if text[match.start()] == ";" and text.count("(", start, end) > text.count(")", start, end):
            continue
        if text[match.start()] == "." and _goes_on(text, start, match):
            continue
        yield from _trimmed(text, start, match.start() if text[match.start()] in ";\n" else end)
        start = end
    yield from _trimmed(text, start, len(text))


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the dot is an abbreviation's, a bullet's, or of an ellipsis in the middle of a sentence."""
    head = text[max(start, end.start() - 12) : end.start() + 1]
    if _ABBREVIATION.search(head) or (end.start() - start < 12 and _NUMBER.match(text[start : end.start() + 1])):
        return True
    after = text[end.end() : end.end() + 40].lstrip()
    return end[0].startswith("..") and after[:1].islower()


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bullet = _BULLET.match(text, start, end)
    start = bullet.end() if bullet else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end
