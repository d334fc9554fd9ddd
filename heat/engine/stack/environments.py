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
"""The environment of a request: read, put in layers, merged. No writes.

What is merged is derived from the layers on every update, so that a changed
file is picked up, and only the layers know what came from where. The rules
are in :mod:`heat.engine.environment.layers`; this reads texts, knows what
the template declares, and turns layers into rows and back.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from heat.common import exception, kept, template_format
from heat.common.i18n import _
from heat.db import templates
from heat.engine import parameters
from heat.engine.environment import environment as env
from heat.engine.environment import files as env_files
from heat.engine.environment import layers as env_layers
from heat.engine.environment import provenance, registry
from heat.engine.stack.request import Request

Schemata = Mapping[str, parameters.ParameterSchema]

EXISTING = "existing"
EXPLICIT = "explicit_parameters"
CLEAR = "clear_parameters"
REMOVE = "environment_files_remove"
ADOPT = "adopt_stack_data"
#: In the data of an exported stack: what its environment is made of.
LAYERS = "environment_layers"


@dataclasses.dataclass(frozen=True)
class Stored:
    """What a PATCH changes."""

    files: Mapping[str, str]
    layers: env_layers.Stack


@dataclasses.dataclass(frozen=True)
class Derived:
    """What a request's environment comes to.

    :ivar secret: names of the parameters whose values are secrets
    """

    layers: env_layers.Stack
    environment: env.Environment
    secret: frozenset[str]


def files_of(request: Request, stored: Stored | None) -> dict[str, str]:
    """The files that the stack has with a request.

    :raises ValueError: the argument that removes files makes no sense
    """
    if stored is None:
        return dict(request.files)
    gone = _names(request.args, REMOVE)
    kept = {k: v for k, v in stored.files.items() if k not in gone}
    return {**kept, **request.files}


def adopted(request: Request) -> tuple[Request, Stored] | None:
    """The layers that an adopted stack brings, and what is said beside them.

    :returns: None when it brings none: a stack of an older release, or one
        whose environment the request replaces
    :raises ValueError: they are not what an export gives
    """
    data = request.args.get(ADOPT)
    if isinstance(data, str):
        data = _json(data)
    given = data.get(LAYERS) if isinstance(data, Mapping) else None
    if not given:
        return None
    if not isinstance(given, list):
        raise _no_layers(_("must be a list"))
    reader = Reader(request.files)
    layers = tuple(_adopted_layer(row, reader) for row in given)
    values = request.params.get(env.PARAMETERS) or {}
    named = _names(request.args, EXPLICIT)
    beside = {name: values[name] for name in named if name in values}
    only = dataclasses.replace(request, params={env.PARAMETERS: beside})
    return only, Stored(request.files, layers)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(
            _("%(key)s is no JSON: %(why)s") % {"key": ADOPT, "why": error}
        ) from error


def _adopted_layer(row: Any, reader: Reader) -> env_files.Layer:
    if not isinstance(row, Mapping):
        raise _no_layers(_("must be a list of maps"))
    kind = row.get("kind")
    if kind == env_files.FILE:
        name = row.get("name")
        if not isinstance(name, str):
            raise _no_layers(_("a file must have a name"))
        cleared = frozenset(_list_of_names(row.get("cleared") or [], LAYERS))
        return env_files.Layer(name, reader.read(name), kind, cleared)
    if kind not in (env_files.INLINE, env_files.EXPLICIT):
        raise _no_layers(_("unknown kind %r") % (kind,))
    content = row.get("content") or {}
    env.check(content, f"{ADOPT}.{LAYERS}")
    return env_files.Layer("", content, kind)


def _no_layers(why: str) -> ValueError:
    return ValueError(f"{ADOPT}.{LAYERS}: {why}")


def derive(
    request: Request,
    stored: Stored | None,
    files: Mapping[str, str],
    schemata: Schemata,
) -> Derived:
    """Make the layers and the environment of a request.

    :param stored: what it changes; None: it replaces all
    :param files: from :func:`files_of`
    :param schemata: what the template declares
    :raises UnknownUserParameter: a value that is given for no parameter
    :raises HeatException, ValueError: of class 400, naming file and place
    """
    if request.settled:
        return _settled(request, files, schemata)
    reader = Reader(files, stored)
    size = env.check(dict(request.params))
    change = _change(request, stored, reader)
    _check_names(change, schemata)
    if stored is None:
        layers = env_layers.replace(change)
    else:
        layers = env_layers.patch(stored.layers, change)
    types = {name: schema.type for name, schema in schemata.items()}
    # One layer was within the limits; what many make need not be. What the
    # request says may be in two of them.
    small = (
        stored is None and reader.size + 2 * size <= template_format.MAX_NODES
    )
    made = env.Environment(
        env_files.merge(layers, types, schemata),
        bounded=len(layers) < 2 or (small and not _combines(layers)),
    )
    return Derived(layers, made, secret_names(layers, files, schemata))


def _combines(layers: env_layers.Stack) -> bool:
    """Whether values are combined, so that more may come of them."""
    return any(layer.data.get(env.MERGE_STRATEGIES) for layer in layers)


def _settled(
    request: Request, files: Mapping[str, str], schemata: Schemata
) -> Derived:
    """The environment of a nested stack, taken as its parent gives it.

    Only the values of its own parameters are new.
    """
    values = request.params.get(env.PARAMETERS) or {}
    template_format.check_bounds(values, _("The environment"))
    for name in values:
        if name not in schemata:
            raise exception.UnknownUserParameter(key=name)
    made = env.Environment(request.params, bounded=True)
    layers = (env_files.Layer("", request.params, env_files.INLINE),)
    return Derived(layers, made, secret_names(layers, files, schemata))


def _change(
    request: Request, stored: Stored | None, reader: Reader
) -> env_layers.Change:
    args = request.args
    names = _list_of_names(request.environment_files, "environment_files")
    explicit = args.get(EXPLICIT)
    inline, values = env_layers.split(
        request.params,
        None if explicit is None else _names(args, EXPLICIT),
        bool(names),
    )
    listed = [(name, reader.read(name)) for name in names]
    if stored is None:
        if _names(args, REMOVE):
            raise ValueError(
                _(
                    "%s is for a PATCH, which keeps the other environment "
                    "files: list those that you want"
                )
                % REMOVE
            )
        return env_layers.Change(inline, values, listed)
    return env_layers.Change(
        inline,
        values,
        listed,
        contents={
            layer.name: reader.read(layer.name)
            for layer in stored.layers
            if layer.kind == env_files.FILE
            and layer.name in request.files
            and request.files[layer.name] != stored.files.get(layer.name)
        },
        clear=_names(args, CLEAR),
        remove=_names(args, REMOVE),
    )


def _names(args: Mapping[str, Any], key: str) -> list[str]:
    return _list_of_names(args.get(key) or (), key)


def _list_of_names(given: Any, what: str) -> list[str]:
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(name, str) for name in given
    ):
        raise ValueError(_("%s must be a list of names") % what)
    return list(given)


class Reader:
    """Reads environment files, each distinct text once.

    :param files: texts by name
    :param stored: whose contents were read before
    :ivar size: of all that was read, but for what was before: how many
        values there are
    """

    def __init__(
        self, files: Mapping[str, str], stored: Stored | None = None
    ) -> None:
        self.size = 0
        self._files = files
        self._known: dict[str, Mapping[str, Any]] = {}
        for layer in stored.layers if stored else ():
            text = stored.files.get(layer.name) if stored else None
            if layer.kind == env_files.FILE and text is not None:
                self._known[text] = layer.data

    def read(self, name: str) -> Mapping[str, Any]:
        """The sections of a file.

        :raises HeatException, ValueError: of class 400, naming it
        """
        text = self._files.get(name)
        if text is None:
            raise ValueError(
                _(
                    'The environment file "%s" has no content: send it in '
                    "files under this name."
                )
                % name
            )
        if text not in self._known:
            read = _parsed(name, text)
            self._known[text] = read.data
            self.size += read.size
        return self._known[text]


class _Read(NamedTuple):
    """What a text says, and how many values that are."""

    data: Mapping[str, Any]
    size: int


# By the texts.
_kept: kept.Kept[_Read] = kept.Kept(16 * 2**20)


def _parsed(name: str, text: str) -> _Read:
    """The sections of a text, read once as long as it is used.

    :raises HeatException, ValueError: of class 400, naming the file
    """
    content = text.encode("utf-8", "surrogatepass")
    return _kept.get(content, lambda: _parse(name, text))


def _parse(name: str, text: str) -> _Read:
    what = f'environment file "{name}"'
    data = template_format.load(text, what)
    if data is None:
        return _Read({}, 1)
    if not isinstance(data, dict):
        raise ValueError(
            _("The %(what)s must be a map of sections, not a %(kind)s")
            % {
                "what": what,
                "kind": "list" if isinstance(data, list) else "single value",
            }
        )
    # The reader has checked the limits, but doesn't tell the size.
    size = env.check(data, what)
    registry.check(
        data.get(env.RESOURCE_REGISTRY, {}),
        f"{what}: {env.RESOURCE_REGISTRY}",
    )
    return _Read(data, size)


def _check_names(change: env_layers.Change, schemata: Schemata) -> None:
    """Names that are given by hand must be there; those in files need not:
    a file may be made for many templates."""
    held = {
        name
        for _name, data in change.listed
        for name in data.get(env.PARAMETERS) or ()
    }
    for name in change.explicit:
        if name not in schemata:
            raise exception.UnknownUserParameter(key=name)
    for name in change.inline.get(env.PARAMETERS) or ():
        if name not in schemata and name not in held:
            raise exception.UnknownUserParameter(key=name)


# -- secrets ------------------------------------------------------------------


def secret_names(
    layers: Collection[env_files.Layer],
    files: Mapping[str, str],
    schemata: Schemata,
) -> frozenset[str]:
    """The parameters whose values must not be shown: hidden ones.

    Those of the template, and of nested templates among the files when a
    layer has a default for a name that the template does not declare.
    """
    found = {name for name, schema in schemata.items() if schema.hidden}
    listed = {layer.name for layer in layers}
    below = [
        text
        for name, text in files.items()
        if name not in listed and "hidden" in text
    ]
    names: set[str] = set()
    for layer in layers if below else ():
        for section in env_files.PARAMETER_SECTIONS:
            names.update(layer.data.get(section) or ())
    names.difference_update(schemata)
    if names:
        found.update(*(names & _hidden_in(text) for text in below))
    return frozenset(found)


# Many nested stacks of one tree have the same files.
@functools.lru_cache(maxsize=256)
def _hidden_in(text: str) -> frozenset[str]:
    try:
        declared = template_format.parse(text).get("parameters")
    except ValueError:
        return frozenset()
    if not isinstance(declared, dict):
        return frozenset()
    return frozenset(
        name
        for name, schema in declared.items()
        if isinstance(schema, dict) and schema.get("hidden")
    )


# -- rows ---------------------------------------------------------------------


def stored_layers(
    record: templates.TemplateRecord, rows: Sequence[templates.LayerRecord]
) -> env_layers.Stack:
    """The layers of a template version.

    Without rows all was given inline: an engine that knew no layers stored
    it so, and so do we.
    """
    if not rows:
        if not record.environment:
            return ()
        return (env_files.Layer("", record.environment, env_files.INLINE),)
    return tuple(
        env_files.Layer(
            row.name or "",
            row.content or {},
            row.kind,
            frozenset(row.cleared or ()),
        )
        for row in rows
    )


def rows(
    layers: env_layers.Stack, environment: Mapping[str, Any]
) -> list[templates.LayerRecord]:
    """Layers as they are stored with the environment that they make."""
    if len(layers) == 1 and layers[0].kind == env_files.INLINE:
        [only] = layers
        values = only.data.get(env.PARAMETERS) or {}
        told = environment.get(env.PARAMETERS) or {}
        if values == told and not only.data.get(env.MERGE_STRATEGIES):
            return []
    return [
        templates.LayerRecord(
            number,
            layer.kind,
            layer.name or None,
            layer.data,
            sorted(layer.cleared) or None,
        )
        for number, layer in enumerate(layers)
    ]


def reason(
    layers: Sequence[env_files.Layer],
    declared: Collection[str],
    name: str,
) -> str | None:
    """Why a parameter has its value, for people.

    Such as "b.yaml parameters.flavor over a.yaml"; None when the template's
    default counts.
    """
    return provenance.reason(provenance.Trace(layers, declared), name)
