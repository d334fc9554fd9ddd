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

"""AWS::IAM::User and AccessKey: users of a stack, and their keys."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.db import resource_data
from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import stack_user

ACCESS_POLICY = "OS::Heat::AccessPolicy"


class User(stack_user.StackUser):
    """A user for what goes on inside of servers.

    It may read metadata of the stack, and signal; policies narrow that.
    """

    # The user is the object itself.
    beside = ()

    properties_schema = notation.properties("""
        Path string -- Not used.
        Groups list -- Not used.
        LoginProfile map{
            Password string -- The password.
        } -- With which the user logs in.
        Policies list -- Names of resources of type OS::Heat::AccessPolicy.
    """)

    def validate(self) -> None:
        super().validate()
        defined = self.stack.definition.resource_definitions
        for name in self._policies():
            defn = defined.get(name)
            if defn is None or defn.resource_type != ACCESS_POLICY:
                raise exception.StackValidationFailed(
                    path=["resources", self.name, "properties", "Policies"],
                    message=_("%(name)s is no %(type)s of this stack.")
                    % {"name": name, "type": ACCESS_POLICY},
                )

    def _policies(self) -> list[str]:
        """The policies of ours; documents of AWS mean nothing here."""
        given = self.properties["Policies"] or []
        return [each for each in given if isinstance(each, str)]

    def handle_create(self) -> None:
        profile = self.properties["LoginProfile"] or {}
        if profile.get("Password"):
            self.password = profile["Password"]
        self.resource_id_set(self.create_user())

    def handle_delete(self) -> None:
        """Delete the user."""
        self.delete_user()

    def get_reference_id(self) -> str:
        """The name of the user, which an access key refers to."""
        return self.name if self.resource_id is None else self.user_name()

    def access_allowed(self, resource_name: str) -> bool:
        """Whether every policy of the user allows a resource."""
        defined = self.stack.definition.resource_definitions
        for name in self._policies():
            defn = defined.get(name)
            if defn is None or defn.resource_type != ACCESS_POLICY:
                return False
            # A list of names; the plug-in of it is not imported for that.
            props = defn.properties(_POLICY_SCHEMA, self.context)
            if resource_name not in (props["AllowedResources"] or ()):
                return False
        return True


_POLICY_SCHEMA = notation.properties("""
    AllowedResources list (required) -- Names of resources.
""")


class AccessKey(stack_user.StackUser):
    """Keys with which a user of the stack signs its requests."""

    properties_schema = notation.properties("""
        UserName string (required) -- What get_resource gives for the user.
    """)
    attributes_schema = notation.attributes("""
        UserName string -- The name of the user.
        SecretAccessKey string -- The secret half of the keys.
    """)

    def _user(self) -> tuple[str, dict[str, str]]:
        """Name and data of the user that is meant.

        :raises heat.common.exception.NotFound: it is none of this stack
        """
        wanted = self.properties["UserName"]
        for name, defn in self.stack.definition.resource_definitions.items():
            node = self.stack.definition.node(name)
            if defn.resource_type != "AWS::IAM::User" or node is None:
                continue
            if wanted in (node.reference_id, name):
                found = self.stack.db.read(
                    lambda conn, row_id=node.row_id: resource_data.get_many(
                        conn, [row_id]
                    ).get(row_id, {})
                )
                return name, found
        raise exception.NotFound(
            _("There is no user %s in this stack") % wanted
        )

    def handle_create(self) -> None:
        _name, data = self._user()
        made = self.keystone().create_stack_domain_user_keypair(
            data[self.USER_ID], self.stack_user_project_id() or ""
        )
        self.resource_id_set(made.access)
        self.data_set(self.CREDENTIAL_ID, made.id, redact=True)
        self.data_set(self.SECRET_KEY, made.secret, redact=True)

    def handle_delete(self) -> None:
        """Take the keys away."""
        credential_id = self.data().get(self.CREDENTIAL_ID)
        if credential_id and self.has_stack_domain():
            self.keystone().delete_stack_domain_user_keypair(credential_id)

    def _resolve_attribute(self, name: str) -> Any:
        if name == "UserName":
            return self.properties["UserName"]
        if name == "SecretAccessKey":
            return self.data().get(self.SECRET_KEY)
        return None


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::IAM::User": User, "AWS::IAM::AccessKey": AccessKey}
