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
"""What a template says of one resource.

Read-only. The values may hold functions; :meth:`ResourceDefinition.freeze`
gives a definition without. It must not know the resource's type.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import function
from heat.engine import properties as props

_ABSENT = function.ABSENT


class Diff:
    """Which parts of a resource differ between two definitions.

    True when any does. ``in`` and ``[]`` take the section names of
    templates (``Properties``, ``Metadata``, ``UpdatePolicy``,
    ``DeletionPolicy``), as older plug-ins ask; ``[]`` gives the new value.
    """

    def __init__(
        self, old_defn: ResourceDefinition, new_defn: ResourceDefinition
    ) -> None:
        self.old_defn = old_defn
        self.new_defn = new_defn

    def properties_changed(self) -> bool:
        return self._changed("_properties")

    def metadata_changed(self) -> bool:
        return self._changed("_metadata")

    def update_policy_changed(self) -> bool:
        return self._changed("_update_policy")

    def deletion_policy_changed(self) -> bool:
        return self.old_defn.deletion_policy() != (
            self.new_defn.deletion_policy()
        )

    def _changed(self, attribute: str) -> bool:
        old = getattr(self.old_defn, attribute)
        new = getattr(self.new_defn, attribute)
        if old is new:
            return False
        return bool(
            (function.resolve(old) or {}) != (function.resolve(new) or {})
        )

    def __contains__(self, section: object) -> bool:
        if section == "Properties":
            return self.properties_changed()
        if section == "Metadata":
            return self.metadata_changed()
        if section == "UpdatePolicy":
            return self.update_policy_changed()
        if section == "DeletionPolicy":
            return self.deletion_policy_changed()
        return False

    def __iter__(self) -> Iterator[str]:
        for name in (
            "Properties",
            "Metadata",
            "UpdatePolicy",
            "DeletionPolicy",
        ):
            if name in self:
                yield name

    def __getitem__(self, section: str) -> Any:
        if section not in self:
            raise KeyError(section)
        if section == "DeletionPolicy":
            return self.new_defn.deletion_policy()
        attribute = {
            "Properties": "_properties",
            "Metadata": "_metadata",
            "UpdatePolicy": "_update_policy",
        }[section]
        return function.resolve(getattr(self.new_defn, attribute)) or {}

    def __bool__(self) -> bool:
        return any(True for _section in self)


class ResourceDefinition:
    """A resource as the template defines it.

    :param name: its name in the template
    :param resource_type: the type as it's written there
    :param properties: a snippet: a map, None, or a function that gives one
    :param metadata: likewise
    :param depends: names of resources that must be there first: a list, or
        one name
    :param deletion_policy: one of ``DELETION_POLICIES``, None for the
        default; may be a function
    :param update_policy: a snippet: a map
    :param description: text
    :param external_id: id of an object that exists already, or a function
    :param condition: the parsed condition, None for none
    """

    DELETION_POLICIES = (DELETE, RETAIN, SNAPSHOT) = (
        "Delete",
        "Retain",
        "Snapshot",
    )

    Diff = Diff

    def __init__(
        self,
        name: str,
        resource_type: str,
        properties: Any = None,
        metadata: Any = None,
        depends: Any = None,
        deletion_policy: Any = None,
        update_policy: Any = None,
        description: str | None = None,
        external_id: Any = None,
        condition: Any = None,
    ) -> None:
        self.name = name
        self.resource_type = resource_type
        self.description = description or ""
        self._properties = properties
        self._metadata = metadata
        self._depends = depends
        self._deletion_policy = deletion_policy
        self._update_policy = update_policy
        self._external_id = external_id
        self._condition = condition
        self._rules: Any = None
        self._client_resolve = True
        self._required: frozenset[str] | None = None

    # -- what it says --------------------------------------------------------

    def properties(self, schema: Any, context: Any = None) -> Any:
        """The properties, as :class:`heat.engine.properties.Properties`.

        :param schema: the property schemata of the type
        """
        data = self._properties
        if isinstance(data, function.Function):
            data = self._map(data, "properties")
        made = props.Properties(
            schema,
            data or {},
            function.resolve,
            self.name,
            context,
            section="properties",
            rsrc_description=self.description,
        )
        if self._rules is not None:
            made.update_translation(
                self._rules, client_resolve=self._client_resolve
            )
        return made

    def update_policy(self, schema: Any, context: Any = None) -> Any:
        """The update policy, as ``Properties``."""
        data = self._update_policy
        if isinstance(data, function.Function):
            data = self._map(data, "update_policy")
        return props.Properties(
            schema,
            data or {},
            function.resolve,
            self.name,
            context,
            section="update_policy",
        )

    def set_translation_rules(
        self, rules: Any = None, client_resolve: bool = True
    ) -> None:
        """Rules that :meth:`properties` applies from now on."""
        self._rules = rules
        self._client_resolve = client_resolve

    def metadata(self) -> dict[str, Any]:
        """The metadata, resolved; a copy."""
        return copy.deepcopy(self._map(self._metadata, "metadata"))

    def same_metadata(self, other: ResourceDefinition) -> bool:
        """Whether both say the same, functions compared as written."""
        return bool((self._metadata or {}) == (other._metadata or {}))

    def has_dynamic_metadata(self) -> bool:
        """Whether the metadata depends on other resources."""
        return any(
            True for _call in function.all_dep_attrs(self._metadata)
        ) or (any(True for _n in function.dependencies(self._metadata, "")))

    def deletion_policy(self) -> str:
        """``Delete``, ``Retain`` or ``Snapshot``.

        :raises StackValidationFailed: for another value
        """
        value = function.resolve(self._deletion_policy)
        if value is None:
            return self.DELETE
        if value not in self.DELETION_POLICIES:
            raise exception.StackValidationFailed(
                path=f"resources.{self.name}.deletion_policy",
                message=_(
                    'Invalid deletion policy "%(value)s", use one of %(known)s'
                )
                % {
                    "value": value,
                    "known": ", ".join(self.DELETION_POLICIES),
                },
            )
        return str(value)

    def external_id(self) -> str | None:
        """The id of the object that exists already, or None."""
        value = function.resolve(self._external_id)
        if value is None or (isinstance(value, str) and value):
            return value
        raise exception.StackValidationFailed(
            path=f"resources.{self.name}.external_id",
            message=_(
                "external_id must be the id of an object, a text that is not "
                "empty; leave it out to let Heat make the object"
            ),
        )

    def fixed_external_id(self) -> str | None:
        """The external id, unless it is read from another resource."""
        return None if self.reads_external_id() else self.external_id()

    def reads_external_id(self) -> bool:
        """Whether the external id is read from another resource."""
        return any(
            True for _name in function.dependencies(self._external_id, "")
        )

    def condition(self) -> Any:
        """The parsed condition; None when there is none."""
        return self._condition

    def _map(self, snippet: Any, key: str) -> dict[str, Any]:
        value = function.resolve(snippet)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise exception.StackValidationFailed(
                path=f"resources.{self.name}.{key}",
                message=_("Must be a map, not %s") % type(value).__name__,
            )
        return value

    # -- what it needs -------------------------------------------------------

    def _snippets(self) -> Iterable[tuple[str, Any]]:
        place = f"resources.{self.name}"
        yield f"{place}.properties", self._properties
        yield f"{place}.metadata", self._metadata
        yield f"{place}.deletion_policy", self._deletion_policy
        yield f"{place}.update_policy", self._update_policy
        yield f"{place}.external_id", self._external_id

    def depends(self) -> list[str]:
        """The names given as ``depends_on``."""
        value = function.resolve(self._depends)
        if value is None:
            return []
        names = value if isinstance(value, list) else [value]
        for name in names:
            if not isinstance(name, str):
                raise exception.StackValidationFailed(
                    path=f"resources.{self.name}.depends_on",
                    message=_("Must be a resource name or a list of those"),
                )
        return names

    def dependencies(self, stack: function.Scope) -> Iterator[str]:
        """Names of the enabled resources that must be there first.

        A name may come more than once.

        :raises InvalidTemplateReference: for a name that isn't there
        """
        for name in self.depends():
            if name not in stack.resource_names:
                raise exception.InvalidTemplateReference(
                    resource=name, key=f"resources.{self.name}.depends_on"
                )
            if stack.is_enabled(name):
                yield name
        for place, snippet in self._snippets():
            yield from function.dependencies(snippet, place)

    def required_resource_names(self) -> frozenset[str]:
        """Names of the resources that must be there first.

        Names given as ``depends_on`` count whether enabled or not.
        """
        if self._required is None:
            names = set(self.depends())
            for place, snippet in self._snippets():
                names.update(function.dependencies(snippet, place))
            self._required = frozenset(names)
        return self._required

    def dep_attrs(
        self, resource_name: str, load_all: bool = False
    ) -> frozenset[function.Attr]:
        """Attributes of another resource that this one reads."""
        return frozenset(
            attr
            for name, attr in self.all_dep_attrs()
            if name == resource_name
        )

    def all_dep_attrs(self) -> Iterator[tuple[str, function.Attr]]:
        """(resource name, attribute) pairs that this one reads."""
        for _place, snippet in self._snippets():
            yield from function.all_dep_attrs(snippet)

    def calls(self) -> Iterator[function.Function]:
        """The outermost functions in it."""
        for _place, snippet in self._snippets():
            yield from function.calls(snippet)
        yield from function.calls(self._depends)

    def validate(self) -> None:
        """Check the functions in it.

        :raises StackValidationFailed: and other errors of class 400
        """
        for place, snippet in self._snippets():
            function.validate(snippet, place)
        self.depends()
        self.deletion_policy()

    # -- other forms ---------------------------------------------------------

    def freeze(self, **overrides: Any) -> ResourceDefinition:
        """The definition with all functions resolved.

        :param overrides: arguments of the constructor that take the place
            of what the definition says
        """
        args: dict[str, Any] = {
            "name": self.name,
            "resource_type": self.resource_type,
            "properties": function.resolve(self._properties),
            "metadata": function.resolve(self._metadata),
            "depends": self.depends() or None,
            "deletion_policy": function.resolve(self._deletion_policy),
            "update_policy": function.resolve(self._update_policy),
            "description": self.description,
            "external_id": function.resolve(self._external_id),
            "condition": self._condition,
        }
        args.update(overrides)
        made = ResourceDefinition(**args)
        made.set_translation_rules(self._rules, self._client_resolve)
        made._required = overrides.get("required", self._required)
        return made

    def section(self, key: str) -> Any:
        """A part as the template has it, functions unresolved.

        :param key: ``properties``, ``metadata`` or ``update_policy``
        """
        return getattr(self, f"_{key}")

    def with_sections(self, **sections: Any) -> ResourceDefinition:
        """The same definition, but for these parts (see :meth:`section`)."""
        made = copy.copy(self)
        for key, snippet in sections.items():
            setattr(made, f"_{key}", snippet)
        return made

    def reparse(self, stack: Any, template: Any) -> ResourceDefinition:
        """The same definition, its functions bound to another stack."""
        place = f"resources.{self.name}"

        def parse(snippet: Any, key: str) -> Any:
            return template.parse(
                stack, function.render(snippet), f"{place}.{key}"
            )

        return ResourceDefinition(
            self.name,
            self.resource_type,
            parse(self._properties, "properties"),
            parse(self._metadata, "metadata"),
            parse(self._depends, "depends_on"),
            parse(self._deletion_policy, "deletion_policy"),
            parse(self._update_policy, "update_policy"),
            self.description,
            parse(self._external_id, "external_id"),
            self._condition,
        )

    def render_hot(self) -> dict[str, Any]:
        """The definition as a HOT template writes it."""
        parts: Mapping[str, Any] = {
            "type": self.resource_type,
            "description": self.description or None,
            "properties": self._properties,
            "metadata": self._metadata,
            "depends_on": self._depends,
            "deletion_policy": self._deletion_policy,
            "update_policy": self._update_policy,
            "external_id": self._external_id,
            "condition": self._condition,
        }
        return {
            key: function.render(value)
            for key, value in parts.items()
            if value is not None
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResourceDefinition):
            return NotImplemented
        return self is other or self.render_hot() == other.render_hot()

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"ResourceDefinition({self.name!r}, {self.resource_type!r})"
