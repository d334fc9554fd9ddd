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

"""Resource types that are one object of one REST service, by declaration.

A class body says which service and kind of object it is, which properties
go where, and which states mean what; creating, polling, updating, showing,
checking and deleting follow. Where a service is odd, a type overrides one
of the small methods::

    class Router(rest.RestResource):
        '''Forwards packets between subnets.'''

        default_client_name = "neutron"
        entity = "router"
        properties_schema = notation.properties(...)
        body_keys = {"external_gateway_info.network": "network_id"}
        finds = {"external_gateway_info.network": "neutron.network"}

No thread waits: a state that is not final is asked for again later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine import clients, translation
from heat.engine.clients import errors
from heat.engine.properties import Schema
from heat.engine.resource import base, outcomes

#: seconds between two looks at an object that is not ready
POLL_SECONDS = 2.0
#: seconds before a deletion that met a conflict is tried again
CONFLICT_SECONDS = 2.0
#: so often; then the conflict is what the user is told
CONFLICT_TRIES = 15


class RestResource(base.Resource):
    """One object of one service. Sub-classes declare."""

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
    #: key of the object that tells its state; None: it has none
    status_key: ClassVar[str | None] = None
    #: states that pass; any other that is not in ``bad`` is final and good
    pending: ClassVar[frozenset[str]] = frozenset()
    #: states that fail the action
    bad: ClassVar[frozenset[str]] = frozenset({"ERROR"})
    #: a deleted object is gone when the service has answered
    deleted_at_once: ClassVar[bool] = True
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

        :raises heat.common.exception.EntityNotFound: there is none
        """
        if self.resource_id is None:
            raise exception.EntityNotFound(entity="Resource", name=self.name)
        found: dict[str, Any] = self.collection().get(self.resource_id)
        return found

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

    # -- create --------------------------------------------------------------

    def handle_create(self) -> Any:
        made = self.collection().create(self.create_body(self.properties))
        self.resource_id_set(str(made["id"]))
        self.finish_create(self.properties)
        return made

    def finish_create(self, properties: Any) -> None:
        """What takes further calls once there is an object."""

    def check_create_complete(self, token: Any) -> bool:
        return self.is_ready()

    def is_ready(self) -> bool:
        """Whether the object's state is final and good.

        :raises heat.common.exception.ResourceInError: the state is bad
        :raises PollDelay: the state will pass
        """
        if self.status_key is None or not self.pending:
            return True
        shown = self.shown()
        status = self.judge(shown)
        if status in self.pending:
            raise outcomes.PollDelay(POLL_SECONDS)
        return True

    def judge(self, shown: Mapping[str, Any]) -> str:
        """The state of a shown object.

        :raises heat.common.exception.ResourceInError: it is a bad one
        """
        status = str(shown.get(self.status_key or "") or "").upper()
        if status in self.bad:
            raise exception.ResourceInError(
                resource_status=status, status_reason=self.fault(shown)
            )
        return status

    def fault(self, shown: Mapping[str, Any]) -> str:
        """Why an object is in a bad state, in its service's words."""
        return _("the service doesn't say why")

    # -- update --------------------------------------------------------------

    #: key of the data that notes what :meth:`prepare_for_replace` took
    given_up: ClassVar[str] = "given_up"

    def changed_beyond(self) -> str:
        if self.given_up in self.data():
            return _("it made way for a replacement that isn't wanted now")
        return super().changed_beyond()

    def take_back(self) -> None:
        """Undo :meth:`prepare_for_replace`, if that happened."""
        if self.given_up in self.data():
            self.restore_prev_rsrc(convergence=True)
            self.data_delete(self.given_up)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        self.take_back()
        if not prop_diff:
            return None
        after = self.properties_of(json_snippet)
        body = self.update_body(prop_diff, after)
        if body:
            self.collection().update(self.resource_id, body)
        self.finish_update(prop_diff, after)
        return prop_diff

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        """What takes further calls once the object is changed."""

    def check_update_complete(self, token: Any) -> bool:
        return not token or self.is_ready()

    # -- delete --------------------------------------------------------------

    def handle_delete(self) -> Any:
        """Delete the object; one that is gone already is no error.

        A creation that was interrupted may have left an object nobody
        recorded. Its name was made for this row alone, so it can be found.
        """
        if self.resource_id is None:
            self.resource_id_set(self.find_leftover())
        if self.resource_id is None:
            return None
        return {"tries": 0, "accepted": self.delete_object()}

    def find_leftover(self) -> str | None:
        """The id of an object with the name generated for this row."""
        name = self.physical_resource_name()
        given = self.name_property and self.properties.get_user_value(
            self.name_property
        )
        if name is None or not self.name_property or given:
            return None
        key = self.body_key(self.name_property)
        found = [
            each
            for each in self.collection().list(**{key: name})
            if each.get(key) == name
        ]
        return str(found[0]["id"]) if len(found) == 1 else None

    def delete_object(self) -> bool:
        """Ask for the deletion; False when a conflict forbids it yet."""
        try:
            self.before_delete()
            self.collection().delete(self.resource_id)
        except Exception as exc:
            if errors.is_conflict(exc) and not errors.is_over_limit(exc):
                self._conflict = exc
                return False
            self.client_plugin().ignore_not_found(exc)
            self.resource_id_set(None)
        return True

    _conflict: Exception | None = None

    def before_delete(self) -> None:
        """What has to go before the object can."""

    def check_delete_complete(self, token: Any) -> bool:
        if token is None or self.resource_id is None:
            return True
        if not token["accepted"]:
            token["tries"] += 1
            token["accepted"] = self.delete_object()
            if not token["accepted"]:
                if token["tries"] >= CONFLICT_TRIES and self._conflict:
                    raise self._conflict
                raise outcomes.PollDelay(CONFLICT_SECONDS)
        if self.deleted_at_once or self.resource_id is None:
            return True
        return self.is_gone()

    def is_gone(self) -> bool:
        """Whether the object is not there any more."""
        try:
            shown = self.shown()
        except Exception as exc:
            self.client_plugin().ignore_not_found(exc)
            return True
        self.judge_deleting(shown)
        raise outcomes.PollDelay(POLL_SECONDS)

    def judge_deleting(self, shown: Mapping[str, Any]) -> None:
        """Look at an object that is being deleted.

        :raises heat.common.exception.ResourceInError: it won't go
        """
        self.judge(shown)

    # -- look ----------------------------------------------------------------

    def handle_check(self) -> None:
        """Find out whether the object is there and well.

        :raises heat.common.exception.EntityNotFound: it is gone
        """
        try:
            shown = self.shown()
        except Exception as exc:
            if not errors.is_not_found(exc):
                raise
            raise exception.EntityNotFound(
                entity=self.collection().what.capitalize(),
                name=self.resource_id,
            ) from exc
        self.judge(shown)

    def _show_resource(self) -> dict[str, Any] | None:
        return None if self.resource_id is None else self.shown()

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        return self.shown().get(self.attribute_keys.get(name, name))

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The updatable properties as the live object has them."""
        return {
            name: resource_data[self.body_key(name)]
            for name, schema in self.properties_schema.items()
            if schema.update_allowed
            and self._is_sent(name)
            and self.body_key(name) in resource_data
        }
