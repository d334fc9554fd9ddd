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

"""Which objects of a project pass a state: one question for all who wait.

A hundred servers that build, or go, at once are a hundred operations that look
every other second. Each look of its own would be a request to Nova; instead,
Nova lists the servers that it builds, and the answer serves every operation of
the project for a while: longer where it took long, so that a service under
load is asked less. Only an object that is not listed is looked at itself.

Services list a thousand at most. An object beyond these, or one that a service
in trouble does not tell of, is looked at itself as well: that costs requests
and is never wrong.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from heat.engine.clients import errors

#: An answer serves for so long, or for so many times what it took, but not
#: for longer than the last.
FRESH_SECONDS = 1.0
FRESH_TIMES = 5.0
LONGEST_SECONDS = 10.0
#: Questions that are remembered; the one asked last stays longest.
MAX_QUESTIONS = 4096


class _Answer:
    """What was told to one question, and until when it serves."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.serves_until = float("-inf")
        self.ids: set[str] = set()


class Passing:
    """What is known of all projects, by everybody in this process."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._answers: collections.OrderedDict[Hashable, _Answer] = (
            collections.OrderedDict()
        )

    def began(self, question: Hashable, ident: str) -> None:
        """Note that an object was brought into the state just now."""
        answer = self._answer(question)
        with answer.lock:
            answer.ids.add(ident)

    def has(
        self,
        question: Hashable,
        ident: str,
        ask: Callable[[], set[str]],
    ) -> bool:
        """Whether an object passes a state, as of a moment ago.

        :param question: whose objects of which kind in which state are
            meant, region included
        :param ask: gives their ids; who comes while it is asked waits for
            the answer
        :returns: False: it does not, or nobody can tell
        """
        answer = self._answer(question)
        with answer.lock:
            began = self._monotonic()
            if began >= answer.serves_until:
                try:
                    answer.ids = ask()
                except errors.ServiceError:
                    # Whoever looks himself is told what the matter is.
                    answer.ids = set()
                took = self._monotonic() - began
                # From the beginning on: what was begun since isn't told.
                answer.serves_until = (
                    began
                    + took
                    + min(
                        LONGEST_SECONDS, max(FRESH_SECONDS, FRESH_TIMES * took)
                    )
                )
            return ident in answer.ids

    def _answer(self, question: Hashable) -> _Answer:
        with self._lock:
            found = self._answers.setdefault(question, _Answer())
            self._answers.move_to_end(question)
            while len(self._answers) > MAX_QUESTIONS:
                self._answers.popitem(last=False)
            return found


STATES = Passing()


def note(plugin: Any, entity: str, state: str, ident: str) -> None:
    """Note that an object was brought into a state just now.

    :param plugin: the client plug-in of its service
    :param entity: as resource types name it
    :param state: a word that the service lists objects by
    """
    STATES.began(_question(plugin, entity, state), ident)


def is_in(plugin: Any, entity: str, state: str, ident: str) -> bool:
    """Whether an object is in a state; the whole project is asked for.

    False also when nobody can tell: then the object is to be looked at.
    Parameters as those of :func:`note`.
    """
    return STATES.has(
        _question(plugin, entity, state),
        ident,
        lambda: plugin.listed_in(entity, state),
    )


def _question(plugin: Any, entity: str, state: str) -> tuple[object, ...]:
    project = getattr(plugin.context, "project_id", None)
    return project, plugin.region_name(), plugin.service, entity, state
