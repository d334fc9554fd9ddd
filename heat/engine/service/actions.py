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

"""RPC methods that begin actions on stacks, and those on snapshots."""

from __future__ import annotations

from typing import Any

from heat.common.context import RequestContext
from heat.db import snapshots as table
from heat.engine.service import base, presenters
from heat.engine.stack import actions, lock, snapshots
from heat.rpc import api

Dict = dict[str, Any]


class ActionEndpoint(base.Endpoint):
    """Actions other than CREATE, UPDATE and DELETE; snapshots; locks."""

    @base.request
    def stack_cancel_update(
        self,
        context: RequestContext,
        stack_identity: Dict,
        cancel_with_rollback: bool = True,
    ) -> None:
        """Stop a running update, with or without going back."""
        stack = self._stack(context, stack_identity, mutating="cancel_update")
        actions.cancel(
            self._engine, context, stack, rollback=cancel_with_rollback
        )

    @base.request
    def stack_suspend(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to suspend a stack."""
        stack = self._stack(context, stack_identity, mutating="suspend")
        actions.suspend(self._engine, context, stack)

    @base.request
    def stack_resume(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to resume a stack."""
        stack = self._stack(context, stack_identity, mutating="resume")
        actions.resume(self._engine, context, stack)

    @base.request
    def stack_check(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Begin to check a stack's resources."""
        stack = self._stack(context, stack_identity, mutating="check")
        actions.check(self._engine, context, stack)

    @base.request
    def stack_lock(
        self,
        context: RequestContext,
        stack_identity: Dict,
        level: str = "all",
        reason: str | None = None,
        expires_in: int | None = None,
    ) -> None:
        """Lock a stack and all below it, or change the level of its lock.

        :param level: ``all`` or ``stacks``
        :param expires_in: seconds until the engine unlocks it
        :raises StackLocked, StackNotLockable, ActionInProgress: its state
            does not allow it
        """
        stack = self._stack(context, stack_identity, show_deleted=True)
        lock.lock(self._engine, context, stack, level, reason, expires_in)

    @base.request
    def stack_unlock(
        self, context: RequestContext, stack_identity: Dict
    ) -> None:
        """Unlock a stack and all that was locked with it.

        :raises StackLocked, StackNotLocked, ActionInProgress: its state
            does not allow it
        """
        stack = self._stack(context, stack_identity, show_deleted=True)
        lock.unlock(self._engine, context, stack)

    @base.request
    def stack_snapshot(
        self, context: RequestContext, stack_identity: Dict, name: str | None
    ) -> Dict:
        """Begin to take a snapshot."""
        stack = self._stack(context, stack_identity, mutating="snapshot")
        made = snapshots.take(self._engine, context, stack, name)
        return {**presenters.snapshot(made), api.SNAPSHOT_DATA: None}

    @base.request
    def show_snapshot(
        self, context: RequestContext, stack_identity: Dict, snapshot_id: str
    ) -> Dict:
        """One snapshot.

        :raises SnapshotNotFound: the stack has none of this id
        """
        stack = self._stack(context, stack_identity)
        return self._shown(snapshots.get(self._engine, stack, snapshot_id))

    @base.request
    def delete_snapshot(
        self, context: RequestContext, stack_identity: Dict, snapshot_id: str
    ) -> None:
        """Delete a snapshot.

        :raises SnapshotNotFound: the stack has none of this id
        """
        stack = self._stack(
            context, stack_identity, mutating="delete_snapshot"
        )
        found = snapshots.get(self._engine, stack, snapshot_id)
        snapshots.delete(self._engine, context, stack, found)

    @base.request
    def stack_list_snapshots(
        self, context: RequestContext, stack_identity: Dict
    ) -> list[Dict]:
        """The snapshots of a stack, the oldest first."""
        stack = self._stack(context, stack_identity)
        rows = self._engine.db.read(lambda conn: table.list_(conn, stack.id))
        return [self._shown(each) for each in rows]

    @base.request
    def stack_restore(
        self, context: RequestContext, stack_identity: Dict, snapshot_id: str
    ) -> None:
        """Begin to restore a stack from a snapshot.

        :raises SnapshotNotFound: the stack has none of this id
        """
        stack = self._stack(context, stack_identity, mutating="restore")
        found = snapshots.get(self._engine, stack, snapshot_id)
        snapshots.restore(self._engine, context, stack, found)

    def _shown(self, record: table.SnapshotRecord) -> Dict:
        return {
            **presenters.snapshot(record),
            api.SNAPSHOT_DATA: snapshots.public(record),
        }
