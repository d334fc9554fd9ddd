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

"""Snapshots of a stack."""

from __future__ import annotations

from heat.api import views
from heat.api.request import Answer, Call

_RESTORE_ACCEPTED = views.accepted(
    "Accepted", "The request is accepted for processing.", "202 Accepted"
)


def snapshot(call: Call) -> Answer:
    """POST S/snapshots"""
    row = call.engine.stack_snapshot(
        call.context, call.identity, (call.body or {}).get("name")
    )
    # Not wrapped in a key, unlike the answer to a show.
    return Answer(views.snapshot(row))


def list_snapshots(call: Call) -> Answer:
    """GET S/snapshots"""
    rows = call.engine.stack_list_snapshots(call.context, call.identity)
    return Answer({"snapshots": [views.snapshot(row) for row in rows]})


def show_snapshot(call: Call) -> Answer:
    """GET S/snapshots/{snapshot_id}"""
    row = call.engine.show_snapshot(
        call.context, call.identity, call.path["snapshot_id"]
    )
    return Answer({"snapshot": views.snapshot(row)})


def delete_snapshot(call: Call) -> Answer:
    """DELETE S/snapshots/{snapshot_id}"""
    call.engine.delete_snapshot(
        call.context, call.identity, call.path["snapshot_id"]
    )
    return Answer(status=204)


def restore_snapshot(call: Call) -> Answer:
    """POST S/snapshots/{snapshot_id}/restore"""
    call.engine.stack_restore(
        call.context, call.identity, call.path["snapshot_id"]
    )
    return Answer(_RESTORE_ACCEPTED, 202)
