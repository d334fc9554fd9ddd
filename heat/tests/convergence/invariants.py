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

"""What must be true of every world, after each step and at rest.

Triggers in the simulated database tell what each transaction did; the watch
looks at it when the transaction has committed. It asks the tables only, and
believes nothing that the engine says about itself.
"""

from __future__ import annotations

import json

import greenlet

from heat.engine.graph.build import TraversalGraph
from heat.engine.traversal.decide import Step
from heat.tests.convergence import (
    story_external,
    story_locks,
    story_nested,
    story_timeouts,
)

TRIGGERS = """
CREATE TRIGGER seen_claim AFTER UPDATE OF claim_id ON resource
WHEN NEW.claim_id IS NOT NULL AND OLD.claim_id IS NOT NEW.claim_id
BEGIN SELECT note('claim', NEW.id, OLD.claim_id, NEW.action); END;
CREATE TRIGGER seen_complete AFTER UPDATE OF status ON resource
WHEN NEW.status = 'COMPLETE' AND OLD.status IS NOT 'COMPLETE'
BEGIN SELECT note('complete', NEW.id, NEW.action, NULL); END;
CREATE TRIGGER seen_kept AFTER UPDATE OF requires ON resource
WHEN NEW.claim_id IS NULL AND OLD.claim_id IS NULL
BEGIN SELECT note('kept', NEW.id, NEW.requires, NULL); END;
CREATE TRIGGER seen_done AFTER UPDATE OF done ON sync_point
WHEN NEW.done BEGIN
SELECT note('done', NEW.entity_id, NEW.is_update, OLD.done); END;
CREATE TRIGGER seen_count AFTER UPDATE OF remaining ON sync_point
WHEN NEW.remaining < 0
BEGIN SELECT note('negative', NEW.entity_id, NEW.remaining, NULL); END;
CREATE TRIGGER seen_begin AFTER UPDATE OF current_traversal ON stack
WHEN NEW.current_traversal IS NOT OLD.current_traversal
BEGIN SELECT note('begun', NEW.current_traversal, NEW.action,
NEW.raw_template_id); END;
CREATE TRIGGER seen_born AFTER INSERT ON stack
WHEN NEW.current_traversal NOT NULL
BEGIN SELECT note('begun', NEW.current_traversal, NEW.action,
NEW.raw_template_id); END;
CREATE TRIGGER seen_completed AFTER UPDATE OF last_complete_template_id
ON stack WHEN NEW.current_traversal IS OLD.current_traversal
BEGIN SELECT note('completed', NEW.current_traversal, NULL, NULL); END;
CREATE TRIGGER seen_made AFTER INSERT ON test_object
BEGIN SELECT note('made', NEW.id, NEW.resource_uuid, NULL); END;
CREATE TRIGGER seen_gone AFTER DELETE ON test_object
BEGIN SELECT note('gone', OLD.id, OLD.resource_uuid, NULL); END;
"""
TRIGGERS += (
    story_external.TRIGGERS + story_locks.TRIGGERS + story_timeouts.TRIGGERS
)


class Violation(BaseException):
    """Something that must be true is not; no engine catches it.

    :param rule: ``I1`` to ``I7`` of the design
    """

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


