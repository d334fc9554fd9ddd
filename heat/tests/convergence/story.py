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

"""What users want of a simulated stack: templates at random, and actions."""

from __future__ import annotations

import dataclasses
import random

from oslo_db import exception as db_exc

from heat.common import exception
from heat.db import templates
from heat.engine.stack import actions, converge, delete
from heat.tests.convergence import (
    lockable,
    prepared,
    story_external,
    story_locks,
    story_nested,
    story_timeouts,
)
from heat.tests.convergence.invariants import Violation
from heat.tests.convergence.simulation import Faults, SimulatedWorld

TEST = "OS::Heat::TestResource"
VALUE = "OS::Heat::Value"
CREATE = "user's create"
NAMES = [f"n{number}" for number in range(10)]
# Failures of a row that CHECK and SUSPEND do not cover.
UNFIT = ("CREATE", "CHECK")
# What a user is told when he comes at the wrong time.
REFUSALS = (
    exception.ActionInProgress,
    exception.EntityNotFound,
    exception.NotSupported,
    exception.StackExists,
    *story_locks.REFUSALS,
)


@dataclasses.dataclass(frozen=True)
class Wish:
    """One resource of a template.

    :ivar source: the resource whose output is its value, or None
    :ivar external: the id of its object, which is the user's
    :ivar retain: its object is let go when it is not wanted any more
    """

    type: str
    value: str
    source: str | None = None
    after: tuple[str, ...] = ()
    properties: tuple[tuple[str, object], ...] = ()
    external: str | None = None
    retain: bool = False

    @property
    def needs(self) -> set[str]:
        return set(self.after) | ({self.source} if self.source else set())

    def to_template(self, wishes: dict[str, Wish]) -> dict:
        value: object = self.value
        if self.source:
            kind = wishes[self.source].type
            name = "value" if kind == VALUE else "output"
            value = {"get_attr": [self.source, name]}
        properties = {"value": value}
        if self.type not in (VALUE, story_nested.NEST):
            properties.update(self.properties)
        made: dict = {"type": self.type, "properties": properties}
        if self.after:
            made["depends_on"] = list(self.after)
        story_external.add_to(made, self)
        return made


Wishes = dict[str, Wish]


def to_template(wishes: Wishes, number: int) -> dict:
    return {
        "heat_template_version": "2018-08-31",
        "description": str(number),
        "resources": {
            name: wish.to_template(wishes) for name, wish in wishes.items()
        },
    }


def wanted(wishes: Wishes) -> dict[str, tuple[str, str, set[str]]]:
    """name -> (type, value, names that it requires)."""

    def value(name: str) -> str:
        source = wishes[name].source
        return value(source) if source else wishes[name].value

    return {
        name: (wish.type, value(name), wish.needs)
        for name, wish in wishes.items()
    }


def fails(wishes: Wishes) -> bool:
    return any(dict(wish.properties).get("fail") for wish in wishes.values())


