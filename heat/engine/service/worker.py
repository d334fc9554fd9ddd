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

"""The endpoint through which engines share the nodes of traversals."""

from __future__ import annotations

from collections.abc import Sequence

from heat.common.context import RequestContext
from heat.engine.service import base
from heat.engine.traversal.runner import Runner
from heat.rpc import api, transport


class WorkerEndpoint:
    """Takes nodes that some engine was to take."""

    target = transport.make_target(api.WORKER_VERSION)

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def check_nodes(
        self,
        context: RequestContext,
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[Sequence[int]],
    ) -> None:
        """Check ready nodes of a traversal; returns at once.

        :param nodes: pairs of graph key and is_update
        """
        self._runner.take(
            context,
            stack_id,
            traversal_id,
            [(int(key), bool(is_update)) for key, is_update in nodes],
        )

    def wake(self, context: RequestContext, stack_id: str) -> None:
        """A nested stack has ended whose parent's resource waits here."""
        self._runner.rouse(stack_id)

    @base.request
    def cancel_checks(self, context: RequestContext, stack_id: str) -> None:
        """Cancel the running operations of a stack."""
        raise base.not_yet("Cancelling the operations of a stack")
