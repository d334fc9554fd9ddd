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

"""The template of a group: one resource for each member. Pure."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: The version of HOT that groups are written in.
VERSION = "2021-04-16"

#: The output with what ``get_resource`` gives for each member.
REFERENCES = "refs_map"


def member_names(removed: Collection[str] = ()) -> Iterator[str]:
    """ "0", "1", ... without end, and without those removed."""
    return (
        name for name in map(str, itertools.count()) if name not in removed
    )


def replace_index(value: Any, index_var: str, index: str) -> Any:
    """The value with the index in place of the word that stands for it,
    in each text at any depth."""
    if isinstance(value, str):
        return value.replace(index_var, index)
    if isinstance(value, Mapping):
        return {
            key: replace_index(each, index_var, index)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [replace_index(each, index_var, index) for each in value]
    return value


def output_name(path: Sequence[str]) -> str:
    """The output with an attribute of each member."""
    return json.dumps(list(path))


def make_template(
    members: Mapping[str, Any],
    attributes: Iterable[Sequence[str]] = (),
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The template of a group.

    :param members: name -> resource, as a template has it
    :param attributes: attributes, or paths into them, that are asked of
        the members
    """
    outputs: dict[str, Any] = {
        REFERENCES: {"value": {n: {"get_resource": n} for n in members}}
    }
    for path in attributes:
        outputs[output_name(path)] = {
            "value": {n: {"get_attr": [n, *path]} for n in members}
        }
    body: dict[str, Any] = {
        "heat_template_version": VERSION,
        "resources": dict(members),
        "outputs": outputs,
    }
    if parameters:
        body["parameters"] = dict(parameters)
    return body
