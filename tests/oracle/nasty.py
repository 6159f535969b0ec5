"""Functions made to catch a predicate that guesses: a name, a source with `f` (or `C.f`), environments and outcomes.

An outcome is the ordinal of the raise of `f` that leaves, by line, or RETURN, or OTHER (another exception). Rows whose
trap is a wrong answer come first; those after HUGE only have to be answered quickly. All outcomes are checked against
Python itself.
"""

from __future__ import annotations

from typing import NamedTuple

RETURN, OTHER = "return", "other"


class Row(NamedTuple):
    name: str
    source: str
    cases: tuple[tuple[str, int | str], ...]


def row(name: str, source: str, *cases: tuple[str, int | str]) -> Row:
    return Row(name, source.strip("\n") + "\n", cases)


EFFECTS = [
    row("must not: an alias is written through", """
def f(obj):
    other = obj.part
    other.x = 1
    if obj.part.x:
        raise ValueError("m")
""", ("dict(obj=NS(part=NS(x=0)))", 0), ("dict(obj=NS(part=NS(x=1)))", 0)),
    row("must not: two parameters may be one object", """
def f(a, b):
    b.x = 1
    if a.x == 0:
        raise ValueError("m")
""", ("dict(a=NS(x=0), b=NS(x=0))", 0), ("dict(a=(o := NS(x=0)), b=o)", RETURN)),
    row("must not: a part of one parameter is another parameter", """
def f(a, b):
    b.x = 1
    if a.part.x:
        raise ValueError("m")
""", ("dict(a=NS(part=NS(x=0)), b=NS(x=0))", RETURN), ("dict(a=NS(part=(o := NS(x=0))), b=o)", 0)),
    row("must not: one list under two names", """
def f(xs, ys):
    ys.append(1)
    if len(xs) > 1:
        raise ValueError("m")
""", ("dict(xs=[1], ys=[1])", RETURN), ("dict(xs=(o := [1]), ys=o)", 0)),
    row("must not: a local alias of a list grows", """
def f(xs):
    ys = xs
    ys += [1]
    if len(xs) == 1:
        raise ValueError("m")
""", ("dict(xs=[])", 0), ("dict(xs=[1])", RETURN)),
    row("must not: += on a tuple makes a new one", """
def f(xs):
    ys = xs
    ys += (1,)
    if len(xs) == 1:
        raise ValueError("m")
""", ("dict(xs=())", RETURN), ("dict(xs=(1,))", 0), ("dict(xs=[])", 0)),
    row("must not: a method changes what was read before", """
def f(obj):
    x = obj.x
    obj.bump()
    if obj.x == x:
        raise ValueError("same")
    if obj.x > 1:
        raise KeyError("more")
""", ("dict(obj=Node(x=0))", RETURN), ("dict(obj=Node(x=1))", 1), ("dict(obj=Node(x=2))", 1)),
    row("must not: what was read before a change stays", """
def f(obj):
    x = obj.x
    obj.x = 5
    if x == 5:
        raise ValueError("m")
""", ("dict(obj=Node(x=0))", RETURN), ("dict(obj=Node(x=5))", 0)),
    row("must not: a guard that changes the object, asked twice", """
def f(obj):
    if obj.bump() > 1:
        raise ValueError("first")
    if obj.bump() > 1:
        raise KeyError("second")
""", ("dict(obj=Node(x=0))", 1), ("dict(obj=Node(x=1))", 0), ("dict(obj=Node(x=-1))", RETURN)),
    row("must not: exact about the text of a member of an enum, which is its class's affair", """
def f(a):
    if str(Level.HIGH) == a or f"{Level.LOW}" == a:
        raise ValueError("m")
""", ("dict(a='x')", RETURN)),
    row("must not: what equals nothing is in a list that holds it", """
def f(x):
    if x in [1, *[2], x]:
        raise ValueError("m")
""", ("dict(x=float('nan'))", 0), ("dict(x=1)", 0)),
    row("a member of an enum equals no object of a class without a word on it", """
def f(x):
    if Level.LOW == x or x == Mode.X:
        raise ValueError("m")
""", ("dict(x=Node(x=1))", RETURN), ("dict(x=1)", 0), ("dict(x='x')", 0)),
    row("a member of an enum of numbers fits no pattern for a sequence or mapping", """
def f(a):
    match Level.LOW:
        case []:
            return
        case {"x": 1}:
            return
    match Mode.X:
        case [x, *xs]:
            return
    if a:
        raise ValueError("m")
""", ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("a member of an enum is no class", """
def f(a):
    b = Mode.X
    if b is not int and a:
        raise ValueError("m")
""", ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("must not: a method reads what += has set", """
def f(obj):
    obj.x += 1
    if obj.peek() > 1:
        raise ValueError("m")
""", ("dict(obj=Node(x=1))", 0), ("dict(obj=Node(x=0))", RETURN)),
    row("must not: a list grows in the last turn of its own loop", """
def f(xs):
    for i, x in enumerate(xs):
        if i:
            raise ValueError("m")
        if x:
            xs.append(0)
""", ("dict(xs=[1])", 0), ("dict(xs=[0])", RETURN), ("dict(xs=[])", RETURN)),
    row("must not: a helper is given the object", """
def f(obj):
    touch(obj)
    if obj.x == 0:
        raise ValueError("m")
""", ("dict(obj=Node(x=0))", RETURN), ("dict(obj=Node(x=1))", RETURN)),
    row("must not: a helper is given the owner", """
def deep(o):
    o.part.x = 1

def f(obj):
    part = obj.part
    deep(obj)
    if part.x == 0:
        raise ValueError("m")
""", ("dict(obj=NS(part=NS(x=0)))", RETURN)),
    row("must not: a helper is given the object inside a list", """
def f(obj):
    several = [obj]
    for one in several:
        touch(one)
    if obj.x == 0:
        raise ValueError("m")
""", ("dict(obj=Node(x=0))", RETURN)),
    row("must not: an object kept in a dict", """
def f(obj):
    kept = {"o": obj}
    kept["o"].x = 1
    if not obj.x:
        raise ValueError("m")
""", ("dict(obj=Node(x=0))", RETURN)),
    row("must not: the call stands in the test itself, on its left", """
def f(xs):
    if xs.pop() and len(xs) == 1:
        raise ValueError("m")
""", ("dict(xs=[1, 2])", 0), ("dict(xs=[1])", RETURN), ("dict(xs=[1, 1, 1])", RETURN)),
    row("must not: clear and length", """
def f(xs):
    xs.clear()
    if xs:
        raise ValueError("m")
    if not xs:
        raise KeyError("n")
""", ("dict(xs=[1])", 1), ("dict(xs=[])", 1)),
    row("must not: a nested function changes the object later", """
def f(obj):
    def change():
        obj.x = 1
    if obj.y:
        change()
    if obj.x == 0:
        raise ValueError("m")
""", ("dict(obj=Node(x=0, y=1))", RETURN), ("dict(obj=Node(x=0, y=0))", 0)),
    row("must not: setattr and vars", """
def f(obj):
    setattr(obj, "x", 1)
    vars(obj)["y"] = 1
    if obj.x == 0 or obj.y == 0:
        raise ValueError("m")
""", ("dict(obj=Node(x=0, y=0))", RETURN)),
    row("must not: an attribute written in one branch", """
def f(self, a):
    if a:
        self.x = 1
    if self.x:
        raise ValueError("m")
""", ("dict(self=NS(x=0), a=1)", 0), ("dict(self=NS(x=0), a=0)", RETURN), ("dict(self=NS(x=1), a=0)", 0)),
    row("must not: a written part hides what was below it", """
def f(self, p):
    self.part = p
    if self.part.x:
        raise ValueError("m")
""", ("dict(self=NS(part=NS(x=1)), p=NS(x=0))", RETURN), ("dict(self=NS(part=NS(x=0)), p=NS(x=1))", 0)),
    row("must not: a loop target that is an attribute", """
def f(self, xs):
    for self.x in xs:
        pass
    if self.x == 2:
        raise ValueError("m")
""", ("dict(self=NS(x=0), xs=[1, 2])", 0), ("dict(self=NS(x=2), xs=[1])", RETURN), ("dict(self=NS(x=2), xs=[])", 0)),
    row("must not: a property with effect", """
class Ticket:
    def __init__(self):
        self.n = 0
    @property
    def next(self):
        self.n += 1
        return self.n

def f(t):
    if t.next == 2:
        raise ValueError("first")
    if t.next == 2:
        raise ValueError("second")
""", ("dict(t=Ticket())", 1)),
    row("must not: an iterator is used up", """
def f(it):
    if 1 not in it:
        return
    if 1 in it:
        raise ValueError("m")
""", ("dict(it=iter([1, 2]))", RETURN), ("dict(it=iter([1, 1]))", 0), ("dict(it=[1])", 0)),
    row("must not: getattr that makes attributes", """
class Any_:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name

def f(o):
    if getattr(o, "mode", None) is None:
        raise ValueError("none")
    if o.mode == "mode":
        raise KeyError("made")
""", ("dict(o=Any_())", 1), ("dict(o=NS())", 0), ("dict(o=NS(mode=1))", RETURN)),
    row("must not: comprehension with a call that changes", """
def f(objs):
    total = sum(o.bump() for o in objs)
    if objs[0].x == 0:
        raise ValueError("m")
    if total > 2:
        raise KeyError("n")
""", ("dict(objs=[Node(x=0)])", RETURN), ("dict(objs=[Node(x=-1)])", 0), ("dict(objs=[Node(x=5)])", 1)),
    row("must not: context manager that changes the object", """
class Set:
    def __init__(self, o): self.o = o
    def __enter__(self): self.o.x = 1
    def __exit__(self, *why): self.o.x = 2

def f(obj):
    with Set(obj):
        if obj.x != 1:
            raise ValueError("in")
    if obj.x == 2:
        raise KeyError("after")
""", ("dict(obj=Node(x=0))", 1)),
    row("must not: a dict entry deleted and set", """
def f(d):
    d.pop("k", None)
    if "k" in d:
        raise ValueError("still")
    d["k"] = 1
    if "k" in d:
        raise KeyError("again")
""", ("dict(d={'k': 1})", 1), ("dict(d={})", 1)),
    row("must not: sort changes the order of both names", """
def f(xs):
    first = xs[0]
    same = xs
    same.sort()
    if xs[0] != first:
        raise ValueError("m")
""", ("dict(xs=[2, 1])", 0), ("dict(xs=[1, 2])", RETURN)),
    row("must not: `await` may change anything", """
class Slow:
    def __init__(self): self.done = False
    async def wait(self): self.done = True

async def f(q):
    await q.wait()
    if not q.done:
        raise TimeoutError("m")
""", ("dict(q=Slow())", RETURN)),
]  # fmt: skip

BINDINGS = [
    row("must not: a parameter set anew by an unknown call", """
def f(a):
    a = probe(a)
    if a is None:
        raise ValueError("m")
""", ("dict(a=None)", RETURN), ("dict(a=1)", RETURN)),
    row("must not: rebound in one branch, both ways", """
def f(a, b):
    if a:
        b = 0
    if b:
        raise ValueError("m")
""", ("dict(a=1, b=1)", RETURN), ("dict(a=0, b=1)", 0), ("dict(a=0, b=0)", RETURN)),
    row("must not: rebound in a loop that may not run", """
def f(xs, n):
    for x in xs:
        n = x
    if n == 2:
        raise ValueError("m")
""", ("dict(xs=[1, 2], n=0)", 0), ("dict(xs=[], n=2)", 0), ("dict(xs=[1], n=2)", RETURN)),
    row("must not: counted in a loop", """
def f(xs):
    count = 0
    for x in xs:
        if x:
            count += 1
        if count > 1:
            raise ValueError("in")
    if count == 1:
        raise KeyError("after")
""", ("dict(xs=[1, 0, 1])", 0), ("dict(xs=[1, 0])", 1), ("dict(xs=[0])", RETURN)),
    row("must not: an earlier round raised or returned", """
def f(xs):
    for x in xs:
        if x == 1:
            raise ValueError("one")
        if x == 2:
            raise KeyError("two")
        if x == 3:
            return
""", ("dict(xs=[1, 2])", 0), ("dict(xs=[2, 1])", 1), ("dict(xs=[3, 1])", RETURN), ("dict(xs=[0, 2])", 1)),
    row("must not: the loop's name shadows a parameter", """
def f(n, xs):
    for n in xs:
        pass
    if n > 1:
        raise ValueError("m")
""", ("dict(n=5, xs=[0])", RETURN), ("dict(n=5, xs=[])", 0), ("dict(n=0, xs=[2])", 0)),
    row("must not: a comprehension's name does not leak", """
def f(x, xs):
    found = [x for x in xs if x]
    if x and found:
        raise ValueError("m")
""", ("dict(x=0, xs=[1])", RETURN), ("dict(x=1, xs=[1])", 0)),
    row("must not: a walrus in a comprehension leaks", """
def f(xs, last=None):
    if any((last := x) > 1 for x in xs):
        pass
    if last == 1:
        raise ValueError("m")
""", ("dict(xs=[1], last=None)", 0), ("dict(xs=[1, 2], last=1)", RETURN), ("dict(xs=[], last=1)", 0)),
    row("must not: a walrus that short-circuit skips", """
def f(a, b):
    if a and (b := 0) is None:
        return
    if b:
        raise ValueError("m")
""", ("dict(a=1, b=1)", RETURN), ("dict(a=0, b=1)", 0)),
    row("must not: a walrus on one arm of a conditional", """
def f(a, b):
    c = (b := 0) if a else 1
    if b or c == 0 and not a:
        raise ValueError("m")
""", ("dict(a=1, b=1)", RETURN), ("dict(a=0, b=1)", 0)),
    row("must not: swap", """
def f(a, b):
    a, b = b, a
    if a:
        raise ValueError("m")
""", ("dict(a=1, b=0)", RETURN), ("dict(a=0, b=1)", 0)),
    row("must not: a chain of targets", """
def f(a, b):
    a = b = b + 1
    if a == b == 1:
        raise ValueError("m")
""", ("dict(a=5, b=0)", 0), ("dict(a=1, b=1)", RETURN)),
    row("must not: starred unpacking", """
def f(xs):
    first, *rest, last = xs
    if first == last and not rest:
        raise ValueError("m")
""", ("dict(xs=[1, 1])", 0), ("dict(xs=[1, 2, 1])", RETURN), ("dict(xs=[1])", OTHER)),
    row("must not: targets set left to right", """
def f(xs, i):
    i, xs[i] = 1, 9
    if xs[0] == 9:
        raise ValueError("m")
""", ("dict(xs=[0, 0], i=0)", RETURN), ("dict(xs=[9, 0], i=1)", 0)),
    row("must not: a name deleted", """
def f(a):
    b = a
    del a
    try:
        if a:
            raise ValueError("never")
    except NameError:
        if b:
            raise KeyError("m")
""", ("dict(a=1)", 1), ("dict(a=0)", RETURN)),
    row("must not: nonlocal set by a nested function", """
def f(a):
    b = a
    def g():
        nonlocal b
        b = 0
    g()
    if b:
        raise ValueError("m")
""", ("dict(a=1)", RETURN), ("dict(a=0)", RETURN)),
    row("must not: a global that a function changes", """
COUNT = 0

def more():
    global COUNT
    COUNT += 1

def f(a):
    if a:
        more()
    if COUNT:
        raise ValueError("m")
""", ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("must not: a global set in the function itself", """
MODE = 0

def f(a):
    global MODE
    MODE = a
    if MODE:
        raise ValueError("m")
""", ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("must not: a module list is filled", """
SEEN = []

def f(a):
    SEEN.append(a)
    if SEEN:
        raise ValueError("m")
""", ("dict(a=1)", 0)),
    row("must not: a module constant set in one of two branches", """
import sys
LIMIT2 = 1
if sys.maxsize > 5:
    LIMIT2 = 3

def f(n):
    if n > LIMIT2:
        raise ValueError("m")
""", ("dict(n=2)", RETURN), ("dict(n=4)", 0)),
    row("must not: a parameter with the name of a constant", """
SIZE = 4

def f(SIZE, n):
    if n == SIZE:
        raise ValueError("m")
""", ("dict(SIZE=1, n=4)", RETURN), ("dict(SIZE=1, n=1)", 0)),
    row("must not: a local with the name of a constant", """
SIZE = 4

def f(n):
    SIZE = n + 1
    if n == SIZE:
        raise ValueError("m")
    if SIZE == 4:
        raise KeyError("n")
""", ("dict(n=4)", RETURN), ("dict(n=3)", 1)),
    row("must not: a shadowed builtin, local", """
def f(xs, n):
    len = lambda _: n
    if len(xs) > 1:
        raise ValueError("m")
""", ("dict(xs=[1, 2, 3], n=0)", RETURN), ("dict(xs=[], n=2)", 0)),
    row("must not: a shadowed builtin, parameter", """
def f(any, xs):
    if any(xs):
        raise ValueError("m")
""", ("dict(any=all, xs=[1, 0])", RETURN), ("dict(any=any, xs=[1, 0])", 0)),
    row("must not: a shadowed builtin, module", """
def sorted(xs):
    return [9]

def f(xs):
    if sorted(xs)[0] == 9:
        raise ValueError("m")
""", ("dict(xs=[1])", 0), ("dict(xs=[9])", 0)),
    row("must not: a class shadows an exception name", """
class KeyError(ValueError):
    pass

def f(a):
    try:
        if a:
            raise KeyError("caught")
    except ValueError:
        return
    raise ValueError("m")
""", ("dict(a=1)", RETURN), ("dict(a=0)", 1)),
    row("must not: default arguments are not what was given", """
def f(a, b=1):
    if b == 1 and a:
        raise ValueError("m")
""", ("dict(a=1, b=0)", RETURN), ("dict(a=1, b=1)", 0)),
    row("must not: a default that was changed", """
def f(xs=[]):
    if xs:
        raise ValueError("m")
    xs.append(1)
""", ("dict(xs=[1])", 0), ("dict(xs=[])", RETURN)),
    row("must not: an exception's name is gone after its handler", """
def f(a, err=1):
    try:
        int(a)
    except ValueError as err:
        pass
    try:
        err
    except NameError:
        raise ValueError("m")
""", ("dict(a='x', err=1)", 0), ("dict(a='1', err=1)", RETURN)),
    row("must not: a lambda reads its name late", """
def f(a):
    b = a
    late = lambda: b
    b = 0
    if late():
        raise ValueError("m")
""", ("dict(a=1)", RETURN)),
    row("must not: a generator expression reads late", """
def f(n, xs):
    late = (x for x in xs if x == n)
    n = 2
    if any(late):
        raise ValueError("m")
""", ("dict(n=1, xs=[1])", RETURN), ("dict(n=1, xs=[2])", 0)),
    row("must not: an import binds a name", """
def f(string):
    import string
    if string is None:
        raise ValueError("m")
""", ("dict(string=None)", RETURN)),
    row("must not: a class body binds only inside", """
def f(x):
    class Inner:
        x = 1
    if x == 1:
        raise ValueError("m")
""", ("dict(x=0)", RETURN), ("dict(x=1)", 0)),
    row("must not: star arguments", """
def f(*args, **kwargs):
    if len(args) > 1:
        raise ValueError("many")
    if "k" in kwargs:
        raise KeyError("k")
""", ("dict(args=(1, 2), kwargs={})", 0), ("dict(args=(1,), kwargs={'k': 1})", 1),
("dict(args=(), kwargs={})", RETURN)),
    row("must not: names with two underscores", """
class C:
    def f(self, __x):
        if self.__y:
            raise ValueError("mangled")
        if __x.__class__ is int:
            raise KeyError("class")
""", ("dict(self=NS(_C__y=1, __y=0), _C__x=1)", 0), ("dict(self=NS(_C__y=0), _C__x=1)", 1)),
    row("must not: annotated without a value binds nothing", """
def f(a):
    a: int
    if a:
        raise ValueError("m")
""", ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("must not: nan is not equal to itself and not below", """
def f(n):
    if n < 3:
        return
    if n == n:
        raise ValueError("number")
    raise KeyError("nan")
""", ("dict(n=float('nan'))", 1), ("dict(n=4)", 0), ("dict(n=1)", RETURN)),
    row("must not: True is 1, 1.0 is 1", """
def f(a):
    if a is True:
        raise ValueError("is")
    if a == 1:
        raise KeyError("equal")
    if a in {1, "x"}:
        raise TypeError("in")
""", ("dict(a=True)", 0), ("dict(a=1)", 1), ("dict(a=1.0)", 1), ("dict(a='x')", 2), ("dict(a=2)", RETURN)),
]  # fmt: skip

FLOW = [
    row("must not: caught and returned", """
def f(a):
    try:
        if a:
            raise ValueError("caught")
    except Exception:
        return 1
    raise KeyError("m")
""", ("dict(a=1)", RETURN), ("dict(a=0)", 1)),
    row("must not: the first handler that fits", """
def f(a):
    try:
        if a == 1:
            raise Deep("deep")
        if a == 2:
            raise ValueError("plain")
        raise Odd("odd")
    except Special:
        return
    except ValueError as e:
        raise RuntimeError("again") from e
    except LookupError:
        pass
""", ("dict(a=1)", RETURN), ("dict(a=2)", 3), ("dict(a=3)", RETURN)),
    row("must not: a handler does not catch what a handler raises", """
def f(a):
    try:
        raise ValueError("one")
    except ValueError:
        if a:
            raise KeyError("two")
    except KeyError:
        return
""", ("dict(a=1)", 1), ("dict(a=0)", RETURN)),
    row("must not: else is not tried", """
def f(a):
    try:
        int(a)
    except ValueError:
        return
    else:
        raise ValueError("m")
""", ("dict(a='1')", 0), ("dict(a='x')", RETURN)),
    row("must not: finally returns and swallows", """
def f(a):
    try:
        if a:
            raise ValueError("swallowed")
    finally:
        return 1
""", ("dict(a=1)", RETURN), ("dict(a=0)", RETURN)),
    row("must not: finally leaves the loop and swallows", """
def f(a):
    while True:
        try:
            raise ValueError("swallowed")
        finally:
            break
    if a:
        raise KeyError("m")
""", ("dict(a=1)", 1), ("dict(a=0)", RETURN)),
    row("must not: finally raises instead", """
def f(a, b):
    try:
        if a:
            raise ValueError("replaced")
        return
    finally:
        if b:
            raise KeyError("m")
""", ("dict(a=1, b=1)", 1), ("dict(a=0, b=1)", 1), ("dict(a=1, b=0)", 0), ("dict(a=0, b=0)", RETURN)),
    row("must not: finally runs after a return value was taken", """
def f(obj):
    try:
        return obj.x
    finally:
        obj.x = 1
        if obj.x != 1:
            raise ValueError("m")
""", ("dict(obj=Node(x=0))", RETURN)),
    row("must not: suppress swallows and goes on after the block", """
def f(a):
    with suppress(ValueError):
        if a == 1:
            raise Special("swallowed")
        if a == 2:
            raise KeyError("not")
    raise RuntimeError("after")
""", ("dict(a=1)", 2), ("dict(a=2)", 1), ("dict(a=0)", 2)),
    row("must not: a context manager of the tree that swallows", """
def f(a):
    with Swallow():
        if a:
            raise ValueError("swallowed")
        return
    raise KeyError("after")
""", ("dict(a=1)", 1), ("dict(a=0)", RETURN)),
    row("must not: re-raised only now and then", """
def f(a, b):
    try:
        if a:
            raise ValueError("m")
    except ValueError:
        if b:
            raise
""", ("dict(a=1, b=1)", 0), ("dict(a=1, b=0)", RETURN), ("dict(a=0, b=1)", RETURN)),
    row("must not: nested try, the inner handler is too narrow", """
def f(a):
    try:
        try:
            if a:
                raise ValueError("m")
        except KeyError:
            return
    except ValueError:
        pass
    if a == 2:
        raise KeyError("after")
""", ("dict(a=1)", RETURN), ("dict(a=2)", 1), ("dict(a=0)", RETURN)),
    row("must not: handlers by a name that is a variable", """
def f(a, kinds):
    try:
        if a:
            raise ValueError("m")
    except kinds:
        return
""", ("dict(a=1, kinds=ValueError)", RETURN), ("dict(a=1, kinds=(KeyError,))", 0)),
    row("must not: exception groups", """
def f(a):
    try:
        if a:
            raise ValueError("m")
    except* ValueError:
        pass
""", ("dict(a=1)", RETURN), ("dict(a=0)", RETURN)),
    row("must not: short-circuit guards the second test", """
def f(a):
    if a is not None and a.x > 1:
        raise ValueError("m")
    if a is None or a.x == 0:
        raise KeyError("n")
""", ("dict(a=None)", 1), ("dict(a=NS(x=2))", 0), ("dict(a=NS(x=0))", 1), ("dict(a=NS(x=1))", RETURN)),
    row("must not: the unreached test would raise", """
def f(a, d):
    if a or d["missing"]:
        return
    raise ValueError("m")
""", ("dict(a=1, d={})", RETURN), ("dict(a=0, d={})", OTHER), ("dict(a=0, d={'missing': 0})", 0)),
    row("must not: an unknown before a false one that Python does not come to", """
def f(a, b):
    if a.size > 1 and b:
        raise ValueError("m")
    if b == 0:
        raise KeyError("n")
""", ("dict(a=3, b=0)", OTHER), ("dict(a=NS(size=2), b=0)", 1), ("dict(a=NS(size=2), b=1)", 0)),
    row("must not: chained comparison evaluates the middle once", """
def f(obj):
    if 0 < obj.bump() < 2:
        raise ValueError("m")
""", ("dict(obj=Node(x=0))", 0), ("dict(obj=Node(x=1))", RETURN)),
    row("must not: chained comparison stops early", """
def f(a, b):
    if a < 1 < b.x:
        raise ValueError("m")
""", ("dict(a=2, b=None)", RETURN), ("dict(a=0, b=NS(x=2))", 0), ("dict(a=0, b=NS(x=1))", RETURN)),
    row("must not: for-else with break, return and raise", """
def f(xs):
    for x in xs:
        if x == 1:
            break
        if x == 2:
            raise ValueError("two")
        if x == 3:
            return
    else:
        raise KeyError("else")
    raise RuntimeError("broke")
""", ("dict(xs=[])", 1), ("dict(xs=[0, 1])", 2), ("dict(xs=[2, 1])", 0), ("dict(xs=[3])", RETURN),
("dict(xs=[1, 2])", 2)),
    row("must not: while-else", """
def f(n):
    while n > 0:
        n -= 2
        if n == 1:
            break
    else:
        raise ValueError("even")
    if n == 1:
        raise KeyError("odd")
""", ("dict(n=4)", 0), ("dict(n=3)", 1), ("dict(n=0)", 0), ("dict(n=5)", 1)),
    row("must not: while True left by break", """
def f(xs):
    i = 0
    while True:
        if i >= len(xs):
            break
        if xs[i] is None:
            raise ValueError("in")
        i += 1
    if i > 2:
        raise KeyError("after")
""", ("dict(xs=[1, None])", 0), ("dict(xs=[1, 2, 3])", 1), ("dict(xs=[1])", RETURN)),
    row("must not: continue in an inner loop is of the inner loop", """
def f(xs, ys):
    for x in xs:
        for y in ys:
            if y == x:
                break
        else:
            continue
        raise ValueError("m")
""", ("dict(xs=[1, 2], ys=[2])", 0), ("dict(xs=[1], ys=[2])", RETURN), ("dict(xs=[], ys=[])", RETURN)),
    row("must not: match captures bind even when the guard fails", """
def f(a, v):
    match a:
        case [v, _] if v > 1:
            return
        case _:
            pass
    if v == 0:
        raise ValueError("m")
""", ("dict(a=[0, 1], v=5)", 0), ("dict(a=[2, 1], v=0)", RETURN), ("dict(a=1, v=0)", 0),
("dict(a=[1, 1], v=0)", RETURN)),
    row("must not: match on classes, sequences are no strings", """
def f(a):
    match a:
        case [x, *rest] if rest:
            raise ValueError("sequence")
        case {"k": x}:
            raise KeyError("mapping")
        case str() | bytes():
            raise TypeError("text")
        case int(x) if x:
            raise IndexError("number")
""", ("dict(a=[1, 2])", 0), ("dict(a={'k': 0, 'j': 1})", 1), ("dict(a='xy')", 2), ("dict(a=True)", 3),
("dict(a=0)", RETURN),
        ("dict(a=(1, 2))", 0), ("dict(a=[1])", RETURN)),
    row("must not: a match literal True is no 1", """
def f(a):
    match a:
        case True:
            raise ValueError("true")
        case 1:
            raise KeyError("one")
""", ("dict(a=True)", 0), ("dict(a=1)", 1), ("dict(a=1.0)", 1), ("dict(a=0)", RETURN)),
    row("must not: a helper that never returns", """
def f(a, b):
    if a:
        stop("now")
    if b:
        raise ValueError("m")
""", ("dict(a=1, b=1)", OTHER), ("dict(a=0, b=1)", 0), ("dict(a=0, b=0)", RETURN)),
    row("must not: NoReturn by name only", """
def stop2(x):
    return x

def f(a, b):
    if a:
        stop2("now")
    if b:
        raise ValueError("m")
""", ("dict(a=1, b=1)", 0), ("dict(a=0, b=1)", 0), ("dict(a=1, b=0)", RETURN)),
    row("must not: a method of this name on another object returns", """
class Never:
    def go(self) -> NoReturn:
        raise SystemExit

def f(a, obj):
    if a:
        obj.go()
    raise ValueError("m")
""", ("dict(a=1, obj=NS(go=lambda: 1))", 0), ("dict(a=0, obj=None)", 0), ("dict(a=1, obj=Never())", OTHER)),
    row("must not: sys is a parameter here", """
def f(sys, a):
    if a:
        sys.exit(1)
    raise ValueError("m")
""", ("dict(sys=NS(exit=lambda n: n), a=1)", 0), ("dict(sys=NS(exit=lambda n: n), a=0)", 0)),
    row("must not: asserts", """
def f(a, b):
    assert a, "no"
    if b:
        raise ValueError("m")
    assert not b
""", ("dict(a=1, b=1)", 0), ("dict(a=0, b=1)", OTHER), ("dict(a=1, b=0)", RETURN)),
    row("must not: a generator", """
def f(xs):
    for x in xs:
        yield x
        if x == 1:
            raise ValueError("m")
""", ("dict(xs=[0, 1])", 0), ("dict(xs=[0])", RETURN)),
    row("must not: a raise whose argument raises", """
def f(a):
    if a:
        raise ValueError(a.missing)
    raise KeyError("m")
""", ("dict(a=1)", OTHER), ("dict(a=0)", 1)),
    row("must not: unreachable", """
def f(a):
    if a:
        return 1
    else:
        return 2
    raise ValueError("m")
""", ("dict(a=1)", RETURN), ("dict(a=0)", RETURN)),
    row("must not: `if False`, TYPE_CHECKING, `while False`", """
from typing import TYPE_CHECKING

def f(a):
    if TYPE_CHECKING:
        raise ValueError("one")
    while False:
        raise ValueError("two")
    if False and a:
        raise ValueError("three")
    if not TYPE_CHECKING and a:
        raise KeyError("m")
""", ("dict(a=1)", 3), ("dict(a=0)", RETURN)),
    row("must not: truth of a value of its own", """
class Odd2:
    def __init__(self, n): self.n = n
    def __bool__(self): return bool(self.n)
    def __len__(self): return 1
    def __eq__(self, other): return NotImplemented
    __hash__ = None

def f(a):
    if not a:
        raise ValueError("m")
    if a == a:
        raise KeyError("n")
""", ("dict(a=Odd2(0))", 0), ("dict(a=Odd2(1))", 1), ("dict(a=[])", 0)),
    row("must not: enum members by value, identity and order", """
def f(k):
    if k is Kind.A:
        raise ValueError("is")
    if k == "x":
        raise KeyError("text")
    if k in (Level.LOW, Mode.Y):
        raise TypeError("in")
    if isinstance(k, int) and k > Level.LOW:
        raise RuntimeError("more")
""", ("dict(k=Kind.A)", 0), ("dict(k=Mode.X)", 1), ("dict(k='x')", 1), ("dict(k=1)", 2), ("dict(k=Mode.Y)", 2),
("dict(k=Level.HIGH)", 3), ("dict(k=Kind.B)", RETURN), ("dict(k=None)", RETURN), ("dict(k='y')", 2)),
]  # fmt: skip

PATHS = "".join(f"    if a == {i}:\n        b = {i}\n" for i in range(40))
EXITS = "".join(f"    if a == {i}:\n        return {i}\n" for i in range(1000))
PARTIAL = "".join(f"    if a > {i}:\n        if b == {i}:\n            return\n" for i in range(60))
HUGE = [
    row("a huge range", "def f(n):\n    if sum(range(n)) == 3:\n        raise ValueError('m')\n",
        ("dict(n=3)", 0), ("dict(n=2)", RETURN)),
    row("a huge list", "def f(n):\n    if len(list(range(n))) == 3:\n        raise ValueError('m')\n",
    ("dict(n=3)", 0)),
    row("a huge text", "def f(n):\n    if len('a' * n) == 3:\n        raise ValueError('m')\n", ("dict(n=3)", 0)),
    row("a huge power", "def f(n):\n    if 10 ** 10 ** n == 10:\n        raise ValueError('m')\n", ("dict(n=0)", 0)),
    row("a huge shift", "def f(n):\n    if 1 << n == 8:\n        raise ValueError('m')\n", ("dict(n=3)", 0)),
    row("a huge format", "def f(n):\n    if f'{1:{n}}' == '  1':\n        raise ValueError('m')\n", ("dict(n=3)", 0)),
    row("a huge product of loops",
        "def f(xs):\n    if any(a + b + c + d == -1 for a in xs for b in xs for c in xs for d in xs):\n"
        "        raise ValueError('m')\n", ("dict(xs=[1])", RETURN)),
    row("loops in loops",
        "def f(xs):\n    for a in xs:\n        for b in xs:\n            for c in xs:\n                for d in xs:\n"
        "                    if a + b + c + d == -1:\n                        raise ValueError('m')\n",
        ("dict(xs=[1])", RETURN)),
    row("a loop without end", "def f(n):\n    while n:\n        n = n + 1\n    raise ValueError('m')\n",
    ("dict(n=0)", 0), ("dict(n=-2)", 0)),
    row("doubled text",
    "def f(n):\n    s = 'ab'\n" + "    s = s + s\n" * 40 + "    if not n:\n        raise ValueError('m')\n"),
    row("doubled list",
    "def f(n):\n    s = [n]\n" + "    s = [s, s]\n" * 40 + "    if s == n:\n        raise ValueError('m')\n"),
    row("a pattern that backtracks",
    "import re\n\ndef f(s):\n    if re.match(r'(a+)+$', s):\n        raise ValueError('m')\n", ("dict(s='a')", 0)),
    row("2**40 paths", f"def f(a, b):\n{PATHS}    if b == 3:\n        raise ValueError('m')\n",
        ("dict(a=3, b=0)", 0), ("dict(a=50, b=3)", 0), ("dict(a=4, b=3)", RETURN)),
    row("1,000 early exits", f"def f(a):\n{EXITS}    raise ValueError('m')\n", ("dict(a=999)", RETURN),
    ("dict(a=1000)", 0)),
    row("60 partial exits", f"def f(a, b):\n{PARTIAL}    raise ValueError('m')\n",
        ("dict(a=9, b=3)", RETURN), ("dict(a=9, b=30)", 0), ("dict(a=-1, b=0)", 0)),
    row("a chain of 200 additions", f"def f(a):\n    if {' + '.join(['a'] * 200)} == 200:\n        raise ValueError('m')\n", ("dict(a=1)", 0)),
    row("400 parentheses of not", f"def f(a):\n    if {'not ' * 400}a:\n        raise ValueError('m')\n",
    ("dict(a=1)", 0), ("dict(a=0)", RETURN)),
    row("18 nested ifs",
    "def f(a):\n" + "".join("    " * (i + 1) + f"if a > {i}:\n" for i in range(18)) + "    " * 19 + "raise ValueError('m')\n",
        ("dict(a=18)", 0), ("dict(a=17)", RETURN)),
]  # fmt: skip
# Constants that Python would not come to an end with: no case can be run, an answer within a second is all that is asked.
ENDLESS_TESTS = [
    "sum(range(10**12)) > n", "'a' * 10**10 == n", "10**10**10 > n", "len(list(range(10**10))) > n", "[0] * 10**10 == n",
    "f'{n:10000000000}' == 'x'", "'x'.rjust(10**10) == n", "1 << 10**12 > n", "str(10**100000000) == n",
    "max(range(10**11)) == n", "any(x == n for x in range(10**11))", "-1 in iter(range(10**11))", "bytes(10**11) == n",
    "int('9' * 10**7) == n", "'%10000000000d' % 5 == n", "'{:>10000000000}'.format(n) == ''", "sorted(range(10**10))[0] == n",
    "tuple(x * y for x in range(10**6) for y in range(10**6)) == n", "'ab'.replace('', 'c' * 10**5).replace('', 'c' * 10**5) == n",
    "pow(7, 10**9) == n", "all(range(1, 10**11)) == n", "'a'.join(['b' * 10**6] * 10**6) == n", "7 ** 7 ** 7 ** 7 == n",
]  # fmt: skip
CONSTANT = [row(f"constant: {t}", f"def f(n):\n    if {t}:\n        raise ValueError('m')\n") for t in ENDLESS_TESTS]
# Environments that would take for ever: an answer within a second is all that is asked of these.
QUICKLY = {
    "a huge range": "dict(n=10**12)", "a huge list": "dict(n=10**10)", "a huge text": "dict(n=10**10)",
    "a huge power": "dict(n=10)", "a huge shift": "dict(n=10**12)", "a huge format": "dict(n=10**10)",
    "a huge product of loops": "dict(xs=list(range(1000)))", "loops in loops": "dict(xs=list(range(1000)))",
    "a loop without end": "dict(n=1)", "doubled text": "dict(n=0)", "doubled list": "dict(n=0)",
    "a pattern that backtracks": "dict(s='a' * 40 + 'b')",
}  # fmt: skip
QUICKLY |= {one.name: "dict(n=5)" for one in CONSTANT}
ROWS = [*EFFECTS, *BINDINGS, *FLOW, *HUGE, *CONSTANT]
