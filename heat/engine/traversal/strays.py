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
stack at rest, or deleted, has nobody who would: this is for those, but not
while they are locked. What becomes of an object is the decision of the
clean-up half: one that somebody has made his own meanwhile is let go. It is
called from time to time and never waits; what takes its time is looked at
again at the next call.
"""

from __future__ import annotations

import dataclasses
import logging
import uuid

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.db import locks, resources, stacks
from heat.engine.graph.build import TraversalGraph
from heat.engine.ports import Engine
from heat.engine.resource import lifecycle
from heat.engine.traversal import decide, gather, identity, rows
from heat.engine.traversal.scene import Scene, load_definition
from heat.engine.traversal.tasks import Result

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

        def work(conn: sa.Connection) -> set[int]:
            # It may have been locked since it was read.
            locks.share_unlocked(conn, row.stack_id, "delete")
            return resources.claim(
                conn,
                [row.id],
                job.claim_id,
                engine.engine_id,
                "DELETE",
                timeutils.utcnow(),
                atomic_key=row.atomic_key,
                replaced=True,
            )

        try:
            return job if engine.db.run(work) else None
        except exception.StackLocked:
            return None

    def _advance(self, job: _Job) -> None:
        try:
            if job.operation is None:
                progress = self._begin(job)
                if progress is None:
                    return
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

    def _begin(self, job: _Job) -> lifecycle.Done | lifecycle.Waiting | None:
        """Begin to delete; None: there was nothing to delete.

        Who holds the object is asked only now that the claim is committed:
        whoever adopts it from now on sees the claim, and is refused.
        """
        engine = self._engine
        scene, node = engine.db.read(lambda conn: _load(conn, job.row))
        gather.plan_cleanup(engine, scene, node)
        if node.step is not decide.Step.DELETE or node.rsrc is None:
            LOG.info("let a stray object of resource %s go", job.row.name)
            self._let_go(job, scene, node)
            return None
        job.operation = lifecycle.Operation(
            node.rsrc, "DELETE", monotonic=engine.monotonic
        )
        return job.operation.start()

    def _let_go(self, job: _Job, scene: Scene, node: gather.Node) -> None:
        """Tell what is let go, as the clean-up half does."""

        def work(conn: sa.Connection) -> None:
            if resources.update_claimed(conn, job.row.id, job.claim_id, {}):
                rows.write(conn, scene, [Result(node)], timeutils.utcnow())

        self._engine.db.run(work)

    def _end(self, job: _Job, values: dict[str, str | None]) -> None:
        def work(conn: sa.Connection) -> None:
            ours = resources.update_claimed(
                conn, job.row.id, job.claim_id, values
            )
            if ours and values["status"] == "COMPLETE":
                resources.delete_many(conn, [job.row.id])

        self._engine.db.run(work)


def _load(
    conn: sa.Connection, row: resources.ResourceRecord
) -> tuple[Scene, gather.Node]:
    """The stack of a stray, deleted or not, of which nothing is wanted, and
    what is recorded of the stray by now."""
    stack = stacks.get(conn, row.stack_id, show_deleted=True)
    if stack is None:
        raise LookupError(row.stack_id)
    context = identity.with_credentials(
        conn, stack, identity.context_of(stack)
    )
    definition = load_definition(conn, stack, stack.raw_template_id)
    scene = Scene(stack, TraversalGraph({}), definition, {}, context)
    now = resources.get_many(conn, [row.id]).get(row.id, row)
    # As it was before we took it; but whose its object is may have changed.
    row = dataclasses.replace(row, external=now.external)
    [node] = gather.load_nodes(conn, scene, {(row.id, False): row})
    return scene, node
