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

"""OS::Heat::Stack: a stack made by an orchestration service elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import parameters
from heat.engine.clients import errors
from heat.engine.resource import notation, outcomes, rest

#: keys of the property ``context``
_CONTEXT = "context"
_REGION = "region_name"


class RemoteStack(rest.RestResource):
    """A stack of its own, in another region or another cloud.

    It is made through the API of the service there, in the name of the user
    of this stack or with a stored credential.
    """

    default_client_name = "heat"
    entity = "stacks"
    properties_schema = notation.properties("""
        context map{
            ca_cert string (update) -- File with the certificates that the
                -- service's own is checked with.
            credential_secret_id string (update) -- Id or reference of a
                -- secret of the key manager that says how to log in to
                -- another cloud.
            insecure boolean (update, =false) -- The service's certificate is
                -- not checked.
            region_name string -- Region that the stack is made in; this one
                -- when left out.
        } (update) -- Where the stack is made.
        parameters map (update, ={}) -- Parameters of its template.
        template string (required, update) -- Its template; see get_file.
        timeout integer (update) -- Minutes that its creation or update may
            -- take.
    """)
    attributes_schema = notation.attributes("""
        outputs map -- Values of its outputs, by name.
        stack_name string -- What it is called.
    """)
    # The name is always made up; its key in bodies is not "name".
    name_property = None
    status_key = "stack_status"
    deleted_at_once = False

    # -- where ---------------------------------------------------------------

    def collection(self, entity: str | None = None) -> Any:
        return self._stacks(self.properties)

    def _stacks(self, properties: Any) -> Any:
        return self.client_plugin().stacks(self._adapter(properties))

    def _adapter(self, properties: Any) -> Any:
        where = properties[_CONTEXT] or {}
        return self.client_plugin().elsewhere(
            where.get(_REGION),
            where.get("credential_secret_id"),
            where.get("ca_cert"),
            bool(where.get("insecure")),
        )

    def validate(self) -> None:
        """See the base; the service there checks the template as well."""
        super().validate()
        if not self.is_service_available(self.context)[0]:
            return
        body = self._body(self.properties)
        body.pop("timeout_mins", None)
        try:
            self.client_plugin().validate(self._adapter(self.properties), body)
        except errors.ServiceError as exc:
            raise self._not_valid_there(exc) from exc

    def _not_valid_there(
        self, exc: errors.ServiceError
    ) -> exception.StackValidationFailed:
        """The error in words that users of such resources know."""
        why = errors.words(exc)
        if exc.status_code is None:
            told = _(
                "Cannot establish connection to Heat endpoint at region "
                '"%(region)s" due to "%(why)s"'
            )
        else:
            told = _(
                "Failed validating stack template using Heat endpoint at "
                'region "%(region)s" due to "%(why)s"'
            )
            why = f"ERROR: {why}"
        where = (self.properties[_CONTEXT] or {}).get(_REGION)
        region = where or self.client_plugin().region_name()
        failed = exception.StackValidationFailed(
            message=told % {"region": region, "why": why}
        )
        failed.says_where = True
        return failed

    # -- what is sent --------------------------------------------------------

    def _body(self, properties: Any) -> dict[str, Any]:
        body = {
            "template": properties["template"],
            "parameters": properties["parameters"] or {},
            "files": dict(self.stack.definition.files),
        }
        if properties["timeout"]:
            body["timeout_mins"] = properties["timeout"]
        return body

    def create_body(self, properties: Any) -> dict[str, Any]:
        return {
            "stack_name": self.physical_resource_name(),
            "disable_rollback": True,
            **self._body(properties),
        }

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        """A stack can't move to another region."""
        if _CONTEXT not in changed_properties_set:
            return False
        before, after = before_props[_CONTEXT], after_props[_CONTEXT]
        return bool((before or {}).get(_REGION) != (after or {}).get(_REGION))

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if not prop_diff:
            return None
        after = self.properties_of(json_snippet)
        # How to get there may have changed, too.
        stacks = self._stacks(after)
        stacks.update(self.resource_id, self._body(after))
        return {"action": self.UPDATE, "stacks": stacks}

    def find_made(self) -> str | None:
        name = self.physical_resource_name()
        for each in self.collection().list(stack_name=name):
            if each.get("stack_name") == name:
                return str(each["id"])
        return None

    # -- how it goes ---------------------------------------------------------

    def fault(self, shown: Mapping[str, Any]) -> str:
        return str(shown.get("stack_status_reason") or super().fault(shown))

    def judge(self, shown: Mapping[str, Any]) -> str:
        status = str(shown.get(self.status_key or "") or "").upper()
        if status.endswith("_FAILED"):
            raise exception.ResourceInError(
                resource_status=status, status_reason=self.fault(shown)
            )
        return status

    def _reached(self, action: str, stacks: Any = None) -> bool:
        """Whether the stack has done what it was asked for.

        :raises heat.common.exception.ResourceInError: it failed
        :raises PollDelay: it goes on
        """
        shown = (stacks or self.collection()).get(self.resource_id)
        status = self.judge(shown)
        # Right after the call its last action may be shown still.
        if status != f"{action}_COMPLETE":
            raise outcomes.PollDelay(rest.POLL_SECONDS)
        return True

    def check_create_complete(self, token: Any) -> bool:
        return self._reached(self.CREATE)

    def check_update_complete(self, token: Any) -> bool:
        return not token or self._reached(token["action"], token["stacks"])

    def _ask(self, action: str) -> str:
        self.collection().request(
            "POST",
            f"/{self.resource_id}/actions",
            json={action.lower(): None},
        )
        return action

    def handle_suspend(self) -> Any:
        return self._ask(self.SUSPEND)

    def check_suspend_complete(self, token: Any) -> bool:
        return self._reached(token)

    def handle_resume(self) -> Any:
        return self._ask(self.RESUME)

    def check_resume_complete(self, token: Any) -> bool:
        return self._reached(token)

    def handle_check(self) -> Any:
        """Have the stack there check its own resources."""
        try:
            return self._ask(self.CHECK)
        except errors.NotFound as exc:
            raise exception.EntityNotFound(
                entity="Stack", name=self.resource_id
            ) from exc

    def check_check_complete(self, token: Any) -> bool:
        return self._reached(token)

    def is_gone(self) -> bool:
        try:
            shown = self.shown()
        except Exception as exc:
            self.client_plugin().ignore_not_found(exc)
            return True
        status = str(shown.get("stack_status"))
        if status == "DELETE_FAILED":
            self.judge(shown)
        if status == "DELETE_COMPLETE":
            return True
        raise outcomes.PollDelay(rest.POLL_SECONDS)

    # -- look ----------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        return (self._show_resource() or {}).get(name)

    def _show_resource(self) -> dict[str, Any] | None:
        """The stack, with its outputs by name, as the attribute tells them."""
        shown = super()._show_resource()
        if shown is None:
            return None
        outputs = {
            each["output_key"]: each.get("output_value")
            for each in shown.get("outputs") or ()
        }
        return {**shown, "outputs": outputs}

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The parameters that were given; its template is not shown."""
        given = resource_properties["parameters"] or {}
        live = resource_data.get("parameters") or {}
        return {
            "parameters": {
                # What is hidden there can't be compared.
                key: value
                if live.get(key) == parameters.MASK
                else live.get(key)
                for key, value in given.items()
            }
        }


def resource_mapping() -> dict[str, Any]:
    return {"OS::Heat::Stack": RemoteStack}
