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

"""An object of a REST service: where it is, and what is sent to make it.

The declarations of :class:`heat.engine.resource.rest.RestResource` that say
which property goes where, and the bodies that follow from them. How actions
run is the other half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.engine import clients, translation
from heat.engine.properties import Schema
from heat.engine.resource import base


class RestObject(base.Resource):
    """One object of one service, and how its properties become bodies."""

    # Without a service its constraints check nothing, so properties can be
    # checked first, and what is wrong with them be told first.
    checks_offline = True

    #: property (dotted path) -> key in the body, where they differ
    body_keys: ClassVar[Mapping[str, str]] = {}
    #: properties (dotted paths) that aren't part of the body
    not_sent: ClassVar[frozenset[str]] = frozenset()
    #: properties (dotted paths) that take a name or an id, and what of:
    #: ``client.kind``
    finds: ClassVar[Mapping[str, str]] = {}
    #: old name of a property (dotted path) -> the name it has now
    renamed: ClassVar[Mapping[str, str]] = {}
    #: property whose map is laid over the body
    extra_property: ClassVar[str | None] = None
    #: value that is sent when a property is taken away, where it isn't the
    #: empty one of its type
    cleared: ClassVar[Mapping[str, Any]] = {}
    #: attribute -> key of the shown object, where they differ
    attribute_keys: ClassVar[Mapping[str, str]] = {}
    #: the property (and key) that names the object; None: it has no name
    name_property: ClassVar[str | None] = "name"

    # -- the service ---------------------------------------------------------

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, str | None]:
        available, reason = super().is_service_available(context)
        alias = cls.required_service_extension
        if not available or context is None or alias is None:
            return available, reason
        name = cls.default_client_name or ""
        plugin = clients.of(context).client_plugin(name)
        missing = plugin.missing_extension(alias)
        return missing is None, missing

    def collection(self, entity: str | None = None) -> Any:
        """The service's objects of this kind.

        :returns: a :class:`heat.engine.clients.collection.Collection`
        """
        return self.client_plugin().collection(entity or self.entity)

    def shown(self) -> dict[str, Any]:
        """The object as it is now.

        Its attributes, when they are read together, are of one look at it.

        :raises heat.common.exception.EntityNotFound: there is none
        """
        ident = self.resource_id
        if ident is None:
            raise exception.EntityNotFound(entity="Resource", name=self.name)
        found = self.attributes.once(
            ("shown", ident), lambda: self.collection().get(ident)
        )
        return dict(found)

    def owner(self, name: str, key: str, entity: str | None = None) -> str:
        """The id of the object that this one is below.

        Of an object of the user's the template need not say it: it is looked
        for then.

        :param name: of the property
        :param key: under which such objects show what is below them
        :param entity: what such objects are; None: as the property is called
        :raises heat.common.exception.EntityNotFound: there is none
        """
        if name in self.properties.given():
            return str(self.properties[name])
        for each in self.collection(entity or name).list():
            if any(part["id"] == self.resource_id for part in each[key]):
                return str(each["id"])
        raise exception.EntityNotFound(entity="Resource", name=self.name)

    # -- properties and bodies -----------------------------------------------

    def translation_rules(
        self, properties: Any
    ) -> list[translation.TranslationRule]:
        """Old names become new ones, names of objects become ids.

        No service is asked where there is none.
        """
        rule = translation.TranslationRule
        rules = [
            rule(
                properties,
                rule.REPLACE,
                [*old.split(".")[:-1], new],
                value_name=old.rpartition(".")[2],
            )
            for old, new in self.renamed.items()
        ]
        for path, kind in self.finds.items():
            service, _dot, entity = kind.partition(".")
            if clients.availability(self.context, service)[0]:
                rules.append(
                    rule(
                        properties,
                        rule.RESOLVE,
                        path.split("."),
                        client_plugin=self.client_plugin(service),
                        finder="find",
                        entity=entity,
                    )
                )
        return rules

    def body_key(self, path: str) -> str:
        """The key of a property in bodies."""
        return self.body_keys.get(path, path.rpartition(".")[2])

    def rendered(self, path: str, value: Any) -> Any:
        """A property's value as the service takes it: keys translated,
        what is not set left out."""
        if isinstance(value, Mapping):
            return {
                self.body_key(f"{path}.{key}"): self.rendered(
                    f"{path}.{key}", inner
                )
                for key, inner in value.items()
                if inner is not None and f"{path}.{key}" not in self.not_sent
            }
        if isinstance(value, list | tuple):
            return [self.rendered(path, item) for item in value]
        return value

    def _is_sent(self, name: str) -> bool:
        return name not in self.not_sent and name != self.extra_property

    def create_body(self, properties: Any) -> dict[str, Any]:
        """What the object is made with.

        :param properties: typed values by name
        """
        body = {
            self.body_key(name): self.rendered(name, properties[name])
            for name in self.properties_schema
            if self._is_sent(name) and properties[name] is not None
        }
        naming = self.name_property
        if naming is not None and not body.get(self.body_key(naming)):
            body[self.body_key(naming)] = self.physical_resource_name()
        if self.extra_property is not None:
            body.update(properties[self.extra_property] or {})
        return body

    def update_body(
        self, changed: Iterable[str], properties: Any
    ) -> dict[str, Any]:
        """What is sent to bring the object to new properties.

        :param changed: names of the properties that differ
        """
        body: dict[str, Any] = {}
        for name in changed:
            value = properties[name]
            if name == self.extra_property:
                body.update(value or {})
            elif self._is_sent(name):
                body[self.body_key(name)] = (
                    self.value_for_none(name)
                    if value is None
                    else self.rendered(name, value)
                )
        return body

    def value_for_none(self, name: str) -> Any:
        """What is sent when a property is not set any more."""
        if name in self.cleared:
            return self.cleared[name]
        if name == self.name_property:
            return self.physical_resource_name()
        if name in self.finds:
            return None
        kind = self.properties_schema[name].type
        empty: dict[str, Any] = {
            Schema.STRING: "",
            Schema.LIST: [],
            Schema.MAP: {},
        }
        return empty.get(kind)

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The updatable properties as the live object has them."""
        return {
            name: self._as_found(name, resource_data[self.body_key(name)])
            for name, schema in self.properties_schema.items()
            if schema.update_allowed
            and self._is_sent(name)
            and self.body_key(name) in resource_data
        }

    def live_fixed(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Those that have one plain value, and are shown under their name."""
        found = {}
        for name, schema in self.properties_schema.items():
            key = self.body_key(name)
            wanted = resource_properties[name]
            if (
                not schema.update_allowed
                and self._is_sent(name)
                and key in resource_data
                and isinstance(wanted, str | int)
            ):
                live = self._as_found(name, resource_data[key])
                same = str(live).strip() == str(wanted).strip()
                found[name] = wanted if same else live
        return found

    def _as_found(self, name: str, value: Any) -> Any:
        """A value that a service shows, with the id in place of a name."""
        service, _dot, entity = self.finds.get(name, "").partition(".")
        if not (entity and isinstance(value, str) and value):
            return value
        try:
            return self.client_plugin(service).find(entity, value)
        except exception.HeatException:
            return value
