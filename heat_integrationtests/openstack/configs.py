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

"""The configuration files of the services, as tables.

Everything that is not here has the value the service ships with.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import Any

from heat_integrationtests.openstack import swift
from heat_integrationtests.openstack.settings import (
    ADDRESS,
    DOMAIN,
    HOST,
    REGION,
    Settings,
)

Sections = Mapping[str, Mapping[str, Any]]

#: A day: what a test may need less than is for the test to say.
TOKEN_SECONDS = 86400
#: Quotas are not what most tests are about; those that are set their own.
PLENTY = 10000
#: Seconds that services wait for one another: a hundred servers that build at
#: once on a small machine make them wait, and who gives up makes it worse.
PATIENCE = 300


def write(settings: Settings) -> None:
    """Write all files, and make the folders that they name.

    :raises CloudError: one can't be what a service needs
    """
    for folder in (
        "gnocchi",
        "glance/images",
        "glance/staging",
        "glance/tasks",
    ):
        (settings.data / folder).mkdir(parents=True, exist_ok=True)
    for name in ("nova", "neutron", "cinder", "glance"):
        (settings.data / name / "lock").mkdir(parents=True, exist_ok=True)
    swift.make_device(settings)
    for name, sections in (
        ("keystone/keystone.conf", keystone(settings)),
        ("aodh/aodh.conf", aodh(settings)),
        ("barbican/barbican.conf", barbican(settings)),
        ("glance/glance-api.conf", glance(settings)),
        ("gnocchi/gnocchi.conf", gnocchi(settings)),
        ("octavia/octavia.conf", octavia(settings)),
        ("placement/placement.conf", placement(settings)),
        ("nova/nova.conf", nova(settings)),
        ("nova/nova-compute.conf", nova_compute(settings)),
        ("neutron/neutron.conf", neutron(settings)),
        ("neutron/ml2.conf", ml2()),
        ("cinder/cinder.conf", cinder(settings)),
        ("zaqar/zaqar.conf", zaqar(settings)),
        *swift.files(settings, _authtoken(settings, "swift")).items(),
    ):
        path = settings.etc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_ini(sections))
        path.chmod(0o600)
    for name in (
        "barbican/barbican-api-paste.ini",
        "nova/api-paste.ini",
        "neutron/api-paste.ini",
        "cinder/api-paste.ini",
        "glance/glance-api-paste.ini",
    ):
        shutil.copy(settings.venv / "etc" / name, settings.etc / name)
    (settings.etc / "cinder/filters.json").write_text(json.dumps(_FILTERS))
    # A node that forgot its identity would not be let in again.
    (settings.data / "nova/compute_id").write_text(_NODE)


def _ini(sections: Sections) -> str:
    lines = []
    for name, options in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {value}" for key, value in options.items()]
    return "\n".join(lines) + "\n"


#: Of 32 bytes, in base64.
_NO_SECRET_KEY = "dGVzdHMgb25seTogdGhpcyBpcyBub3Qgc2VjcmV0ISE="
_NODE = "7c0c3a52-2f0e-4d55-9c5b-0a4f3c1d7e01\n"
_COMMON = ("name", "status", "metadata", "created_at", "updated_at")
#: What Cinder's lists may be filtered by; its package ships no such file.
_FILTERS = {
    "volume": [*_COMMON, "bootable", "availability_zone", "size"],
    "snapshot": [*_COMMON, "volume_id"],
    "backup": [*_COMMON, "volume_id"],
    "group": ["name", "status"],
    "group_snapshot": ["name", "status"],
    "attachment": ["volume_id", "status", "instance_id", "attach_status"],
    "message": ["resource_uuid", "resource_type", "event_id", "message_level"],
    "pool": ["name", "volume_type"],
    "volume_type": ["is_public"],
}


# -- parts of several files --------------------------------------------------


def _login(settings: Settings, user: str) -> dict[str, Any]:
    return {
        "auth_type": "password",
        "auth_url": settings.auth_url,
        "username": user,
        "password": settings.password,
        "project_name": "service",
        "user_domain_name": DOMAIN,
        "project_domain_name": DOMAIN,
        "region_name": REGION,
    }


def _authtoken(settings: Settings, user: str) -> dict[str, Any]:
    return {
        **_login(settings, user),
        "www_authenticate_uri": settings.auth_url,
        # An expired token is taken from a service that vouches for it.
        "service_token_roles": "service",
        "service_token_roles_required": "true",
    }


def _service_user(settings: Settings, user: str) -> dict[str, Any]:
    return {**_login(settings, user), "send_service_user_token": "true"}


def _database(settings: Settings, name: str) -> dict[str, Any]:
    return {
        "connection": settings.database_url(name),
        # 16 such pools share a server: few connections are kept. At peaks
        # there is one for each thread that may ask.
        "max_pool_size": 2,
        "max_overflow": 14,
    }


def _with_messages(settings: Settings, name: str) -> dict[str, Any]:
    return {
        "oslo_concurrency": {"lock_path": settings.data / name / "lock"},
        "oslo_messaging_notifications": {"driver": "noop"},
        "oslo_messaging_rabbit": {"heartbeat_timeout_threshold": 0},
    }


# -- the files ---------------------------------------------------------------


def keystone(settings: Settings) -> Sections:
    keys = settings.etc / "keystone"
    return {
        "DEFAULT": {"public_endpoint": settings.url("keystone")},
        "database": _database(settings, "keystone"),
        "token": {"provider": "fernet", "expiration": TOKEN_SECONDS},
        "fernet_tokens": {"key_repository": keys / "fernet-keys"},
        "credential": {"key_repository": keys / "credential-keys"},
        # Passwords that are no secrets need no expensive hashes.
        "identity": {"password_hash_rounds": 4, "max_password_length": 72},
        "cache": {"enabled": "true", "backend": "oslo_cache.dict"},
    }


def aodh(settings: Settings) -> Sections:
    return {
        "DEFAULT": {
            "transport_url": settings.rabbit,
            # Alarms are known to whom evaluates them as soon as they are made,
            # members of pools as soon as they are there.
            "event_alarm_cache_ttl": 0,
            "member_creation_time": 0,
            # Each second it says that it looks.
            "default_log_levels": "oslo_db=ERROR,aodh.evaluator=WARNING",
        },
        "database": _database(settings, "aodh"),
        "evaluator": {"evaluation_interval": 1},
        "keystone_authtoken": _authtoken(settings, "aodh"),
        "service_credentials": _login(settings, "aodh"),
        "oslo_messaging_rabbit": {"heartbeat_timeout_threshold": 0},
    }


def barbican(settings: Settings) -> Sections:
    return {
        "DEFAULT": {
            "host_href": settings.url("barbican"),
            "transport_url": settings.rabbit,
        },
        "database": _database(settings, "barbican"),
        "keystone_authtoken": _authtoken(settings, "barbican"),
        # A worker makes what is ordered, so that an order takes its time.
        "queue": {"enable": "true"},
        "simple_crypto_plugin": {"kek": _NO_SECRET_KEY},
        "oslo_messaging_rabbit": {"heartbeat_timeout_threshold": 0},
    }


def glance(settings: Settings) -> Sections:
    data = settings.data / "glance"
    return {
        "DEFAULT": {
            "enabled_backends": "store:file",
            "enabled_import_methods": "[glance-direct,web-download]",
            "worker_self_reference_url": settings.url("glance"),
        },
        "database": _database(settings, "glance"),
        "glance_store": {"default_backend": "store"},
        "store": {"filesystem_store_datadir": data / "images"},
        "os_glance_staging_store": {
            "filesystem_store_datadir": data / "staging"
        },
        "os_glance_tasks_store": {"filesystem_store_datadir": data / "tasks"},
        "keystone_authtoken": _authtoken(settings, "glance"),
        "paste_deploy": {
            "flavor": "keystone",
            "config_file": settings.etc / "glance/glance-api-paste.ini",
        },
        "oslo_concurrency": {"lock_path": data / "lock"},
    }


def gnocchi(settings: Settings) -> Sections:
    data = settings.data / "gnocchi"
    return {
        "DEFAULT": {
            "coordination_url": f"file://{data}/coordination",
            "verbose": "false",
        },
        "api": {"auth_mode": "keystone"},
        # Measures are values a second later.
        "metricd": {"metric_processing_delay": 1},
        "database": _database(settings, "gnocchi"),
        "indexer": {"url": settings.database_url("gnocchi")},
        "storage": {"driver": "file", "file_basepath": data},
        "keystone_authtoken": _authtoken(settings, "gnocchi"),
    }


def octavia(settings: Settings) -> Sections:
    """No worker: the provider does all in the API's process."""
    return {
        "DEFAULT": {"transport_url": settings.rabbit},
        "api_settings": {
            "auth_strategy": "keystone",
            "enabled_provider_drivers": "heat_cloud:Forwards nothing",
            "default_provider_driver": "heat_cloud",
        },
        "controller_worker": {"compute_driver": "compute_noop_driver"},
        "database": _database(settings, "octavia"),
        "keystone_authtoken": _authtoken(settings, "octavia"),
        "service_auth": _login(settings, "octavia"),
        "neutron": _login(settings, "octavia"),
    }


