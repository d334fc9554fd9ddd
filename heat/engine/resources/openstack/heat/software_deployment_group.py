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

"""Groups of deployments: one config on many servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common.i18n import _
from heat.engine import attributes, function, properties, resource, support
from heat.engine.resources import group, software_deployment
from heat.engine.resources.openstack.heat import structured_deployment
from heat.scaling import rolling_update, template

SERVERS = "servers"

#: attribute of the group -> attribute of each deployment
_GATHERED = {
    "deploy_stdouts": software_deployment.STDOUT,
    "deploy_stderrs": software_deployment.STDERR,
    "deploy_status_codes": software_deployment.STATUS_CODE,
}


def _schema(of_one: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a deployment, with many servers for the one."""
    schema = dict(of_one)
    del schema[software_deployment.SERVER]
    schema[SERVERS] = properties.Schema(
        properties.Schema.MAP,
        _("The ids of the servers, by names of your choice."),
        required=True,
        update_allowed=True,
    )
    return schema


class SoftwareDeploymentGroup(group.GroupResource):
    """A software config, deployed on a group of servers.

    A server that is added gets its deployment, one that is removed loses
    it; the others do not notice.
    """

    support_status = support.SupportStatus(version="5.0.0")
    properties_schema = _schema(software_deployment.schema())
    attributes_schema = {
        "deploy_stdouts": attributes.Schema(
            _("What the config has printed, by server."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.MAP,
        ),
        "deploy_stderrs": attributes.Schema(
            _("What the config has printed as errors, by server."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.MAP,
        ),
        "deploy_status_codes": attributes.Schema(
            _("The codes with which the config has ended, by server."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.MAP,
        ),
    }
    update_policy_schema = group.UPDATE_POLICIES

    #: type of the members
    member_type: ClassVar[str] = "OS::Heat::SoftwareDeployment"

    def members(self) -> dict[str, Any]:
        servers = self.properties[SERVERS] or {}
        return self._deployments(servers, self._given())

    def _given(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.properties.given().items()
            if name != SERVERS
        }

    def samples(self) -> dict[str, Any]:
        wish = self.t.section("properties")
        if not isinstance(wish, Mapping):
            wish = function.resolve(wish) or {}
        given = group.unknowns(
            {name: value for name, value in wish.items() if name != SERVERS}
        )
        return self._deployments({"0": "a server"}, given)

    def size(self) -> int:
        return len(self.properties[SERVERS] or {})

    def _deployments(
        self, servers: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            str(name): {
                "type": self.member_type,
                "properties": {**given, software_deployment.SERVER: server},
            }
            for name, server in servers.items()
        }

    def pace(self, changing: bool) -> rolling_update.Pace:
        return self.pace_of_policies(changing)

    # -- attributes --------------------------------------------------------

    def _of_member(self, key: Any) -> template.Asked:
        if key[0] in _GATHERED:
            return template.Asked("", (_GATHERED[key[0]],))
        return super()._of_member(key)

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        if key not in _GATHERED or self.resource_id is None:
            return super().FnGetAtt(key, *path)
        found = self._of_members(self._of_member((key,)))
        return attributes.select_from_attribute(found, path)


class SoftwareDeployments(SoftwareDeploymentGroup):
    """The old name of OS::Heat::SoftwareDeploymentGroup."""

    support_status = support.SupportStatus(
        status=support.HIDDEN,
        version="7.0.0",
        message=_("Use OS::Heat::SoftwareDeploymentGroup instead."),
        previous_status=support.SupportStatus(
            status=support.DEPRECATED, version="2014.1"
        ),
    )


class StructuredDeploymentGroup(SoftwareDeploymentGroup):
    """A structured config, deployed on a group of servers."""

    properties_schema = _schema(
        structured_deployment.StructuredDeployment.properties_schema
    )
    member_type = "OS::Heat::StructuredDeployment"


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {
        "OS::Heat::SoftwareDeploymentGroup": SoftwareDeploymentGroup,
        "OS::Heat::SoftwareDeployments": SoftwareDeployments,
        "OS::Heat::StructuredDeploymentGroup": StructuredDeploymentGroup,
    }
