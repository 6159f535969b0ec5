"""What an exception's own class makes of its arguments, and how its class, status and cause are told."""

from __future__ import annotations

import pytest

from tests.trees import only, sites_in

BASE = """
class Base(Exception):
    def __init__(self, message, *, field=None, value=None):
        super().__init__(message)
        self.field = field
        self.value = value

    def __str__(self):
        text = super().__str__()
        more = []
        if self.field is not None:
            more.append(f"field={self.field}")
        if self.value is not None:
            more.append(f"value={self.value}")
        return f"{text} ({', '.join(more)})" if more else text
"""

# (name, classes, raise, messages)
OWN_TEXT = [
    ("an __init__ that keeps its arguments to itself", "class E(Exception):\n    def __init__(self, a):\n        self.a = a", 'E("x")', {"x"}),
    ("an empty super().__init__()", "class E(Exception):\n    def __init__(self, a):\n        super().__init__()", 'E("x")', set()),
    ("args set by hand", "class E(Exception):\n    def __init__(self, a):\n        self.args = (f'<{a}>',)", 'E("x")', {"<x>"}),
    ("the base called by name", "class E(ValueError):\n    def __init__(self, a):\n        ValueError.__init__(self, f'<{a}>')", "E(q)", {"<{q}>"}),
    ("two levels", "class D(Exception):\n    def __init__(self, a):\n        super().__init__('d ' + a)\nclass E(D):\n    def __init__(self, a):\n        super().__init__('e ' + a)", "E(q)", {"d e {q}"}),
    ("an inherited __init__", "class D(Exception):\n    def __init__(self, a):\n        super().__init__('d ' + a)\nclass E(D):\n    pass", "E(q)", {"d {q}"}),
    ("a default", "class E(Exception):\n    def __init__(self, a='gone'):\n        super().__init__(a)", "E()", {"gone"}),
    ("the class alone, with a default", "class E(Exception):\n    def __init__(self, a='gone'):\n        super().__init__(a)", "E", {"gone"}),
    ("a branch in __init__", "class E(Exception):\n    def __init__(self, a=None):\n        text = 'none' if a is None else f'has {a}'\n        super().__init__(text)", "E()", {"none"}),
    ("a branch in __init__, unknown", "class E(Exception):\n    def __init__(self, a=None):\n        if a:\n            super().__init__(f'has {a}')\n        else:\n            super().__init__('none')", "E(q)", {"none", "has {q}"}),
    ("a property of the object in __str__", "class E(Exception):\n    def __init__(self, a):\n        self.a = a.b\n    def __str__(self):\n        return f'got {self.a}'", "E(q)", {"got {q.b}"}),
    ("args in __str__", "class E(Exception):\n    def __str__(self):\n        return f'E: {self.args[0]}'", 'E("x")', {"E: x"}),
    ("a dataclass", "from dataclasses import dataclass\n@dataclass\nclass E(Exception):\n    a: str\n    b: int = 0\n    def __str__(self):\n        return f'{self.a}!'", 'E(a=q)', {"{q}!"}),
    ("a format on the class", "class E(Exception):\n    TEXT = 'no {}'\n    def __init__(self, a):\n        super().__init__(self.TEXT.format(a))", "E(q)", {"no {q}"}),
    ("a format that a subclass changes", "class D(Exception):\n    TEXT = 'no {}'\n    def __init__(self, a):\n        super().__init__(self.TEXT.format(a))\nclass E(D):\n    TEXT = 'not {}'", "E(q)", {"not {q}"}),
    ("a format of the class whose subclass changes it", "class E(Exception):\n    TEXT = 'no {}'\n    def __init__(self, a):\n        super().__init__(self.TEXT.format(a))\nclass D(E):\n    TEXT = 'not {}'", "E(q)", {"no {q}"}),
    ("known optional parts", BASE, 'Base("bad", field="n")', {"bad (field=n)"}),
    ("unknown optional parts", BASE, 'Base("bad", value=q)', {"bad (value={q})", "bad"}),
    ("no optional parts", BASE, 'Base("bad")', {"bad"}),
]  # fmt: skip


@pytest.mark.parametrize(("classes", "raised", "messages"), [r[1:] for r in OWN_TEXT], ids=[r[0] for r in OWN_TEXT])
def test_classes_that_build_their_text(classes: str, raised: str, messages: set[str]) -> None:
    found = only(f"{classes}\ndef f(q):\n    raise {raised}\n")
    assert found.messages - {""} == messages


# (name, raise, message)
OTHERS = [
    ("an unknown keyword is no message", "ValueError(x=1)", ""),
    ("two arguments", 'ValueError("a %s", q)', "('a %s', {q!r})"),
    ("an errno", 'OSError(2, "gone", q)', "[Errno 2] gone: {q!r}"),
    ("a subclass of OSError", 'FileNotFoundError(q, "gone")', "[Errno {q}] gone"),
    ("one argument of OSError", 'OSError("gone")', "gone"),
    ("a keyword that holds text", "lib.LibError(message=q)", "{q}"),
    ("a detail that is a dict", 'HTTPException(status_code=400, detail={"error": q})', '{{"error": q}}'),
    ("a group", 'ExceptionGroup("several", errs)', "several ({len(errs)} sub-exceptions)"),
    ("a called process", 'subprocess.CalledProcessError(1, "ls")', "Command 'ls' returned non-zero exit status 1."),
    ("an argument of argparse", 'argparse.ArgumentError(None, f"no {q}")', "no {q}"),
]  # fmt: skip


