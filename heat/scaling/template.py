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
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

#: The version of HOT that groups are written in.
VERSION = "2021-04-16"

#: The output with what ``get_resource`` gives for each member.
REFERENCES = "refs_map"


def member_names(removed: Collection[str] = ()) -> Iterator[str]:
    """Give "0", "1" and so on without end, without those removed."""
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


class Asked(NamedTuple):
    """What is asked of members.

    :ivar member: the one who is asked; "" for all
    :ivar path: the attribute, and keys into its value
    """

    member: str
    path: tuple[str, ...]

    @property
    def output(self) -> str:
        """The output with the answer: a value, or a map by member."""
        return f"{self.member}{json.dumps(self.path)}"

    def of_all(self) -> Asked:
        return Asked("", self.path)


def make_template(
    members: Mapping[str, Any],
    attributes: Iterable[Asked] = (),
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The template of a group.

    :param members: name -> resource, as a template has it
    :param attributes: what is asked of the members; what is asked of one
        that is not there is left out
    """
    outputs: dict[str, Any] = {
        REFERENCES: {"value": {n: {"get_resource": n} for n in members}}
    }
    for asked in attributes:
        if not asked.member:
            value = {n: {"get_attr": [n, *asked.path]} for n in members}
            outputs[asked.output] = {"value": value}
        elif asked.member in members:
            call = {"get_attr": [asked.member, *asked.path]}
            outputs[asked.output] = {"value": call}
    body: dict[str, Any] = {
        "heat_template_version": VERSION,
        "resources": dict(members),
        "outputs": outputs,
    }
    if parameters:
        body["parameters"] = dict(parameters)
    return body
