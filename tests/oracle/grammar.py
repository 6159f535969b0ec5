"""The words that generated functions are made of: the prelude of their module, templates, and values by kind.

Kinds of names and expressions: N number, A anything, S text, B flag, L list, D dict, O object, K enum member, C test.
In a template `<N>` is an expression of the kind, `<n>` a name of the kind in scope, `<=n>` a name that is set.
"""

from __future__ import annotations

PRELUDE = """
import enum
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import NoReturn

LIMIT = 2
NAMES = ("x", "y")
TABLE = {"x": 1, "y": 0}
ODD = {1, 3}

class Kind(enum.Enum):
    A = 1
    B = 2

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3

class Mode(str, enum.Enum):
    X = "x"
    Y = "y"

class Special(ValueError):
    pass

class Deep(Special):
    pass

class Odd(KeyError):
    pass

class Node:
    def __init__(self, x=0, y=None, part=None, items=()):
        self.x = x
        self.y = y
        self.part = part
        self.items = list(items)

    def peek(self):
        return self.x

    def bump(self, by=1):
        self.x = (self.x or 0) + by
        return self.x

    def drop(self):
        self.part = None

    def fill(self):
        self.items.append(1)
        return len(self.items)

    @property
    def double(self):
        return self.x * 2

class Leaf(Node):
    pass

class Lock:
    def __enter__(self):
        return 1

    def __exit__(self, *why):
        return None

    async def __aenter__(self):
        return 1

    async def __aexit__(self, *why):
        return None

class Swallow(Lock):
    def __exit__(self, *why):
        return True

def probe(x):
    return x if isinstance(x, int) else 7

def touch(o):
    if isinstance(o, list):
        o.append(0)
    elif isinstance(o, dict):
        o["k"] = 1
    elif o is not None and not isinstance(o, (int, str)):
        o.x = 1
    return o

def risky(x):
    if x == 1:
        raise Special("risky one")
    if x == 2:
        raise Odd("risky two")
    return x

def stop(why) -> NoReturn:
    raise RuntimeError(why)

def make(text):
    return ValueError(text)

async def nap(x):
    return x

async def stream(xs):
    for x in xs:
        yield x
"""

# name of a parameter: its kind
PARAMS = {
    "n": "N", "m": "N", "a": "A", "b": "A", "s": "S", "flag": "B", "xs": "L", "zs": "L", "d": "D", "obj": "O",
    "peer": "O", "k": "K",
}  # fmt: skip
LOCALS = {
    "N": ["u", "v"],
    "A": ["w"],
    "S": ["t"],
    "B": ["ok"],
    "L": ["ys"],
    "D": ["e"],
    "O": ["o", "part"],
    "K": ["kk"],
}

ATOMS: dict[str, list[str]] = {
    "N": ["<n>", "<n>", "<n>", "<o>.x", "0", "1", "2", "LIMIT", "len(<l>)", "<d>.get('k', 0)"],
    "A": ["<a>", "<a>", "<a>", "<n>", "<s>", "None", "1", "'x'", "<o>.y", "<o>.part"],
    "S": ["<s>", "<s>", "<s>", "'x'", "'y'", "''"],
    "B": ["<b>", "<b>", "True", "False"],
    "L": ["<l>", "<l>", "<l>", "<o>.items", "[1, 2]", "[]", "NAMES"],
    "D": ["<d>", "<d>", "{}", "{'k': 1}", "TABLE"],
    "O": ["<o>", "<o>", "<o>", "<o>.part"],
    "K": ["<k>", "Kind.A", "Kind.B", "Level.LOW", "Mode.X"],
    "C": ["<b>", "<a>", "<n>", "<l>", "<s>", "not <a>", "<a> is None", "<n> > 1", "<o>.x", "<s> == 'x'"],
}

