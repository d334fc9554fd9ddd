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
"""What is told of a stack's environment: files, sources, warnings.

Values of hidden parameters are masked in all of it.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from heat.common import template_format
from heat.common.i18n import _
from heat.engine.environment import environment as env
from heat.engine.environment import files as env_files
from heat.engine.environment import layers as env_layers
from heat.engine.environment import provenance, texts
from heat.engine.stack import environments

if TYPE_CHECKING:
    from heat.engine.stack import prepare

#: Most warnings of one kind that are told one by one.
MAX_WARNINGS: Final = 50

_RESOURCES: Final = "resources"
#: Keys of the registry that are no types.
_NO_TYPES: Final = (_RESOURCES, "base_url")


class Shown:
    """A template version's environment, for readers.

    :param files: texts by name
    :param environment: what the layers make
    :param schemata: what the template declares
    """

    def __init__(
        self,
        files: Mapping[str, str],
        environment: Mapping[str, Any],
        layers: env_layers.Stack,
        schemata: environments.Schemata,
    ) -> None:
        self._files = files
        self._environment = env.Environment(environment).as_dict()
        self._layers = layers
        self._declared = schemata
        self._secret = environments.secret_names(layers, files, schemata)

    def environment(self) -> dict[str, Any]:
        """The merged environment."""
        return texts.mask(self._environment, self._secret)

    def files(self) -> dict[str, str]:
        """The files as they were sent, but for secrets."""
        shown = dict(self._files)
        if not self._secret:
            return shown
        for layer in self._layers:
            if layer.kind == env_files.FILE and layer.name in shown:
                shown[layer.name] = texts.Text(self._files[layer.name]).masked(
                    layer.data, self._secret
                )
        return shown

    def sources(self) -> dict[str, Any]:
        """Where the entries of the environment come from.

        For each section its entries by key (those of single resources by
        their path below ``resources``, joined with dots): layer, file,
        path, line, strategy, and what was merged into it or overridden.
        """
        trace = provenance.Trace(self._layers, self._declared)
        place = _Places(self._layers, self._files, self._secret)
        told: dict[str, Any] = {}
        for section in provenance.SECTIONS:
            told[section] = {
                ".".join(source.path[1:]): _told(source, place)
                for source in trace.sources(section)
            }
        for number, layer in enumerate(self._layers):
            for name in sorted(layer.cleared):
                entry = told[env.PARAMETERS].get(name)
                if entry is not None:
                    row = place(number, (env.PARAMETERS, name))
                    entry.setdefault("overridden", []).append(
                        {**row, "cleared": True}
                    )
        left_out = [
            place(number, (env.PARAMETERS, name))
            for number, name in trace.left_out()
        ]
        if left_out:
            told["left_out"] = left_out
        return told

    def layers(self) -> list[dict[str, Any]]:
        """The layers, lowest first, for a stack that is to have the same.

        The contents of files are among :meth:`files`.
        """
        told: list[dict[str, Any]] = []
        for layer in self._layers:
            row: dict[str, Any] = {"kind": layer.kind}
            if layer.kind == env_files.FILE:
                row["name"] = layer.name
                row["cleared"] = sorted(layer.cleared)
            else:
                row["content"] = texts.mask(layer.data, self._secret)
            told.append(row)
        return told

    def file_names(self) -> list[str]:
        """The environment files, the lowest first."""
        return [
            layer.name
            for layer in self._layers
            if layer.kind == env_files.FILE
        ]


class _Places:
    """Tells the place of an entry in a layer, and its value there."""

    def __init__(
        self,
        layers: env_layers.Stack,
        files: Mapping[str, str],
        secret: Collection[str],
    ) -> None:
        self._layers = layers
        self._files = files
        self._secret = secret
        self._texts: dict[str, texts.Text] = {}

    def __call__(
        self, number: int, path: env_layers.Path, with_value: bool = True
    ) -> dict[str, Any]:
        layer = self._layers[number]
        row: dict[str, Any] = {"layer": layer.kind}
        if layer.kind == env_files.FILE:
            row["file"] = layer.name
        row["path"] = ".".join(path)
        line = self._line(layer, path)
        if line is not None:
            row["line"] = line
        if with_value:
            row["value"] = self._value(layer, path)
        return row

    def _line(
        self, layer: env_files.Layer, path: env_layers.Path
    ) -> int | None:
        content = self._files.get(layer.name)
        if layer.kind != env_files.FILE or content is None:
            return None
        if layer.name not in self._texts:
            self._texts[layer.name] = texts.Text(content)
        return self._texts[layer.name].line(path)

    def _value(self, layer: env_files.Layer, path: env_layers.Path) -> Any:
        if path[0] in env_files.PARAMETER_SECTIONS and path[1] in self._secret:
            return texts.MASK
        value: Any = layer.data
        for key in path:
            value = value[key]
        return value


def _told(source: provenance.Source, place: _Places) -> dict[str, Any]:
    row = place(source.winner, source.path, with_value=False)
    row["strategy"] = source.strategy
    for word, numbers in (
        ("merged", source.merged),
        ("overridden", source.lost),
    ):
        if numbers:
            row[word] = [
                place(number, source.path) for number in reversed(numbers)
            ]
    return row


# -- warnings -----------------------------------------------------------------


def warnings(prepared: prepare.Prepared) -> list[str]:
    """What is allowed in an environment, and most likely not meant.

    Keys that nothing in the template and the templates among its files
    reads, files of which nothing counts, and values in files that an
    explicit parameter takes the place of.
    """
    layers = prepared.layers
    if not layers:
        return []
    declared = prepared.definition.parameters.schemata
    trace = provenance.Trace(layers, declared)
    tree = _Tree(prepared)
    found = [
        *_most(_dead_parameters(trace, tree)),
        *_most(_dead_types(trace, tree)),
        *_most(_dead_resources(trace, tree)),
        *_most(_overridden(trace)),
        *_most(_shadowed(trace)),
    ]
    return found


def _most(found: Iterator[Callable[[], str]]) -> Iterator[str]:
    """The first sentences, which cost time to make, and how many more."""
    more = 0
    for number, sentence in enumerate(found):
        if number < MAX_WARNINGS:
            yield sentence()
        else:
            more += 1
    if more:
        yield _("and %d more like the one before") % more


class _Tree:
    """The template and those among the files. Read when it's asked for."""

    def __init__(self, prepared: prepare.Prepared) -> None:
        self._prepared = prepared
        self.declared = prepared.definition.parameters.schemata
        self.resources = prepared.definition.resource_names
        self._bodies: list[Mapping[str, Any]] | None = None
        self._parameters: set[str] | None = None
        self._words: set[str] | None = None

    def _all(self) -> list[Mapping[str, Any]]:
        if self._bodies is None:
            listed = {layer.name for layer in self._prepared.layers}
            self._bodies = [self._prepared.template]
            for name, text in self._prepared.files.items():
                if name not in listed and _may_be_template(text):
                    try:
                        self._bodies.append(template_format.parse(text, name))
                    except ValueError:
                        # Whoever uses it finds out.
                        continue
        return self._bodies

    def parameters(self) -> set[str]:
        """Names that any of the templates declares."""
        if self._parameters is None:
            self._parameters = set(self.declared)
            for body in self._all():
                for key in ("parameters", "Parameters"):
                    self._parameters.update(body.get(key) or ())
        return self._parameters

    def words(self) -> set[str]:
        """All texts in the templates, resource types among them."""
        if self._words is None:
            self._words = set()
            for body in self._all():
                self._words |= _strings(body)
        return self._words


