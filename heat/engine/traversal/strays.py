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

"""Deletes what an engine made that had been taken for dead.

While a traversal runs, its clean-up deletes strays like any other row. A
stack at rest, or deleted, has nobody who would: this is for those. It is
called from time to time and never waits; what takes its time is looked at
again at the next call.
"""

from __future__ import annotations

import dataclasses
import logging
import uuid

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common.context import RequestContext
from heat.db import properties_data, resources, stacks
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.resource import lifecycle
from heat.engine.traversal import gather, identity
from heat.engine.traversal.scene import load_definition

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False)
class _Job:
    """A stray that this engine deletes."""

    row: resources.ResourceRecord
    claim_id: str
    operation: lifecycle.Operation | None = None


class Reaper:
    """Deletes strays of stacks that no traversal works on."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: list[_Job] = []

    def look(self) -> None:
        """One round: go on with what was begun, and begin what is new."""
        jobs, self._jobs = self._jobs, []
        for row in self._engine.db.read(resources.strays_at_rest):
            job = self._claim(row)
            if job is not None:
                jobs.append(job)
        for job in jobs:
            self._advance(job)

    def _claim(self, row: resources.ResourceRecord) -> _Job | None:
        engine = self._engine
        job = _Job(row, str(uuid.uuid4()))
        engine.in_hand.add(job, (job.claim_id, row.id))
        held = engine.db.run(
            lambda conn: resources.claim(
                conn,
                [row.id],
                job.claim_id,
                engine.engine_id,
                "DELETE",
                timeutils.utcnow(),
                atomic_key=row.atomic_key,
                replaced=True,
            )
        )
        return job if held else None

    def _advance(self, job: _Job) -> None:
        try:
            if job.operation is None:
                job.operation = self._operation(job.row)
                progress = job.operation.start()
            else:
                progress = job.operation.poll()
        except Exception as exc:
            LOG.warning("stray of %s stays: %s", job.row.name, exc)
            self._end(job, {"status": "FAILED", "status_reason": str(exc)})
            return
        if isinstance(progress, lifecycle.Waiting):
            self._jobs.append(job)
            return
        LOG.info("deleted a stray object of resource %s", job.row.name)
        self._end(job, {"status": "COMPLETE", "physical_id": None})

    def _end(self, job: _Job, values: dict[str, str | None]) -> None:
        def work(conn: sa.Connection) -> None:
            ours = resources.update_claimed(
                conn, job.row.id, job.claim_id, values
            )
            if ours and values["status"] == "COMPLETE":
                resources.delete_many(conn, [job.row.id])

        self._engine.db.run(work)

    def _operation(self, row: resources.ResourceRecord) -> lifecycle.Operation:
        engine = self._engine
        stack, definition, node, context = engine.db.read(
            lambda conn: _load(conn, row)
        )
        wish = gather.stored_definition(node)
        cls = gather.resource_class(
            engine, definition, wish.resource_type, row.name
        )
        rsrc = cls(
            row.name,
            wish,
            gather.stack_view(engine, stack, definition, context),
        )
        gather.load_state(rsrc, node)
        return lifecycle.Operation(rsrc, "DELETE", monotonic=engine.monotonic)


def _load(
    conn: sa.Connection, row: resources.ResourceRecord
) -> tuple[stacks.StackRecord, StackDefinition, gather.Node, RequestContext]:
    """The stack of a stray, deleted or not, what is recorded of it, and in
    whose name it is deleted."""
    stack = stacks.get(conn, row.stack_id, show_deleted=True)
    if stack is None:
        raise LookupError(row.stack_id)
    definition = load_definition(conn, stack, stack.raw_template_id)
    properties = properties_data.get_many(conn, [row.rsrc_prop_data_id])
    node = gather.Node(
        (row.id, False),
        row,
        properties.get(row.rsrc_prop_data_id or 0),
        {},
        {},
        None,
    )
    context = identity.context_of(stack)
    context = identity.with_credentials(conn, stack, context)
    return stack, definition, node, context
