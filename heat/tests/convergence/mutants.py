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

"""Broken engines: the simulation must see each of them.

A mutant is a context manager that takes one protection out of the engine in
this process. If no seed catches it, the invariants are worth nothing.
"""

from __future__ import annotations

import contextlib
from unittest import mock

from heat.db import resources, sync_points
from heat.engine.graph import build
from heat.engine.stack import converge, delete
from heat.engine.traversal import begin, inputs
from heat.tests.convergence import (
    story_external,
    story_locks,
    story_nested,
    story_timeouts,
)


@contextlib.contextmanager
def no_fencing():
    """A claim does not ask whether its traversal was superseded."""

    def fence(_conn, _traversal, keys):
        return set(keys)

    with mock.patch.object(sync_points, "fence", fence):
        yield


@contextlib.contextmanager
def delete_before_repoint():
    """Clean-up does not wait for the update half."""
    real = build._add_stack

    def add_stack(needs, **more):
        real(needs, **more)
        for key in needs:
            if key[0] and not key[1]:
                needs[key].discard(build.STACK_UPDATE)

    with mock.patch.object(build, "_add_stack", add_stack):
        yield


@contextlib.contextmanager
def cas_last():
    """The rows are read before the compare-and-set, not after it.

    Where transactions are serial, as in the simulation, that is a read in a
    transaction of its own, before the one that writes.
    """
    real_update, real_begin = converge.update, delete._begin
    real_extant = begin._extant
    early: dict = {}

    def read(engine, stack):
        rows = engine.db.read(
            lambda conn: resources.list_for_stack(conn, stack.id)
        )
        for _statement in range(4):
            # Others run between the statements that follow.
            engine.db.read(lambda _conn: None)
        early[stack.id] = rows

    def update(engine, context, stack, *args, **kwargs):
        read(engine, stack)
        return real_update(engine, context, stack, *args, **kwargs)

    def begin_delete(engine, context, stack, *args):
        read(engine, stack)
        return real_begin(engine, context, stack, *args)

    def extant(conn, stack_id):
        rows = early.pop(stack_id, None)
        return real_extant(conn, stack_id) if rows is None else rows

    with (
        mock.patch.object(converge, "update", update),
        mock.patch.object(delete, "_begin", begin_delete),
        mock.patch.object(begin, "_extant", extant),
    ):
        yield


@contextlib.contextmanager
def no_done_mark():
    """A node that has all its inputs may act again and again."""
    real = sync_points._open

    def open_(*, ready):
        return (
            sync_points._points.c.remaining == 0
            if ready
            else real(ready=False)
        )

    # Statements are made once, and must be made anew, before and after.
    sync_points._advancing.cache_clear()
    try:
        with mock.patch.object(sync_points, "_open", open_):
            yield
    finally:
        sync_points._advancing.cache_clear()


@contextlib.contextmanager
def no_acting_row():
    """A node works on the row of its key, whatever replaces that."""

    def acting_rows(_conn, _scene, rows, keys):
        return {key: rows[key[0]] for key in keys if key[0] in rows}

    with mock.patch.object(inputs, "acting_rows", acting_rows):
        yield


MUTANTS = {
    "no fencing": no_fencing,
    "delete before re-point": delete_before_repoint,
    "compare-and-set last": cas_last,
    "no done mark": no_done_mark,
    "no acting row": no_acting_row,
    **story_external.MUTANTS,
    **story_locks.MUTANTS,
    **story_nested.MUTANTS,
    **story_timeouts.MUTANTS,
}
