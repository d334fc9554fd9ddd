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
before it calls a plug-in. How an object changes hands when ``external_id``
appears, changes or goes is the table of :func:`move`. Pure.
"""

from __future__ import annotations

import dataclasses
import enum

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


class Move(enum.Enum):
    """What an update's ``external_id`` means for a row."""

    NONE = "Heat's before and after"
    ADOPT = "a new row takes the user's object, after looking at it"
    PASS = "the object Heat made becomes the user's; nothing is touched"  # noqa: S105
    STAY = "the user's before and after; looked at again if it failed"
    SWAP = "another object of the user's: a new row adopts it"
    HAND_BACK = "the user's object becomes Heat's and gets its properties"
    PART = "the object is the user's under another name: a new row makes one"
    LEAVE = (
        "another name is handed the object, or owns it: a new row makes one"
    )


def move(
    wanted: str | None,
    *,
    made: bool,
    external: bool,
    physical_id: str | None,
    elsewhere: bool = False,
    anothers: bool = False,
) -> Move:
    """How an object changes hands.

    ====================  ==========  ====================  =========
    ``external_id``       the row     its object            move
    ====================  ==========  ====================  =========
    absent                any         external elsewhere    PART
    absent                external    Heat's elsewhere      LEAVE
    absent                is Heat's   any                   NONE
    absent                external    any                   HAND_BACK
    absent                external    none was ever found   NONE
    present               is new      none                  ADOPT
    present               is Heat's   has that id           PASS
    present               external    has that id           STAY
    present               any         has another id        SWAP
    ====================  ==========  ====================  =========

    :param wanted: ``external_id`` of the target template, resolved
    :param made: whether the row has been made or adopted before
    :param external: the ownership stored with the row
    :param elsewhere: another name of the target template has the object as
        its external one
    :param anothers: another name of the target template is to have it as
        Heat's
    """
    if wanted is None:
        if made and elsewhere:
            return Move.PART
        if not (made and external and physical_id is not None):
            return Move.NONE
        return Move.LEAVE if anothers else Move.HAND_BACK
    if not made:
        return Move.ADOPT
    if wanted != physical_id:
        return Move.SWAP
    return Move.STAY if external else Move.PASS