class Chooser:
    """Draws templates, each from the one before."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._values = 0
        self.kinds = (TEST, VALUE, prepared.PICKY, lockable.LOCKABLE)
        self.weights = (5, 1, 1, 2)
        self.slow = rng.choice((0.0, 0.2, 0.6))

    def first(self) -> Wishes:
        names = self._rng.sample(NAMES, self._rng.randint(3, 8))
        return self._draw({name: None for name in names})

    def _draw(self, before: dict[str, Wish | None]) -> Wishes:
        """New edges between the resources, in a random order."""
        names = list(before)
        self._rng.shuffle(names)
        wishes: Wishes = {}
        for name in names:
            old = before[name]
            wish = self._wish() if old is None else old
            wishes[name] = self._connected(wish, list(wishes))
        return wishes

    def _connected(self, wish: Wish, lower: list[str]) -> Wish:
        source = None
        if lower and self._rng.random() < 0.5:
            source = self._rng.choice(lower)
        after: tuple[str, ...] = ()
        if lower and self._rng.random() < 0.3:
            after = (self._rng.choice(lower),)
        return dataclasses.replace(wish, source=source, after=after)

    def _value(self) -> str:
        self._values += 1
        return f"v{self._values}"

    def _wish(self) -> Wish:
        type_ = self._rng.choices(self.kinds, self.weights)[0]
        return Wish(type_, self._value(), properties=self._properties())

    def _properties(self) -> tuple[tuple[str, object], ...]:
        found: dict[str, object] = {}
        if self._rng.random() < self.slow:
            found["wait_secs"] = self._rng.choice((1, 3, 10))
        if self._rng.random() < self.slow / 2:
            found["action_wait_secs"] = {
                self._rng.choice(("create", "update", "delete")): 7
            }
        if self._rng.random() < 0.05:
            found["fail"] = True
        return tuple(found.items())

    def next(self, wishes: Wishes, before: list[Wishes]) -> Wishes:
        """Another template: a few changes, an older one, or new edges."""
        luck = self._rng.random()
        if luck < 0.15:
            return self._rng.choice(before)
        if luck < 0.3:
            return self._draw(dict(wishes))
        made = dict(wishes)
        for name in list(made):
            self._change(made, name)
        for name in NAMES:
            if name not in made and self._rng.random() < 0.05:
                made[name] = self._connected(self._wish(), list(made))
        return made

    def _change(self, made: Wishes, name: str) -> None:
        luck = self._rng.random()
        wish = made[name]
        fixed = {k: v for k, v in wish.properties if k != "fail"}
        if luck < 0.1:
            used = any(name in each.needs for each in made.values())
            if not used and len(made) > 1:
                del made[name]
            return
        if luck < 0.15:
            other = TEST if wish.type != TEST else VALUE
            made[name] = dataclasses.replace(wish, type=other)
            return
        if luck < 0.5:
            value = self._value()
            if luck < 0.22:
                value = f"replace-{value}"
            elif luck < 0.3:
                fixed["update_replace_value"] = value
            elif luck < 0.36:
                fixed["update_replace"] = True
            elif luck < 0.4:
                fixed["fail"] = True
            made[name] = dataclasses.replace(
                wish, value=value, properties=tuple(fixed.items())
            )

    def mended(self, wishes: Wishes) -> Wishes:
        """The same, but nothing fails."""
        return {
            name: dataclasses.replace(
                wish,
                properties=tuple(
                    each for each in wish.properties if each[0] != "fail"
                ),
            )
            for name, wish in wishes.items()
        }


def _refused(action: str, reason: str) -> bool:
    """Whether an action did not cover what had failed before it."""
    failed = any(f"it is {each}_FAILED (" in reason for each in UNFIT)
    return action in ("CHECK", "SUSPEND") and failed


class Story:
    """What happens to one stack, from its creation to its end."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.rng = world.rng
        self.chooser = Chooser(world.rng)
        self.owner = story_external.Owner(world)
        self.locks = story_locks.Locks(self)
        self.timeouts = story_timeouts.Timeouts(self)
        story_nested.add_to(self)
        self.templates: list[Wishes] = []
        self.stack_id: str | None = None
        self.hurry = self.rng.choice((0.01, 0.05, 0.2))

    def run(self) -> None:
        left = self.rng.randint(1, 5) + self.locks.more
        while left or self.world.step():
            if left and (
                self.rng.random() < self.hurry or not self.world.step()
            ):
                left -= 1
                self._act()
            self._disturb()
        self._rest()
        self._mend()
        self._end()

    # -- phases ---------------------------------------------------------------

    def _disturb(self) -> None:
        luck = self.rng.random()
        if luck < 0.02:
            self.world.start_sweep(self.rng.choice(self.world.able()))
        elif luck < 0.03:
            self.world.pass_time(self.rng.choice((5.0, 30.0)))
        elif luck < 0.06:
            self._wake(some=True)

    def _wake(self, *, some: bool) -> None:
        for each in list(self.world.engines):
            if each.stalled_at is not None and (
                not some or self.rng.random() < 0.5
            ):
                self.world.wake(each)

    def _rest(self) -> None:
        """Faults stop; late sleepers wake when all seems over."""
        world = self.world
        world.say("faults stop")
        world.faults = Faults(pause=world.faults.pause / 3, local=0.5)
        self._wake(some=True)
        world.settle()
        if any(each.stalled_at is not None for each in world.engines):
            self._wake(some=False)
            world.settle()
        if self._known():
            world.watch.check_rest(self.stack_id)
            self.locks.rest()
            self._check_state()

    def _mend(self) -> None:
        """Whatever has happened, an update puts it right."""
        if not self._lives():
            return
        if self.locks.failed() and self.rng.random() < 0.5:
            return  # it is deleted like that
        self.locks.release()
        stack = self.world.stack(self.stack_id)
        timed = self.timeouts.some  # a delete may take too long, too
        skipped = stack.base[1] == "COMPLETE" and self.rng.random() < 0.7
        if skipped and not timed:
            return
        if stack.base[0] in ("SUSPEND", "RESUME"):
            self._do("resume", self._resume)
            self.world.settle()
        last = self.templates[-1]
        wishes = self.chooser.mended(self.chooser.next(last, [last]))
        wishes = self.owner.mended(wishes, self.stack_id)
        wishes = self.timeouts.mended(wishes)
        self.timeouts.end()
        self._do("update", lambda owner: self._update(owner, wishes))
        self._settled({"UPDATE_COMPLETE"})

    def _end(self) -> None:
        if self._lives():
            self.locks.before_delete()
            self._do("delete", self._delete)
            self._settled({"DELETE_COMPLETE"})

    def _settled(self, states: set[str]) -> None:
        self.world.settle()
        self.world.watch.check_rest(self.stack_id)
        stack = self.world.stack(self.stack_id)
        if f"{stack.action}_{stack.status}" not in states:
            raise Violation(
                "I6",
                f"{stack.action}_{stack.status}, not {states}: "
                f"{stack.status_reason}",
            )
        self.locks.check()
        self._check_state()

    # -- what users do --------------------------------------------------------

    def _act(self) -> None:
        if not self._known():
            if any(each.what == CREATE for each in self.world.activities):
                return
            wishes = self.owner.change(self.chooser.first(), None)
            wishes = self.timeouts.change(wishes)
            self._do("create", lambda owner: self._create(owner, wishes))
            return
        if self.locks.act():
            return
        self.timeouts.wait(self.stack_id)
        luck = self.rng.random()
        if luck < 0.65:
            wishes = self.chooser.next(self.templates[-1], self.templates)
            wishes = self.owner.change(wishes, self.stack_id)
            wishes = self.timeouts.change(wishes)
            self._do("update", lambda owner: self._update(owner, wishes))
        elif luck < 0.75:
            self._do("delete", self._delete)
        elif luck < 0.9:
            rollback = luck < 0.85
            self._do(
                "cancel",
                lambda owner: actions.cancel(
                    owner.engine,
                    self.world.context,
                    self._read(owner),
                    rollback=rollback,
                ),
            )
        else:
            name = self.rng.choice(("suspend", "resume", "check"))
            self._do(
                name,
                lambda owner: getattr(actions, name)(
                    owner.engine, self.world.context, self._read(owner)
                ),
            )

    def _do(self, what: str, call) -> None:
        owner = self.rng.choice(self.world.able())

        def act() -> None:
            try:
                call(owner)
            except REFUSALS as refusal:
                self.world.say(f"{what} is refused: {refusal}")
            except db_exc.DBConnectionError:
                self.world.say(f"{what} fails")

        self.world.start(owner, f"user's {what}", act, slow=True)

    def _read(self, owner):
        return owner.engine.db.read(
            lambda conn: converge.stacks.get(conn, self.stack_id)
        ) or self.world.stack(self.stack_id)

    def _number(self, wishes: Wishes) -> dict:
        self.templates.append(wishes)
        self.world.say(
            f"template {len(self.templates) - 1}: "
            + "; ".join(
                f"{name} {wish.type[10:]} {wish.value} < {sorted(wish.needs)}"
                f" {dict(wish.properties)}"
                for name, wish in wishes.items()
            )
        )
        return to_template(wishes, len(self.templates) - 1)

    def _create(self, owner, wishes: Wishes) -> None:
        converge.create(
            owner.engine,
            self.world.context,
            "stack",
            self._number(wishes),
            self.timeouts.environment(wishes),
            story_nested.FILES,
            self._args(),
        )

    def _args(self) -> dict:
        disable = self.rng.random() < 0.5
        return {"disable_rollback": disable, **self.timeouts.args()}

    def _update(self, owner, wishes: Wishes) -> None:
        stack = self._read(owner)
        converge.update(
            owner.engine,
            self.world.context,
            stack,
            self._number(wishes),
            self.timeouts.environment(wishes),
            story_nested.FILES,
            self._args(),
        )

    def _delete(self, owner) -> None:
        delete.delete(owner.engine, self.world.context, self._read(owner))

    def _resume(self, owner) -> None:
        actions.resume(owner.engine, self.world.context, self._read(owner))

    # -- what must be true ----------------------------------------------------

    def _known(self) -> bool:
        """Whether the create has committed."""
        if self.stack_id is None:
            found = self.world.watch.stack_ids()
            self.stack_id = found[0] if found else None
        return self.stack_id is not None

    def _lives(self) -> bool:
        return (
            self._known()
            and self.world.stack(self.stack_id).deleted_at is None
        )

    def _wishes(self, template_id: int) -> Wishes:
        found = self.world.db.read(
            lambda conn: templates.get(conn, template_id)
        )
        return self.templates[int(found.template["description"])]

    def _check_deleted(self, status, reason) -> None:
        if status == "COMPLETE":
            self.world.watch.check_gone(self.stack_id)
        elif not self.timeouts.told(reason):  # else it may be tried again
            raise Violation("I6", f"DELETE fails: {reason}")

    def _check_state(self) -> None:
        stack = self.world.stack(self.stack_id)
        action, status = stack.base
        watch = self.world.watch
        self.world.say(f"at rest: {action}_{status} {stack.status_reason}")
        _traversal, last, template_id = watch.begun_last()
        if last != action:
            raise Violation("I6", f"{last} was asked for, {action} is")
        if action == "DELETE":
            self._check_deleted(status, stack.status_reason)
            return
        if template_id != stack.raw_template_id:
            raise Violation("I6", f"template {template_id} was asked for")
        wishes = self._wishes(template_id)
        if status == "FAILED":
            reason = story_locks.reason(stack)
            told = any(each in reason for each in story_external.REASONS)
            told = told or self.timeouts.told(reason)
            told = told or _refused(action, reason)
            if "cancelled" not in reason and not told and not fails(wishes):
                raise Violation("I6", f"{action} fails: {reason}")
            return
        if action == "ROLLBACK":
            complete = stack.last_complete_template_id
            if complete is None:
                wishes = {}
            elif complete != template_id:
                raise Violation("I6", "ROLLBACK to what never completed")
        if self.locks.failed():
            return  # some rows show that, and not how they are
        if action in ("CREATE", "UPDATE", "ROLLBACK"):
            watch.check_complete(
                self.stack_id, wanted(wishes), story_external.asked(wishes)
            )
