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

"""OS::Keystone::User and Group, and the assignments of their roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.openstack.keystone import keystone


class _WithRoles(keystone.RoleHolder):
    finishes_again = True

    def finish_create(self, properties: Any) -> None:
        self.grant(str(self.resource_id), properties["roles"] or ())

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "roles" in changed:
            self.regrant(
                str(self.resource_id),
                self.properties["roles"],
                properties["roles"],
            )


class User(_WithRoles):
    """Somebody who can log in."""

    entity = "user"
    properties_schema = notation.properties(
        """
        default_project string (update, is keystone.project) -- Name or id of
            -- the project that a login without one is for.
        description string (update, ="") -- Who that is.
        domain string (update, ="default", is keystone.domain) -- Name or id
            -- of the domain.
        email string (update) -- Address for mail.
        enabled boolean (update, =true) -- Whether the user can log in.
        groups list{* string (is keystone.group)} (update) -- Names or ids of
            -- groups that the user is in.
        name string (update) -- What the user is called; made up when left
            -- out.
        password string (update) -- Password; without one nobody can log in
            -- with any.
        """
        + keystone.ROLES
    )
    attributes_schema = notation.attributes("""
        default_project_id string -- Project of a login without one.
        domain_id string -- The domain.
        enabled boolean -- Whether the user can log in.
        name string -- What the user is called.
        password_expires_at string -- When the password has to be changed.
    """)
    body_keys = {
        "default_project": "default_project_id",
        "domain": "domain_id",
    }
    not_sent = frozenset({"groups", "roles"})
    finds = {
        "default_project": "keystone.project",
        "domain": "keystone.domain",
        "groups": "keystone.group",
        **keystone.FIND_ROLES,
    }
    # A password can't be read back, nor taken away.
    cleared = {"password": None}

    def finish_create(self, properties: Any) -> None:
        super().finish_create(properties)
        self._join(set(), set(properties["groups"] or ()))

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        super().finish_update(changed, properties)
        if "groups" in changed:
            self._join(
                set(self.properties["groups"] or ()),
                set(properties["groups"] or ()),
            )

    def _join(self, now: set[str], wanted: set[str]) -> None:
        groups, user = self.collection("group"), self.resource_id
        for group in sorted(wanted - now):
            groups.request("PUT", f"/{group}/users/{user}")
        for group in sorted(now - wanted):
            try:
                groups.request("DELETE", f"/{group}/users/{user}")
            except errors.NotFound:
                continue


class Group(_WithRoles):
    """Users who have roles together."""

    entity = "group"
    holders = "groups"
    properties_schema = notation.properties(
        """
        description string (update, ="") -- Who that is.
        domain string (update, ="default", is keystone.domain) -- Name or id
            -- of its domain.
        name string (update) -- What it is called; made up when left out.
        """
        + keystone.ROLES
    )
    body_keys = {"domain": "domain_id"}
    not_sent = frozenset({"roles"})
    finds = {"domain": "keystone.domain", **keystone.FIND_ROLES}


class UserRoleAssignment(keystone.Assignment):
    """Roles of a user who is there already."""

    entity = "user"
    holder_property = "user"
    properties_schema = notation.properties(
        keystone.ROLES
        + """
        user string (required, update, is keystone.user) -- Name or id of the
            -- user.
        """
    )
    finds = {"user": "keystone.user", **keystone.FIND_ROLES}


class GroupRoleAssignment(keystone.Assignment):
    """Roles of a group that is there already."""

    entity = "group"
    holders = "groups"
    holder_property = "group"
    properties_schema = notation.properties(
        keystone.ROLES
        + """
        group string (required, update, is keystone.group) -- Name or id of
            -- the group.
        """
    )
    finds = {"group": "keystone.group", **keystone.FIND_ROLES}


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Keystone::Group": Group,
        "OS::Keystone::GroupRoleAssignment": GroupRoleAssignment,
        "OS::Keystone::User": User,
        "OS::Keystone::UserRoleAssignment": UserRoleAssignment,
    }
