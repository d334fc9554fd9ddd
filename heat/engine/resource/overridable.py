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

"""What plug-ins override: declarations and questions, with defaults.

The first half of a resource's public surface; :class:`Resource` in
:mod:`.base` is the second. Every method here may be overridden, and says
what the engine makes of the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, clients, rsrc_defn, support
from heat.engine.resource import crud, external
from heat.engine.resource.memory import Memory


class Overridable(Memory):
    """Declarations of a resource type, and what it is asked."""

    if TYPE_CHECKING:
        # What the other half adds.
        name: str
        t: rsrc_defn.ResourceDefinition

        def type(self) -> str: ...

        def client_plugin(self, name: str | None = None) -> Any: ...

        @property
        def properties(self) -> Any: ...

        @property
        def update_policy(self) -> Any: ...

    BASE_ATTRIBUTES = (SHOW,) = (attributes.SHOW_ATTR,)

    properties_schema: ClassVar[dict[str, Any]] = {}
    attributes_schema: ClassVar[dict[str, Any]] = {}
    update_policy_schema: ClassVar[dict[str, Any]] = {}
    base_attributes_schema: ClassVar[dict[str, Any]] = {
        SHOW: attributes.Schema(
            _("Detailed information about resource."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.MAP,
        )
    }
    #: name of the client that makes the object
    default_client_name: ClassVar[str | None] = None
    #: extension of the client's service that must be there
    required_service_extension: ClassVar[str | None] = None
    #: the client's collection of such objects
    entity: ClassVar[str | None] = None
    support_status: ClassVar[support.SupportStatus] = support.SupportStatus()
    #: characters a generated physical name may have
    physical_resource_name_limit: ClassVar[int | None] = 255
    #: every dependant must be gone before the object is deleted
    strict_dependency: ClassVar[bool] = True
    #: actions during which a signal is refused
    no_signal_actions: ClassVar[tuple[str, ...]] = ("SUSPEND", "DELETE")
    #: a signal only changes what is kept with the resource, so it passes
    #: a lock, and is handled once more when another came in between
    signal_is_data: ClassVar[bool] = False
    #: replace an object that a check found to be bad
    always_replace_on_check_failed: ClassVar[bool] = True
    #: operations outside a request need the user's trust
    requires_deferred_auth: ClassVar[bool] = False
    #: :meth:`validate` asks no service, so that it can be called when the
    #: type's own is not available
    checks_offline: ClassVar[bool] = False
    #: a step of an operation may wait for a service (a client does, too)
    may_block: ClassVar[bool] = False
    #: its object is a stack of its own, which Heat makes through the port
    nests: ClassVar[bool] = False
    #: a newer traversal need not wait for the end of a running operation
    yields: ClassVar[bool] = False
    #: its service tells whether an id is that of an object, so that one id
    #: is one object for all stacks; None: so it is for a type with a client
    looked_up: ClassVar[bool | None] = None
    #: keys of the resource's data that name what was made beside its object
    beside: ClassVar[tuple[str, ...]] = ()
    #: key of stored data (or ``metadata``) -> what can't be done without it
    #: and nobody can find out again, should an object of the user's be
    #: handed to Heat; "" for the object as such
    irrecoverable: ClassVar[Mapping[str, str]] = {}
    #: properties that can be updated and never be read: of an object whose
    #: values nobody recorded they are taken on trust
    never_shown: ClassVar[frozenset[str]] = frozenset()
    #: another engine may go on with a create that waits, see
    #: :meth:`resume_create`
    resumes_create: ClassVar[bool] = False
    #: classes of one family take each other's objects over; None: none does
    family: ClassVar[str | None] = None
    #: properties may have keys, and attributes names, of no schema; and
    #: policies may say what they like
    accepts_anything: ClassVar[bool] = False

    def validate(self) -> None:
        """Check the properties before anything is made.

        :raises heat.common.exception.StackValidationFailed: naming the
            place
        """
        if not self.accepts_anything:
            self.properties.validate()
            self.validate_policies()

    @classmethod
    def makes_snapshots(cls) -> bool:
        """Whether there can be a snapshot of what is to be deleted."""
        return hasattr(cls, "handle_snapshot")

    def validate_policies(self) -> None:
        """Check that the type can do what its policies say.

        :raises heat.common.exception.StackValidationFailed: naming the
            place
        """
        if self.update_policy_schema or self.t.section("update_policy"):
            self.update_policy.validate()
        if (
            self.t.deletion_policy() == external.SNAPSHOT
            and not self.makes_snapshots()
        ):
            raise exception.StackValidationFailed(
                path=["resources", self.name, "deletion_policy"],
                message=_('"Snapshot" deletion policy not supported'),
            )

    def translation_rules(self, properties: Any) -> Any:
        """The :class:`heat.engine.translation.TranslationRule` list."""
        return None

    def needs_replace(self, after_props: Any) -> bool:
        """Tell whether the new properties need a new object."""
        return False

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        """Tell whether this change of properties needs a new object."""
        return False

    def needs_replace_with_tmpl_diff(self, tmpl_diff: Any) -> bool:
        """Tell whether this change of the definition needs a new object."""
        return False

    def needs_replace_failed(self) -> bool:
        """Tell whether a failed resource needs a new object.

        What could not be made does; what could not be changed is there, and
        the next update tries again.
        """
        return self.action == "CREATE" or self.resource_id is None

    def find_made(self) -> str | None:
        """The id of an object that a create made whose end nobody saw.

        Asked before a row without an object is deleted, and before its
        create is gone on with. Look by what only this row has
        (:meth:`physical_resource_name`, a tag with the uuid), never by a
        name that a user chose.

        :returns: None: there is none, or such a type leaves nothing behind
        """
        return None

    def watched_stack(self) -> str | None:
        """The id of the stack whose state is all that the next check of the
        running operation looks at, so that many look at once; None: it may
        do more."""
        return None

    #: how often, in the running operation, its row was written by the
    #: transaction that began something elsewhere
    recorded = 0

    @property
    def is_recorded(self) -> bool:
        """Whether the row says by now all that a crash must not forget."""
        return False

    def resume_create(self, found: bool) -> Any:
        """Go on with a create whose engine stopped while it waited.

        Called, for a type with :attr:`resumes_create`, in place of
        ``handle_create``, which is never run twice.

        :param found: the engine stopped before it had recorded anything:
            the object is what :meth:`find_made` told of, and nobody knows
            how far ``handle_create`` came
        :returns: what ``check_create_complete`` is given
        :raises UpdateReplace: it can't be gone on with
        """
        return None

    @classmethod
    def is_looked_up(cls) -> bool:
        """Tell whether an id is that of one object for all stacks."""
        if cls.looked_up is None:
            return cls.default_client_name is not None
        return cls.looked_up

    @classmethod
    def kind(cls) -> str:
        """What types that are the same kind of object have in common."""
        if cls.default_client_name and cls.entity:
            return f"{cls.default_client_name}.{cls.entity}"
        return f"{cls.__module__}.{cls.__name__}"

    def forget_beside(self) -> list[tuple[str, str]]:
        """Delete what was made beside an object that is let go.

        :returns: type and id of what is in use, and let go with it
        """
        return []

    def lacks_for_hand_back(self) -> list[str]:
        """What is missing to manage an object that was the user's.

        :returns: a sentence each; empty: nothing that can't be done without
        """
        known = {*self.data(), *(["metadata"] if self._metadata else [])}
        return [
            why for key, why in self.irrecoverable.items() if key not in known
        ]

    def live_fixed(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        """The live object's values of properties that can't be updated, as
        far as they can be compared."""
        return {}

    def check_is_substituted(self, new_res_type: Any) -> bool:
        """Tell whether another class may take this object over."""
        return self.support_status.is_substituted(new_res_type)

    def changed_beyond(self) -> str:
        """Tell what needs an update though the definition is as it was.

        :returns: a sentence for events and previews; "" for nothing
        """
        return ""

    def prepare_for_replace(self) -> None:
        """Free what the new object will need, such as an address."""

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Undo :meth:`prepare_for_replace` when rolling back."""

    @staticmethod
    def implicit_dependencies(
        name: str, definitions: Mapping[str, Any]
    ) -> Collection[str]:
        """Names of resources that must be there first, and that the
        template does not show.

        Found out from references and plain values of properties alone,
        before anything is made. One that would close a circle is dropped.

        :param name: of the resource in question
        :param definitions: all of the stack's, by name
        """
        return ()

    def add_dependencies(self, deps: Any) -> None:
        """Add dependencies that the template does not show."""
        self.add_explicit_dependencies(deps)

    def add_explicit_dependencies(self, deps: Any) -> None:
        """Add dependencies that the template does not show."""

    def get_live_state(self, resource_properties: Any) -> dict[str, Any]:
        """The live object's values of the updatable properties."""
        data = self.get_live_resource_data()
        if data is None:
            return {}
        return self.parse_live_resource_data(resource_properties, data)

    def says_gone(self, error: BaseException | None) -> bool:
        """Whether an error says that the object is not there."""
        if self.default_client_name is None:
            return isinstance(error, exception.NotFound)
        return bool(self.client_plugin().is_not_found(error))

    def get_live_resource_data(self) -> Any:
        """The live object.

        :raises heat.common.exception.EntityNotFound: when it is gone
        """
        try:
            return self._show_resource()
        except Exception as exc:
            if self.default_client_name and self.says_gone(exc):
                raise exception.EntityNotFound(
                    entity="Resource", name=self.name
                ) from exc
            raise

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Any
    ) -> dict[str, Any]:
        """Pick the updatable properties out of a live object."""
        return {
            key: resource_data[key]
            for key, schema in self.properties_schema.items()
            if key in resource_data and schema.update_allowed
        }

    def get_reference_id(self) -> str:
        """What ``get_resource`` gives."""
        return self.resource_id or self.name

    def _resolve_attribute(self, name: str) -> Any:
        """The value of an attribute of the plug-in's schema."""
        return None

    def _show_resource(self) -> Any:
        """The live object as a dictionary, None when there is none."""
        return crud.show(self)

    def handle_delete(self) -> Any:
        """Delete the object, when client and entity are declared."""
        return crud.delete(self)

    def handle_adopt(self, resource_data: Any = None) -> Any:
        """Take over an object that was abandoned elsewhere."""
        data = resource_data or {}
        self.resource_id_set(data.get("resource_id"))
        for key, value in (data.get("resource_data") or {}).items():
            self.data_set(key, value)
        if data.get("metadata"):
            self.metadata_set(data["metadata"])

    def updated_metadata(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """What the metadata are after an update that changes them.

        :param wanted: those of the template
        """
        return wanted

    def handle_metadata_reset(self) -> None:
        """Put the metadata back to what the template says."""

    def asks_services(self) -> bool:
        """Tell whether services are asked for it in its owner's name, as
        far as the definition says: then the stack keeps what that takes."""
        return self.default_client_name is not None

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, str | None]:
        """Tell whether the type's service is there, and why not."""
        name = cls.default_client_name
        if name is None:
            return True, None
        available: tuple[bool, str | None] = clients.availability(
            context, name
        )
        return available

    def prepare_abandon(self) -> dict[str, Any]:
        """What another Heat needs to adopt the object."""
        return {
            "name": self.name,
            "resource_id": self.resource_id,
            "type": self.type(),
            "action": self.action,
            "status": self.status,
            "metadata": self.metadata_get(),
            "resource_data": self.data(),
        }

    def preview(self) -> Any:
        """What a preview of the stack shows for this resource."""
        return self

    def cancel_grace_period(self) -> float | None:
        """Seconds to wait before a cancel interrupts, None for at once."""
        return None

    def has_nested(self) -> bool:
        """Tell whether the resource has a stack of its own."""
        return False

    def has_interface(self, resource_type: str) -> bool:
        """Tell whether it can stand in for ``resource_type``."""
        return self.type() == resource_type

    @classmethod
    def regenerate_info_schema(cls, definition: Any) -> None:
        """Adapt class schemas to a definition, for types that vary."""
