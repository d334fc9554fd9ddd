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


"""Whether a create can be gone on with whose engine has stopped.

Values only. What is gone on with is what was begun: an interrupted create
that is wanted otherwise by now is replaced, as one that failed is.
"""

from __future__ import annotations

from heat.common import exception
from heat.db import resources
from heat.engine.ports import NodeKey
from heat.engine.resource import Resource, lifecycle, state
from heat.engine.resource.overridable import Overridable
from heat.engine.traversal.scene import Scene


def goes_on(
    scene: Scene,
    rsrc: Resource,
    key: NodeKey,
    row: resources.ResourceRecord,
    before: lifecycle.Before,
) -> bool:
    """Whether the create of an update node's row is to be resumed."""
    if not row.interrupted or not rsrc.resumes_create:
        return False
    if row.physical_id is None and not _can_be_found(rsrc):
        return False
    if row.rsrc_prop_data_id is None:
        return _is_the_same_try(scene, key, row)
    # Weighed as if it had come to its end.
    rsrc.status = state.COMPLETE
    try:
        found = lifecycle.verdict(rsrc, before)
    except exception.HeatException:
        return False
    finally:
        rsrc.status = row.status
    return not (found.needs_update or found.needs_replace)


def _can_be_found(rsrc: Resource) -> bool:
    return type(rsrc).find_made is not Overridable.find_made


def _is_the_same_try(
    scene: Scene, key: NodeKey, row: resources.ResourceRecord
) -> bool:
    """Whether nobody recorded what it was begun with, and yet it is known:
    the template and what it hangs on are still those."""
    return row.current_template_id == scene.target_template_id and sorted(
        row.requires
    ) == sorted(scene.required_rows(key[0]))
