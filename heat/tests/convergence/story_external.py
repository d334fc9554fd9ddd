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
"""Objects of users in simulated stories, and rule I7 that protects them.

A user takes objects of the stack into his own hands (under the same name, or
another), puts others in their place, hands them back, keeps them by policy,
and removes what holds them. The watch knows whose each object is: what is the
user's has ``user`` as its stack in the table of stand-in objects. An object
of the user's that anything deletes is a violation, whatever crashed before.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from unittest import mock

from heat.engine.traversal import begin, claims, gather, rows

USER = "user"
VALUE = "OS::Heat::Value"
#: what a user is told who can't have what he asked for
REASONS = ("stays external", "is being deleted")

TRIGGERS = """
CREATE TRIGGER seen_theirs AFTER UPDATE ON resource
WHEN NEW.external AND NEW.status = 'COMPLETE' AND NEW.claim_id IS NULL
AND NEW.action NOT IN ('INIT', 'ADOPT', 'DELETE')
AND NEW.current_template_id =
    (SELECT raw_template_id FROM stack WHERE id = NEW.stack_id)
BEGIN SELECT note('theirs', NEW.nova_instance, NEW.id, NEW.requires); END;
CREATE TRIGGER seen_ours AFTER UPDATE OF external ON resource
WHEN OLD.external AND NOT NEW.external
BEGIN SELECT note('ours', NEW.nova_instance, NEW.stack_id,
NEW.resource_type); END;
CREATE TRIGGER seen_let_go AFTER INSERT ON released_object
BEGIN SELECT note('let_go', NEW.physical_resource_id, NEW.resource_name,
NEW.reason); END;
CREATE TRIGGER seen_stored AFTER INSERT ON raw_template
BEGIN SELECT note('stored', NEW.id, NEW.template, NULL); END;
CREATE TRIGGER seen_pruned AFTER DELETE ON raw_template
BEGIN SELECT note('pruned', OLD.id, NULL, NULL); END;
CREATE TRIGGER seen_killed BEFORE DELETE ON test_object
BEGIN SELECT note('killed', OLD.id, OLD.stack_id, OLD.resource_uuid); END;
"""


# -- what users want ----------------------------------------------------------


class Owner:
    """Draws what becomes of the objects of one story."""

    def __init__(self, world) -> None:
        self._world = world
        # Its own, so that stories without such objects stay as they were.
        self._rng = copy.copy(world.rng)
        # Half of the stories have none, and are as they always were.
        self._eager = self._rng.choice((0.0, 0.0, 0.15, 0.4))
        self._count = 0

    def change(self, wishes, stack_id):
        """Another template with some objects in other hands."""
        if not self._eager:
            return wishes
        made = dict(wishes)
        rows = self._rows(stack_id)
        for name in list(made):
            if self._rng.random() < self._eager:
                self._move(made, name, rows)
        return _sound(made)

    def mended(self, wishes, stack_id):
        """The same, but nothing is handed back, which may be refused."""
        rows = self._rows(stack_id)
        held = {ident for ident, theirs in rows.values() if theirs}
        made = {}
        for name, wish in wishes.items():
            ident, theirs = rows.get(name, (None, False))
            if ident is not None and (theirs or ident in held):
                wish = dataclasses.replace(wish, external=ident)
            made[name] = wish
        return _sound(made)

    def _rows(self, stack_id) -> dict[str, tuple[str, bool]]:
        if stack_id is None:
            return {}
        return self._world.watch.objects_by_name(stack_id)

    def _move(self, made, name, rows) -> None:
        wish = made[name]
        luck = self._rng.random()
        ident = rows.get(name, (None, False))[0]
        if wish.external is not None and luck < 0.4:
            made[name] = dataclasses.replace(wish, external=None)
        elif luck < 0.5:
            self._count += 1
            other = f"theirs-{self._count}"
            made[name] = dataclasses.replace(wish, external=other)
        elif luck < 0.7:
            made[name] = dataclasses.replace(wish, external=ident)
        elif luck < 0.8:
            made[name] = dataclasses.replace(wish, retain=not wish.retain)
        elif ident is not None:
            self._rename(made, name, ident)

    def _rename(self, made, name, ident) -> None:
        """The object goes on as the user's under a name of its own."""
        used = any(name in each.needs for each in made.values())
        other = f"x{name}"
        if not used and other not in made:
            made[other] = dataclasses.replace(
                made.pop(name), external=ident, source=None
            )


def _sound(wishes):
    """Nobody reads what only the user knows; one object has one name."""
    made, seen = {}, set()
    for name, wish in wishes.items():
        if wish.type == VALUE:
            wish = dataclasses.replace(wish, external=None, retain=False)
        if wish.external in seen:
            wish = dataclasses.replace(wish, external=None)
        if wish.external is not None:
            seen.add(wish.external)
        made[name] = wish
    for name, wish in made.items():
        source = made.get(wish.source)
        if source is not None and source.external is not None:
            made[name] = dataclasses.replace(wish, source=None)
    return made


def add_to(made: dict, wish) -> None:
    """Say in a resource's template whose object it is."""
    if wish.external is not None:
        made["external_id"] = wish.external
    if wish.retain:
        made["deletion_policy"] = "retain"


def asked(wishes) -> dict[str, str]:
    """name -> id of the objects that are to be the user's."""
    return {
        name: wish.external
        for name, wish in wishes.items()
        if wish.external is not None
    }


