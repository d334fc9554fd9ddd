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

"""What a new cloud holds: users, flavors, networks and so on, as tables."""

from __future__ import annotations

from typing import Any

import openstack

from heat_integrationtests.openstack.settings import (
    DOMAIN,
    REGION,
    Settings,
)

ROLES = ("heat_stack_owner", "heat_stack_user", "service")
PROJECTS = ("service", "demo", "other")
#: The domain of users that are made for servers and signals.
STACK_DOMAIN = "heat"

_SERVICE_ROLES = ("admin", "service")
_OWNER_ROLES = ("member", "reader", "heat_stack_owner")
#: user, project, roles; all in the default domain
USERS = (
    ("aodh", "service", _SERVICE_ROLES),
    ("barbican", "service", _SERVICE_ROLES),
    ("glance", "service", _SERVICE_ROLES),
    ("gnocchi", "service", _SERVICE_ROLES),
    ("octavia", "service", _SERVICE_ROLES),
    ("placement", "service", _SERVICE_ROLES),
    ("nova", "service", _SERVICE_ROLES),
    ("neutron", "service", _SERVICE_ROLES),
    ("cinder", "service", _SERVICE_ROLES),
    ("swift", "service", _SERVICE_ROLES),
    ("zaqar", "service", _SERVICE_ROLES),
    ("heat", "service", _SERVICE_ROLES),
    ("demo", "demo", _OWNER_ROLES),
    ("other", "other", _OWNER_ROLES),
)
#: user -> project, for those whom ``env`` knows
LOGINS = {"admin": "admin", "demo": "demo", "other": "other"}
LOGINS["heat"] = "service"

#: type, name, listener, path
CATALOGUE = (
    ("alarming", "aodh", "aodh", ""),
    ("key-manager", "barbican", "barbican", ""),
    ("image", "glance", "glance", ""),
    ("metric", "gnocchi", "gnocchi", ""),
    ("load-balancer", "octavia", "octavia", ""),
    ("placement", "placement", "placement", ""),
    ("compute", "nova", "nova", "/v2.1"),
    ("network", "neutron", "neutron", ""),
    ("block-storage", "cinder", "cinder", "/v3/%(project_id)s"),
    # The name that clients of some years ago ask for.
    ("volumev3", "cinderv3", "cinder", "/v3/%(project_id)s"),
    ("object-store", "swift", "swift", "/v1/AUTH_%(project_id)s"),
    ("messaging", "zaqar", "zaqar", ""),
)

FLAVORS = (
    {"name": "m1.tiny", "ram": 64, "vcpus": 1, "disk": 1},
    {"name": "m1.small", "ram": 128, "vcpus": 1, "disk": 2},
    {"name": "m1.medium", "ram": 256, "vcpus": 2, "disk": 4},
)
IMAGE = "cirros-like"
VOLUME_TYPE = "dataless"
PRIVATE_CIDR, PUBLIC_CIDR = "10.0.0.0/16", "172.24.4.0/22"


def login(settings: Settings, user: str = "admin") -> dict[str, str]:
    """How a user of :data:`LOGINS` logs in, in openstacksdk's words."""
    return {
        "auth_url": settings.auth_url,
        "username": user,
        "password": settings.password,
        "project_name": LOGINS[user],
        "user_domain_name": DOMAIN,
        "project_domain_name": DOMAIN,
        "region_name": REGION,
    }


def connect(settings: Settings, user: str = "admin") -> Any:
    """A connection that does not heed the environment."""
    return openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        **login(settings, user),
    )


def identity(settings: Settings) -> None:
    """Roles, projects, users and the catalogue, in an empty Keystone."""
    keystone = connect(settings).identity
    for name in ROLES:
        if keystone.find_role(name) is None:
            keystone.create_role(name=name)
    roles = {role.name: role for role in keystone.roles()}
    domain = keystone.find_domain(DOMAIN).id
    projects = {
        name: keystone.create_project(name=name, domain_id=domain)
        for name in PROJECTS
    }
    for name, project, granted in USERS:
        user = keystone.create_user(
            name=name, domain_id=domain, password=settings.password
        )
        for role in granted:
            keystone.assign_project_role_to_user(
                projects[project], user, roles[role]
            )
    # An administrator who works in a user's project.
    keystone.assign_project_role_to_user(
        projects["demo"], keystone.find_user("admin"), roles["admin"]
    )
    stacks = keystone.create_domain(name=STACK_DOMAIN)
    admin = keystone.create_user(
        name="heat_domain_admin",
        domain_id=stacks.id,
        password=settings.password,
    )
    keystone.assign_domain_role_to_user(stacks, admin, roles["admin"])
    for kind, name, listener, path in CATALOGUE:
        service = keystone.create_service(type=kind, name=name)
        for interface in ("public", "internal", "admin"):
            keystone.create_endpoint(
                service_id=service.id,
                interface=interface,
                region_id=REGION,
                url=settings.url(listener, path),
            )


def resources(settings: Settings) -> None:
    """What there is to use. Needs the APIs, but no workers."""
    cloud = connect(settings)
    for flavor in FLAVORS:
        cloud.compute.create_flavor(**flavor)
    image = cloud.image.create_image(
        IMAGE,
        disk_format="raw",
        container_format="bare",
        visibility="public",
        allow_duplicates=True,
        data=b"not a system that could boot",
    )
    cloud.image.wait_for_status(image, "active", wait=30, interval=0.2)
    cloud.block_storage.create_type(
        name=VOLUME_TYPE, extra_specs={"volume_backend_name": VOLUME_TYPE}
    )
    _networks(cloud)


def greet(settings: Settings) -> None:
    """Ask each service for something, one request at a time.

    What a service prepares at its first request (its policies above all) is
    not always safe from a second one: that is refused, or fails.
    """
    cloud = connect(settings, "demo")
    for lists in (
        cloud.block_storage.volumes,
        cloud.compute.servers,
        cloud.image.images,
        cloud.key_manager.secrets,
        cloud.load_balancer.load_balancers,
        cloud.message.queues,
        cloud.network.networks,
        cloud.object_store.containers,
    ):
        list(lists())
    for kind, path in (
        ("alarming", "/v2/alarms"),
        ("metric", "/v1/resource/generic"),
    ):
        cloud.session.get(path, endpoint_filter={"service_type": kind})


def _networks(cloud: Any) -> None:
    network = cloud.network
    demo = cloud.identity.find_project("demo").id
    public = network.create_network(
        name="public",
        is_router_external=True,
        provider_network_type="flat",
        provider_physical_network="public",
    )
    private = network.create_network(name="private", project_id=demo)
    network.create_subnet(
        name="public-subnet",
        network_id=public.id,
        ip_version=4,
        cidr=PUBLIC_CIDR,
        is_dhcp_enabled=False,
    )
    subnet = network.create_subnet(
        name="private-subnet",
        network_id=private.id,
        project_id=demo,
        ip_version=4,
        cidr=PRIVATE_CIDR,
    )
    router = network.create_router(
        name="router1",
        project_id=demo,
        external_gateway_info={"network_id": public.id},
    )
    network.add_interface_to_router(router, subnet_id=subnet.id)