DEEPER: dict[str, list[str]] = {
    "N": [
        "<N> + <N>", "<N> - <N>", "<N> * 2", "<N> % 3", "<N> // 2", "-<N>", "min(<N>, <N>)", "max(<N>, <N>)",
        "abs(<N>)",
        "sum(<L>)", "(<N> if <C> else <N>)", "len([x for x in <L> if x == <N>])", "int(<B>)", "getattr(<o>, 'x', 0)",
        "getattr(<o>, 'z', 1)", "<o>.part.x", "<l>[0]", "<l>[-1]", "<o>.peek()", "<o>.bump()", "probe(<n>)",
        "(<=n> := <N>)",
        "next((x for x in <L> if x), 0)", "max(<L>, default=0)", "sorted(<L>)[0]", "(lambda q: q + <n>)(<N>)",
        "<d>['k']",
        "TABLE.get(<S>, 3)", "int(<S> or 0)", "<L>.count(1)", "len(<S>)", "<o>.double", "(<A> or <N>)", "(<B> and <N>)",
        "<n> << 1", "<n> ** 2", "Level.HIGH", "sum(1 for x in <L> if x)", "len(<d>)", "len(set(<L>))",
    ],
    "A": [
        "(<A> if <C> else <A>)", "(<A> or <A>)", "(<A> and <A>)", "<d>.get('k')", "<d>.get(<S>)",
        "getattr(<o>, 'y', None)",
        "getattr(<o>, 'part', None)", "(<=a> := <A>)", "probe(<a>)", "(<n>, <s>)", "<N>", "<S>", "<L>", "<l>[0]", "<K>",
    ],
    "S": [
        "<S> + 'x'", "f'{<n>}'", "f'{<s>}-{<n>}'", "str(<N>)", "<S>.upper()", "<S>.strip()", "(<S> if <C> else <S>)",
        "'-'.join(['x', <S>])", "'%s' % (<n>,)", "'{}'.format(<n>)", "<S>[:1]", "(<=s> := <S>)", "repr(<n>)",
        "<S>.lower()",
    ],
    "B": ["bool(<A>)", "<C>", "not <B>", "(<=b> := <C>)"],
    "L": [
        "[x for x in <L> if x]", "[x for x in <L>]", "sorted(<L>)", "<L> + [<N>]", "<L>[1:]", "list(<L>)", "[<N>, <N>]",
        "tuple(<L>)", "(<L> if <C> else <L>)", "(<l> or [<N>])", "list(range(<N>))", "[*<L>, <N>]", "<o>.part.items",
        "list(<d>.values())", "[y for x in <L> for y in (x, 1)]",
    ],
    "D": ["{'k': <N>}", "{**<D>, 'x': <N>}", "dict(<D>)", "{x: 1 for x in <L>}", "(<d> or {'k': <N>})",
    "<d> | {'k': 1}"],
    "O": ["(<O> if <C> else <O>)", "(<o>.part or <o>)", "getattr(<o>, 'part', None)", "(<=o> := <O>)", "touch(<o>)"],
    "K": ["(<K> if <C> else <K>)", "getattr(<o>, 'kind', Kind.A)"],
    "C": [
        "<C> and <C>", "<C> or <C>", "not <C>", "not (<C> and <C>)", "not (<C> or <C>)", "<A> is not None",
        "<A> is None",
        "<A> == <A>", "<A> != 1", "<N> == <N>", "<N> < <N>", "<N> > <N>", "<N> <= 2", "0 <= <N> < 2",
        "<N> < <N> <= <N>",
        "<N> in (1, 2)", "<A> not in (None, 1)", "<S> in NAMES", "<S> in TABLE", "<N> in ODD", "<A> in <L>",
        "isinstance(<A>, int)", "isinstance(<A>, (str, list))", "isinstance(<O>, Node)", "isinstance(<O>, Leaf)",
        "len(<L>) > 1", "any(x == <N> for x in <L>)", "all(x for x in <L>)", "any(<L>)", "'k' in <D>",
        "<S>.startswith('x')",
        "<S> == <S>", "<o>.x == <N>", "<o>.part is None", "<o>.part.x == 1", "hasattr(<o>, 'z')", "(<=n> := <N>) > 1",
        "(<=a> := <A>) is None", "<N> % 2", "bool(<A>)", "(<C> if <C> else <C>)", "<k> == Kind.A",
        "<k> in (Kind.A, Mode.X)",
        "<k> == 'x'", "<k> is Kind.B", "<k> == Level.LOW", "<k> != Kind.A", "<o>.bump() > 2", "probe(<a>)",
        "<L> == <L>",
        "<D> == {'k': 1}", "type(<a>) is int", "<o> is <o>", "callable(<a>)", "any(x is None or x > <n> for x in <L>)",
        "set(<L>) & ODD", "not any(x == <n> for x in <L>)", "<S> < <S>", "<S>.isdigit()", "<L> is <L>", "<n> is True",
    ],
}  # fmt: skip

SETS = [
    "<=n> = <N>", "<=n> = <N>", "<n> += <N>", "<n> -= 1", "<=a> = <A>", "<=a> = <A>", "<=s> = <S>", "<s> += 'x'",
    "<=b> = <C>", "<=l> = <L>", "<=d> = <D>", "<=o> = <O>", "<=k> = <K>", "<=n>, <=a> = <N>, <A>", "<=a>, *<=l> = <L>",
    "<=n> = <=n> = <N>", "<=n>, <=n> = <N>, <N>", "(<=n>, <=s>) = (<N>, <S>)", "<=a> = probe(<A>)", "<=n> = risky(<N>)",
    "<=n>: int = <N>", "<=l> = <l>", "<=o> = <o>.part", "<=o> = <o>", "[<=n>, <=n>] = <L>", "<=a> = <a> or <A>",
    "<=n> = <n> if <C> else <N>", "<n> *= 2", "del <n>", "<=b> = <b> and <C>", "<=d> = <d>", "pass",
    "<=n> = probe(<n>)",
]  # fmt: skip

