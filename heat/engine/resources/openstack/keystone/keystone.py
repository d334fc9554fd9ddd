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

"""What the types of the identity service have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors
from heat.engine.resource import rest

#: Schema of the property that lists roles, the same for all who have some.
ROLES = """
    roles list{* map{
        domain string (is keystone.domain) -- Name or id of the domain that
            -- it is given in.
        project string (is keystone.project) -- Name or id of the project
            -- that it is given in.
        role string (required, is keystone.role) -- Name or id of the role.
    }} (update) -- Roles, each in a project or in a domain.
"""
FIND_ROLES = {
    "roles.domain": "keystone.domain",
    "roles.project": "keystone.project",
    "roles.role": "keystone.role",
}


class KeystoneResource(rest.RestResource):
    """An object of the identity service."""

    default_client_name = "keystone"
    mark_key: ClassVar[str | None] = "description"


class RoleHolder(KeystoneResource):
    """Somebody who has roles: a user or a group."""

    #: ``users`` or ``groups``
    holders: str = "users"

    def validate(self) -> None:
        super().validate()
        for index, each in enumerate(self.properties["roles"] or ()):
            if each is None:
                continue
            given = [key for key in ("project", "domain") if each[key]]
            if len(given) != 1:
                raise exception.StackValidationFailed(
                    path=["properties", "roles", str(index)],
                    message=_(
                        "A role is given in a project or in a domain: name "
                        "one of the two."
                    ),
                )

    def _path(self, holder: str, each: Mapping[str, Any]) -> str:
        scope = each["project"] or each["domain"]
        return f"/{scope}/{self.holders}/{holder}/roles/{each['role']}"

    def grant(self, holder: str, roles: Iterable[Mapping[str, Any]]) -> None:
        """Give roles."""
        for each in roles:
            self._scope(each).request("PUT", self._path(holder, each))

    def revoke(self, holder: str, roles: Iterable[Mapping[str, Any]]) -> None:
        """Take roles away; those that aren't there any more are no error."""
        for each in roles:
            try:
                self._scope(each).request("DELETE", self._path(holder, each))
            except errors.NotFound:
                continue

    def _scope(self, each: Mapping[str, Any]) -> Any:
        return self.collection("project" if each["project"] else "domain")

    def regrant(self, holder: str, old: Any, new: Any) -> None:
        """Bring the roles from one list to another."""
        before = [dict(each) for each in old or ()]
        after = [dict(each) for each in new or ()]
        self.grant(holder, [each for each in after if each not in before])
        self.revoke(holder, [each for each in before if each not in after])


class Assignment(RoleHolder):
    """Roles of somebody who is there already."""

    #: property that names them
    holder_property: str = ""
    name_property = None
    mark_key = None
    not_sent = frozenset({"roles"})

    def handle_create(self) -> Any:
        holder = self.properties[self.holder_property]
        self.resource_id_set(holder)
        self.grant(holder, self.properties["roles"] or ())
        return None

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if not prop_diff:
            return None
        after = self.properties_of(json_snippet)
        holder = after[self.holder_property]
        if self.holder_property in prop_diff:
            self.delete_object()
            self.resource_id_set(holder)
            self.grant(holder, after["roles"] or ())
        else:
            self.regrant(holder, self.properties["roles"], after["roles"])
        return None

    def delete_object(self) -> bool:
        self.revoke(str(self.resource_id), self.properties["roles"] or ())
        return True