def _may_be_template(text: str) -> bool:
    return any(key in text for key in template_format.VERSION_KEYS)


def _strings(value: Any) -> set[str]:
    """All texts that are values in it, at any depth."""
    found: set[str] = set()
    level = [value]
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, str):
                found.add(item)
            elif isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = below
    return found


def _nearest(word: str, known: Iterable[str]) -> str:
    close = (each for each in known if abs(len(each) - len(word)) <= 3)
    found = difflib.get_close_matches(word, close, 1, 0.75)
    return _('; did you mean "%s"?') % found[0] if found else ""


def _dead_parameters(
    trace: provenance.Trace, tree: _Tree
) -> Iterator[Callable[[], str]]:
    for number, name in trace.left_out():

        def undeclared(number: int = number, name: str = name) -> str:
            return _(
                "%(where)s parameters.%(name)s is not declared%(hint)s"
            ) % {
                "where": provenance.origin(trace.layers[number]),
                "name": name,
                "hint": _nearest(name, tree.declared),
            }

        yield undeclared
    for name in trace.keys(env.PARAMETER_DEFAULTS):
        if name in tree.declared or name in tree.parameters():
            continue

        def unread(name: str = name) -> str:
            source = trace.source(env.PARAMETER_DEFAULTS, name)
            return _(
                "%(where)s parameter_defaults.%(name)s is not a parameter of "
                "any template%(hint)s"
            ) % {
                "where": _winner(trace, source),
                "name": name,
                "hint": _nearest(name, tree.parameters()),
            }

        yield unread