def placement(settings: Settings) -> Sections:
    return {
        "api": {"auth_strategy": "keystone"},
        "placement_database": _database(settings, "placement"),
        "keystone_authtoken": _authtoken(settings, "placement"),
    }


def nova(settings: Settings) -> Sections:
    data = settings.data / "nova"
    return {
        "DEFAULT": {
            "host": HOST,
            "my_ip": ADDRESS,
            "transport_url": settings.rabbit,
            "state_path": data,
            "instances_path": data / "instances",
            "compute_driver": "fake.RememberingDriver",
            "vif_plugging_timeout": 0,
            "vif_plugging_is_fatal": "false",
            "service_down_time": 120,
            "allow_resize_to_same_host": "true",
            # Resizes wait for whoever asked to confirm them.
            "resize_confirm_window": 0,
            "rpc_response_timeout": PATIENCE,
            "reserved_host_memory_mb": 0,
        },
        "api_database": _database(settings, "nova_api"),
        "database": _database(settings, "nova"),
        "api": {"auth_strategy": "keystone"},
        "keystone_authtoken": _authtoken(settings, "nova"),
        "service_user": _service_user(settings, "nova"),
        "placement": _login(settings, "nova"),
        "neutron": _login(settings, "nova"),
        "glance": {"endpoint_override": settings.url("glance")},
        "cinder": {
            **_login(settings, "nova"),
            "catalog_info": "block-storage::internalURL",
            "os_region_name": REGION,
        },
        "conductor": {"workers": 1},
        "scheduler": {"workers": 1},
        "filter_scheduler": {"track_instance_changes": "false"},
        "vnc": {"enabled": "false"},
        "spice": {"enabled": "false"},
        "quota": {
            "instances": PLENTY,
            "cores": PLENTY,
            "ram": PLENTY * 1024,
            "key_pairs": PLENTY,
            "server_groups": PLENTY,
        },
        **_with_messages(settings, "nova"),
    }


