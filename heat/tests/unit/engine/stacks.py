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

"""Small stacks for tests of the resource surface: no database, no bus."""

from __future__ import annotations

import dataclasses
import types
import uuid
from typing import Any

from heat.common import identifier
from heat.engine import definition, plugins, resource
from heat.engine.environment import environment
from heat.engine.resource import lifecycle
from heat.engine.template import base

_registry: list[plugins.PluginRegistry] = []


def registry() -> plugins.PluginRegistry:
    """The built-in types, loaded once."""
    if not _registry:
        _registry.append(plugins.PluginRegistry.load())
    return _registry[0]


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def view(resources: dict[str, Any], **ports: Any) -> resource.StackView:
    """A stack named ``st`` with these HOT resources."""
    template = base.load(
        {"heat_template_version": "2021-04-16", "resources": resources}
    )
    identity = identifier.HeatIdentifier("tenant", "st", str(uuid.uuid4()))
    defn = definition.StackDefinition(
        identity, template, environment.Environment(None)
    )
    values = resource.StackValues(
        ports=types.SimpleNamespace(conf=None, db=None, **ports)
    )
    return resource.StackView(defn, values=values)


def one(
    cls: type[resource.Resource],
    props: dict[str, Any] | None = None,
    *,
    name: str = "r",
    stored: dict[str, Any] | None = None,
    state: tuple[str, str] = ("INIT", "COMPLETE"),
    physical_id: str | None = None,
    more: dict[str, Any] | None = None,
    row: bool = True,
    ports: dict[str, Any] | None = None,
) -> resource.Resource:
    """A resource of that class, with a row's state unless ``row`` is not."""
    section = {"type": "Any::Type", "properties": props or {}, **(more or {})}
    stack = view({name: section}, **(ports or {}))
    made = cls(name, stack.definition.resource_definitions[name], stack)
    if row:
        made.load_state(
            uuid=str(uuid.uuid4()),
            physical_id=physical_id,
            action=state[0],
            status=state[1],
            stored_properties=stored,
        )
    return made


def in_cloud(
    context: Any,
    kind: str,
    props: dict[str, Any],
    ident: str | None = None,
    **row: Any,
) -> resource.Resource:
    """A resource ``r`` of a built-in type, for whose user services are asked.

    :param ident: uuid of its row; None: a new one
    :param row: what else that says
    """
    stack = view({"r": {"type": kind, "properties": props}})
    values = dataclasses.replace(stack.values, context=context)
    stack = resource.StackView(stack.definition, values=values)
    defn = stack.definition.resource_definitions["r"]
    made = registry().get(kind)("r", defn, stack)
    made.load_state(uuid=ident or str(uuid.uuid4()), **row)
    return made


def run(rsrc: resource.Resource, action: str, **kwargs: Any) -> None:
    """Run an action that does not wait."""
    outcome = lifecycle.Operation(rsrc, action, **kwargs).start()
    assert outcome == lifecycle.Done(), outcome
