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
"""Replacement rows: the room of ``replaces`` and ``replaced_by``.

A replacement is a new row of the same name in the same stack, inserted and
linked in one transaction *before* anything is made in the cloud, so a crash
in the middle is data, not a leak. The graph is not touched and no SyncPoint
is made: the same node is taken up again and finds the new row as its acting
row; the old row goes when the clean-up half visits it.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

import sqlalchemy as sa

from heat.db import resource_rows, resources
from heat.engine.ports import NodeKey
from heat.engine.traversal import wanted


@dataclasses.dataclass(frozen=True)
class Wish:
    """A row that is to be replaced.

    :param row: as it was read, its ``replaced_by`` empty or leading to a row
        of another template
    :param claim_id: the claim that holds it, or None when nobody does
    """

    key: NodeKey
    row: resources.ResourceRecord
    resource_type: str
    claim_id: str | None = None


def make_many(
    conn: sa.Connection,
    template_id: int,
    wishes: Sequence[Wish],
    now: datetime.datetime,
) -> list[NodeKey]:
    """Insert and link the replacements; the caller holds the fence.

    A row that was held goes back to the state it had: it is the living
    object until its replacement is there.

    :returns: the keys to take up again; the others lost their row meanwhile
    """
    ids = resources.insert_many(
        conn,
        [
            wanted.new_row(
                wish.row.stack_id,
                wish.row.name,
                wish.resource_type,
                template_id,
                now,
                replaces=wish.row.id,
                root_stack_id=wish.row.root_stack_id,
            )
            for wish in wishes
        ],
    )
    linked: list[NodeKey] = []
    unwanted: list[int] = []
    for wish, new_id in zip(wishes, ids, strict=True):
        if not resources.set_replaced_by(
            conn,
            wish.row.id,
            new_id,
            expect=wish.row.replaced_by,
            claim_id=wish.claim_id,
        ):
            unwanted.append(new_id)
            continue
        linked.append(wish.key)
        if wish.claim_id is not None:
            resources.give_back(conn, wish.row, wish.claim_id)
    if unwanted:
        resources.delete_many(conn, unwanted)
    return linked


def placeholder(row_id: int, stack_id: str) -> resources.ResourceRecord:
    """Stands for a row that is gone."""
    return resource_rows.blank(
        id=row_id,
        uuid="",
        name="",
        stack_id=stack_id,
        action="DELETE",
        status="COMPLETE",
        metadata={},
        atomic_key=0,
        requires=(),
        external=False,
        stray=False,
    )
