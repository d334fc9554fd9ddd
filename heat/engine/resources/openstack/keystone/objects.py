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

"""OS::Keystone::Domain, Project, Region, Role, Service and Endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.engine.resource import notation
from heat.engine.resources.openstack.keystone import keystone


class Domain(keystone.KeystoneResource):
    """Users, groups and projects that are administered together."""

    entity = "domain"
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        enabled boolean (update, =true) -- Whether its users can log in.
        name string (update) -- What it is called; made up when left out.
    """)

    def remove_object(self) -> None:
        # The service deletes no domain that is enabled.
        self.collection().update(self.resource_id, {"enabled": False})
        super().remove_object()


class Project(keystone.KeystoneResource):
    """What resources belong to."""

    entity = "project"
    properties_schema = notation.properties("""
        description string (update, ="") -- What it is for.
        domain string (update, ="default", is keystone.domain) -- Name or id
            -- of its domain.
        enabled boolean (update, =true) -- Whether it can be used.
        name string (update) -- What it is called; made up when left out.
        parent string (is keystone.project) -- Name or id of the project
            -- above it.
        tags list (update, =[]) -- Tags of the project.
    """)
    attributes_schema = notation.attributes("""
        domain_id string -- Its domain.
        enabled boolean -- Whether it can be used.
        is_domain boolean -- Whether it acts as a domain.
        name string -- What it is called.
        parent_id string -- The project, or domain, above it.
    """)
    body_keys = {"domain": "domain_id", "parent": "parent_id"}
    finds = {"domain": "keystone.domain", "parent": "keystone.project"}


class Region(keystone.KeystoneResource):
    """A part of the cloud with services of its own."""

    entity = "region"
    name_property = "id"
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        enabled boolean (update, =true) -- Whether it is used.
        id string -- Its id; made up when left out.
        parent_region string (update, is keystone.region) -- Id of the region
            -- that it is a part of.
    """)
    body_keys = {"parent_region": "parent_region_id"}


class Role(keystone.KeystoneResource):
    """What somebody may be in a project or domain."""

    entity = "role"
    properties_schema = notation.properties("""
        domain string (is keystone.domain) -- Name or id of the domain that
            -- it is for; all of them when left out.
        name string (update) -- What it is called; made up when left out.
    """)
    body_keys = {"domain": "domain_id"}
    finds = {"domain": "keystone.domain"}

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        """See the base. Roles of a domain are listed for that alone."""
        if self.properties["domain"]:
            filters["domain_id"] = self.properties["domain"]
        return super().listed(**filters)


class Service(keystone.KeystoneResource):
    """A service in the catalogue."""

    entity = "service"
    properties_schema = notation.properties("""
        description string (update) -- What it is for.
        enabled boolean (update, =true) -- Whether it is in catalogues.
        name string (update) -- What it is called; made up when left out.
        type string (required, update) -- Its type, such as compute.
    """)


class Endpoint(keystone.KeystoneResource):
    """An address of a service."""

    entity = "endpoint"
    properties_schema = notation.properties("""
        enabled boolean (update, =true) -- Whether it is in catalogues.
        interface string (required, update, in ["public", "internal",
            "admin"]) -- For whom it is.
        name string (update) -- What it is called; made up when left out.
        region string (update, is keystone.region) -- Id of its region.
        service string (required, update, is keystone.service) -- Name or id of
            -- the service.
        url string (required, update) -- The address.
    """)
    body_keys = {"region": "region_id", "service": "service_id"}
    finds = {"service": "keystone.service"}


def resource_mapping() -> Mapping[str, Any]:
    return {
        "OS::Keystone::Domain": Domain,
        "OS::Keystone::Endpoint": Endpoint,
        "OS::Keystone::Project": Project,
        "OS::Keystone::Region": Region,
        "OS::Keystone::Role": Role,
        "OS::Keystone::Service": Service,
    }
