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

"""Which resource types and named constraints there are.

They come from three places: the packages under :mod:`heat.engine.resources`,
modules in the directories of the option ``plugin_dirs``, and entry points of
installed distributions. A module offers ``available_resource_mapping()`` or
``resource_mapping()``, and perhaps ``constraint_mapping()``;
``fallback_resource_mapping()`` is for types that nobody else offers.

This module is a package as well: its ``__path__`` is ``plugin_dirs``, so a
file ``thing.py`` there is ``heat.engine.plugins.thing``.

A plug-in that can't be loaded is logged with the reason and left out. One
from ``plugin_dirs`` takes the place of a built-in one; two of them for one
type stop the start.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from stevedore import extension

from heat.common import exception, patterns
from heat.common.i18n import _
from heat.engine import (
    attributes,
    clients,
    constraints,
    definition,
    properties,
    resources,
    support,
)
from heat.engine.clients import session as sessions
from heat.engine.resource import Resource, explicit
from heat.engine.template import base as template_base

LOG = logging.getLogger(__name__)

__path__: list[str] = []

#: Place of a lifecycle plug-in that does not say its own.
_ORDINAL = 100

CONSTRAINTS_GROUP = "heat.constraints"
CLIENTS_GROUP = "heat.clients"
TEMPLATES_GROUP = "heat.templates"
SINKS_GROUP = "heat.event_sinks"
LIFECYCLE_GROUP = "heat.stack_lifecycle_plugins"
RESOURCES_GROUP = "heat.engine.resources"


class PluginRegistry:
    """Resource classes and constraints by their names."""

    def __init__(self) -> None:
        self._types: dict[str, type[Resource]] = {}
        self._constraints: dict[str, Any] = {}
        #: type -> file in plugin_dirs it comes from
        self._files: dict[str, str] = {}
        self._class_of_template: Callable[..., type[Resource]] | None = None
        self._fallbacks: dict[str, type[Resource]] = {}
        #: classes of event sinks by the type that environments name
        self.event_sinks: dict[str, Any] = {}
        #: who is asked before and told after actions, in this order
        self.lifecycle: list[Any] = []

    # -- loading -----------------------------------------------------------

    @classmethod
    def load(cls, conf: Any = None) -> PluginRegistry:
        """Find all plug-ins.

        :param conf: for the option ``plugin_dirs``; None for built-in and
            installed ones only
        :raises heat.common.exception.Error: when two modules in
            ``plugin_dirs`` offer the same type
        """
        registry = cls()
        clients.configure(conf)
        for module in _built_in():
            registry.add_module(module)
        registry._add_installed()
        directories = [
            path
            for path in getattr(conf, "plugin_dirs", None) or ()
            if os.path.isdir(path)
        ]
        for module in _dropped_in(directories):
            registry.add_module(module, dropped_in=True)
        for name, cls_ in registry._fallbacks.items():
            registry._types.setdefault(name, cls_)
        return registry

    def add_module(self, module: ModuleType, dropped_in: bool = False) -> None:
        """Take over what a module offers.

        :param dropped_in: it comes from ``plugin_dirs``
        """
        maker = getattr(module, "class_of_template", None)
        if maker is not None:
            self._class_of_template = maker
        try:
            types, rules = _offers(module)
            self._fallbacks.update(_fallbacks(module))
        except Exception as exc:
            LOG.error("Plug-in %s is left out: %s", module.__name__, exc)
            return
        path = str(getattr(module, "__file__", module.__name__))
        for name, cls in types.items():
            if dropped_in:
                self._claim(name, path)
            self.add(name, cls)
        for name, rule in rules.items():
            self.add_constraint(name, rule)

    def _claim(self, name: str, path: str) -> None:
        other = self._files.setdefault(name, path)
        if other != path:
            raise exception.Error(
                _(
                    "Two plug-ins define the resource type %(type)s: "
                    "%(first)s and %(second)s. Remove one of the files."
                )
                % {"type": name, "first": other, "second": path}
            )

    def _add_installed(self) -> None:
        for name, plugin in _installed(CLIENTS_GROUP):
            clients.register(name, plugin)
        for name, rule in _installed(CONSTRAINTS_GROUP):
            self.add_constraint(name, rule)
        for name, offer in _installed(RESOURCES_GROUP):
            self._add_offer(name, offer)
        self.event_sinks.update(_installed(SINKS_GROUP))
        for name, maker in _installed(LIFECYCLE_GROUP):
            self._add_lifecycle(name, maker)
        for name, template in _installed(TEMPLATES_GROUP):
            try:
                template_base.add(name, template)
            except (TypeError, ValueError) as exc:
                LOG.error("Template class %s is left out: %s", name, exc)

    def _add_offer(self, name: str, offer: Any) -> None:
        """A module as in ``plugin_dirs``, or the class of the type that the
        entry point is named after."""
        if isinstance(offer, ModuleType):
            self.add_module(offer)
        elif isinstance(offer, type) and issubclass(offer, Resource):
            self.add(name, offer)
        else:
            LOG.error("Plug-in %s is left out: it is %r", name, offer)

    def _add_lifecycle(self, name: str, maker: Any) -> None:
        try:
            self.lifecycle = in_order([*self.lifecycle, maker()])
        except Exception as exc:
            LOG.error("Lifecycle plug-in %s is left out: %s", name, exc)

    def add(self, name: str, cls: type[Resource]) -> None:
        """Add one resource type, in the place of an earlier one."""
        self._types[name] = cls
        if cls.implicit_dependencies is not Resource.implicit_dependencies:
            definition.register_implied(name, cls.implicit_dependencies)
        elif explicit.adds(cls):
            definition.register_implied(name, explicit.rule(self.get))

    def add_constraint(self, name: str, rule: Any) -> None:
        """Add one named constraint."""
        self._constraints[name] = rule
        constraints.register(name, rule)

    # -- asking ------------------------------------------------------------

    def get(self, type_name: str) -> type[Resource]:
        """The class of a resource type.

        :raises heat.common.exception.EntityNotFound: when there is none
        """
        try:
            return self._types[type_name]
        except KeyError:
            raise exception.EntityNotFound(
                entity="Resource Type", name=type_name
            ) from None

    def template_class(
        self, name: str, text: str, defaults: Iterable[str] = ()
    ) -> type[Resource]:
        """The class of a template that acts as a resource type.

        :param name: of its file
        :param text: its content
        :param defaults: parameters that have a value anyway
        :raises HeatException, ValueError: of class 400: it is no template
        """
        if self._class_of_template is None:
            raise exception.EntityNotFound(entity="Resource Type", name=name)
        return self._class_of_template(name, text, defaults)

    def __contains__(self, type_name: object) -> bool:
        return type_name in self._types

    def constraint(self, name: str) -> Any:
        """The class of a named constraint, None when there is none."""
        return self._constraints.get(name)

    def types(
        self,
        support_status: str | None = None,
        type_name: str | None = None,
        version: str | None = None,
    ) -> list[str]:
        """Names of resource types, sorted.

        :param support_status: only types of this status; None: all but
            hidden ones
        :param type_name: regular expression for the name's beginning
        :param version: release a type's status dates from
        :raises heat.common.exception.Invalid: for a status that is none or
            an expression that can't be read
        """
        if support_status is not None:
            support_status = support_status.upper()
            if not support.is_valid_status(support_status):
                raise exception.Invalid(
                    reason=_("Invalid support status %s") % support_status
                )
        matches = _matcher(type_name)
        return sorted(
            name
            for name, cls in self._types.items()
            if matches(name)
            and _listed(cls.support_status, support_status, version)
        )

    def usable(self, names: Iterable[str], context: Any) -> list[str]:
        """Those of the types whose service a user can reach.

        :param context: of the request; one without credentials, where nobody
            logs in, can use none of the services and is told all types
        """
        if not sessions.has_credentials(context):
            return list(names)
        return [each for each in names if self._is_usable(each, context)]

    def _is_usable(self, name: str, context: Any) -> bool:
        try:
            return bool(self._types[name].is_service_available(context)[0])
        except Exception as exc:
            # Whether a service has an extension is asked of the service.
            LOG.warning("It can't be told who can use %s: %s", name, exc)
            return True

    def schema(
        self, type_name: str, with_description: bool = False
    ) -> dict[str, Any]:
        """What a user is told of a resource type.

        :returns: ``resource_type``, ``properties``, ``attributes``,
            ``support_status`` and, when asked for, ``description``
        :raises heat.common.exception.EntityNotFound: for an unknown type
        """
        cls = self.get(type_name)
        props = properties.schemata(cls.properties_schema)
        attrs = attributes.schemata(
            {**cls.base_attributes_schema, **cls.attributes_schema}
        )
        out: dict[str, Any] = {
            "resource_type": type_name,
            "properties": {
                name: _public(dict(entry))
                for name, entry in sorted(props.items())
                if entry.implemented
                and entry.support_status.status != support.HIDDEN
            },
            "attributes": {
                name: dict(entry)
                for name, entry in sorted(attrs.items())
                if entry.support_status.status != support.HIDDEN
            },
            "support_status": cls.support_status.to_dict(),
        }
        if with_description:
            out["description"] = self.description(type_name)
        return out

    def description(self, type_name: str) -> str:
        """What the class says of itself, a text of one or more lines."""
        return inspect.cleandoc(self.get(type_name).__doc__ or "")

    def template(
        self, type_name: str, template_type: str = "cfn"
    ) -> dict[str, Any]:
        """A template with one resource of the type, all its properties fed
        by parameters and all its attributes as outputs.

        :param template_type: ``cfn`` or ``hot``
        :raises heat.common.exception.EntityNotFound: for an unknown type
        """
        cls = self.get(type_name)
        resource_name = re.sub(r"\W", "", type_name.rpartition("::")[2])
        params, props = (
            properties.Properties.schema_to_parameters_and_properties(
                cls.properties_schema, template_type
            )
        )
        outputs = attributes.Attributes.as_outputs(
            resource_name, cls, template_type
        )
        text = _("Initial template of %s") % resource_name
        if template_type == "hot":
            return {
                "heat_template_version": "2016-10-14",
                "description": text,
                "parameters": params,
                "resources": {
                    resource_name: {"type": type_name, "properties": props}
                },
                "outputs": outputs,
            }
        return {
            "HeatTemplateFormatVersion": "2012-12-12",
            "Description": text,
            "Parameters": params,
            "Resources": {
                resource_name: {"Type": type_name, "Properties": props}
            },
            "Outputs": outputs,
        }


def in_order(plugins: Iterable[Any]) -> list[Any]:
    """Lifecycle plug-ins as they are called: the lowest ordinal first."""

    def place(plugin: Any) -> tuple[float, str]:
        find = getattr(plugin, "get_ordinal", None)
        ordinal = float(find()) if callable(find) else _ORDINAL
        return ordinal, type(plugin).__qualname__

    return sorted(plugins, key=place)


def _public(entry: dict[str, Any]) -> dict[str, Any]:
    """A property schema with type words as the API spells them."""
    entry["type"] = entry["type"].lower()
    if "schema" in entry:
        entry["schema"] = {
            name: _public(nested) for name, nested in entry["schema"].items()
        }
    return entry


def _matcher(type_name: str | None) -> Callable[[str], Any]:
    if type_name is None:
        return lambda name: True
    try:
        return patterns.compile(type_name).match
    except patterns.error as exc:
        raise exception.Invalid(
            reason=_("Invalid regular expression %(name)s: %(exc)s")
            % {"name": type_name, "exc": exc}
        ) from exc


def _listed(
    status: support.SupportStatus, wanted: str | None, version: str | None
) -> bool:
    if version is not None and status.version != version:
        return False
    if wanted is None:
        return status.status != support.HIDDEN
    return status.status == wanted


# -- where plug-ins come from -----------------------------------------------


def _offers(
    module: ModuleType,
) -> tuple[dict[str, type[Resource]], dict[str, Any]]:
    find = getattr(module, "available_resource_mapping", None) or getattr(
        module, "resource_mapping", None
    )
    types = dict(find()) if find is not None else {}
    for name, cls in types.items():
        if not (isinstance(cls, type) and issubclass(cls, Resource)):
            raise TypeError(f"{name} is mapped to {cls!r}, no Resource class")
    rules = getattr(module, "constraint_mapping", None)
    return types, dict(rules()) if rules is not None else {}


def _fallbacks(module: ModuleType) -> dict[str, type[Resource]]:
    """Types for names that no module offers."""
    find = getattr(module, "fallback_resource_mapping", None)
    return dict(find()) if find is not None else {}


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception as exc:
        LOG.error(
            "Plug-in %s can't be imported and is left out: %s: %s",
            name,
            type(exc).__name__,
            exc,
        )
        return None


def _walk(paths: Iterable[str], prefix: str) -> Iterator[ModuleType]:
    for info in sorted(
        pkgutil.iter_modules(paths, prefix), key=lambda found: found.name
    ):
        if info.name.rpartition(".")[2] == "tests":
            continue
        module = _import(info.name)
        if module is None:
            continue
        yield module
        if info.ispkg:
            yield from _walk(module.__path__, info.name + ".")


def _built_in() -> Iterator[ModuleType]:
    yield from _walk(resources.__path__, resources.__name__ + ".")


def _dropped_in(directories: list[str]) -> Iterator[ModuleType]:
    seen: dict[str, str] = {}
    for directory in directories:
        for info in pkgutil.iter_modules([directory]):
            # Only the first could be imported under the name they share.
            if seen.setdefault(info.name, directory) != directory:
                raise exception.Error(
                    _(
                        "Two plug-in modules are named %(name)s: in "
                        "%(first)s and in %(second)s. Rename one of them."
                    )
                    % {
                        "name": info.name,
                        "first": seen[info.name],
                        "second": directory,
                    }
                )
    __path__[:] = directories
    importlib.invalidate_caches()
    yield from _walk(directories, __name__ + ".")


def _installed(group: str) -> Iterator[tuple[str, Any]]:
    def failed(manager: Any, entry_point: Any, exc: BaseException) -> None:
        LOG.error(
            "Plug-in %s of %s is left out: %s", entry_point.name, group, exc
        )

    found: extension.ExtensionManager[Any] = extension.ExtensionManager(
        group, invoke_on_load=False, on_load_failure_callback=failed
    )
    for item in found:
        yield item.name, item.plugin
