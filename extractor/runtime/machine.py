"""Owns the run of a predicate: the part of a function that decides about a raise, with what is told of its names.

A program is plain data (see `extractor.program`). It is run like the function, but for three things. A test
whose answer is not known sends control both ways; where the ways meet, what differs is unknown. A call that is
not known to be harmless is not made (see `memory` for what that means for what it was given). And nothing runs
away: there is a budget of steps.

An expression that raises while asking is unknown, and the function may have ended there. In a `try`, whatever
works on unknown values may raise, which sends control to the handlers as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .exits import Exits, builtin, catches
from .matching import Matching
from .memory import Code, Env, Expr, from_all, join
from .values import NEW, UNTOLD, Class, is_atom

END = object()
UNDECIDED = 200  # tests that sent control both ways in a loop, from which on its turns are not told apart


class Machine(Matching):
    """Runs statements."""

    def block(self, code: Code, env: Env) -> Exits:
        """Runs statements one after the other. `env` is used up. One that gives None goes on, and nowhere else."""
        total = Exits()
        for statement in code:
            self._spend()
            if statement[0] == "w" and not self.watching:
                continue
            self._raised = self._unsure = False
            out = STATEMENTS[statement[0]](self, statement, env)
            if out is None:
                continue
            total.take(out)
            if out.falls is None:
                return total
            env = out.falls
        total.falls = env
        return total

    def _done(self, env: Env) -> Exits:
        """Behind expressions: control goes on, unless one of them raised."""
        out = Exits(env)
        if self._raised or (self._unsure and self._tries):
            out.error = self._seen(env)
        self._raised = self._unsure = False
        return out

    def _simply(self, env: Env) -> Exits | None:
        """As `_done`, for a statement that does no more: None when control just goes on."""
        return self._done(env) if self._raised or (self._unsure and self._tries) else None

    def _seen(self, env: Env) -> Env:
        """What is known where something is raised: as it is now, if anybody comes to see it."""
        return env.copy() if self._guarded else env

    def _assign(self, statement: Expr, env: Env) -> Exits | None:
        _, target, value = statement
        self._bind(target, self.value(value, env), env)
        return self._simply(env)

    def _expression(self, statement: Expr, env: Env) -> Exits | None:
        self.value(statement[1], env)
        return self._simply(env)

    def _augment(self, statement: Expr, env: Env) -> Exits | None:
        _, target, op, value = statement
        before, right = self.value(target, env), self.value(value, env)
        if is_atom(before) or type(before) is tuple:
            result = self._operate(op, before, right)
        else:  # changed in place, if it can be
            self._taint((before,))
            result = from_all((before, right))
            self._unsure = True
        self._bind(target, result, env)
        return self._simply(env)

    def _if(self, statement: Expr, env: Env) -> Exits:
        answer = self.ask(statement[1], env)
        out = self._done(env)
        out.falls = None
        if answer is not False:
            self._undecided += answer is None
            then = self.block(statement[2], env if answer else env.copy())
            out.take(then)
            out.falls = then.falls
        if answer is not True:
            other = self.block(statement[3], env)
            out.take(other)
            out.falls = join(out.falls, other.falls)
        return out

    def _assert(self, statement: Expr, env: Env) -> Exits:
        answer = self.ask(statement[1], env)
        out = self._done(env)
        if answer is not True:
            out.raised.append((None, statement[2] and self._class(statement[2]), self._seen(env)))
        if answer is False:
            out.falls = None
        return out

    def _return(self, statement: Expr, env: Env) -> Exits:
        if len(statement) > 1:
            self.value(statement[1], env)
        out = self._done(env)
        out.returns, out.falls = env, None
        return out

    def _break(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.breaks = env
        return out

    def _continue(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.again = env
        return out

    def _raise(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.raised.append((statement[1], self._class(statement[2]), env))
        return out

    def _class(self, node: Expr | None) -> Class | None:
        """The class that a raise or a handler names; None when it cannot be told."""
        value = None if node is None else self._globals[node[1]] if node[0] == "g" else None
        if isinstance(value, type):
            return builtin(value)
        return value if isinstance(value, Class) else None

    def _risk(self, statement: Expr, env: Env) -> Exits:
        out = Exits(env)
        out.error = self._seen(env)
        return out

    def _forget(self, statement: Expr, env: Env) -> None:
        for name in statement[1]:
            env.names[name] = UNTOLD

    def _watch(self, statement: Expr, env: Env) -> None:
        risks = self._raised, self._unsure
        answer = self.ask(statement[2], env)
        is_way = statement[2] == ["k", True]  # one that is taken: for certain, or perhaps
        self.answers.setdefault(statement[1], []).append(None if is_way and self._perhaps else answer)
        self._raised, self._unsure = risks

    # --- loops ------------------------------------------------------------------------------------------

    def _for(self, statement: Expr, env: Env) -> Exits:
        _, target, iterable, body, _, _, _ = statement
        collection = self.value(iterable, env)
        items = self._items(collection)
        if items is None:
            return self._some(statement, env, target, from_all((collection,)))
        out = self._done(env)
        current: Env = env
        undecided = self._undecided
        for item in (*items, END):
            self._spend()
            if self._is_tainted(collection) or self._undecided - undecided > UNDECIDED:  # it may have grown by now
                return self._rest(out, self._some(statement, current, target, from_all((collection,))))
            if item is END:
                break
            self._bind(target, item, current)
            bound = self._done(current)
            out.error = join(out.error, bound.error)
            after = self._turn(body, current, out)
            if after is None:
                return self._ended(out, None, [])
            current = after
        return self._ended(out, current, statement[4])

    def _turn(self, body: Code, env: Env, out: Exits) -> Env | None:
        """One turn of a loop: what the next one starts with; the ways out of it are added to `out`."""
        turn = self.block(body, env)
        after = join(turn.falls, turn.again)
        turn.again = None
        out.take(turn)
        return after

    def _rest(self, out: Exits, rest: Exits) -> Exits:
        """Behind turns that were taken and the rest, of which nobody knows how many there are."""
        out.falls, out.breaks = join(out.breaks, rest.falls), None
        out.take(rest)
        return out

    def _while(self, statement: Expr, env: Env) -> Exits:
        _, test, body, orelse, _, _ = statement
        out = Exits()
        current: Env | None = env
        undecided = self._undecided
        while current is not None:
            self._spend()
            answer = self.ask(test, current)
            out.take(self._done(current))
            if answer is None or self._undecided > undecided:  # nothing tells how long it goes on
                return self._rest(out, self._some(statement, current, None, None))
            if not answer:
                break
            current = self._turn(body, current, out)
        return self._ended(out, current, orelse)

    def _some(self, statement: Expr, env: Env, target: Expr | None, item: Any) -> Exits:
        """A loop of nobody knows how many turns: what its body binds is unknown all along."""
        *_, body, orelse, names, attributes = statement
        out = self._done(env)
        for name in names:
            env.names[name] = UNTOLD
        for name in attributes:
            self._store(UNTOLD, name, UNTOLD, env)
        inner = env.copy()
        if target is not None:
            self._bind(target, item, inner)
        tainted = len(self._tainted), self._all_tainted
        self._perhaps += 1
        turned = Exits()
        after = self._turn(body, inner.copy(), turned)
        if (len(self._tainted), self._all_tainted) != tainted:  # a later turn sees what an earlier one changed
            turned = Exits()
            after = self._turn(body, inner, turned)
        self._perhaps -= 1
        out.take(turned)
        return self._ended(out, join(env, after), orelse)

    def _ended(self, out: Exits, current: Env | None, orelse: Code) -> Exits:
        """Behind a loop: by its end and what stands in `else`, or by `break`."""
        broken, out.breaks = out.breaks, None
        out.falls = None
        if current is not None:
            last = self.block(orelse, current)
            out.take(last)
            out.falls = last.falls
        out.falls = join(out.falls, broken)
        return out

    # --- handlers ---------------------------------------------------------------------------------------

    def _try(self, statement: Expr, env: Env) -> Exits:
        _, body, handlers, orelse, final = statement
        self._guarded += 1
        self._tries += bool(handlers)
        tried = self.block(body, env)
        self._tries -= bool(handlers)
        out = Exits()
        error, tried.error = tried.error, None
        self._undecided += error is not None
        raised, tried.raised = tried.raised, []
        out.take(tried)
        if tried.falls is not None:
            rest = self.block(orelse, tried.falls)
            out.take(rest)
            out.falls = rest.falls
        for types, name, code in handlers:
            entered, error, raised = self._entered(types, error, raised)
            if entered is None:
                continue
            if name is not None:
                entered.names[name] = NEW
            self._perhaps += 1
            way = self.block(code, entered)
            self._perhaps -= 1
            if name is not None and way.falls is not None:
                way.falls.names.pop(name, None)
            out.take(way)
            out.falls = join(out.falls, way.falls)
        self._guarded -= 1
        out.error = join(out.error, error)
        out.raised += raised
        return self._finally(out, final) if final else out

    def _entered(
        self, types: Sequence[Expr] | None, error: Env | None, raised: list[tuple[int | None, Class | None, Env]]
    ) -> tuple[Env | None, Env | None, list[tuple[int | None, Class | None, Env]]]:
        """What a handler sees, and what gets past it."""
        classes = [Class("builtins.BaseException", (), True)] if types is None else [self._class(t) for t in types]
        every = any(c is not None and c.name in ("builtins.BaseException", "builtins.Exception") for c in classes)
        entered = None if error is None else error.copy()
        past: list[tuple[int | None, Class | None, Env]] = []
        for site, class_, env in raised:
            answer = catches(classes, class_)
            if answer is not True:
                past.append((site, class_, env))
            if answer is not False:
                entered = join(entered, env.copy())
                if site is not None:
                    self.caught.add(site)
        return entered, None if every else error, past

    def _finally(self, out: Exits, final: Code) -> Exits:
        env = out.falls
        for other in (out.breaks, out.again, out.returns, out.error, *(e for _, _, e in out.raised)):
            env = join(env, other)
        if env is None:
            return out
        last = self.block(final, env.copy())
        if last.falls is None:
            self.caught.update(site for site, _, _ in out.raised if site is not None)
            return last
        made = Exits()
        made.take(last)
        after = last.falls
        for way in ("falls", "breaks", "again", "returns", "error"):
            if getattr(out, way) is not None:
                setattr(made, way, join(getattr(made, way), after.copy()))
        made.raised += [(site, class_, after.copy()) for site, class_, _ in out.raised]
        if last.returns or last.breaks or last.again or last.error or last.raised:  # may go another way instead
            self.caught.update(site for site, _, _ in out.raised if site is not None)
        return made

    def _match(self, statement: Expr, env: Env) -> Exits:
        _, subject, cases = statement
        value = self.value(subject, env)
        out = self._done(env)
        out.falls = None
        current: Env | None = env
        for pattern, guard, body in cases:
            assert current is not None
            inner = current.copy()
            matched = answer = self._matches(pattern, value, inner)
            if answer is not False and guard is not None:
                holds = self.ask(guard, inner)
                answer = False if holds is False else None if None in (answer, holds) else True
                if answer is not True:  # what the pattern bound stays bound
                    current = inner.copy() if matched else join(current, inner.copy())
            bound = self._done(inner)
            out.error = join(out.error, bound.error)
            if answer is False:
                continue
            way = self.block(body, inner)
            out.take(way)
            out.falls = join(out.falls, way.falls)
            if answer is True:
                current = None
                break
        out.falls = join(out.falls, current)
        return out


STATEMENTS: dict[str, Callable[[Machine, Expr, Env], Exits | None]] = {
    "=": Machine._assign,
    "o=": Machine._augment,
    "e": Machine._expression,
    "if": Machine._if,
    "for": Machine._for,
    "while": Machine._while,
    "try": Machine._try,
    "match": Machine._match,
    "ret": Machine._return,
    "brk": Machine._break,
    "cont": Machine._continue,
    "raise": Machine._raise,
    "assert": Machine._assert,
    "risk": Machine._risk,
    "hav": Machine._forget,
    "w": Machine._watch,
}
