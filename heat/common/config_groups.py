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

"""The options of heat.conf outside of [DEFAULT], as tables.

Names, groups, types and defaults are what operators already have in their
files; they may not change. ``[heat_api]`` and ``[engine]`` exist only in
this engine. How they are registered is :mod:`heat.common.config`.
"""

from __future__ import annotations

from oslo_config import cfg

# Services that have a group of client options, [clients_<service>].
CLIENT_SERVICES = (
    "aodh",
    "barbican",
    "blazar",
    "cinder",
    "designate",
    "glance",
    "heat",
    "ironic",
    "keystone",
    "magnum",
    "manila",
    "mistral",
    "monasca",
    "neutron",
    "nova",
    "octavia",
    "sahara",
    "senlin",
    "swift",
    "trove",
    "vitrage",
    "zaqar",
    "zun",
)

AUTH_PASSWORD = (
    cfg.BoolOpt(
        "multi_cloud",
        default=False,
        help="Take a name and a password in the place of a token, and let "
        "users name the identity service to log in at.",
    ),
    cfg.ListOpt(
        "allowed_auth_uris",
        default=[],
        help="Identity services that users may name.",
    ),
)


def client_options(default_endpoint: str | None = None) -> list[cfg.Opt]:
    """The five options that every group of client options has.

    :param default_endpoint: default of ``endpoint_type``; only the group
        that all others fall back to, ``[clients]``, has one
    """
    fallback = default_endpoint is not None
    return [
        cfg.StrOpt(
            "endpoint_type",
            default=default_endpoint,
            help="Interface of the service catalog to use.",
        ),
        cfg.StrOpt("ca_file", help="Certificates to check servers against."),
        cfg.StrOpt("cert_file", help="Client certificate."),
        cfg.StrOpt("key_file", help="Key of the client certificate."),
        cfg.BoolOpt(
            "insecure",
            default=False if fallback else None,
            help="Don't check servers' certificates.",
        ),
    ]


# Beyond the five: group -> options.
CLIENT_EXTRAS: dict[str, tuple[cfg.Opt, ...]] = {
    "clients_heat": (
        cfg.URIOpt("url", help="URL of the orchestration service to use."),
    ),
    "clients_keystone": (
        cfg.URIOpt("auth_uri", help="Unversioned URL of the identity API."),
    ),
    "clients_nova": (
        cfg.BoolOpt(
            "http_log_debug",
            default=False,
            help="Log the requests of the compute client.",
        ),
    ),
}


def cache_options(expiration: int) -> list[cfg.Opt]:
    """The two options of a cache's group.

    :param expiration: default life of an entry, in seconds
    """
    return [
        cfg.IntOpt(
            "expiration_time",
            default=expiration,
            help="Seconds that an entry lives.",
        ),
        cfg.BoolOpt("caching", default=True, help="Use this cache."),
    ]


HEAT_API = (
    cfg.HostAddressOpt(
        "bind_host",
        default="0.0.0.0",  # noqa: S104 - as other services; noauth refuses
        help="Address that heat-api listens on. With auth_strategy noauth "
        "it is 127.0.0.1 unless set, and must be a loopback address.",
    ),
    cfg.PortOpt("bind_port", default=8004, help="Port of heat-api."),
    cfg.IntOpt(
        "workers", default=1, min=1, help="Number of heat-api processes."
    ),
    cfg.IntOpt(
        "threads",
        default=16,
        min=1,
        help="Number of requests that one process serves at once.",
    ),
)

HEAT_API_CFN = (
    cfg.HostAddressOpt(
        "bind_host",
        default="0.0.0.0",  # noqa: S104 - as other services
        help="Address that heat-api-cfn listens on.",
    ),
    cfg.PortOpt("bind_port", default=8000, help="Port of heat-api-cfn."),
    cfg.IntOpt(
        "workers", default=1, min=1, help="Number of heat-api-cfn processes."
    ),
    cfg.IntOpt(
        "threads",
        default=16,
        min=1,
        help="Number of requests that one process serves at once.",
    ),
)

ENGINE = (
    cfg.FloatOpt(
        "heartbeat_interval",
        default=5,
        min=0.1,
        help="Seconds between two signs of life of an engine.",
    ),
    cfg.FloatOpt(
        "dead_after",
        default=20,
        min=0.5,
        help="Seconds without a sign of life after which an engine counts "
        "as dead; at least three heartbeat intervals.",
    ),
    cfg.FloatOpt(
        "recovery_interval",
        default=10,
        min=0.1,
        help="Seconds between two searches for work that a dead engine, or "
        "a lost message, left behind.",
    ),
    cfg.IntOpt(
        "pool_size",
        default=16,
        min=1,
        help="Number of stacks that one engine process works on at once. One "
        "that only waits holds none.",
    ),
    cfg.IntOpt(
        "service_pool_size",
        default=32,
        min=1,
        help="Number of steps of resources that one engine process runs at "
        "once, of those that may wait for the answer of a service. A "
        "resource that is only looked at now and then holds none in between.",
    ),
    cfg.FloatOpt(
        "stop_timeout",
        default=5,
        min=0,
        help="Seconds that running operations get to end when the engine "
        "is asked to stop; what has not ended then is handed over.",
    ),
)

PASTE_DEPLOY = (
    cfg.StrOpt(
        "flavor",
        help="With ``standalone`` the API takes a name and a password in the "
        "place of a token, and logs in at [clients_keystone] auth_uri. "
        "Other values have no effect.",
    ),
    cfg.StrOpt(
        "api_paste_config",
        default="api-paste.ini",
        help="File that describes the WSGI pipeline.",
    ),
)

NOAUTH = (
    cfg.StrOpt(
        "token_response", default="", help="Token data of a fixed user."
    ),
)

REVISION = (
    cfg.StrOpt(
        "heat_revision",
        default="unknown",
        help="Revision of the build, as shown by build_info.",
    ),
)

VOLUMES = (
    cfg.BoolOpt(
        "backups_enabled",
        default=True,
        help="Whether the volume backup service is there.",
    ),
)

YAQL = (
    cfg.IntOpt(
        "limit_iterators",
        default=200,
        help="Most elements that a yaql expression may go through.",
    ),
    cfg.IntOpt(
        "memory_quota",
        default=10000,
        help="Most memory that a yaql expression may use, in bytes.",
    ),
)

TEST_RESOURCES = (
    cfg.BoolOpt(
        "record_objects",
        default=False,
        help="Keep a row in the table test_object for each object that a "
        "resource type without a cloud stands for. For tests of the service "
        "only.",
    ),
)

# Known, accepted, and without effect on this engine: group, name, why.
WITHOUT_EFFECT = (
    ("DEFAULT", "convergence_engine", "every stack is a convergence stack"),
    ("DEFAULT", "engine_life_check_timeout", "see [engine] dead_after"),
    (
        "DEFAULT",
        "encrypt_parameters_and_properties",
        "hidden values are always stored encrypted",
    ),
    ("DEFAULT", "cloud_backend", "clients come from entry points"),
    ("DEFAULT", "keystone_backend", "keystoneauth is used"),
    ("DEFAULT", "loadbalancer_template", "there is no such resource type"),
    ("paste_deploy", "api_paste_config", "the pipeline is composed in code"),
    ("noauth", "token_response", "see [DEFAULT] auth_strategy"),
)