def nova_compute(settings: Settings) -> Sections:
    """Compute reaches the database through the conductor only."""
    return {
        name: options
        for name, options in nova(settings).items()
        if name not in ("api_database", "database")
    }


def neutron(settings: Settings) -> Sections:
    quotas = ("network", "subnet", "port", "router", "floatingip")
    quotas += ("security_group", "security_group_rule")
    return {
        "DEFAULT": {
            "host": HOST,
            "transport_url": settings.rabbit,
            "core_plugin": "ml2",
            "service_plugins": "router,qos,trunk,segments,metering",
            "auth_strategy": "keystone",
            "state_path": settings.data / "neutron",
            "api_paste_config": settings.etc / "neutron/api-paste.ini",
            "dhcp_agent_notification": "false",
            "rpc_response_timeout": PATIENCE,
            "rpc_workers": 0,
        },
        "database": _database(settings, "neutron"),
        "keystone_authtoken": _authtoken(settings, "neutron"),
        "nova": _login(settings, "neutron"),
        "placement": _login(settings, "neutron"),
        "quotas": {f"quota_{name}": PLENTY for name in quotas},
        **_with_messages(settings, "neutron"),
    }


def ml2() -> Sections:
    return {
        "ml2": {
            "type_drivers": "local,flat,vlan,vxlan",
            "project_network_types": "vxlan",
            "mechanism_drivers": "heat_cloud",
            "extension_drivers": "port_security,qos",
        },
        "ml2_type_flat": {"flat_networks": "*"},
        "ml2_type_vlan": {"network_vlan_ranges": "physnet1:100:199"},
        "ml2_type_vxlan": {"vni_ranges": "1:4000"},
        "securitygroup": {"enable_security_group": "true"},
    }


