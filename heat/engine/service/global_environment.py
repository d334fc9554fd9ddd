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
"""Reads the operator's environment: the options ``environment_dir`` and
``template_dir``.

Every ``*.yaml``, ``*.yml`` and ``*.json`` of the first is an environment;
they are merged in the order of their names. A template that one of them
names without a URL lies in the second.

A file that can't be read is logged with the reason and left out, like a
plug-in: one mistake must not take the whole service away.
"""

from __future__ import annotations

import logging
import pathlib
from collections.abc import Iterator
from typing import Any

from heat.common import exception, template_format
from heat.engine.environment import environment, files, registry, shared

LOG = logging.getLogger(__name__)

_ENVIRONMENTS = (".yaml", ".yml", ".json")
_TEMPLATES = (*_ENVIRONMENTS, ".template")
_ERRORS = (OSError, ValueError, exception.HeatException)


def load(conf: Any) -> shared.Shared:
    """What the operator's files say.

    :param conf: for the two options
    """
    layers: list[files.Layer] = []
    for path in _files(conf.environment_dir, _ENVIRONMENTS):
        try:
            layer = files.Layer(path.name, _read(path))
            # On its own first, so that a wrong one is known by name.
            environment.Environment(files.merge([layer]))
            files.merge([*layers, layer])
        except _ERRORS as exc:
            LOG.error("The environment %s is left out: %s", path, exc)
            continue
        layers.append(layer)
    merged = files.merge(layers)
    where = pathlib.Path(conf.template_dir).absolute()
    entries = _located(merged.get(environment.RESOURCE_REGISTRY, {}), where)
    return shared.Shared(
        registry.Registry(entries),
        merged.get(environment.PARAMETER_DEFAULTS, {}),
        tuple(merged.get(environment.EVENT_SINKS, ())),
        _templates(where),
    )


def _files(
    directory: str | pathlib.Path, endings: tuple[str, ...]
) -> list[pathlib.Path]:
    try:
        return sorted(
            path
            for path in pathlib.Path(directory).iterdir()
            if path.suffix in endings and path.is_file()
        )
    except OSError:
        # Neither directory has to be there.
        return []


def _read(path: pathlib.Path) -> dict[str, Any]:
    data = template_format.load(path.read_text("utf-8"), path.name)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ValueError("it must be a map of sections")
    return data


def _located(entry: dict[str, Any], where: pathlib.Path) -> dict[str, Any]:
    """The entries, with the places of the templates they name."""
    made: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, dict):
            value = _located(value, where)
        elif (
            isinstance(value, str)
            and key != "base_url"
            and registry.is_template(value)
            and "://" not in value
            and "base_url" not in entry
        ):
            value = _url(where / value)
        made[key] = value
    return made


def _url(path: pathlib.Path) -> str:
    return f"file://{path}"


def _templates(where: pathlib.Path) -> dict[str, str]:
    return dict(_contents(where))


def _contents(where: pathlib.Path) -> Iterator[tuple[str, str]]:
    for path in _files(where, _TEMPLATES):
        try:
            yield _url(path), path.read_text("utf-8")
        except _ERRORS as exc:
            LOG.error("The template %s is left out: %s", path, exc)
