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

"""What the engine may do to a physical object, as one value.

Ownership follows the object: an external one is only looked at, whatever
its template says; what Heat owns may be changed, and its deletion policy
decides its end. Every action asks the :class:`Allowed` of a resource once,
before it calls a plug-in. Pure.
"""

from __future__ import annotations

import dataclasses

#: ends of an object when its resource goes
DELETE, RETAIN, SNAPSHOT = "Delete", "Retain", "Snapshot"


@dataclasses.dataclass(frozen=True, slots=True)
class Allowed:
    """Permissions towards one physical object.

    :ivar create: make it
    :ivar update: change it in place
    :ivar act: suspend, resume, snapshot or signal it
    :ivar delete: delete it when the resource goes; False: let it go
    :ivar observe: look whether it is there, read its attributes
    :ivar snapshot_first: make a snapshot of it before deleting it
    :ivar because: why something is refused, "" when nothing is
    """

    create: bool = True
    update: bool = True
    act: bool = True
    delete: bool = True
    observe: bool = True
    snapshot_first: bool = False
    because: str = ""


_EXTERNAL = Allowed(
    create=False,
    update=False,
    act=False,
    delete=False,
    because="the object is external",
)
_OWNED = {
    DELETE: Allowed(),
    RETAIN: Allowed(delete=False, because="its deletion policy is Retain"),
    SNAPSHOT: Allowed(snapshot_first=True),
}


def allowed(external: bool, deletion_policy: str = DELETE) -> Allowed:
    """What may be done to an object.

    :param external: the ownership stored with the row
    :param deletion_policy: ``Delete``, ``Retain`` or ``Snapshot``, in any
        case
    """
    if external:
        return _EXTERNAL
    return _OWNED.get(deletion_policy.capitalize(), _OWNED[DELETE])
