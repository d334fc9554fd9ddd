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

"""GroupResource: a resource whose child has one resource for each member.

What the types of groups have in common: the child's template, changing it
some members at a time, and attributes that gather those of the members. A
sub-class says who the members are (:meth:`GroupResource.members`).

An attribute that the parent's template asks of the members becomes an
output of the child, so that the child knows what is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, function, resource
from heat.engine.resource import child, notation
from heat.engine.resources import stack_resource
from heat.scaling import rolling_update, template

REFS, REFS_MAP, ATTRIBUTES, REMOVED = (
    "refs",
    "refs_map",
    "attributes",
    "removed_rsrc_list",
)

ROLLING_UPDATE, BATCH_CREATE = "rolling_update", "batch_create"

#: How fast members are made and changed, for types that let users say so.
UPDATE_POLICIES = notation.properties("""
    batch_create map{
        max_batch_size integer (update, =1, range 1..None) -- Members
        -- made at once.
        pause_time number (update, =0, range 0..None) -- Seconds between
        -- two batches.
    } (update) -- How fast members are made. Left out, all are at once.
    rolling_update map{
        min_in_service integer (update, =0, range 0..None) -- Members
        -- that nothing is done with at any time.
        max_batch_size integer (update, =1, range 1..None) -- Members
        -- changed at once.
        pause_time number (update, =0, range 0..None) -- Seconds between
        -- two batches.
    } (update) -- How fast members are changed. Left out, all are at
    -- once.