# -- what must be true --------------------------------------------------------


class Watching:
    """The part of the watch that knows whose an object is."""

    def objects_by_name(self, stack_id) -> dict[str, tuple[str, bool]]:
        """name -> (object, whether it is the user's) of living rows."""
        return {
            name: (ident, bool(theirs))
            for name, ident, theirs in self._rows(
                "SELECT name, nova_instance, external FROM resource"
                " WHERE stack_id = ? AND nova_instance IS NOT NULL"
                " AND replaced_by IS NULL AND NOT stray"
                " AND action != 'DELETE'",
                stack_id,
            )
        }

    def _give(self, ident, stack_id) -> None:
        """The object is the stack's, or the user's; it is there for sure."""
        changed = self._db.execute(
            "UPDATE test_object SET stack_id = ? WHERE id = ?",
            (stack_id, ident),
        )
        if not changed.rowcount:
            self._db.execute(
                "INSERT INTO test_object (id, stack_id) VALUES (?, ?)",
                (ident, stack_id),
            )

    def _on_theirs(self, _owner, ident, row_id, requires) -> None:
        self._give(ident, USER)
        # It gets no update any more, not even one that was begun: whatever
        # it hung on goes when the template says so, as for any that passes.
        self._uses[row_id] = set(json.loads(requires))
        self._will_use.pop(row_id, None)

    def _on_ours(self, _owner, ident, stack_id, type_) -> None:
        # A value has an id and never an object: one that the user calls by
        # that id is none of what the stack has made, or would delete.
        if ident is not None and type_ != VALUE:
            self._give(ident, stack_id)

    def _on_let_go(self, _owner, ident, name, reason) -> None:
        owned = self._rows(
            "SELECT 1 FROM resource WHERE nova_instance = ? AND NOT external"
            " AND resource_type IS NOT ?",
            ident,
            VALUE,
        )
        there = self._rows("SELECT 1 FROM test_object WHERE id = ?", ident)
        if reason == "retain" and not self._retained(name):
            raise self.violation("I1", f"{ident} is let go ({reason})")
        if reason == "external" and not self._asked_for(ident):
            raise self.violation("I1", f"{ident} is let go ({reason})")
        if there and not owned:
            self._give(ident, USER)
            # One that was locked leaves a row that says DELETE_COMPLETE.
            for (row_id,) in self._rows(
                "SELECT r.id FROM resource r JOIN test_object o"
                " ON o.resource_uuid = r.uuid WHERE o.id = ?",
                ident,
            ):
                self._uses.pop(row_id, None)

    def _on_killed(self, owner, ident, stack_id, uuid) -> None:
        """I7. What an engine does that was taken for dead, and wakes up in
        the middle of a call, no database can prevent; and what nobody was
        ever told of can't be retained for anybody."""
        if owner.woken:
            return
        if stack_id == USER:
            raise self.violation("I7", f"{ident} of the user's is deleted")
        for name, template in self._rows(
            "SELECT r.name, t.template FROM resource r JOIN raw_template t"
            " ON t.id = r.current_template_id WHERE r.uuid = ?"
            " AND r.nova_instance NOT NULL",
            uuid,
        ):
            wish = json.loads(template)["resources"].get(name, {})
            if wish.get("deletion_policy") == "retain":
                raise self.violation("I7", f"{ident} is to be retained")

    def _on_stored(self, _owner, version, template, _none) -> None:
        self._versions[version] = json.loads(template)["resources"]

    def _on_pruned(self, _owner, version, *_none) -> None:
        """After what its transaction did before, which may be by it."""
        del self._versions[version]

    def _retained(self, name) -> bool:
        return any(
            each.get(name, {}).get("deletion_policy") == "retain"
            for each in self._versions.values()
        )

    def _asked_for(self, ident) -> bool:
        return any(
            wish.get("external_id") == ident
            for each in self._versions.values()
            for wish in each.values()
        )

    def check_theirs(self, stack_id, wanted) -> None:
        """The rows say which objects are the user's.

        :param wanted: name -> id, as of :func:`asked`
        """
        found = {
            name: ident
            for name, (ident, theirs) in self.objects_by_name(stack_id).items()
            if theirs
        }
        if found != wanted:
            raise self.violation("I7", f"{found} is external, not {wanted}")


# -- broken engines -----------------------------------------------------------


@contextlib.contextmanager
def flag_ignored():
    """Clean-up does not ask whose the object is."""
    real = gather.decide.cleanup_step

    def step(facts):
        return real(dataclasses.replace(facts, external=False, readers=()))

    with (
        mock.patch.object(gather.decide, "cleanup_step", step),
        mock.patch.object(claims, "spare", lambda *_args: set()),
    ):
        yield


@contextlib.contextmanager
def only_the_row_counts():
    """Ownership stays with the row that made an object, wherever it went."""
    with (
        mock.patch.object(
            gather.resources, "held_external", lambda *_args: {}
        ),
        mock.patch.object(begin, "passed_on", lambda *_args: set()),
        mock.patch.object(rows.claims, "settle", lambda *_args: None),
    ):
        yield


@contextlib.contextmanager
def policy_ignored():
    """An object is deleted, whatever its policy."""
    with mock.patch.object(gather, "_policy", lambda _wish: "delete"):
        yield


MUTANTS = {
    "stored flag ignored": flag_ignored,
    "only the row counts": only_the_row_counts,
    "deletion policy ignored": policy_ignored,
}
