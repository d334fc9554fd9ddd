#    Licensed under the Apache License, Version 2.0 (the "License"); you may
#    not use this file except in compliance with the License. You may obtain
#    a copy of the License at
#
#         http://www.apache.org/licenses/LICENSE-2.0
#
#    Unless required by applicable law or agreed to in writing, software
#    distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
#    WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
#    License for the specific language governing permissions and limitations
#    under the License.

"""Works that share a transaction.

Under load many threads want to write at once, each a little, and much the
same: to begin a member of a group, or to finish one. Those that would wait
for each other share one transaction. They run side by side in one thread,
each up to its next statement; those that are alike are run as one
(:mod:`.plural`). Who comes alone is done alone, and at once.

Nothing is lost by it: if anything goes wrong for one of them, the
transaction is undone and each is done alone, as if nothing had been.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import greenlet
import sqlalchemy as sa

from heat.db import plural

LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: The most works in one transaction.
MOST = 16

#: Seconds until a work that waits for others to be done goes alone.
PATIENCE = 0.2


@dataclasses.dataclass(eq=False)
class Work:
    """What somebody wants to do in a transaction.

    :param do: it; may be called again after its transaction was undone
    :param kind: those of one kind run mostly the same statements
    :param owns: the stack that it writes: nobody else in its transaction
        may, nor rely on it; None: it only reads
    :param relies: a stack that it relies on to stay as it is
    """

    do: Callable[[sa.Connection], Any]
    kind: str
    owns: str | None = None
    relies: str | None = None
    made: Any = None
    #: what its transaction has noted, see :func:`heat.db.session.note`
    journal: list[Any] = dataclasses.field(default_factory=list)
    ready: threading.Event = dataclasses.field(default_factory=threading.Event)
    #: what is to be done with it together, and by its own thread
    others: list[Work] = dataclasses.field(default_factory=list)
    alone: bool = False
    leads: bool = False

    def disturbs(self, other: Work) -> bool:
        """Whether the two must not share a transaction."""
        mine, theirs = {self.owns, self.relies}, {other.owns, other.relies}
        return self.owns in theirs - {None} or other.owns in mine - {None}


def company(
    leader: Work, waiting: Sequence[Work], most: int = MOST
) -> list[Work]:
    """Those who may be done together with one, in their order.

    :param most: how many there may be, with that one
    """
    along = [leader]
    for each in waiting:
        if len(along) < most and each.kind == leader.kind:
            if not any(each.disturbs(other) for other in along):
                along.append(each)
    return along[1:]


class Sharing:
    """Lets works wait for each other, and go together.

    :param one: does a work in a transaction of its own
    :param many: does several in one, and sets what each has made
    :param most: how many those may be
    :param patience: seconds until a work that waits goes alone
    """

    def __init__(
        self,
        one: Callable[[Callable[[sa.Connection], Any]], Any],
        many: Callable[[Sequence[Work]], None],
        most: int = MOST,
        patience: float = PATIENCE,
    ) -> None:
        self._one = one
        self._many = many
        self._most = most
        self._patience = patience
        # One at a time: the database works off several no faster than the
        # works that gather meanwhile as one.
        self._busy = False
        self._waiting: list[Work] = []
        self._lock = threading.Lock()

    def run(self, work: Work) -> Any:
        """Do a work, alone or together with others."""
        with self._lock:
            leads = not self._busy
            if leads:
                self._busy = True
            else:
                self._waiting.append(work)
        if not leads:
            leads = self._turn(work)
        if not leads:
            return self._one(work.do) if work.alone else work.made
        try:
            return self._lead(work)
        finally:
            self._pass_on()

    def _turn(self, work: Work) -> bool:
        """Wait until a work is done, or is to lead the others."""
        if not work.ready.wait(self._patience):
            with self._lock:
                if work in self._waiting:
                    # Somebody holds what others wait for.
                    self._waiting.remove(work)
                    work.alone = True
                    return False
            work.ready.wait()
        return work.leads

    def _lead(self, work: Work) -> Any:
        if not work.others:
            return self._one(work.do)
        work.alone = True
        try:
            self._many([work, *work.others])
            work.alone = False
        except Exception as error:
            LOG.debug(
                "%d works can't share a transaction: %s",
                len(work.others) + 1,
                type(error).__name__,
            )
        finally:
            for each in work.others:
                each.alone = work.alone
                each.ready.set()
        return self._one(work.do) if work.alone else work.made

    def _pass_on(self) -> None:
        """Give the place in hand to who waits longest, and its like."""
        with self._lock:
            if not self._waiting:
                self._busy = False
                return
            leader = self._waiting.pop(0)
            leader.leads = True
            leader.others = company(leader, self._waiting, self._most)
            for each in leader.others:
                self._waiting.remove(each)
            leader.ready.set()


def alone(conn: sa.Connection) -> None:
    """Say that what follows asks what other stacks do.

    Those of the same transaction would be seen half done.

    :raises Apart: the transaction is shared: it is undone
    """
    if isinstance(conn, Share):
        raise plural.Apart


class Share:
    """What a work takes for its connection: it stands for one.

    :ivar info: as that of a connection, but of this work alone
    """

    def __init__(self, conn: sa.Connection, together: greenlet.greenlet):
        self._conn = conn
        self._together = together
        self.info: dict[str, Any] = {}

    @property
    def dialect(self) -> sa.Dialect:
        return self._conn.dialect

    def get_execution_options(self) -> Any:
        return self._conn.get_execution_options()

    def execute(self, statement: sa.Executable, given: Any = None) -> Any:
        """Run a statement, together with those of the others."""
        return self._together.switch((statement, given or {}))

    def scalar(self, statement: sa.Executable, given: Any = None) -> Any:
        return self.execute(statement, given).scalar()

    def scalars(self, statement: sa.Executable, given: Any = None) -> Any:
        return self.execute(statement, given).scalars()

    def begin_nested(self) -> Any:
        """What may have to be undone by itself is done alone."""
        raise plural.Apart


@dataclasses.dataclass(eq=False)
class _Side:
    """One of the works that run side by side.

    :ivar asks: the statement that it waits for, and what that is given
    """

    let: greenlet.greenlet
    asks: tuple[sa.Executable, Any] | None = None


def side_by_side(
    conn: sa.Connection, works: Sequence[Callable[[Any], T]]
) -> list[T]:
    """Do works in one transaction.

    :param works: each is called with a :class:`Share`
    :returns: what each has made
    :raises Exception: of one of them; the transaction must not commit then
    """
    made: dict[int, T] = {}
    here = greenlet.getcurrent()

    def doing(place: int) -> Callable[[], None]:
        def do() -> None:
            made[place] = works[place](Share(conn, here))

        return do

    sides = [_Side(greenlet.greenlet(doing(at))) for at in range(len(works))]
    with _left_behind(sides):
        for side in sides:
            side.asks = side.let.switch()
        while any(side.asks for side in sides):
            for those in _alike(sides):
                asked = [side.asks for side in those if side.asks]
                answers = plural.run(
                    conn, asked[0][0], [given for _statement, given in asked]
                )
                for side, answer in zip(those, answers, strict=True):
                    side.asks = side.let.switch(answer)
    return [made[place] for place in range(len(works))]


def _alike(sides: Sequence[_Side]) -> list[list[_Side]]:
    """Those who wait for the same statement, in the order in which they
    were begun."""
    found: dict[Any, list[_Side]] = {}
    for side in sides:
        if side.asks is not None:
            statement, given = side.asks
            first = given if isinstance(given, dict) else given[0]
            shape = (id(statement), isinstance(given, dict), frozenset(first))
            found.setdefault(shape, []).append(side)
    return list(found.values())


@contextlib.contextmanager
def _left_behind(sides: Sequence[_Side]) -> Iterator[None]:
    """End those that were not done because another one failed."""
    try:
        yield
    finally:
        for side in sides:
            if not side.let.dead:
                side.let.throw()
