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
"""Back to what a nested stack has kept.

What its update replaced is alive until the stack above has completed. When
that goes back, it asks for what there was: should that be stored anew, the
old objects would be of another version, and no better than the new ones.
"""

from __future__ import annotations

import sqlalchemy as sa

from heat.db import models, stacks, templates
from heat.engine.stack import prepare

_row = models.resource

_VERSIONS = (
    sa.select(_row.c.current_template_id)
    .where(_row.c.stack_id == sa.bindparam("the_id"))
    .distinct()
)


def version(
    conn: sa.Connection,
    stack: stacks.StackRecord,
    prepared: prepare.Prepared,
) -> int | None:
    """The stored version that says what is wanted, if rows are of it.

    The stack's row stays ours until the transaction ends, so the version
    is not dropped meanwhile.

    :param stack: as the caller read it
    :returns: its id; None: store it
    """
    if not stack.holds_cleanup or not stacks.compare_and_set(
        conn,
        stack.id,
        stack.current_traversal,
        {"current_traversal": stack.current_traversal},
    ):
        return None
    ids = conn.execute(_VERSIONS, {"the_id": stack.id}).scalars()
    for found in templates.get_many(conn, ids).values():
        if found.is_made_of(
            prepared.template,
            prepared.environment,
            prepared.files,
            prepared.definition.facade,
        ):
            return found.id
    return None