""")

#: The child's parameters before all is known that its members need.
_UNKNOWNS = {child.UNKNOWN: {"type": "json"}}


class GroupResource(stack_resource.StackResource):
    """A resource whose child has one resource for each member."""

    #: attributes that are not asked of the members
    own_attributes: frozenset[str] = frozenset((REFS, REFS_MAP, REMOVED))

    #: what one member has, all have
    alike = True

    #: properties of which a part may be unknown and the members be known
    of_members: frozenset[str] = frozenset()

    def __init__(self, name: str, json_snippet: Any, stack: Any) -> None:
        super().__init__(name, json_snippet, stack)
        self._arrived = False
        self._paused = False

    # -- what a sub-class says ---------------------------------------------

    def members(self) -> dict[str, Any]:
        """What the members are to be: name -> resource of a template."""
        raise NotImplementedError

    def samples(self) -> dict[str, Any]:
        """Members that stand for all of them when the group is checked.

        What is not known yet is in it as :func:`unknowns` has it.
        """
        raise NotImplementedError

    def drafts(self) -> dict[str, Any]:
        """The members, with what is not known yet as in :meth:`samples`."""
        samples = self.samples()
        if not self.alike:
            return samples
        (body,) = samples.values()
        return {str(number): body for number in range(self.size())}

    def size(self) -> int:
        """How many members there are to be."""
        return len(self.members())

    def pace(self, changing: bool) -> rolling_update.Pace:
        """How fast members may be made.

        :param changing: whether members that are there change
        """
        return rolling_update.UNLIMITED

    def pace_of_policies(self, changing: bool) -> rolling_update.Pace:
        """The pace that :data:`UPDATE_POLICIES` say."""
        policy = self.target.update_policy(
            self.update_policy_schema, self.context
        )
        given = policy[ROLLING_UPDATE if changing else BATCH_CREATE]
        if given is None:
            return rolling_update.UNLIMITED
        return rolling_update.Pace(
            given["max_batch_size"],
            given.get("min_in_service") or 0,
            given["pause_time"],
        )

    def spares(self) -> Iterable[tuple[str, Any]]:
        """More members, for the time of an update."""
        return ()

    # -- the child ---------------------------------------------------------

    def child_params(self) -> dict[str, Any]:
        return {}

    def child_template(self) -> dict[str, Any]:
        return self._template(self.members())

    def draft_template(self) -> dict[str, Any]:
        """The child's template before all is known that its members need.

        What isn't is the value of the parameter :data:`.child.UNKNOWN`.
        """
        return template.make_template(self.drafts(), self._asked(), _UNKNOWNS)

    def _template(self, members: Mapping[str, Any]) -> dict[str, Any]:
        return template.make_template(members, self._asked())

    def _asked(self) -> list[template.Asked]:
        """What the parent's template asks of the members."""
        asked = self.stack.definition.referenced_attributes(self.name)
        found = {self._of_member(key) for key in asked}
        return sorted(each for each in found if each.path)

    def _of_member(self, key: Sequence[str]) -> template.Asked:
        """What an attribute of the group asks of whom."""
        name, *path = key
        if name in self.own_attributes or name == self.SHOW:
            return template.Asked("", ())
        if tuple(key) == function.ALL_ATTRIBUTES:
            return template.Asked("", ())
        if name == ATTRIBUTES:
            return template.Asked("", tuple(path))
        if name.startswith(child.INNER):
            _word, member, *more = name.split(".")
            return template.Asked(member, (*more, *path))
        return template.Asked("", tuple(key))

    def _template_digest(self) -> str:
        return repr(self._asked())

    # -- create, update ----------------------------------------------------

    def handle_create(self) -> None:
        goal = self.members()
        self._check_pauses(len(goal), self.pace(changing=False))
        made = self._next({}, goal)
        self.create_with_template(self._template(made))

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        self.properties = json_snippet.properties(
            self.properties_schema, self.context
        )
        goal = self.members()
        current = self._current(goal)
        pace = self.pace(changing=_changing(current, goal))
        self._check_pauses(
            sum(current.get(name) != goal[name] for name in goal), pace
        )
        self.update_with_template(self._template(self._next(current, goal)))

    def keeps_replaced(self) -> bool:
        """Not from batch to batch: there may be no room for all of them."""
        return self._arrived

    def _current(self, goal: Mapping[str, Any]) -> dict[str, Any]:
        """The members as they are; what does not matter is not read."""
        unlimited = rolling_update.UNLIMITED
        if self.pace(True) == unlimited and self.pace(False) == unlimited:
            return dict(goal)
        view = self.nested()
        return {} if view is None else dict(view.t.raw.get("resources") or {})

    def _next(
        self, current: Mapping[str, Any], goal: Mapping[str, Any]
    ) -> dict[str, Any]:
        pace = self.pace(changing=_changing(current, goal))
        made = rolling_update.step(current, goal, pace, self.spares())
        if made is None:
            made = dict(goal)
        self._arrived = made == goal
        return made

    def _check_pauses(self, count: int, pace: rolling_update.Pace) -> None:
        """Refuse pauses that the time-out leaves no time for."""
        pauses = (rolling_update.batches(count, pace) - 1) * pace.pause
        if pauses > 0 and pauses >= self.stack.timeout_secs():
            raise ValueError(
                _(
                    "The pauses between the batches take %(pauses)d seconds, "
                    "and the operation times out after %(most)d; make the "
                    "batches larger or pause_time shorter."
                )
                % {"pauses": pauses, "most": self.stack.timeout_secs()}
            )

    def check_create_complete(self, cookie: Any = None) -> bool:
        return super().check_create_complete(cookie) and self._go_on()

    def check_update_complete(self, cookie: Any = None) -> bool:
        return super().check_update_complete(cookie) and self._go_on()

    def _go_on(self) -> bool:
        """Begin what comes next, now that the child has come to rest."""
        if self._arrived:
            return True
        goal = self.members()
        current = self._current(goal)
        if current == goal:
            return True
        pause = self.pace(changing=_changing(current, goal)).pause
        if pause and not self._paused:
            self._paused = True
            raise resource.PollDelay(pause)
        self._paused = False
        self.update_with_template(self._template(self._next(current, goal)))
        raise resource.PollDelay(stack_resource.POLL_SECONDS)

    # -- attributes --------------------------------------------------------

    @classmethod
    def offers(cls, attribute: str) -> bool:
        """Any name: it may be one of the members' attributes."""
        return True

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An attribute of the group, or one gathered from its members."""
        if key == self.SHOW or self.resource_id is None:
            return super().FnGetAtt(key, *path) if key == self.SHOW else None
        if self.external:
            # It is some stack: what its template calls outputs is all it has.
            return attributes.select_from_attribute(self.get_output(key), path)
        if key in self.own_attributes:
            found = self._resolve_attribute(key)
            return attributes.select_from_attribute(found, path)
        asked = self._of_member((key, *map(str, path)))
        if asked.member:
            return self._of_one(asked)
        if not asked.path:
            return None
        found = self._of_members(asked)
        return found if key == ATTRIBUTES else list(found.values())

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        if name == REFS:
            return list(self._references().values())
        if name == REFS_MAP:
            return self._references()
        return None

    def get_output(self, op: str) -> Any:
        """See the base; an error is told in the words of the member."""
        try:
            return super().get_output(op)
        except exception.TemplateOutputError as exc:
            # The group and the key, which is of our making, help nobody.
            exc.message = str(exc.kwargs["message"])
            raise

    def get_reference_id(self) -> str:
        """The id of the nested stack."""
        return self.resource_id or self.name

    def _references(self) -> dict[str, Any]:
        return dict(self.get_output(template.REFERENCES))

    def _of_one(self, asked: template.Asked) -> Any:
        if asked.member not in self._references():
            raise exception.NotFound(
                _("The group %(group)s has no member %(member)s")
                % {"group": self.name, "member": asked.member}
            )
        if not asked.path:
            return self._references()[asked.member]
        try:
            return self.get_output(asked.output)
        except exception.NotFound:
            return self._of_members(asked)[asked.member]

    def _of_members(self, asked: template.Asked) -> dict[str, Any]:
        try:
            return dict(self.get_output(asked.of_all().output))
        except exception.NotFound:
            # The template does not ask for it, so the child told nothing
            # of it when it was made; what it happens to know is shown.
            return self._recorded(asked.path)

    def _recorded(self, path: tuple[str, ...]) -> dict[str, Any]:
        view = self.nested()
        found: dict[str, Any] = {}
        for name in view or ():
            member = view.neighbour(name)
            found[name] = member.FnGetAtt(*path) if member else None
        return found

    # -- checks ------------------------------------------------------------

    def validate_nested_stack(self) -> None:
        """Check one member for all, and count the others.

        :raises StackValidationFailed: the path leads to the member
        """
        tree = getattr(getattr(self.stack, "nesting", None), "tree", None)
        before = tree.resources if tree is not None else 0
        super().validate_nested_stack()
        if tree is not None:
            samples = len(self.samples())
            each = (tree.resources - before) // max(1, samples)
            tree.add(each * max(0, self._known_size() - samples))

    def _known_size(self) -> int:
        try:
            return self.size()
        except (exception.HeatException, ValueError, TypeError):
            return 0

    def _to_validate(self) -> child.Wanted:
        asked = self._asked()
        if self.alike:
            asked = sorted({each.of_all() for each in asked})
        made = template.make_template(self.samples(), asked, _UNKNOWNS)
        return self._wanted(made, {})


def _changing(current: Mapping[str, Any], goal: Mapping[str, Any]) -> bool:
    return any(
        name in goal and goal[name] != body for name, body in current.items()
    )


def unknowns(snippet: Any) -> Any:
    """The snippet with values: what depends on resources is a parameter
    that nobody has given a value yet."""
    if isinstance(snippet, function.Function):
        if any(True for _name in function.dependencies(snippet)):
            return {"get_param": child.UNKNOWN}
        try:
            return function.resolve(snippet)
        except function.Unknown:
            return {"get_param": child.UNKNOWN}
    if isinstance(snippet, Mapping):
        return {key: unknowns(value) for key, value in snippet.items()}
    if isinstance(snippet, list | tuple):
        return [unknowns(value) for value in snippet]
    return snippet
