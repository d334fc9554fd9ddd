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

"""Running a generator step by step, for plug-ins that do so.

The engine itself runs resources by :mod:`heat.engine.resource.lifecycle`
and needs nothing of this; the names are kept for plug-ins that import them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from heat.common.i18n import _


class Timeout(BaseException):
    """Raised inside a task that took too long; no error a task may
    swallow by accident."""

    def __init__(self, task_runner: TaskRunner, timeout: float) -> None:
        super().__init__(
            _("%(task)s timed out after %(secs)s seconds")
            % {"task": task_runner, "secs": timeout}
        )


class TaskRunner:
    """Runs a task: a function, or one that yields at each step.

    :param task: called with the further arguments at the start
    """

    def __init__(
        self, task: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        self._task = task
        self._args = args
        self._kwargs = kwargs
        self._steps: Iterator[Any] | None = None
        self._started = self._done = False
        self._give_up_at: float | None = None
        self._timeout: float | None = None

    def __str__(self) -> str:
        return getattr(self._task, "__qualname__", repr(self._task))

    def __call__(
        self, wait_time: float = 1, timeout: float | None = None
    ) -> None:
        """Run to the end, sleeping ``wait_time`` seconds between steps."""
        self.start(timeout)
        self.run_to_completion(wait_time)

    def start(self, timeout: float | None = None) -> None:
        """Call the task, and make its first step.

        :param timeout: seconds after which :class:`Timeout` is raised
        """
        if self._started:
            raise RuntimeError(_("Task already started"))
        self._started = True
        self._timeout = timeout
        if timeout is not None:
            self._give_up_at = time.monotonic() + timeout
        made = self._task(*self._args, **self._kwargs)
        if isinstance(made, Iterator):
            self._steps = made
            self.step()
        else:
            self._done = True

    def step(self) -> bool:
        """Make one more step; tell whether the task is done."""
        if not self._done and self._steps is not None:
            if (
                self._give_up_at is not None
                and time.monotonic() > self._give_up_at
            ):
                self.cancel()
                raise Timeout(self, self._timeout or 0)
            try:
                next(self._steps)
            except StopIteration:
                self._done = True
        return self._done

    def run_to_completion(self, wait_time: float = 1) -> None:
        """Make all steps that are left."""
        while not self.step():
            time.sleep(wait_time)

    def cancel(self, grace_period: float | None = None) -> None:
        """Stop the task where it is."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()
        self._done = True

    def started(self) -> bool:
        return self._started

    def done(self) -> bool:
        return self._done

    def __bool__(self) -> bool:
        return not self._done
