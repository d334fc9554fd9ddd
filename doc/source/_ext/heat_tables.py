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

"""Directives that print the tables of the code.

    .. heat-layers::       what may import what (tests/unit/architecture.py)
    .. heat-routes::       path, methods, handler (heat/api/routes.py)
    .. heat-policies::     rule, default (heat/policies/rules.py)
    .. heat-states::       the moves of a resource (heat/engine/resource/state)
    .. heat-locks:: states|kinds|methods
                           LOCK and UNLOCK (heat/engine/stack/lock.py)

A page that is made from the table can't disagree with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx


def table(heads: list[str], rows: Iterable[Iterable[str]]) -> nodes.table:
    """A table; cells are plain text, in the first column literals."""
    made = nodes.table()
    group = nodes.tgroup(cols=len(heads))
    made += group
    group.extend(nodes.colspec(colwidth=1) for _ in heads)
    head = nodes.thead()
    group += head
    head += _row(nodes.strong("", text) for text in heads)
    body = nodes.tbody()
    group += body
    for cells in rows:
        body += _row(
            nodes.Text(text) if number else nodes.literal("", text)
            for number, text in enumerate(cells)
        )
    return made


def _row(cells: Iterable[nodes.Node]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        paragraph = nodes.paragraph()
        paragraph += cell
        entry = nodes.entry()
        entry += paragraph
        row += entry
    return row


class Layers(Directive):
    def run(self) -> list[nodes.Node]:
        from heat.tests.unit import architecture

        return [
            table(
                ["Layer", "Modules", "What for"],
                (
                    (layer.name, ", ".join(layer.modules), layer.what)
                    for layer in architecture.LAYERS
                ),
            )
        ]


class Routes(Directive):
    def run(self) -> list[nodes.Node]:
        from heat.api import routes

        return [
            table(
                ["Path", "Method", "Handler", "Policy"],
                (
                    (
                        path,
                        method,
                        _short(entry.handler),
                        entry.policy,
                    )
                    for path, methods in sorted(routes.ROUTES.items())
                    for method, entry in methods.items()
                ),
            )
        ]


def _short(handler: Callable[..., object]) -> str:
    return f"{handler.__module__.split('.')[-1]}.{handler.__name__}"


class States(Directive):
    def run(self) -> list[nodes.Node]:
        from heat.engine.resource import state

        moves = defaultdict(list)
        for before, after in sorted(state.MOVES):
            moves["_".join(before)].append("_".join(after))
        return [
            table(
                ["From", "To"],
                ((name, ", ".join(after)) for name, after in moves.items()),
            )
        ]


class Locks(Directive):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        made = {
            "states": self._states,
            "kinds": self._kinds,
            "methods": self._methods,
        }
        return [made[self.arguments[0]]()]

    def _states(self) -> nodes.table:
        from heat.engine.stack import lock

        return table(
            ["State shown", "Lock", "Unlock", "Delete", "Other changes"],
            (
                (
                    state,
                    *(
                        "yes" if word in allowed else "no"
                        for word in ("lock", "unlock", "delete", "update")
                    ),
                )
                for state, allowed in lock.ALLOWED.items()
            ),
        )

    def _kinds(self) -> nodes.table:
        from heat.engine.stack import lock

        return table(["Kind", "What it is to"], lock.KINDS.items())

    def _methods(self) -> nodes.table:
        from heat.engine.stack import lock

        return table(
            ["Method", "Kind", "Remark"],
            (
                (name, rule.kind, rule.because)
                for name, rule in sorted(lock.METHODS.items())
            ),
        )


class Policies(Directive):
    def run(self) -> list[nodes.Node]:
        from heat.policies import rules

        return [
            table(
                ["Rule", "Default", "What it allows"],
                (
                    (rule.name, rule.check_str, rule.description or "")
                    for rule in rules.list_rules()
                ),
            )
        ]


class NoHistory(Directive):
    """Stands in for reno where there is no git history."""

    def run(self) -> list[nodes.Node]:
        text = (
            "The release notes are made from the git history, which this "
            "copy of the tree lacks; they are in releasenotes/notes."
        )
        return [nodes.paragraph("", text)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("heat-layers", Layers)
    app.add_directive("heat-routes", Routes)
    app.add_directive("heat-states", States)
    app.add_directive("heat-policies", Policies)
    app.add_directive("heat-locks", Locks)
    if "reno.sphinxext" not in app.config.extensions:
        app.add_directive("release-notes", NoHistory)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
