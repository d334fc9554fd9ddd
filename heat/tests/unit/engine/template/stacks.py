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
"""Builds stack definitions out of a few lines of template, for tests."""

from __future__ import annotations

from typing import Any

from heat.common import identifier
from heat.engine import definition, function
from heat.engine.environment import environment
from heat.engine.template import base, hot, source

NEWEST = list(hot.VERSIONS)[-1]


def stack(
    text: str,
    version: str = NEWEST,
    params: dict | None = None,
    files: dict | None = None,
    **kwargs: Any,
) -> definition.StackDefinition:
    """The definition of a template without its version line."""
    body = source.parse(f"heat_template_version: {version}\n{text}")
    return definition.StackDefinition(
        identifier.HeatIdentifier("project", "name", "id"),
        base.load(body, files),
        environment.Environment({"parameters": params or {}}),
        **kwargs,
    )


PARAMETERS = """
parameters:
  text: {type: string, default: abc}
  five: {type: number, default: 5}
  flag: {type: boolean, default: true}
  items: {type: comma_delimited_list, default: "x, y,z"}
  tree: {type: json, default: {a: {b: [1, 2]}, c: null}}
  secret: {type: string, default: hush, hidden: true}
  nothing: {type: string, default: ""}
resources:
  made: {type: T}
  later: {type: T}
  disabled: {type: T}
"""

NODE = definition.NodeData(
    1,
    "uuid",
    "ref-1",
    {
        ("out",): {"k": ["v0", "v1"]},
        ("out", "live"): "asked",
        ("ids",): ["i0", "i1"],
        function.ALL_ATTRIBUTES: {"out": 1},
    },
    "CREATE",
    "COMPLETE",
)


def value(snippet: Any, version: str = NEWEST, **kwargs: Any) -> Any:
    """What a snippet resolves to, in a stack of a few parameters."""
    made = parameters_stack(version, **kwargs)
    made.set_node("made", NODE)
    parsed = made.t.parse(made, snippet, "here")
    function.validate(parsed)
    list(function.dependencies(parsed))
    return function.resolve(parsed)


def parameters_stack(
    version: str = NEWEST, **kwargs: Any
) -> definition.StackDefinition:
    """A stack of a few parameters and resources; ``disabled`` is so where
    the version has conditions."""
    text = PARAMETERS
    if hot.VERSIONS[version].conditions:
        text = text.replace("disabled: {", "disabled: {condition: false, ")
    return stack(text, version, **kwargs)