EFFECTS = [
    "<o>.x = <N>", "<o>.x = <N>", "<o>.y = <A>", "<o>.x += 1", "<o>.part.x = <N>", "<o>.part = None", "<o>.part = <O>",
    "<o>.items = <L>", "<o>.bump()", "<o>.bump()", "<o>.part.bump()", "<o>.drop()", "<o>.fill()", "touch(<o>)",
    "touch(<l>)",
    "touch(<d>)", "<l>.append(<N>)", "<l>.clear()", "<l>.pop()", "<l>.sort()", "<l>.reverse()", "<l>[0] = <N>",
    "<l> += [<N>]",
    "<l>.extend(<L>)", "<l>.insert(0, <N>)", "<d>['k'] = <N>", "<d>.pop('k', None)", "del <d>['k']",
    "<d>.update(k=<N>)",
    "<d>.setdefault('k', <N>)", "<d>.clear()", "del <o>.y", "setattr(<o>, 'x', <N>)", "<o>.items.append(<N>)",
    "del <l>[0]",
    "<l>[:] = []", "<o>.x, <o>.y = <N>, <A>", "<o>.z = <N>", "for <o>.x in <L>: pass", "<d> |= {'k': 2}", "probe(<o>)",
    "vars(<o>).update(x=2)", "delattr(<o>, 'x')", "[touch(x) for x in (<o>, <l>)]", "<o>.__dict__['x'] = 3",
    "(lambda: <o>.bump())()", "list(map(touch, [<o>]))", "<o>.part.items.append(1)",
]  # fmt: skip

EXCEPTIONS = ["ValueError", "KeyError", "Special", "Deep", "Odd", "TypeError", "RuntimeError"]
HANDLERS = [
    "ValueError", "KeyError", "Special", "Deep", "Odd", "LookupError", "Exception", "(ValueError, KeyError)", "",
    "(Odd, Special)", "TypeError", "BaseException", "(AttributeError, IndexError)", "RuntimeError",
]  # fmt: skip
TRIED = [
    "int(<S>)",
    "<=n> = int(<S>)",
    "<=a> = <d>['k']",
    "<=n> = <l>[2]",
    "<=a> = <o>.z",
    "risky(<N>)",
    "<=n> = risky(<n>)",
]

PATTERNS: dict[str, list[str]] = {
    "A": [
        "None",
        "1 | 2",
        "'x'",
        "str()",
        "int(<=n>)",
        "bool()",
        "[]",
        "[<=a>]",
        "[<=a>, *<=l>]",
        "{'k': <=a>}",
        "(0, _)",
    ],
    "N": ["0", "1 | 2", "-1", "int()", "2 as <=n>", "None", "float()"],
    "S": ["'x'", "'x' | 'y'", "''", "str() as <=s>"],
    "L": ["[]", "[1, *_]", "[<=n>]", "[<=n>, <=n>]", "[_, *<=l>]", "[None]", "[*_, 2]"],
    "O": [
        "None",
        "Node(x=1)",
        "Node(x=<=n>)",
        "Leaf()",
        "Node(part=None)",
        "Node(part=Node(x=<=n>))",
        "SimpleNamespace()",
    ],
    "D": ["{'k': 1}", "{'k': <=a>}", "{'k': <=n>, **<=d>}", "{}"],
    "K": ["Kind.A", "Kind.A | Kind.B", "Mode.X", "Level.LOW", "'x'"],
}

VALUES: dict[str, list[str]] = {
    "N": ["0", "1", "2", "3", "-1", "0", "1", "2", "True", "None", "float('nan')", "1.5", "4"],
    "A": [
        "None",
        "None",
        "0",
        "1",
        "2",
        "'x'",
        "''",
        "'y'",
        "True",
        "False",
        "[]",
        "[1]",
        "[1, 2]",
        "{'k': 1}",
        "(0, 1)",
    ],
    "S": ["'x'", "'y'", "''", "'xy'", "'1'", "'2'", "' x'", "None"],
    "B": ["True", "False", "True", "False", "None", "0", "1"],
    "L": [
        "[]",
        "[1]",
        "[1, 2]",
        "[0, 1, 2]",
        "[2, 2]",
        "[None]",
        "[3, None, 1]",
        "(1, 2)",
        "['x']",
        "[0]",
        "None",
        "[2, 1]",
    ],
    "D": ["{}", "{'k': 1}", "{'k': 0}", "{'x': 1}", "{'k': None, 'x': 2}", "{'k': 2, 1: 1}", "None"],
    "K": ["Kind.A", "Kind.B", "Level.LOW", "Level.HIGH", "Mode.X", "Mode.Y", "'x'", "1", "None"],
}
