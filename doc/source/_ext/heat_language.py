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

"""Directives that print what templates may say, from the engine's tables.

    .. heat-functions::           every function: versions, what it does
    .. heat-types:: OS::Neutron   the types of a namespace, with schemas
    .. heat-irrecoverable::       what types lack of objects handed to Heat

A page that is made from the table can't disagree with it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from heat_tables import table
from sphinx.application import Sphinx

_registry: Any = None


def registry() -> Any:
    """The plug-ins, loaded once for all pages."""
    global _registry
    if _registry is None:
        from heat.engine import plugins

        _registry = plugins.PluginRegistry.load()
    return _registry


def section(title: str) -> nodes.section:
    made = nodes.section(ids=[nodes.make_id(title)], names=[title.lower()])
    made += nodes.title("", title)
    return made


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text)


class Irrecoverable(Directive):
    """What nobody can find out again of an object that was the user's."""

    def run(self) -> list[nodes.Node]:
        rows = irrecoverable(registry())
        return [table(["Type", "Stored as", "What is missing"], rows)]


def irrecoverable(plugins: Any) -> list[tuple[str, str, str]]:
    """(type, key of the stored data, what it is) as the classes declare."""
    return [
        (name, key or "-", str(why))
        for name in sorted(plugins.types())
        for key, why in plugins.get(name).irrecoverable.items()
    ]


class Functions(Directive):
    def run(self) -> list[nodes.Node]:
        return [self._function(name, uses) for name, uses in _functions()]

    def _function(
        self, name: str, uses: list[tuple[str, bool, Any]]
    ) -> nodes.section:
        made = section(name)
        made += paragraph(_since(uses))
        text = inspect.getdoc(uses[-1][2]) or ""
        lines = StringList(text.splitlines(), source=name)
        self.state.nested_parse(lines, self.content_offset, made)
        return made


def _functions() -> list[tuple[str, list[tuple[str, bool, Any]]]]:
    """Function -> (version, only in conditions, class), oldest first."""
    from heat.engine.template import cfn, hot

    versions = [
        *((v.name, v) for v in hot.VERSIONS.values()),
        *((key, cls.spec) for (key, _n), cls in cfn.CLASSES.items()),
    ]
    found: dict[str, list[tuple[str, bool, Any]]] = {}
    for label, version in versions:
        for name, cls in version.functions.items():
            found.setdefault(name, []).append((label, False, cls))
        for name, cls in version.condition_functions.items():
            if name not in version.functions:
                found.setdefault(name, []).append((label, True, cls))
    return sorted(found.items(), key=lambda item: item[0].lower())


def _since(uses: list[tuple[str, bool, Any]]) -> str:
    hot_versions = [label for label, _c, _f in uses if label[0].isdigit()]
    others = [label for label, _c, _f in uses if not label[0].isdigit()]
    parts = []
    if hot_versions:
        parts.append(f"HOT {hot_versions[0]} to {hot_versions[-1]}")
    changed = []
    before = None
    for label, _only, cls in uses:
        if before is not None and cls is not before and label[0].isdigit():
            changed.append(label)
        before = cls
    if changed:
        parts[-1] += f" (changed in {', '.join(changed)})"
    parts += others
    text = "; ".join(parts)
    if all(only for _label, only, _cls in uses):
        text += "; in conditions only"
    return text + "."


class Types(Directive):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        prefix = self.arguments[0] + "::"
        return [
            _type(name)
            for name in registry().types()
            if name.startswith(prefix)
        ]


def _type(name: str) -> nodes.section:
    cls = registry().get(name)
    made = section(name)
    schema = registry().schema(name)
    notes = []
    status = schema["support_status"]
    if status["status"] != "SUPPORTED":
        notes.append(f"Status: {status['status'].lower()}.")
    if getattr(cls, "service", None):
        notes.append(
            "Only the schema is known here: templates with it can be "
            f"validated. To create one needs a plug-in for {cls.service}."
        )
    else:
        notes.append((inspect.getdoc(cls) or "").split("\n\n")[0])
    for note in filter(None, notes):
        made += paragraph(note)
    rows = list(_rows(schema["properties"], ""))
    if rows:
        made += table(["Property", "Type", "Rules", "Description"], rows)
    shown = [
        (attribute, entry.get("description") or "")
        for attribute, entry in schema["attributes"].items()
    ]
    made += table(["Attribute", "Description"], shown)
    return made


def _rows(table_: dict[str, Any], above: str) -> Iterator[list[str]]:
    for name, entry in table_.items():
        path = f"{above}.{name}" if above else name
        yield [
            path,
            entry["type"],
            ", ".join(_rules(entry)),
            entry.get("description") or "",
        ]
        yield from _rows(entry.get("schema", {}), path)


def _rules(entry: dict[str, Any]) -> Iterator[str]:
    if entry["required"]:
        yield "required"
    if entry["update_allowed"]:
        yield "updated in place"
    if entry["immutable"]:
        yield "immutable"
    if "default" in entry:
        yield f"default {json.dumps(entry['default'])}"
    for rule in entry.get("constraints", ()):
        for kind, demand in rule.items():
            if kind != "description":
                yield f"{kind.replace('_', ' ')} {json.dumps(demand)}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("heat-functions", Functions)
    app.add_directive("heat-irrecoverable", Irrecoverable)
    app.add_directive("heat-types", Types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
