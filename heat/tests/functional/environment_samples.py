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
"""A template, environment files for it, and what can be wrong with them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

PARAMETERS = {
    "flavor": {"type": "string", "default": "tiny"},
    "count": {"type": "number", "default": 1},
    "sizes": {"type": "json", "default": {}},
    "names": {"type": "comma_delimited_list", "default": ""},
    "key": {"type": "string", "default": "none", "hidden": True},
    "on": {"type": "boolean", "default": False},
}
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "parameters": PARAMETERS,
    "resources": {
        "one": {
            "type": "OS::Heat::Value",
            "properties": {
                "value": {
                    name: {"get_param": name}
                    for name in ("flavor", "count", "sizes", "names")
                }
            },
        }
    },
    "outputs": {"all": {"value": {"get_attr": ["one", "value"]}}},
}
A = "parameters:\n  flavor: a\n  sizes:\n    x: 1\n"
B = "parameters:\n  flavor: b\n  sizes:\n    y: 2\n"
C = '{"parameter_defaults": {"count": 7}}'
# Ten times itself, eight times over.
BOMB = "".join(
    f"b{number}: &b{number} [{', '.join([f'*b{number - 1}'] * 10)}]\n"
    if number
    else "b0: &b0 [x, x]\n"
    for number in range(9)
)


@dataclasses.dataclass
class Mistake:
    """What is wrong, and the words that the message must have."""

    name: str
    body: dict[str, Any]
    words: tuple[str, ...]
    error: str | None = None


def files(*texts: str, **body: Any) -> dict[str, Any]:
    """A body that lists files 0.yaml, 1.yaml, ..."""
    named = {f"{number}.yaml": text for number, text in enumerate(texts)}
    return {"files": named, "environment_files": list(named), **body}


def strategy(word: str, name: str = "flavor", value: object = "v") -> str:
    return json.dumps(
        {
            "parameters": {name: value},
            "parameter_merge_strategies": {name: word},
        }
    )


MISTAKES = (
    Mistake(
        "no content", {"environment_files": ["x.yaml"]}, ("x.yaml", "files")
    ),
    Mistake("no YAML", files("a: [1"), ("0.yaml", "line 2")),
    Mistake("no map", files("- a"), ("0.yaml", "list")),
    Mistake("one value", files("a"), ("0.yaml", "single value")),
    Mistake("unknown section", files("params: {}"), ("0.yaml", "params")),
    Mistake("null section", files("parameters:"), ("0.yaml", "parameters")),
    Mistake(
        "a section that is a list",
        files(A, "resource_registry: []"),
        ("1.yaml", "resource_registry"),
    ),
    Mistake(
        "a type that stands for a number",
        files("resource_registry:\n  My::Type: 5\n"),
        ("0.yaml", "resource_registry.My::Type"),
    ),
    Mistake(
        "two strategies",
        files(strategy("merge"), A, strategy("overwrite")),
        ("0.yaml", "2.yaml", "flavor"),
        "ConflictingMergeStrategyForParam",
    ),
    Mistake(
        "an unknown strategy",
        files(strategy("melt")),
        ("melt", "flavor"),
        "InvalidMergeStrategyForParam",
    ),
    Mistake(
        "numbers put together",
        files(strategy("merge", "count", 1), strategy("merge", "count", 2)),
        ("merge", "count"),
        "InvalidMergeStrategyForParam",
    ),
    Mistake(
        "an unknown explicit parameter",
        files(A, parameters={"flavr": "x"}),
        ("flavr",),
        "UnknownUserParameter",
    ),
    Mistake(
        "an unknown inline parameter",
        files(A, environment={"parameters": {"flavr": "x"}}),
        ("flavr",),
        "UnknownUserParameter",
    ),
    Mistake(
        "a file to remove that isn't there",
        {"environment_files_remove": ["x.yaml"]},
        ("environment_files_remove",),
    ),
    Mistake(
        "booleans put together",
        files(strategy("merge", "on", True), strategy("merge", "on", False)),
        ("merge", "on"),
        "InvalidMergeStrategyForParam",
    ),
    Mistake(
        "a file that grows",
        files(BOMB),
        ("0.yaml", "values"),
    ),
    Mistake(
        "a file that is too deep", files("[" * 200 + "]" * 200), ("0.yaml",)
    ),
    Mistake(
        "an unknown hook",
        files("resource_registry: {resources: {one: {hooks: pre-dawn}}}"),
        ("pre-dawn",),
    ),
    Mistake(
        "a container and no object store",
        {"files_container": "c", "environment_files": ["0.yaml"]},
        ("files_container", "no credentials"),
    ),
    Mistake("names that are none", {"environment_files": [1]}, ()),
    Mistake("one name to clear", {"clear_parameters": "flavor"}, ()),
    Mistake("one name to remove", {"environment_files_remove": "0.yaml"}, ()),
    Mistake("a name that is none", {"environment_files": "a"}, ()),
)
