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
"""Who manages an object: rows of stacks, and of the table ``object_claim``.

Every row that holds an object and is not external manages it. Two stacks can
come to manage one object only by taking over what exists already (an adopted
stack, an ``external_id`` that is removed); whoever does so writes the
object's one row of ``object_claim`` first, so of several one is the first,
and the others are told his name. That row counts for as long as the operation
runs; then the resource row says by itself how it ended, so nothing has to be
cleaned up after a crash.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Collection

import sqlalchemy as sa
from oslo_db import exception as db_exc

from heat.db import models, resource_rows, stacks, together

_table = models.object_claim
_resource = models.resource
_stack = models.stack

# Made once: they take longer to put together than to run.
_IN_STACK = _resource.c.stack_id == sa.bindparam("the_stack")
_OF_OBJECTS = _resource.c.nova_instance.in_(
    sa.bindparam("which", expanding=True)
)
_HOLD = sa.update(_resource).values(atomic_key=_resource.c.atomic_key)
_HOLD_OBJECTS = _HOLD.where(_OF_OBJECTS)
_HOLD_ROWS = _HOLD.where(
    _resource.c.id.in_(sa.bindparam("which", expanding=True))
)
_HOLDERS = sa.select(
    _resource.c.nova_instance,
    _resource.c.id,
    _resource.c.name,
    _resource.c.external,
    _resource.c.current_template_id,
).where(_IN_STACK, _OF_OBJECTS)
_SETTLE = (
    sa.update(_resource)
    .where(
        _IN_STACK,
        _resource.c.nova_instance == sa.bindparam("the_object"),
        _resource.c.id.not_in(sa.bindparam("but_rows", expanding=True)),
        _resource.c.name.not_in(sa.bindparam("but", expanding=True)),
    )
    .values(external=True)
)


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """An object, and the row that is to manage it.

    :ivar kind: stands for the resource types that are the same kind of
        object, whatever templates call them
    """

    region: str | None
    tenant: str | None
    kind: str
    physical_id: str
    stack_id: str
    resource_id: int

    @property
    def key(self) -> str:
        """Fixed in length, as the four together fit into no index."""
        parts = (self.region, self.tenant, self.kind, self.physical_id)
        text = "\0".join(part or "" for part in parts)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Holder:
    """A row that has an object.

    :ivar template_id: the template version that it was last finished with
    """

    row_id: int
    name: str
    external: bool
    template_id: int


def take(
    conn: sa.Connection, claim: Claim, is_kind: Callable[[str], bool]
) -> str | None:
    """Let a row manage an object, unless another row does.

    Whoever else takes the same object waits until the transaction ends.

    :param is_kind: whether a resource type may be of the claim's kind
    :returns: None: taken; else the name of the stack that manages it
    """
    together.alone(conn)
    _hold(conn, claim)
    found = manager(conn, claim, is_kind)
    if found is None:
        conn.execute(
            sa.update(_table)
            .where(_table.c.key == claim.key)
            .values(stack_id=claim.stack_id, resource_id=claim.resource_id)
        )
    return found


def _hold(conn: sa.Connection, claim: Claim) -> None:
    """Lock the object's row, making it when nobody took the object yet."""
    lock = (
        sa.update(_table)
        .where(_table.c.key == claim.key)
        .values(region=claim.region)
    )
    if conn.execute(lock).rowcount:
        return
    try:
        with conn.begin_nested():
            conn.execute(
                sa.insert(_table).values(
                    key=claim.key,
                    region=claim.region,
                    tenant=claim.tenant,
                    resource_type=claim.kind,
                    physical_resource_id=claim.physical_id,
                    stack_id=claim.stack_id,
                )
            )
    except db_exc.DBDuplicateEntry:
        conn.execute(lock)


def hold(
    conn: sa.Connection,
    *,
    row_ids: Collection[int] = (),
    physical_ids: Collection[str] = (),
) -> None:
    """Let nobody else write some rows until the transaction ends.

    What is read of them from now on stays true. An UPDATE, as all that could
    change it begins with one: then one of the two waits for the other.

    :param row_ids: the rows with these ids
    :param physical_ids: and those that have these objects
    """
    if row_ids:
        conn.execute(_HOLD_ROWS, {"which": sorted(row_ids)})
    if physical_ids:
        together.alone(conn)
        conn.execute(_HOLD_OBJECTS, {"which": sorted(physical_ids)})


def manager(
    conn: sa.Connection, claim: Claim, is_kind: Callable[[str], bool]
) -> str | None:
    """The name of the stack that manages an object; None: none does.

    :param claim: its own row is not asked
    """
    taking = (
        sa.select(_table.c.key)
        .where(
            _table.c.key == claim.key, _table.c.resource_id == _resource.c.id
        )
        .exists()
    )
    rows = conn.execute(
        sa.select(
            _resource.c.resource_type,
            _stack.c.id,
            _stack.c.name,
            _stack.c.action,
        )
        .join(_stack, _stack.c.id == _resource.c.stack_id)
        .where(
            _resource.c.nova_instance == claim.physical_id,
            _resource.c.id != claim.resource_id,
            _stack.c.tenant == claim.tenant,
            _stack.c.deleted_at.is_(None),
            sa.or_(
                _resource.c.external.is_(False),
                sa.and_(_resource.c.claim_id.is_not(None), taking),
            ),
        )
        .order_by(_resource.c.id)
    )
    for row in rows.all():
        if not is_kind(row.resource_type or ""):
            continue
        if row.action != "DELETE" or not _is_abandoned(conn, row.id):
            return str(row.name)
    return None


def _is_abandoned(conn: sa.Connection, stack_id: str) -> bool:
    """Whether a stack that is deleted only lets go: it manages no more."""
    graph = stacks.get_deps(conn, stack_id) or {}
    return bool(graph.get("abandons"))


def settle(
    conn: sa.Connection,
    row: resource_rows.ResourceRecord,
    physical_id: str,
    but: Collection[str] = (),
    but_rows: Collection[int] = (),
) -> None:
    """Let the other rows of a stack that have a row's object refer to it.

    An object has one owner: a version of a resource that passed it on, and
    was not cleaned up since, must neither change nor delete it.

    :param but: names of resources that it is read from, and stays with
    :param but_rows: ids of more rows that it stays with
    """
    which = {
        "the_stack": row.stack_id,
        "the_object": physical_id,
        "but_rows": sorted({row.id, *but_rows}),
        "but": sorted(but),
    }
    conn.execute(_SETTLE, which)


def holders(
    conn: sa.Connection, stack_id: str, physical_ids: Collection[str]
) -> dict[str, list[Holder]]:
    """The rows of a stack that have some objects, by physical id."""
    rows = conn.execute(
        _HOLDERS, {"the_stack": stack_id, "which": sorted(physical_ids)}
    )
    found: dict[str, list[Holder]] = {}
    for row in rows:
        found.setdefault(row.nova_instance, []).append(
            Holder(
                row.id,
                row.name,
                bool(row.external),
                row.current_template_id or 0,
            )
        )
    return found
