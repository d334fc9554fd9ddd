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

"""Stand-in physical objects, for resource types that have no cloud.

Tests must see what exists, what leaked and what was deleted. When the
option is on, such types keep one row in a table of ours for each object
they would have in a cloud; when it is off, nothing is written.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from oslo_config import cfg
from oslo_utils import timeutils

from heat.common import exception
from heat.db import models

GROUP = "test_resources"

_table = models.test_object
# Made once: they take longer to put together than to run.
_IS_IT = _table.c.id == sa.bindparam("the_id")
_FIND = sa.select(_table.c.id, _table.c.created_at).where(_IS_IT)
_INSERT = sa.insert(_table)
_DELETE = sa.delete(_table).where(_IS_IT)


def is_recording(conf: Any) -> bool:
    """Tell whether objects are recorded; False where nobody configured."""
    try:
        return bool(conf[GROUP].record_objects)
    except (AttributeError, KeyError, TypeError, cfg.Error):
        return False


class StandIn:
    """The objects of one resource's type.

    :param view: the :class:`heat.engine.resource.view.StackView`
    """

    def __init__(self, view: Any) -> None:
        self._view = view
        self._db = view.db if is_recording(view.conf) else None

    def create(self, physical_id: str, rsrc: Any) -> None:
        """Make an object.

        :raises heat.common.exception.PhysicalResourceExists: when it is
            there already: then it was made twice
        """
        if self._db is None:
            return
        row = {
            "id": physical_id,
            "resource_type": rsrc.type(),
            "resource_name": rsrc.name,
            "stack_id": self._view.id,
            "tenant": self._view.tenant_id,
            "resource_uuid": rsrc.uuid,
            "created_at": timeutils.utcnow().replace(microsecond=0),
        }

        def work(conn: sa.Connection) -> None:
            if _find(conn, physical_id):
                raise exception.PhysicalResourceExists(name=physical_id)
            conn.execute(_INSERT, row)

        self._db.run(work)

    def delete(self, physical_id: str) -> None:
        """Delete an object; one that is gone already is no error."""
        if self._db is None:
            return
        which = {"the_id": physical_id}
        self._db.run(lambda conn: conn.execute(_DELETE, which))

    def exists(self, physical_id: str) -> bool:
        """Tell whether it is there; where nothing is recorded, it is."""
        return self._db is None or self.is_recorded(physical_id)

    def is_recorded(self, physical_id: str) -> bool:
        """Tell whether it is there; where nothing is recorded, it is not."""
        if self._db is None:
            return False
        return bool(self._db.read(lambda conn: _find(conn, physical_id)))

    def age(self, physical_id: str) -> float:
        """Seconds since it was made; 0 where that isn't recorded."""
        if self._db is None:
            return 0.0
        made = self._db.read(lambda conn: _find(conn, physical_id))
        if made is None or made.created_at is None:
            return 0.0
        return max(
            0.0, timeutils.delta_seconds(made.created_at, timeutils.utcnow())
        )


def _find(conn: sa.Connection, physical_id: str) -> Any:
    """The recorded object; None: there is none."""
    return conn.execute(_FIND, {"the_id": physical_id}).first()