class Watch(
    story_external.Watching,
    story_locks.Watching,
    story_nested.Watching,
    story_timeouts.Watching,
):
    """Sees every transaction of a world."""

    violation = Violation

    def __init__(self, world) -> None:
        self._world = world
        self._db = world.db.raw
        self._notes: list[tuple] = []
        self._db.create_function("note", 4, self._note)
        # Objects that were ever made, and row id -> rows that its object
        # may hang on.
        self._made: set[str] = set()
        # Those that came when others had taken their rows over.
        self._late: set[str] = set()
        self._uses: dict[int, set[int]] = {}
        self._will_use: dict[int, set[int]] = {}
        # The template versions that are stored, by id.
        self._versions: dict[int, dict] = {}
        self.commits = 0
        # Of the transaction that is looked at.
        self._begun_now: set[str] = set()
        # Every traversal in order: id, action, template.
        self.begun: list[tuple[str, str, int]] = []
        # All of them, those of nested stacks too, by when they began.
        self.order: dict[str, int] = {}
        # Which traversal has a nested stack clean up: by its row, as long
        # as that is the row's operation, and by what began for it.
        self.cleaning: dict[int, str] = {}
        self.cleans_for: dict[str, str] = {}

    def close(self) -> None:
        self._db.create_function("note", 4, None)

    def _note(self, *values) -> None:
        self._notes.append(values)

    def _rows(self, query: str, *values) -> list[tuple]:
        return self._db.execute(query, values).fetchall()

    def records(self) -> list[str]:
        """What a story left behind that carries the time of day."""
        found = []
        for table in ("stack", "event", "raw_template"):
            found += self._rows(f"SELECT * FROM {table}")
        return [str(row) for row in found]

    # -- operations -----------------------------------------------------------

    def watching(self, advance):
        """``check.advance``, remembering what each operation hangs on."""

        def watched(engine, scene, task, *, first):
            row_id = task.node.row.id
            if first:
                row = task.node.row
                self._world.say(f"    {task.action} of {row.id} {row.name}")
            # Whoever has lost it begins nothing.
            if first and self._rows(
                "SELECT 1 FROM resource WHERE id = ? AND claim_id = ?",
                row_id,
                task.claim_id,
            ):
                self._hang(scene, task, row_id)
            # What goes wrong in here went wrong in the cloud.
            here = greenlet.getcurrent()
            here.in_the_cloud = True
            try:
                return advance(engine, scene, task, first=first)
            finally:
                here.in_the_cloud = False

        return watched

    def _hang(self, scene, task, row_id) -> None:
        """An operation begins, on what its row is to hang on."""
        key = task.node.key
        # A nested stack that cleans up updates nothing.
        if key[1] and task.action in ("CREATE", "UPDATE"):
            needs = set(scene.required_rows(key[0]))
            self._will_use[row_id] = needs
            self.cleaning.pop(row_id, None)
            self._uses.setdefault(row_id, set()).update(needs)
        if task.node.step is Step.CLEAN:
            self.cleaning[row_id] = scene.traversal.traversal_id

    # -- transactions ---------------------------------------------------------

    def begin(self) -> None:
        self._notes.clear()

    def committed(self, owner) -> set[str]:
        """A transaction of an engine has committed; kinds of what it did."""
        self.commits += 1
        notes, self._notes = self._notes, []
        self._begun_now = {note[1] for note in notes if note[0] == "begun"}
        for kind, *values in notes:
            getattr(self, f"_on_{kind}")(owner, *values)
        return {note[0] for note in notes}

    def _on_negative(self, _owner, entity, remaining, _none) -> None:
        raise Violation("I2", f"node {entity} awaits {remaining} inputs")

    def _on_claim(self, owner, row_id, before, action) -> None:
        self.check_claim_while_locked(row_id, action)
        if before is not None:
            raise Violation("I2", f"row {row_id} is claimed twice")
        found = self._rows(
            "SELECT s.current_traversal, s.current_deps, r.stray"
            " FROM resource r JOIN stack s ON s.id = r.stack_id"
            " WHERE r.id = ?",
            row_id,
        )
        if not found or found[0][2]:
            return
        traversal, deps, _stray = found[0]
        # Who begins a traversal claims for it in the same transaction.
        if traversal not in owner.turns | self._begun_now:
            raise Violation(
                "I5",
                f"{action} of row {row_id} starts for {owner.turns}, "
                f"superseded by {traversal}",
            )
        if action in ("CREATE", "UPDATE"):
            graph = TraversalGraph.from_json(json.loads(deps))
            self._check_ready(graph, traversal, row_id)

    def _check_ready(self, graph, traversal, row_id) -> None:
        """I3: all that the node of a row requires is done."""
        key = (row_id, True)
        while key not in graph:
            found = self._rows(
                "SELECT replaces FROM resource WHERE id = ?", key[0]
            )
            if not found or found[0][0] is None:
                raise Violation("I3", f"row {row_id} has no node")
            key = (found[0][0], True)
        needs = [str(each[0]) for each in graph.requires(key)]
        marks = ", ".join("?" * len(needs))
        done = self._rows(
            "SELECT count(*) FROM sync_point WHERE traversal_id = ?"
            f" AND done AND is_update AND entity_id IN ({marks})",
            traversal,
            *needs,
        )
        if done[0][0] != len(needs):
            raise Violation("I3", f"row {row_id} acts before {needs}")

    def _on_complete(self, _owner, row_id, action, _none) -> None:
        self._world.say(f"    {action}_COMPLETE of {row_id}")
        if action in ("CREATE", "UPDATE") and row_id in self._will_use:
            self._uses[row_id] = self._will_use.pop(row_id)

    def _on_kept(self, _owner, row_id, requires, _none) -> None:
        # Nothing differs for it: what it hangs on now is the new one.
        self._uses[row_id] = set(json.loads(requires))

    def _on_done(self, _owner, entity, is_update, before) -> None:
        if before:
            raise Violation("I2", f"node {entity}, {is_update} is done twice")

    def _on_begun(self, _owner, traversal, action, template_id) -> None:
        self.order[traversal] = len(self.order)
        if self._is_nested(traversal):
            self.note_clean_up(traversal)
        else:
            self.begun.append((traversal, action, template_id))
        self._world.say(f"{action} begins: {traversal[:4]} to {template_id}")

    def _on_completed(self, _owner, traversal, _n, _m) -> None:
        left = self._rows(
            "SELECT entity_id FROM sync_point WHERE traversal_id = ?"
            " AND is_update AND NOT done",
            traversal,
        )
        if left:
            raise Violation("I3", f"completed before {left}")

    def _on_made(self, owner, physical_id, uuid, _none) -> None:
        if physical_id in self._made:
            raise Violation("I2", f"object {physical_id} is made twice")
        self._made.add(physical_id)
        if not self._rows(
            "SELECT 1 FROM resource WHERE uuid = ? AND engine_id = ?",
            uuid,
            owner.name,
        ):
            # By a call that an engine made before it was taken for dead.
            self._late.add(physical_id)
        self._world.say(f"    made {physical_id}")

    def _on_gone(self, owner, physical_id, uuid, _none) -> None:
        self._world.say(f"    gone {physical_id}")
        self.check_gone_below(owner, uuid)
        for row_id in self.rows_of_object(uuid):
            users = [each for each in self._uses if row_id in self._uses[each]]
            for user in users:
                left = set(self.objects_of_row(user)) - self._late
                if left and user != row_id:
                    raise Violation(
                        "I4",
                        f"{physical_id} is deleted while {min(left)} hangs"
                        " on it",
                    )

    def stack_ids(self) -> list[str]:
        query = "SELECT id FROM stack WHERE owner_id IS NULL"
        return [row[0] for row in self._rows(query)]

    # -- at rest --------------------------------------------------------------

    def is_at_rest(self) -> bool:
        """Whether nothing is left that recovery could look at twice."""
        return not self._rows(
            "SELECT 1 FROM stack WHERE status = 'IN_PROGRESS'"
            " UNION SELECT 1 FROM resource WHERE claim_id NOT NULL OR stray"
            " UNION SELECT 1 FROM sync_point"
        )

    def check_rest(self, stack_id: str) -> None:
        """I6, and that nothing is left over of what has ended."""
        stack = self._world.stack(stack_id)
        if stack.status == "IN_PROGRESS":
            points = self._rows(
                "SELECT entity_id, is_update, remaining FROM sync_point"
                " WHERE stack_id = ? AND NOT done",
                stack_id,
            )
            raise Violation(
                "I6", f"{stack.action} never ends; awaited: {points}"
            )
        held = self._rows("SELECT id FROM resource WHERE claim_id NOT NULL")
        if held:
            raise Violation("I6", f"rows {held} are held for ever")
        if self._rows("SELECT 1 FROM sync_point LIMIT 1"):
            raise Violation("I6", "SyncPoints are left over")
        self.check_nested()
        self._check_books(stack_id)

    def _check_books(self, stack_id: str) -> None:
        """Every object is in the books, so that it can be deleted."""
        lost = self._rows(
            "SELECT o.id FROM test_object o LEFT JOIN resource r"
            " ON r.uuid = o.resource_uuid OR r.nova_instance = o.id"
            " WHERE o.stack_id != 'user' AND (r.id IS NULL OR"
            " (r.action = 'DELETE' AND r.status = 'COMPLETE'))"
        )
        if lost:
            raise Violation("I1", f"nobody knows of the objects {lost}")

    def check_gone(self, stack_id: str) -> None:
        """A deleted stack leaves nothing."""
        if left := self.objects(stack_id):
            raise Violation("I1", f"DELETE left the objects {left}")
        if left := self._living_rows(stack_id):
            raise Violation("I1", f"DELETE left the rows {left}")

    def check_complete(self, stack_id: str, wanted, theirs) -> None:
        """I1: the rows and the objects are what the template wants.

        :param wanted: name -> (type, value, names that it requires)
        :param theirs: name -> id of the objects that are the user's
        """
        self.check_theirs(stack_id, theirs)
        stack = self._world.stack(stack_id)
        living = self._living_rows(stack_id)
        kept = self.kept_by_lock(stack, living)
        rows = {}
        for row in living:
            if row in kept:
                continue
            if row[1] in rows:
                raise Violation("I1", f"two rows of {row[1]}: {row}")
            rows[row[1]] = row
        if rows.keys() != wanted.keys():
            raise Violation("I1", f"rows {sorted(rows)}, not {sorted(wanted)}")
        expected = set()
        for name, (type_, value, needs) in wanted.items():
            row_id, _name, action, status, physical, kind, *rest = rows[name]
            replaced_by, stray, template_id, requires = rest
            if status != "COMPLETE" or stray or replaced_by is not None:
                raise Violation("I1", f"{name} is {action}_{status}: {rest}")
            if kind != type_ or template_id != stack.raw_template_id:
                raise Violation("I1", f"{name} is of another template {rest}")
            ids = sorted(rows[each][0] for each in needs)
            if requires != str(ids).replace(" ", ""):
                raise Violation("I4", f"{name} requires {requires}, not {ids}")
            if type_ == story_nested.NEST:
                expected |= self.nested_objects(physical, value)
            elif type_ != "OS::Heat::Value" and name not in theirs:
                expected.add(physical)
                self._check_value(name, row_id, value)
        found = self.objects(stack_id) - {row[4] for row in kept}
        if expected != found:
            raise Violation(
                "I1",
                f"too many {found - expected}, missing {expected - found}",
            )

    def _living_rows(self, stack_id: str) -> list[tuple]:
        return self._rows(
            "SELECT id, name, action, status, nova_instance, resource_type,"
            " replaced_by, stray, current_template_id, requires"
            " FROM resource WHERE stack_id = ?"
            " AND NOT (action = 'DELETE' AND status = 'COMPLETE')",
            stack_id,
        )

    def _check_value(self, name: str, row_id: int, value: str) -> None:
        found = self._rows(
            "SELECT value FROM resource_data WHERE resource_id = ?"
            " AND key = 'value'",
            row_id,
        )
        if [(value,)] != found:
            raise Violation("I1", f"{name} holds {found}, not {value}")