def _winner(trace: provenance.Trace, source: provenance.Source | None) -> str:
    return provenance.origin(trace.layers[source.winner]) if source else ""


def _dead_types(
    trace: provenance.Trace, tree: _Tree
) -> Iterator[Callable[[], str]]:
    targets = {
        value
        for layer in trace.layers
        for value in _strings(layer.section(env.RESOURCE_REGISTRY))
    }
    for name in trace.keys(env.RESOURCE_REGISTRY):
        if name in _NO_TYPES or name in targets or name in tree.words():
            continue
        if name.endswith("*") and any(
            word.startswith(name[:-1]) for word in tree.words() | targets
        ):
            continue

        def unused(name: str = name) -> str:
            source = trace.source(env.RESOURCE_REGISTRY, name)
            types = (word for word in tree.words() if "::" in word)
            return _(
                "%(where)s resource_registry.%(name)s is a type that no "
                "resource has%(hint)s"
            ) % {
                "where": _winner(trace, source),
                "name": name,
                "hint": _nearest(name, types),
            }

        yield unused


def _dead_resources(
    trace: provenance.Trace, tree: _Tree
) -> Iterator[Callable[[], str]]:
    seen: set[str] = set()
    for layer in trace.layers:
        entries = layer.section(env.RESOURCE_REGISTRY).get(_RESOURCES) or {}
        for name in entries:
            if name in seen or fnmatch.filter(tree.resources, name):
                continue
            seen.add(name)

            def unknown(
                layer: env_files.Layer = layer, name: str = name
            ) -> str:
                return _(
                    "%(where)s resource_registry.resources.%(name)s is no "
                    "resource of the template%(hint)s"
                ) % {
                    "where": provenance.origin(layer),
                    "name": name,
                    "hint": _nearest(name, tree.resources),
                }

            yield unknown


def _overridden(trace: provenance.Trace) -> Iterator[Callable[[], str]]:
    for number, over in trace.overridden_files():

        def sentence(number: int = number, over: Any = over) -> str:
            names = [
                provenance.origin(trace.layers[each])
                for each in sorted(over, reverse=True)
            ]
            return _(
                "nothing of %(file)s counts: all of it is overridden by "
                "%(over)s"
            ) % {
                "file": trace.layers[number].name,
                "over": ", ".join(dict.fromkeys(names)),
            }

        yield sentence


def _shadowed(trace: provenance.Trace) -> Iterator[Callable[[], str]]:
    """Values in files that are not even merged with an explicit one."""
    if not trace.layers or trace.layers[-1].kind != env_files.EXPLICIT:
        return
    top = trace.layers[-1].section(env.PARAMETERS)
    for layer in trace.layers[:-1]:
        if layer.kind != env_files.FILE:
            continue
        for name in layer.section(env.PARAMETERS):
            if name not in top:
                continue

            def sentence(
                layer: env_files.Layer = layer, name: str = name
            ) -> str:
                return _(
                    "%(file)s parameters.%(name)s does not count: the "
                    "parameter is given explicitly"
                ) % {"file": layer.name, "name": name}

            yield sentence
