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

"""The options of the [DEFAULT] group of heat.conf, as tables.

Names, types and defaults are what operators already have in their files;
they may not change. The ones marked "ours" exist only in this engine. How
they are registered, and how a file is read, is :mod:`heat.common.config`;
this module knows neither. The other groups are in
:mod:`heat.common.config_groups`.
"""

from __future__ import annotations

import socket

from oslo_config import cfg

SERVICE = (
    cfg.StrOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<hostname>",
        help="Name of this node: the server name that RPC clients address.",
    ),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=[
            ("keystone", "Tokens are checked by keystonemiddleware."),
            ("noauth", "Anybody on a loopback address is let in."),
        ],
        help="How callers of the API are known. Ours. With noauth the "
        "service listens on, and serves, loopback addresses only.",
    ),
    cfg.StrOpt(
        "concurrency_backend",
        default="threading",
        choices=["threading", "eventlet"],
        help="What requests and resource operations run on. Ours. Read "
        "before anything else is imported: in the environment variable "
        "HEAT_CONCURRENCY_BACKEND, then in the configuration files.",
    ),
    cfg.ListOpt(
        "plugin_dirs",
        default=[
            "/usr/lib64/heat",
            "/usr/lib/heat",
            "/usr/local/lib/heat",
            "/usr/local/lib64/heat",
        ],
        help="Directories searched for additional resource types.",
    ),
    cfg.StrOpt(
        "environment_dir",
        default="/etc/heat/environment.d",
        help="Directory of the environments that apply to every stack.",
    ),
    cfg.StrOpt(
        "template_dir",
        default="/etc/heat/templates",
        help="Directory of the templates that global environments name.",
    ),
    cfg.IntOpt(
        "num_engine_workers",
        min=1,
        help="Number of heat-engine processes on this node; one per "
        "processor when unset.",
    ),
    cfg.IntOpt(
        "periodic_interval",
        default=60,
        help="Seconds between two runs of periodic tasks.",
    ),
    cfg.StrOpt(
        "loadbalancer_template",
        help="Template used for a load balancer of CloudFormation "
        "templates instead of the built-in one.",
    ),
)

LIMITS = (
    cfg.IntOpt(
        "max_resources_per_stack",
        default=1000,
        help="Most resources that one stack, with all stacks below it, may "
        "have; -1 for no limit.",
    ),
    cfg.IntOpt(
        "max_stacks_per_tenant",
        default=512,
        help="Most stacks that a project may have; -1 for no limit.",
    ),
    cfg.IntOpt(
        "max_software_configs_per_tenant",
        default=4096,
        help="Most software configs that a project may have; -1 for no limit.",
    ),
    cfg.IntOpt(
        "max_software_deployments_per_tenant",
        default=4096,
        help="Most software deployments that a project may have; -1 for no "
        "limit.",
    ),
    cfg.IntOpt(
        "max_snapshots_per_stack",
        default=32,
        help="Most snapshots that a stack may have; -1 for no limit.",
    ),
    cfg.IntOpt(
        "max_events_per_stack",
        default=1000,
        help="Number of events of a stack above which old ones are purged; "
        "0 keeps all.",
    ),
    cfg.IntOpt(
        "event_purge_batch_size",
        default=200,
        min=1,
        help="Number of events purged at once.",
    ),
    cfg.IntOpt(
        "max_template_size",
        default=524288,
        help="Largest template, in bytes. When it is not set, templates of "
        "up to 4 MiB are accepted.",
    ),
    cfg.IntOpt(
        "max_json_body_size",
        default=1048576,
        help="Largest JSON body of a request, in bytes. When it is not set, "
        "bodies of up to 32 MiB are accepted.",
    ),
    cfg.IntOpt(
        "max_nested_stack_depth",
        default=5,
        help="Deepest nesting of stacks.",
    ),
    cfg.FloatOpt(
        "template_fetch_timeout",
        default=60,
        help="Seconds within which a template named by URL must arrive.",
    ),
    cfg.IntOpt(
        "max_server_name_length",
        default=53,
        help="Longest name given to a server when Heat makes the name.",
    ),
    cfg.ListOpt(
        "hidden_stack_tags",
        default=[],
        help="Stacks with one of these tags are left out of stack lists "
        "unless hidden ones are asked for.",
    ),
)

