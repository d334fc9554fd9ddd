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

"""StackResource: a resource that is a stack of its own.

The base class of every type whose object is a nested stack. A sub-class
says what the child's template and parameters are (``child_template``,
``child_params``); this class makes, changes and deletes the child through
the engine's port, and reads its outputs. It must not know how a stack is
run, and it never waits: between two checks nothing is held.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from heat.common import exception, identifier
from heat.common.i18n import _
from heat.engine import definition, function, resource
from heat.engine.resource import child, hooks
from heat.engine.resources import stack_handover
from heat.engine.template import base as template_base
from heat.engine.template import source

#: Seconds between two looks at a child that is busy. Its end wakes the
#: parent, so this is only for when that gets lost.
POLL_SECONDS = 5.0

#: The output that ``get_resource`` gives in place of the child's identity.
REFERENCE_OUTPUT = "OS::stack_id"

_DIGEST = "child_digest"
_REFERENCE = "reference_id"


class StackResource(stack_handover.Handover):
    """A resource whose object is a stack."""

    #: a child is repaired and changed in place, never made anew
    always_replace_on_check_failed = False
    #: making a child validates it, which may ask other services
    may_block = True
    #: a newer traversal takes the child over while it is still busy
    yields = True
    resumes_create = True
    irrecoverable = {"": _("a stack of its own can't become a nested one")}

    def __init__(self, name: str, json_snippet: Any, stack: Any) -> None:
        super().__init__(name, json_snippet, stack)
        self._outputs: Mapping[str, Mapping[str, Any]] | None = None
        self._begun = False

    # Sub-classes set the new properties while they update.
    @property
    def properties(self) -> Any:
        return super().properties

    @properties.setter
    def properties(self, made: Any) -> None:
        self._properties = (self.t, made)

    # -- what a sub-class says ---------------------------------------------

    @property
    def template_url(self) -> str | None:
        """Name of the file the child's template comes from, if any."""
        return None

    def child_template_files(self, child_env: Any) -> Mapping[str, str]:
        """The files that the child gets: all those of the parent."""
        return self.stack.definition.files

    def params_to_validate(self) -> dict[str, Any]:
        """Those values that are known before anything exists."""
        return self.child_params()

    # -- the child ---------------------------------------------------------

    def nested_identifier(self) -> identifier.HeatIdentifier | None:
        """The identity of the child, None before there is one."""
        if self.resource_id is None:
            return None
        return identifier.HeatIdentifier(
            self.stack.tenant_id, self._child_name(), self.resource_id
        )

    def nested(self) -> Any:
        """The child as a :class:`heat.engine.resource.StackView`, with what
        is known of its resources; None when it is not there."""
        if self.resource_id is None or self._port() is None:
            return None
        return self._port().view(self.stack, self.resource_id)

    def child_definition(
        self,
        child_template: Any = None,
        user_params: Mapping[str, Any] | None = None,
        nested_identifier: identifier.HeatIdentifier | None = None,
    ) -> definition.StackDefinition:
        """The child as it would be, parsed.

        :raises StackValidationFailed: and others of class 400
        """
        wanted = self._wanted(child_template, user_params)
        identity = nested_identifier or identifier.HeatIdentifier(
            self.stack.tenant_id, wanted.name, self.resource_id
        )
        env = self.stack.env.child(self.name, wanted.environment["parameters"])
        return definition.StackDefinition(
            identity,
            template_base.load(wanted.template, wanted.files),
            env,
            strict_validate=self.stack.strict_validate,
            facade=wanted.facade,
        )

    def get_nested_parameters_stack(self) -> definition.StackDefinition:
        """The child as it would be, for reading its parameters."""
        return self.child_definition()

    def _child_name(self) -> str:
        made = self.physical_resource_name()
        return made or f"{self.stack.name}-{self.name}"

    def _wanted(
        self,
        child_template: Any,
        user_params: Mapping[str, Any] | None,
        timeout_mins: int | None = None,
    ) -> child.Wanted:
        if child_template is None:
            child_template = self.child_template()
        if user_params is None:
            user_params = self.child_params()
        env = self.stack.env.child(self.name, user_params)
        if timeout_mins is None:
            timeout_mins = self.stack.values.timeout_mins
        return child.Wanted(
            name=self._child_name(),
            resource_name=self.name,
            resource_uuid=self.uuid,
            template=_body(child_template),
            template_name=self.template_url,
            environment=env.as_dict(),
            files=self.child_template_files(env),
            facade=self._facade(),
            timeout_mins=timeout_mins,
            holds=self.keeps_replaced(),
        )

    def _facade(self) -> dict[str, Any]:
        defn = self.target
        return {
            "metadata": defn.metadata(),
            "deletion_policy": defn.deletion_policy(),
            "update_policy": _plain(defn, "update_policy"),
        }

    # -- create, update ----------------------------------------------------

    def create_with_template(
        self,
        child_template: Any,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
        adopt_data: Any = None,
    ) -> None:
        port, child_id = self._children(), self._id_to_make()
        wanted = self._wanted(child_template, user_params, timeout_mins)
        self._began(port.create(self.stack, child_id, wanted, adopt_data))
        self._is_made(child_id)

    def _id_to_make(self) -> str:
        if self.child_id is None:
            raise exception.Error(_("The resource has no row yet"))
        return self.child_id

    def _is_made(self, child_id: str) -> None:
        self.resource_id_set(child_id)
        self.data_set(_DIGEST, self._digest())
        for key in child.packed(self.data()):
            self.data_delete(key)

    def update_with_template(
        self,
        child_template: Any,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
    ) -> None:
        """Begin to update the child.

        One that was never made is made now.

        :raises UpdateReplace: somebody has deleted the child
        """
        port, child_id = self._children(), self._id_to_make()
        wanted = self._wanted(child_template, user_params, timeout_mins)
        adopts = self._to_adopt()
        unmade = self.resource_id is None or adopts is not None
        self._outputs = None
        try:
            self._began(
                (unmade and port.create(self.stack, child_id, wanted, adopts))
                or port.update(self.stack, child_id, wanted)
            )
        except exception.EntityNotFound as exc:
            raise resource.UpdateReplace(self.name) from exc
        self._is_made(child_id)

    def _began(self, begun: bool) -> None:
        """What began in the child was recorded in our row, too."""
        self._begun = begun
        self.recorded += begun

    @property
    def is_recorded(self) -> bool:
        # A crash forgets the digest: then the child is looked at.
        return self.recorded > 0 and self.data().keys() <= {_DIGEST}

    def _digest(self) -> str:
        """Stands for all that makes the child, but the properties."""
        defn = self.target
        env = self.stack.env.child(self.name).as_dict()
        env["parameter_defaults"] = self.stack.env.defaults_digest
        parts = [
            self._template_digest(),
            self.stack.t.files_digest,
            env,
            defn.deletion_policy(),
            _plain(defn, "update_policy"),
        ]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def _template_digest(self) -> str:
        """Stands for the template, where it does not follow from the
        properties."""
        return ""

    def changed_beyond(self) -> str:
        if self.data().get(_DIGEST) != self._digest():
            return _("what makes the nested stack changed")
        if self._has_hooks():
            return _("resources of its stack may wait for a hook")
        return _("its stack is looked into") if self.stack.observes else ""

    def _has_hooks(self) -> bool:
        """Whether resources below wait in an update that changes nothing."""
        if self.stack.action != self.UPDATE:
            return False
        below = self.stack.env.child(self.name).registry
        return bool(below.stops_at(hooks.HOOK_PRE_UPDATE))

    def _needs_update(
        self,
        after: Any,
        before: Any,
        after_props: Any,
        before_props: Any,
        prev_resource: Any,
        check_init_complete: bool = True,
    ) -> bool:
        """Tell whether the child has to be looked at in an update."""
        return (
            self.status == self.FAILED
            or after != before
            or bool(self.changed_beyond())
        )

    def needs_replace_failed(self) -> bool:
        """The child is repaired, whatever has failed."""
        return False

    def resume_create(self, found: bool) -> None:
        """A child that has failed meanwhile is repaired, as by an update."""
        state = self._children().state(self.child_id)
        if state is not None and state.status == self.FAILED:
            self.update_with_template(
                self.child_template(), self.child_params()
            )
        self.data_set(_DIGEST, self._digest())

    def check_create_complete(self, cookie: Any = None) -> bool:
        return self._ended(made=True)

    check_update_complete = check_adopt_complete = check_create_complete

    def handle_clean_up(self) -> None:
        """Have the child delete what it has kept of its update."""
        if child_id := self.resource_id:
            begun = self._children().clean_up(self.stack, child_id, self.uuid)
            self._began(begun)

    def check_clean_up_complete(self, cookie: Any = None) -> bool:
        return self.resource_id is None or self._ended()

    def handle_create_cancel(self, cookie: Any) -> None:
        self._cancel()

    handle_update_cancel = handle_clean_up_cancel = handle_create_cancel

    def handle_preempt(self) -> None:
        """A newer traversal wants the resource: let the child stop."""
        self._cancel()

    def _cancel(self) -> None:
        if self.resource_id is not None:
            self._children().cancel(self.stack, self.resource_id, self.uuid)

    def _ended(self, *, made: bool = False) -> bool:
        """Whether the child has come to rest.

        :param made: its outputs may be new
        :raises Error: it failed, with its reason; or it is gone
        """
        self._leave_it_time()
        state = self._children().state(self.child_id)
        if state is None:
            raise exception.Error(_("The nested stack is gone"))
        if state.status == self.IN_PROGRESS:
            raise resource.PollDelay(POLL_SECONDS)
        if state.status == self.FAILED:
            raise state.failure()
        if made:
            self._keep_reference()
        return True

    def _leave_it_time(self) -> None:
        """What has just begun is not looked at: its end will wake us."""
        if self._begun:
            self._begun = False
            raise resource.PollDelay(POLL_SECONDS)

    # -- the other actions -------------------------------------------------

    def delete_nested(self) -> None:
        """Begin to delete the child, if there is one."""
        if self.child_id is not None:
            self._begun = self._children().delete(self.stack, self.child_id)

    def handle_delete(self) -> None:
        self.delete_nested()

    def check_delete_complete(self, cookie: Any = None) -> bool:
        if self.child_id is None:
            return True
        self._leave_it_time()
        state = self._children().state(self.child_id)
        if state is None:
            return True
        if (state.action, state.status) == (self.DELETE, self.FAILED):
            raise state.failure()
        raise resource.PollDelay(POLL_SECONDS)

    def _act(self, action: str) -> None:
        if (child_id := self.resource_id) is None:
            raise exception.Error(_("There is no nested stack"))
        if not self._children().act(self.stack, child_id, action, self.uuid):
            # What is left of that the walk doesn't mend, nor would it tell.
            self.data_delete(_DIGEST)

    def handle_suspend(self) -> None:
        self._act(self.SUSPEND)

    def handle_resume(self) -> None:
        self._act(self.RESUME)

    def check_suspend_complete(self, cookie: Any = None) -> bool:
        return self._ended()

    check_resume_complete = check_suspend_complete

    def handle_check(self) -> None:
        if self.external:
            self._children().look(self.stack, str(self.resource_id))
        else:
            self._act(self.CHECK)

    def check_check_complete(self, cookie: Any = None) -> bool:
        return self.external or self._ended()

    # LOCK and UNLOCK reach the child together with the stack that it is in.

    def handle_lock(self, level: str, reason: str | None) -> None:
        """The child has begun its part already."""

    def handle_unlock(self) -> None:
        """The child has begun its part already."""

    def check_lock_complete(self, cookie: Any = None) -> bool:
        return self.resource_id is None or self._ended()

    check_unlock_complete = check_lock_complete

    # -- outputs -----------------------------------------------------------

    def get_output(self, op: str) -> Any:
        """The value of one of the child's outputs.

        :raises NotFound: the child has no such output
        :raises TemplateOutputError: it has, and it can't be resolved
        """
        if self._outputs is None:
            if self.resource_id is None:
                raise exception.NotFound(_("There is no nested stack"))
            self._outputs = self._children().outputs(
                self.stack, self.resource_id
            )
        return child.output_value(self.name, self._outputs, op)

    def _resolve_attribute(self, name: str) -> Any:
        return None if self.resource_id is None else self.get_output(name)

    def _keep_reference(self) -> None:
        """Remember what ``get_resource`` gives: it is asked for when no
        child may be looked at."""
        self._outputs = None
        if REFERENCE_OUTPUT not in self.attributes_schema:
            if _REFERENCE in self.data():
                self.data_delete(_REFERENCE)
            return
        if (value := self.get_output(REFERENCE_OUTPUT)) is not None:
            self.data_set(_REFERENCE, str(value))

    def get_reference_id(self) -> str:
        """The child's own word for it (``OS::stack_id``), else its ARN."""
        kept = self.data().get(_REFERENCE)
        if self.external or kept is not None:
            return (self.resource_id if self.external else kept) or ""
        identity = self.nested_identifier()
        return self.name if identity is None else identity.arn()

    # -- checks ------------------------------------------------------------

    def validate(self) -> None:
        super().validate()
        if len(self.type()) > 255:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "type"],
                message=_("The name is longer than 255 characters"),
            )
        self.validate_nested_stack()

    def validate_nested_stack(self) -> None:
        """Check the child and what is below it.

        :raises StackValidationFailed: the path leads into the child
        """
        inside = self.template_url or "nested_stack"
        place = ["resources", f"{self.name}<{inside}>"]
        try:
            wanted = self._to_validate()
            if self._port() is None:
                template_base.load(wanted.template, wanted.files)
                return
            self._port().validate(self.stack, wanted)
        except (exception.StackResourceLimitExceeded, exception.Forbidden):
            raise
        except exception.StackValidationFailed as exc:
            raise exception.StackValidationFailed(
                exc.error, [*place, *exc.path], exc.error_message
            ) from exc
        except (exception.HeatException, ValueError) as exc:
            raise exception.StackValidationFailed(
                path=place, message=exc
            ) from exc

    def _to_validate(self) -> child.Wanted:
        return self._wanted(None, self.params_to_validate())

    def translate_remote_exceptions(self, ex: Exception) -> NoReturn:
        """Raise an error of the child's as one of this resource."""
        raise exception.ResourceFailure(ex, self, self.action)


def _plain(defn: Any, key: str) -> dict[str, Any]:
    return dict(function.resolve(defn.section(key)) or {})


def _body(template: Any) -> Mapping[str, Any]:
    if isinstance(template, str):
        return source.parse(template, _("The nested template"))
    if isinstance(template, Mapping):
        return template
    body: Mapping[str, Any] = template.raw
    return body
