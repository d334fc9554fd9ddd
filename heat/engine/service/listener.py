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

"""The endpoint of one engine, addressed by its id."""

from __future__ import annotations

from typing import Any

from heat.common.context import RequestContext
from heat.engine.service import base
from heat.engine.stack import actions
from heat.rpc import api, transport


class ListenerEndpoint(base.Endpoint):
    """What another engine, or another make's API, may ask of this one."""

    target = transport.make_target(api.LISTENER_VERSION)

    @base.request
    def listening(self, context: RequestContext) -> bool:
        """Answer, which says enough."""
        return True

    @base.request
    def stop_stack(
        self, context: RequestContext, stack_identity: dict[str, Any]
    ) -> None:
        """Stop what this engine does for a stack."""
        raise base.not_yet("Stopping the operations of a stack")

    @base.request
    def send(
        self,
        context: RequestContext,
        stack_identity: dict[str, Any],
        message: str,
    ) -> None:
        """``cancel`` or ``cancel_with_rollback`` for a running update.

        :raises ValueError: another message
        """
        if message not in api.THREAD_MESSAGES:
            raise ValueError(f"Unknown message {message!r}")
        stack = self._stack(context, stack_identity)
        rollback = message == api.THREAD_CANCEL_WITH_ROLLBACK
        actions.cancel(self._engine, context, stack, rollback=rollback)
