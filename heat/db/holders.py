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
"""Which engines hold a resource, for those who wait for one another."""

from __future__ import annotations

import sqlalchemy as sa

from heat.db import models

_table = models.resource

# Made once: to put a statement together takes longer than to run it.
_IS_HELD = _table.c.claim_id.is_not(None)
_RECORD = (
    sa.update(_table)
    .where(
        _table.c.uuid == sa.bindparam("the_uuid"),
        _table.c.engine_id == sa.bindparam("the_engine"),
        _IS_HELD,
    )
    .values(atomic_key=sa.func.coalesce(_table.c.atomic_key, 0) + 1)
)
_OF_NAME = sa.select(_table.c.engine_id).where(
    _table.c.stack_id == sa.bindparam("the_stack"),
    _table.c.name == sa.bindparam("the_name"),
    _IS_HELD,
)
_HAS = sa.select(_table.c.id).where(
    _table.c.id == sa.bindparam("the_id"),
    _table.c.claim_id == sa.bindparam("the_claim"),
)


def record(
    conn: sa.Connection, uuid: str, engine_id: str, physical_id: str
) -> bool:
    """Write the id of an object that is made in this very transaction.

    :returns: whether the engine holds the row of this uuid. It stays so
        until the transaction ends: whoever releases the row waits.
    """
    which = {"the_uuid": uuid, "the_engine": engine_id}
    values = {"nova_instance": physical_id}
    return bool(conn.execute(_RECORD, {**which, **values}).rowcount)


def has(conn: sa.Connection, row_id: int, claim_id: str) -> bool:
    """Whether a row is held by a claim."""
    which = {"the_id": row_id, "the_claim": claim_id}
    return conn.execute(_HAS, which).one_or_none() is not None


def of_resource(conn: sa.Connection, stack_id: str, name: str) -> set[str]:
    """The engines that hold rows of a resource."""
    found = conn.execute(_OF_NAME, {"the_stack": stack_id, "the_name": name})
    return {row.engine_id for row in found if row.engine_id is not None}