OPERATIONS = (
    cfg.IntOpt(
        "stack_action_timeout",
        default=3600,
        help="Seconds that an action on a stack may take when the stack has "
        "no timeout of its own.",
    ),
    cfg.IntOpt(
        "action_retry_limit",
        default=5,
        help="How often a failing resource operation that may be retried is "
        "tried again.",
    ),
    cfg.IntOpt(
        "client_retry_limit",
        default=2,
        help="How often a call to another service is repeated after a "
        "connection failure.",
    ),
    cfg.IntOpt(
        "max_interface_check_attempts",
        default=10,
        help="How often the attachment of a server's port is looked at "
        "before it counts as failed.",
    ),
    cfg.StrOpt(
        "max_nova_api_microversion",
        help="Highest compute API microversion to use.",
    ),
    cfg.StrOpt(
        "max_cinder_api_microversion",
        help="Highest block storage API microversion to use.",
    ),
    cfg.StrOpt(
        "max_ironic_api_microversion",
        help="Highest bare metal API microversion to use.",
    ),
    cfg.IntOpt(
        "error_wait_time",
        default=240,
        help="Seconds that other running operations of a stack get to "
        "finish after one has failed.",
    ),
    cfg.IntOpt(
        "engine_life_check_timeout",
        default=2,
        help="Seconds to wait for another engine's answer that it is alive.",
    ),
    cfg.BoolOpt(
        "enable_stack_abandon",
        default=False,
        help="Offer the abandon call.",
    ),
    cfg.BoolOpt(
        "enable_stack_adopt",
        default=False,
        help="Offer the adoption of existing resources into a new stack.",
    ),
    cfg.BoolOpt(
        "convergence_engine",
        default=True,
        help="Every stack of this engine is a convergence stack.",
    ),
    cfg.BoolOpt(
        "observe_on_update",
        default=False,
        help="Look at the real state of a resource before it is updated.",
    ),
    cfg.BoolOpt(
        "stack_scheduler_hints",
        default=False,
        help="Give the ids of stack and resource to schedulers as hints.",
    ),
    cfg.BoolOpt(
        "encrypt_parameters_and_properties",
        default=False,
        help="Hidden parameters and properties are always stored encrypted.",
    ),
    cfg.StrOpt(
        "auth_encryption_key",
        default="notgood but just long enough i t",
        secret=True,
        help="Key for credentials and hidden values in the database.",
    ),
    cfg.ListOpt(
        "auth_encryption_old_keys",
        default=[],
        secret=True,
        help="Keys from before auth_encryption_key was changed: what they "
        "encrypted can still be read.",
    ),
    cfg.FloatOpt(
        "metadata_put_timeout",
        default=60,
        help="Seconds that writing metadata to a temporary URL may take.",
    ),
    cfg.StrOpt(
        "default_software_config_transport",
        default="POLL_SERVER_CFN",
        help="How servers get their software configuration by default.",
    ),
    cfg.StrOpt(
        "default_deployment_signal_transport",
        default="CFN_SIGNAL",
        help="How servers report the end of a deployment by default.",
    ),
    cfg.StrOpt(
        "default_user_data_format",
        default="HEAT_CFNTOOLS",
        help="How user data is given to servers by default.",
    ),
    cfg.StrOpt(
        "default_notification_level",
        default="INFO",
        help="Priority of notifications.",
    ),
    cfg.StrOpt(
        "default_publisher_id",
        help="Publisher of notifications; the host's name when unset.",
    ),
)

AUTH = (
    cfg.StrOpt(
        "deferred_auth_method",
        default="trusts",
        choices=("trusts", "password"),
        help="How the engine acts for a user later on.",
    ),
    cfg.StrOpt(
        "reauthentication_auth_method",
        default="",
        choices=("", "trusts"),
        help="With deferred_auth_method = password: trusts for requests that "
        "brought no password. Elsewhere a stack that has a trust uses it.",
    ),
    cfg.BoolOpt(
        "allow_trusts_redelegation",
        default=False,
        help="Make trusts that can be delegated again.",
    ),
    cfg.ListOpt(
        "trusts_delegated_roles",
        default=[],
        help="Roles delegated to the engine; all of the user's when empty.",
    ),
    cfg.StrOpt(
        "heat_stack_user_role",
        default="heat_stack_user",
        help="Role of the users that the engine makes for resources.",
    ),
    cfg.StrOpt(
        "stack_user_domain_id",
        help="Domain of the users and projects that the engine makes.",
    ),
    cfg.StrOpt(
        "stack_user_domain_name",
        help="The same domain by name; the id wins.",
    ),
    cfg.StrOpt(
        "stack_domain_admin",
        help="User who may administer that domain.",
    ),
    cfg.StrOpt(
        "stack_domain_admin_password",
        secret=True,
        help="Password of that user.",
    ),
    cfg.URIOpt(
        "heat_metadata_server_url",
        help="URL at which servers reach heat-api-cfn, such as "
        "http://HOST:8000.",
    ),
    cfg.URIOpt(
        "heat_waitcondition_server_url",
        help="URL at which servers signal wait conditions, such as "
        "http://HOST:8000/v1/waitcondition; without it, it follows from "
        "heat_metadata_server_url or from the catalogue.",
    ),
    cfg.StrOpt(
        "instance_connection_is_secure",
        default="0",
        help="Whether in-server agents use TLS: 0 or 1.",
    ),
    cfg.StrOpt(
        "instance_connection_https_validate_certificates",
        default="1",
        help="Whether in-server agents check certificates: 0 or 1.",
    ),
    cfg.StrOpt(
        "server_keystone_endpoint_type",
        default="",
        help="Kind of identity endpoint given to servers.",
    ),
    cfg.StrOpt(
        "region_name_for_services",
        help="Region in which services are looked up by default.",
    ),
    cfg.StrOpt(
        "region_name_for_shared_services",
        help="Region of the services shared between regions.",
    ),
    cfg.ListOpt(
        "shared_services_types",
        default=["image", "volumev3"],
        help="Types of the services shared between regions.",
    ),
    cfg.StrOpt(
        "cloud_backend",
        default="heat.engine.clients.OpenStackClients",
        help="Class through which the clients of services are made.",
    ),
    cfg.StrOpt(
        "keystone_backend",
        default="heat.engine.clients.os.keystone.heat_keystoneclient"
        ".KsClientWrapper",
        help="Class through which the identity service is used.",
    ),
)
