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

"""Resource: the class every resource plug-in extends.

Its surface is public and old (plug-ins of vendors rely on it), so it is
wide; everything behind it is elsewhere: the schemas and their values in
:mod:`heat.engine.properties`, running an action in :mod:`.lifecycle`, the
moves between states in :mod:`.state`, declared operations in :mod:`.crud`.

A resource object lives for one piece of work. It keeps its state in memory
and never writes: the engine loads it from a row (:meth:`load_state`) and
stores what :meth:`changes` tells.
"""

from __future__ import annotations

import base64
import datetime
import logging
import uuid as uuid_module
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from heat.common import exception, values
from heat.common.i18n import _
from heat.common.identifier import HeatIdentifier
from heat.engine import attributes, function, properties, rsrc_defn
from heat.engine.resource import hooks
from heat.engine.resource.overridable import Overridable
from heat.engine.resource.view import StackView

LOG = logging.getLogger(__name__)

#: the key of a reference to all attributes
_ALL = "*"


class Resource(Overridable):
    """One resource of a stack.

    Plug-ins override the class attributes and the methods of the first
    part, define any of ``handle_<action>`` and ``check_<action>_complete``,
    and call the methods of the second part. An action whose ``handle_`` is
    not defined does nothing, successfully.

    :param name: its name in the template
    :param definition: what the template says
    :param stack: the :class:`heat.engine.resource.view.StackView`
    """

    # -- construction, state -----------------------------------------------

    # The schemas as the engine reads them, made once for each class.
    _attribute_table: ClassVar[tuple[Any, Any] | None] = None
    _property_table: ClassVar[tuple[Any, Any] | None] = None

    def __init__(self, name: str, definition: Any, stack: StackView) -> None:
        super().__init__()
        self.name = name
        self.stack = stack
        self.context = stack.context
        self.t: rsrc_defn.ResourceDefinition = definition
        self.target: rsrc_defn.ResourceDefinition = definition
        #: the object is the user's; plug-ins read it, the engine sets it
        self.external = False
        #: what find_lock_state() gave before the object was locked; None
        #: when we hold no lock on it. The engine sets it
        self.lock_found: dict[str, Any] | None = None
        self.uuid: str | None = None
        self.id: int | None = None
        self.created_time: datetime.datetime | None = None
        self.updated_time: datetime.datetime | None = None
        self.attributes = attributes.Attributes(
            name, self._all_attributes(), self._resolve_any_attribute
        )
        self._properties: tuple[Any, Any] | None = None
        self._stored: rsrc_defn.ResourceDefinition | None = None

    @classmethod
    def _all_attributes(cls) -> Mapping[str, Any]:
        table = cls.__dict__.get("_attribute_table")
        if table is None or table[0] is not cls.attributes_schema:
            merged = {**cls.base_attributes_schema, **cls.attributes_schema}
            merged = attributes.schemata(merged)
            table = (cls.attributes_schema, merged)
            cls._attribute_table = table
        return table[1]

    def load_state(
        self,
        uuid: str | None,
        physical_id: str | None = None,
        action: str = "INIT",
        status: str = "COMPLETE",
        status_reason: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        data: Mapping[str, str] | None = None,
        row_id: int | None = None,
        created_at: datetime.datetime | None = None,
        updated_at: datetime.datetime | None = None,
        stored_properties: Mapping[str, Any] | None = None,
        attributes: Mapping[Any, Any] | None = None,
    ) -> None:
        """Take over the state of a row.

        :param stored_properties: what :meth:`stored_properties` gave when
            the object was made or last updated; from now on ``properties``
            and ``t`` tell of them, and ``target`` of the template. None:
            nothing was made yet
        :param attributes: values kept, by ``name`` or ``(name,)``; what must
            be read each time is left out
        """
        self.uuid = uuid
        self.id = row_id
        self.remember(physical_id, data, metadata)
        self.action, self.status = action, status
        self.status_reason = status_reason or ""
        self.created_time, self.updated_time = created_at, updated_at
        self.attributes.cached_attrs = self._cacheable(attributes or {})
        if stored_properties is not None:
            self.adopt_stored(with_properties(self.target, stored_properties))

    @classmethod
    def offers(cls, attribute: str) -> bool:
        """Whether resources of this type have an attribute."""
        return cls.accepts_anything or attribute in cls._all_attributes()

    @classmethod
    def varies(cls, attribute: str) -> bool:
        """Whether an attribute must be read each time.

        What a stack below tells is as it was when that was last brought to
        what its parent wants, whatever its members would say now.
        """
        table = cls._all_attributes()
        names = cls.attributes_schema if attribute == _ALL else (attribute,)
        return not cls.nests and any(
            table[name].cache_mode == attributes.Schema.CACHE_NONE
            for name in names
            if name in table
        )

    def reads_anew(self, attribute: str) -> bool:
        """Whether an attribute is read again when nothing is to be done."""
        return self.varies(attribute)

    # -- definition and properties -----------------------------------------

    def type(self) -> str:
        """The resource type as the template names it."""
        return self.t.resource_type

    def _cacheable(self, values: Mapping[Any, Any]) -> dict[str, Any]:
        out = {}
        for key, value in values.items():
            path = (key,) if isinstance(key, str) else tuple(key)
            mode = self.attributes.get_cache_mode(path[0])
            # Nothing may be what could not be read: no value to keep.
            if (
                value is not None
                and len(path) == 1
                and mode == attributes.Schema.CACHE_LOCAL
            ):
                out[path[0]] = value
        return out

    def adopt_stored(self, defn: rsrc_defn.ResourceDefinition) -> None:
        """Let ``t`` and ``properties`` tell of a definition whose values
        are resolved and translated."""
        self._stored = self.t = defn

    @property
    def properties(self) -> Any:
        """Typed values of what the object was made with.

        During an update these are the old ones until it is complete.
        """
        made = self._properties
        if made is None or made[0] is not self.t:
            made = self._properties = (self.t, self.properties_of(self.t))
        return made[1]

    def properties_of(self, defn: Any) -> Any:
        """Typed values of another definition of this resource."""
        cls = self.__class__
        # Old plug-ins declare dictionaries; converted once for a class.
        table = cls.__dict__.get("_property_table")
        if table is None or table[0] is not cls.properties_schema:
            table = (
                cls.properties_schema,
                properties.schemata(cls.properties_schema),
            )
            cls._property_table = table
        made = defn.properties(table[1], self.context)
        # Stored values went through the rules when they were new.
        if defn is not self._stored:
            rules = self.translation_rules(made)
            if rules:
                made.update_translation(rules)
        return made

    @property
    def update_policy(self) -> Any:
        return self.t.update_policy(self.update_policy_schema, self.context)

    def stored_properties(self) -> dict[str, Any]:
        """What the target says, resolved and translated, without defaults.

        JSON-able; given to :meth:`load_state` another time.
        """
        return properties_given(self.properties_of(self.target))

    def template_metadata(self) -> dict[str, Any]:
        return dict(self.target.metadata() or {})

    def frozen_definition(self) -> rsrc_defn.ResourceDefinition:
        """The definition with all values resolved."""
        return with_properties(self.t, properties_given(self.properties))

    def frozen_properties(self) -> Any:
        """The properties with all values resolved."""
        return self.frozen_definition().properties(
            self.properties.schema, self.context
        )

    def required_by(self) -> list[str]:
        """Names of the resources that need this one."""
        needs = self.stack.definition.dependencies()
        return [name for name, needed in needs.items() if self.name in needed]

    # -- identity ----------------------------------------------------------

    def identifier(self) -> HeatIdentifier:
        return self.stack.identifier().resource(self.name)

    def short_id(self) -> str | None:
        """Twelve lower-case characters that stand for the row's uuid."""
        if self.uuid is None:
            return None
        raw = uuid_module.UUID(self.uuid).bytes
        return base64.b32encode(raw).decode("ascii").lower()[:12]

    def physical_resource_name(self) -> str | None:
        """A name for the object that nothing else has; None before there
        is a row."""
        short = self.short_id()
        if short is None:
            return None
        name = f"{self.stack.name}-{self.name}-{short}"
        limit = self.physical_resource_name_limit
        if limit is None:
            return name
        return self.reduce_physical_resource_name(name, limit)

    @staticmethod
    def reduce_physical_resource_name(name: str, limit: int) -> str:
        """Cut a name to ``limit`` characters; what follows the last hyphen
        stays, as it makes the name unique.

        :raises ValueError: for a limit below 4
        """
        if limit < 4:
            raise ValueError(_("limit cannot be less than 4"))
        if len(name) <= limit:
            return name
        tail = name.rpartition("-")[2]
        room = limit - len(tail) - 1
        if room < 1:
            return name[-limit:]
        return f"{name[:room]}-{tail}"

    def physical_resource_name_or_FnGetRefId(self) -> str:
        return self.physical_resource_name() or self.FnGetRefId()

    def reference_id(self) -> str:
        """What ``get_resource`` gives, always text.

        A plug-in that can't tell must not fail a resource that exists.
        """
        try:
            return str(self.FnGetRefId())
        except Exception as exc:
            LOG.warning(
                "%s (%s) can't tell its reference: %s",
                self.name,
                self.type(),
                exc,
            )
            return self.resource_id or self.name

    def FnGetRefId(self) -> str:
        return self.get_reference_id()

    # -- attributes --------------------------------------------------------

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """The value of an attribute, or of what ``path`` picks in it.

        :raises heat.common.exception.InvalidTemplateAttribute: when there
            is no such attribute
        """
        if key not in self.attributes and not self.accepts_anything:
            raise exception.InvalidTemplateAttribute(
                resource=self.name, key=key
            )
        if key not in self.attributes:
            value = self._resolve_attribute(key)
        else:
            value = self.attributes[key]
        return attributes.select_from_attribute(value, path)

    def _resolve_any_attribute(self, attr: str) -> Any:
        if attr == self.SHOW and attr not in self.attributes_schema:
            return self._show_resource()
        return self._resolve_attribute(attr)

    def tell_attributes(
        self,
        keys: Iterable[tuple[Any, ...]],
        known: Mapping[tuple[Any, ...], Any] | None = None,
    ) -> dict[tuple[Any, ...], Any]:
        """As :meth:`resolve_attributes`, for the record.

        Why an output of a stack below can't be resolved is told, too, see
        :func:`heat.engine.function.fault_key`.
        """
        faults: dict[tuple[Any, ...], Any] = {}
        return self.resolve_attributes(keys, faults, known) | faults

    def resolve_attributes(
        self,
        keys: Iterable[tuple[Any, ...]],
        faults: dict[tuple[Any, ...], Any] | None = None,
        known: Mapping[tuple[Any, ...], Any] | None = None,
    ) -> dict[tuple[Any, ...], Any]:
        """Values for ``(attribute, *path)`` keys.

        One that can't be read is None, with a warning in the log: a value
        nobody may need must not fail a resource that exists.

        :param faults: why outputs of a stack below can't be resolved is
            added
        :param known: values for those that can't be read
        """
        with self.attributes.each_once():
            return {key: self._told(key, faults, known or {}) for key in keys}

    def _told(
        self,
        key: tuple[Any, ...],
        faults: dict[tuple[Any, ...], Any] | None,
        known: Mapping[tuple[Any, ...], Any],
    ) -> Any:
        try:
            return self.read_attribute(key, known)
        except Exception as exc:
            LOG.warning(
                "Attribute %s of %s (%s) can't be read: %s",
                key[0],
                self.name,
                self.type(),
                exc,
            )
            below = isinstance(exc, exception.TemplateOutputError)
            if below and faults is not None:
                faults[function.fault_key(key)] = str(exc)
                return None
            return known.get(key)

    def read_attribute(
        self,
        key: tuple[Any, ...],
        known: Mapping[tuple[Any, ...], Any] | None = None,
    ) -> Any:
        """The value for one such key; what the plug-in raises is raised.

        :param known: what those are as that can't be read, when all
            attributes are asked for
        """
        if key == (_ALL,):
            return self._every_attribute(known or {})
        return values.plain(self.FnGetAtt(*key))

    def _every_attribute(
        self, known: Mapping[tuple[Any, ...], Any]
    ) -> dict[str, Any]:
        names = [(n,) for n in self.attributes_schema]
        before = known.get((_ALL,))
        if isinstance(before, Mapping):
            known = {(name,): before[name] for name in before} | dict(known)
        values = self.resolve_attributes(names, None, known)
        return {key[0]: value for key, value in values.items()}

    # -- hooks, clients ----------------------------------------------------

    def has_hook(self, hook: str) -> bool:
        return hooks.has_hook(self, hook)

    def clear_hook(self, hook: str) -> None:
        hooks.clear_hook(self, hook)

    def client(self, name: str | None = None, version: Any = None) -> Any:
        """A client of the service, the type's own by default."""
        return self.stack.clients.client(self._client_name(name), version)

    def client_plugin(self, name: str | None = None) -> Any:
        """The plug-in of such a client."""
        return self.stack.clients.client_plugin(self._client_name(name))

    def _client_name(self, name: str | None) -> str:
        found = name or self.default_client_name
        if found is None:
            raise exception.ClientNotAvailable(
                client_name=_("none is named by %s") % self.type()
            )
        return found

    def rpc_client(self) -> Any:
        return self.stack.rpc_client()

    @staticmethod
    def _verify_check_conditions(checks: Iterable[Mapping[str, Any]]) -> None:
        """Compare values of a live object with what they should be.

        :param checks: dictionaries with ``attr``, ``expected``, ``current``
        :raises heat.common.exception.Error: naming each that differs
        """
        invalid = [
            _("'%(attr)s': expected '%(expected)s', got '%(current)s'") % check
            for check in checks
            if check["expected"] != check["current"]
        ]
        if invalid:
            raise exception.Error("; ".join(invalid))

    def __repr__(self) -> str:
        where = f"{self.stack.name!r}"
        return f"<{self.__class__.__name__} {self.name!r} of {where}>"


def properties_given(props: Any) -> dict[str, Any]:
    """What is set in ``props``, without defaults."""
    return dict(props.given())


def with_properties(
    defn: rsrc_defn.ResourceDefinition, values: Mapping[str, Any]
) -> rsrc_defn.ResourceDefinition:
    """The definition with these resolved and translated properties."""
    frozen = defn.freeze(properties=dict(values))
    # The values are through the rules already; ADD would add once more.
    frozen.set_translation_rules(None)
    return frozen
