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


"""Nested stacks in the simulation: a template as a resource.

Each such resource is a stack of two resources, the second of which reads
the first. Its operations may block, so they run beside the turns. Stories
with nested stacks have neither locks nor objects of the user's: one thing
at a time.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from unittest import mock

import greenlet

from heat.engine.graph.build import TraversalGraph
from heat.engine.stack import nested
from heat.engine.traversal import closing

NEST = "nest.yaml"
PICKY = "Test::Heat::Picky"
INNER, OUTER = "inner", "outer"
FILES = {
    NEST: json.dumps(
        {
            "heat_template_version": "2018-08-31",
            "parameters": {"value": {"type": "string"}},
            "resources": {
                INNER: {
                    "type": PICKY,
                    "properties": {
                        "value": {"get_param": "value"},
                        "action_wait_secs": {"create": 3, "delete": 3},
                    },
                },
                OUTER: {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": {"get_attr": [INNER, "output"]}},
                },
            },
            "outputs": {"output": {"value": {"get_attr": [OUTER, "output"]}}},
        }
    )
}


class _Local:
    """As ``threading.local``, but for each greenlet."""

    def __getattr__(self, name):
        try:
            return greenlet.getcurrent().__dict__[f"local {name}"]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        greenlet.getcurrent().__dict__[f"local {name}"] = value

    def __delattr__(self, name):
        del greenlet.getcurrent().__dict__[f"local {name}"]


def children(engine) -> nested.Children:
    """The port to nested stacks, for an engine that has no threads."""
    made = nested.Children(engine)
    made._seen = _Local()
    return made


def add_to(story) -> None:
    """Let some stories have nested stacks."""
    # Its own, so that the other stories stay as they were.
    rng = copy.copy(story.rng)
    if story.owner._eager or story.locks._often or rng.random() < 0.5:
        return
    story.chooser.kinds += (NEST,)
    story.chooser.weights += (3,)


@contextlib.contextmanager
def nothing_held():
    """A nested stack cleans up as soon as it is updated itself."""

    def going(scene, old):
        found = original(scene, old)
        scene.stack = dataclasses.replace(scene.stack, holds_cleanup=False)
        return found

    original = closing.cleanup.going
    with mock.patch.object(closing.cleanup, "going", going):
        yield


MUTANTS = {"nothing held": nothing_held}


class Watching:
    """The part of the watch that knows of nested stacks."""

    def _is_nested(self, traversal) -> bool:
        return bool(
            self._rows(
                "SELECT 1 FROM stack WHERE current_traversal = ?"
                " AND owner_id NOT NULL",
                traversal,
            )
        )

    def objects(self, stack_id: str) -> set[str]:
        """The objects of a stack and of those below it."""
        return {
            row[0]
            for row in self._rows(
                "SELECT o.id FROM test_object o JOIN stack s"
                " ON s.id = o.stack_id WHERE s.id = ? OR s.owner_id = ?",
                stack_id,
                stack_id,
            )
        }

    def objects_of_row(self, row_id) -> list[str]:
        """The object of a row; for a nested stack, those of the stack."""
        return [
            row[0]
            for row in self._rows(
                "SELECT o.id FROM resource r JOIN test_object o"
                " ON o.resource_uuid = r.uuid OR (o.stack_id = r.nova_instance"
                " AND r.resource_type = ?) WHERE r.id = ?",
                NEST,
                row_id,
            )
        ]

    def rows_of_object(self, uuid) -> list[int]:
        """The row of an object, and that of a nested stack which is going
        and takes the object along."""
        found = self._rows(
            "SELECT r.id FROM resource r WHERE r.uuid = ? UNION"
            " SELECT p.id FROM resource r JOIN stack s ON s.id = r.stack_id"
            " JOIN resource p ON p.nova_instance = s.id"
            " WHERE r.uuid = ? AND s.action = 'DELETE'",
            uuid,
            uuid,
        )
        return [row[0] for row in found]

    def note_clean_up(self, traversal) -> None:
        """It goes on until its stack begins another one, whatever becomes
        of the row above meanwhile."""
        for (row_id,) in self._rows(
            "SELECT p.id FROM stack s JOIN resource p"
            " ON p.nova_instance = s.id WHERE s.current_traversal = ?",
            traversal,
        ):
            if row_id in self.cleaning:
                self.cleans_for[traversal] = self.cleaning[row_id]

    def check_gone_below(self, owner, uuid) -> None:
        """I4 across nesting: nothing goes before the stack above has
        pointed elsewhere what may use it."""
        found = self._rows(
            "SELECT s.current_traversal, p.id, a.current_traversal,"
            " a.current_deps FROM resource r"
            " JOIN stack s ON s.id = r.stack_id"
            " JOIN stack a ON a.id = s.owner_id"
            " JOIN resource p ON p.nova_instance = s.id"
            " WHERE r.uuid = ? AND s.action = 'UPDATE' AND NOT r.stray"
            " AND a.status = 'IN_PROGRESS'",
            uuid,
        )
        for below, row_id, above, deps in found:
            order = self.order
            if below not in owner.turns or order[below] < order[above]:
                continue
            # When the earlier one had it clean up, nothing used the old ones
            # any more; what is new to the later one never did.
            if self.cleans_for.get(below, above) != above:
                continue
            key, graph = (
                (row_id, True),
                TraversalGraph.from_json(json.loads(deps)),
            )
            users = graph.required_by(key) if key in graph else ()
            for user, _half in users:
                if user and not self._is_done(above, user):
                    raise self.violation(
                        "I4", f"row {user} is not pointed elsewhere yet"
                    )

    def _is_done(self, traversal, row_id) -> bool:
        return bool(
            self._rows(
                "SELECT 1 FROM sync_point WHERE traversal_id = ?"
                " AND entity_id = ? AND is_update AND done",
                traversal,
                str(row_id),
            )
        )

    def check_nested(self) -> None:
        """I6, for the stacks below."""
        left = self._rows(
            "SELECT id, action FROM stack WHERE status = 'IN_PROGRESS'"
        )
        if left:
            raise self.violation("I6", f"{left} never end")

    def nested_objects(self, stack_id, value) -> set[str]:
        """I1, for a stack below: its objects, when all is as wanted."""
        stack = self._world.stack(stack_id)
        rows = self._living_rows(stack_id)
        if stack.deleted_at is not None or stack.status != "COMPLETE":
            raise self.violation("I1", f"{stack_id} is {stack.status}")
        if sorted(row[1] for row in rows) != [INNER, OUTER]:
            raise self.violation("I1", f"{stack_id} has {rows}")
        for row in rows:
            if row[3] != "COMPLETE" or row[6] is not None or row[7]:
                raise self.violation("I1", f"{row[1]} is {row}")
            self._check_value(row[1], row[0], value)
        return {row[4] for row in rows}