def cinder(settings: Settings) -> Sections:
    data = settings.data / "cinder"
    return {
        "DEFAULT": {
            "host": HOST,
            "my_ip": ADDRESS,
            "transport_url": settings.rabbit,
            "auth_strategy": "keystone",
            "enabled_backends": "dataless",
            "default_volume_type": "dataless",
            "state_path": data,
            "api_paste_config": settings.etc / "cinder/api-paste.ini",
            "image_conversion_dir": data / "conversion",
            "glance_api_servers": settings.url("glance"),
            "resource_query_filters_file": settings.etc
            / "cinder/filters.json",
            "service_down_time": 120,
            "rpc_response_timeout": PATIENCE,
            "quota_volumes": PLENTY,
            "quota_snapshots": PLENTY,
            "quota_gigabytes": PLENTY * 10,
        },
        "dataless": {
            "volume_driver": "heat_cloud_volume.DatalessDriver",
            "volume_backend_name": "dataless",
        },
        "database": _database(settings, "cinder"),
        "keystone_authtoken": _authtoken(settings, "cinder"),
        "service_user": _service_user(settings, "cinder"),
        "nova": {**_login(settings, "cinder"), "interface": "internal"},
        "coordination": {"backend_url": f"file://{data}"},
        **_with_messages(settings, "cinder"),
    }


def zaqar(settings: Settings) -> Sections:
    """Queues in the database, messages and subscriptions in Swift."""
    # A token of a subscriber's trust has the scope of that, and no other.
    trustee = {
        key: value
        for key, value in _login(settings, "zaqar").items()
        if not key.startswith("project_")
    }
    return {
        "DEFAULT": {"auth_strategy": "keystone"},
        "drivers": {
            "transport": "wsgi",
            "management_store": "sqlalchemy",
            "message_store": "swift",
        },
        "drivers:management_store:sqlalchemy": {
            "uri": settings.database_url("zaqar")
        },
        "drivers:message_store:swift": {
            "auth_url": settings.auth_url,
            "uri": f"swift://zaqar:{settings.password}@/service",
            "user_domain_name": DOMAIN,
            "project_domain_name": DOMAIN,
            "region_name": REGION,
        },
        # Who posts to a queue is told of by whoever subscribed to it.
        "storage": {"message_pipeline": "zaqar.notification.notifier"},
        "signed_url": {"secret_key": settings.password},
        "keystone_authtoken": _authtoken(settings, "zaqar"),
        "trustee": trustee,
    }