@pytest.mark.parametrize(("raised", "message"), [r[1:] for r in OTHERS], ids=[r[0] for r in OTHERS])
def test_classes_of_others(raised: str, message: str) -> None:
    head = "import argparse, lib, subprocess\nfrom fastapi import HTTPException\n"
    assert only(f"{head}def f(q, errs):\n    raise {raised}\n").message == message


# (name, imports and definitions, raise, exception, qualified name, a base that must be there)
CLASSES = [
    ("a builtin", "", "KeyError(1)", "KeyError", "builtins.KeyError", "builtins.LookupError"),
    ("an unknown name", "", "Missing(1)", "Missing", None, None),
    ("imported", "from lib import E", "E(1)", "E", "lib.E", None),
    ("imported under another name", "from lib import E as F", "F(1)", "E", "lib.E", None),
    ("by module", "import lib.sub", "lib.sub.E(1)", "E", "lib.sub.E", None),
    ("of the tree", "class E(TypeError):\n    pass", "E(1)", "E", "vllm.a.E", "builtins.TypeError"),
    ("an alias", "class E(TypeError):\n    pass\nF = E", "F(1)", "E", "vllm.a.E", "builtins.Exception"),
    ("made by a variable class", "", "q.exc_type(1)", "q.exc_type", None, None),
    ("type of a value", "", "type(q)(1)", "type(q)", None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "raised", "name", "qualified", "base"), [r[1:] for r in CLASSES], ids=[r[0] for r in CLASSES]
)
def test_the_class(head: str, raised: str, name: str, qualified: str | None, base: str | None) -> None:
    site = only(f"{head}\ndef f(q):\n    raise {raised}\n").site
    assert (site.exception, site.qualified_exception) == (name, qualified)
    assert base is None or base in site.bases


STATUS = [
    ("not an HTTP exception", "ValueError(404)", None),
    ("not a status", "HTTPException(7, 'x')", None),
    ("a number", "HTTPException(404, 'x')", 404),
    ("a keyword", "HTTPException(detail='x', status_code=404)", 404),
    ("http's own", "HTTPException(HTTPStatus.NOT_FOUND, 'x')", 404),
    ("http's own value", "HTTPException(status_code=HTTPStatus.NOT_FOUND.value, detail='x')", 404),
    ("fastapi's constant", "HTTPException(status.HTTP_404_NOT_FOUND, 'x')", 404),
    ("a constant of the module", "HTTPException(GONE, 'x')", 410),
    ("a class of the tree", "Gone('x')", 410),
    ("a local", "HTTPException(code, 'x')", 404),
]  # fmt: skip


@pytest.mark.parametrize(("raised", "status"), [r[1:] for r in STATUS], ids=[r[0] for r in STATUS])
def test_http_status(raised: str, status: int | None) -> None:
    found = only(
        f"""
        from http import HTTPStatus
        from fastapi import HTTPException, status
        GONE = 410
        class Gone(HTTPException):
            def __init__(self, why):
                super().__init__(status_code=410, detail=why)
        def f():
            code = 404
            raise {raised}
        """
    )
    assert found.site.http_status == found.error.http_status == status


# (name, body, kind, exception, cause)
AGAIN = [
    ("a new exception in a handler", "try: g()\nexcept E as e:\n    raise V('x')", "raise", "V", None),
    ("from the caught one", "try: g()\nexcept (E, F) as e:\n    raise V('x') from e", "raise", "V", "E | F"),
    ("from None", "try: g()\nexcept E:\n    raise V('x') from None", "raise", "V", "None"),
    ("from something else", "raise V('x') from g.error", "raise", "V", "g.error"),
    ("after the handler the name is gone", "try: g()\nexcept E as e:\n    pass\nraise e", "raise", "e", None),
    ("the name rebound", "try: g()\nexcept E as e:\n    e = V('x')\n    raise e", "raise", "V", None),
    ("bare", "try: g()\nexcept (E, F):\n    raise", "reraise", "E | F", None),
    ("bare outside of a handler", "raise", "reraise", "BaseException", None),
    ("bare in an inner handler", "try: g()\nexcept E:\n    try: g()\n    except F:\n        raise", "reraise", "F", None),
    ("bare in a handler for all", "try: g()\nexcept:\n    raise", "reraise", "BaseException", None),
    ("by name", "try: g()\nexcept E as e:\n    raise e", "reraise", "E", None),
    ("by another name", "try: g()\nexcept E as e:\n    x = e\n    raise x", "reraise", "E", None),
    ("with another traceback", "try: g()\nexcept E as e:\n    raise e.with_traceback(None)", "reraise", "E", None),
    ("kept for later", "last = None\nfor x in g:\n    try: g()\n    except E as e:\n        last = e\nraise last", "reraise", "E", None),
    ("kept for later, or something else", "last = V('x')\nfor x in g:\n    try: g()\n    except E as e:\n        last = e\nraise last", "raise", "V | e", None),
    ("of a module", "try: g()\nexcept lib.E as e:\n    raise", "reraise", "E", None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "exception", "cause"), [r[1:] for r in AGAIN], ids=[r[0] for r in AGAIN])
def test_raised_again(body: str, kind: str, exception: str, cause: str | None) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    site = only(f"def f(g, lib):\n{indented}").site
    assert (site.kind, site.exception, site.cause) == (kind, exception, cause)


def test_sites_of_one_message_are_one_error() -> None:
    text = (
        'def f():\n    raise ValueError("a")\ndef g():\n    raise KeyError("a")\ndef h():\n    raise ValueError("b")\n'
    )
    found = sites_in({"vllm/a.py": text})
    assert found[0].error.id == found[1].error.id != found[2].error.id
    assert [f.site.exception for f in found] == ["ValueError", "KeyError", "ValueError"]
    assert found[1].error.exception == "ValueError"
