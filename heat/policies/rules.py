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

"""Who may do what: the rules, in code.

A rule is a row of one of the tables below; an operator overrides it by name
in ``policy.yaml`` (oslo.policy). ``oslopolicy-sample-generator`` and the
documentation read :func:`list_rules`.

Personas: a *reader* looks, a *member* changes, a *stack user* is the account
that the engine makes for signals from inside a server, an *admin* runs the
cloud. Keystone's implied roles (admin implies member implies reader) are
accepted also where Keystone does not expand them.
"""

from __future__ import annotations

from collections.abc import Mapping

from oslo_policy import policy

# -- the personas -------------------------------------------------------------

_OWN_PROJECT = "project_id:%(project_id)s"

BASE_RULES: Mapping[str, tuple[str, str]] = {
    "context_is_admin": (
        "(role:admin and is_admin_project:True) or "
        "(role:admin and system_scope:all)",
        "Decides whether a caller is an administrator of the cloud.",
    ),
    "project_admin": ("role:admin", "An administrator of any project."),
    "project_reader": (
        f"(role:reader or role:member or role:admin) and {_OWN_PROJECT}",
        "Whoever may look at what belongs to the project.",
    ),
    "project_member": (
        f"(role:member or role:admin) and {_OWN_PROJECT}",
        "Whoever may change what belongs to the project.",
    ),
    "project_stack_user": (
        "(role:heat_stack_user or role:member or role:admin) and "
        f"{_OWN_PROJECT}",
        "Members, and the accounts that signal from inside a server.",
    ),
    "deny_stack_user": (
        "not role:heat_stack_user",
        "Older default: everybody but the accounts inside servers.",
    ),
    "deny_everybody": ("!", "Nobody, not even an administrator."),
    "allow_everybody": ("", "Everybody who has authenticated."),
}

READER = "rule:context_is_admin or rule:project_reader"
MEMBER = "rule:context_is_admin or rule:project_member"
STACK_USER = "rule:context_is_admin or rule:project_stack_user"
ADMIN = "rule:context_is_admin"
NOBODY = "rule:deny_everybody"
ANYBODY = "rule:allow_everybody"

# What a rule was before the personas existed; it counts again, beside the
# new one, where an operator sets [oslo_policy] enforce_new_defaults = false.
_LEGACY = {
    READER: "rule:deny_stack_user",
    MEMBER: "rule:deny_stack_user",
    STACK_USER: "rule:allow_everybody",
}
_LEGACY_REASON = (
    "The default roles of Keystone (reader, member, admin) replaced the test "
    "for the role heat_stack_user."
)

_S = "/stacks/{stack_name}/{stack_id}"

# -- the rules: name -> (persona, what it allows, operations) -----------------

RULES: Mapping[str, tuple[str, str, str]] = {
    "stacks:validate_template": (
        MEMBER,
        "Validate a template",
        "POST /validate",
    ),
    "stacks:released": (
        READER,
        "List the objects that stacks have let go",
        "GET /released_objects",
    ),
    "stacks:list_resource_types": (
        READER,
        "List resource types",
        "GET /resource_types",
    ),
    "stacks:resource_schema": (
        READER,
        "Show the schema of a resource type",
        "GET /resource_types/{type_name}",
    ),
    "stacks:generate_template": (
        MEMBER,
        "Make a template from a resource type",
        "GET /resource_types/{type_name}/template",
    ),
    "stacks:list_template_versions": (
        READER,
        "List template versions",
        "GET /template_versions",
    ),
    "stacks:list_template_functions": (
        READER,
        "List the functions of a template version",
        "GET /template_versions/{template_version}/functions",
    ),
    "stacks:index": (READER, "List stacks", "GET /stacks"),
    "stacks:global_index": (
        NOBODY,
        "List the stacks of all projects",
        "GET /stacks",
    ),
    "stacks:create": (MEMBER, "Create a stack", "POST /stacks"),
    "stacks:preview": (READER, "Preview a stack", "POST /stacks/preview"),
    "stacks:detail": (
        READER,
        "List stacks with details",
        "GET /stacks/detail",
    ),
    "stacks:lookup": (
        STACK_USER,
        "Find a stack by its name",
        "GET /stacks/{stack_name}",
    ),
    "stacks:show": (READER, "Show a stack", f"GET {_S}"),
    "stacks:template": (READER, "Show the template", f"GET {_S}/template"),
    "stacks:environment": (
        READER,
        "Show the environment",
        f"GET {_S}/environment",
    ),
    "stacks:files": (READER, "Show the files", f"GET {_S}/files"),
    "stacks:update": (MEMBER, "Update a stack", f"PUT {_S}"),
    "stacks:update_patch": (
        MEMBER,
        "Update a stack, keeping what is not given",
        f"PATCH {_S}",
    ),
    "stacks:preview_update": (
        MEMBER,
        "Preview an update",
        f"PUT {_S}/preview",
    ),
    "stacks:preview_update_patch": (
        MEMBER,
        "Preview an update that keeps what is not given",
        f"PATCH {_S}/preview",
    ),
    "stacks:delete": (MEMBER, "Delete a stack", f"DELETE {_S}"),
    "stacks:abandon": (MEMBER, "Abandon a stack", f"DELETE {_S}/abandon"),
    "stacks:export": (MEMBER, "Export a stack", f"GET {_S}/export"),
    "stacks:snapshot": (MEMBER, "Take a snapshot", f"POST {_S}/snapshots"),
    "stacks:list_snapshots": (
        READER,
        "List snapshots",
        f"GET {_S}/snapshots",
    ),
    "stacks:show_snapshot": (
        READER,
        "Show a snapshot",
        f"GET {_S}/snapshots/{{snapshot_id}}",
    ),
    "stacks:delete_snapshot": (
        MEMBER,
        "Delete a snapshot",
        f"DELETE {_S}/snapshots/{{snapshot_id}}",
    ),
    "stacks:restore_snapshot": (
        MEMBER,
        "Restore a snapshot",
        f"POST {_S}/snapshots/{{snapshot_id}}/restore",
    ),
    "stacks:list_outputs": (READER, "List outputs", f"GET {_S}/outputs"),
    "stacks:show_output": (
        READER,
        "Show an output",
        f"GET {_S}/outputs/{{output_key}}",
    ),
    "resource:index": (READER, "List resources", f"GET {_S}/resources"),
    "resource:show": (
        READER,
        "Show a resource",
        f"GET {_S}/resources/{{resource_name}}",
    ),
    "resource:mark_unhealthy": (
        MEMBER,
        "Mark a resource as healthy or unhealthy",
        f"PATCH {_S}/resources/{{resource_name}}",
    ),
    "resource:metadata": (
        STACK_USER,
        "Show the metadata of a resource",
        f"GET {_S}/resources/{{resource_name}}/metadata",
    ),
    "resource:signal": (
        STACK_USER,
        "Signal a resource",
        f"POST {_S}/resources/{{resource_name}}/signal",
    ),
    "events:index": (READER, "List events", f"GET {_S}/events"),
    "events:show": (
        READER,
        "Show an event",
        f"GET {_S}/resources/{{resource_name}}/events/{{event_id}}",
    ),
    "actions:action": (
        ANYBODY,
        "Ask for an action; the rule of the action itself decides",
        f"POST {_S}/actions",
    ),
    "actions:suspend": (MEMBER, "Suspend a stack", f"POST {_S}/actions"),
    "actions:resume": (MEMBER, "Resume a stack", f"POST {_S}/actions"),
    "actions:check": (READER, "Check a stack", f"POST {_S}/actions"),
    "actions:cancel_update": (
        MEMBER,
        "Cancel an update and roll it back",
        f"POST {_S}/actions",
    ),
    "actions:cancel_without_rollback": (
        MEMBER,
        "Cancel an operation and leave the stack as it is",
        f"POST {_S}/actions",
    ),
    "actions:lock": (MEMBER, "Lock a stack", f"POST {_S}/actions"),
    "actions:unlock": (MEMBER, "Unlock a stack", f"POST {_S}/actions"),
    "build_info:build_info": (
        READER,
        "Show what is running",
        "GET /build_info",
    ),
    "service:index": (ADMIN, "List the engines", "GET /services"),
    "software_configs:index": (
        READER,
        "List software configurations",
        "GET /software_configs",
    ),
    "software_configs:global_index": (
        NOBODY,
        "List the software configurations of all projects",
        "GET /software_configs",
    ),
    "software_configs:create": (
        MEMBER,
        "Create a software configuration",
        "POST /software_configs",
    ),
    "software_configs:show": (
        READER,
        "Show a software configuration",
        "GET /software_configs/{config_id}",
    ),
    "software_configs:delete": (
        MEMBER,
        "Delete a software configuration",
        "DELETE /software_configs/{config_id}",
    ),
    "software_deployments:index": (
        READER,
        "List software deployments",
        "GET /software_deployments",
    ),
    "software_deployments:create": (
        MEMBER,
        "Create a software deployment",
        "POST /software_deployments",
    ),
    "software_deployments:show": (
        READER,
        "Show a software deployment",
        "GET /software_deployments/{deployment_id}",
    ),
    "software_deployments:update": (
        MEMBER,
        "Update a software deployment",
        "PUT /software_deployments/{deployment_id}",
    ),
    "software_deployments:delete": (
        MEMBER,
        "Delete a software deployment",
        "DELETE /software_deployments/{deployment_id}",
    ),
    "software_deployments:metadata": (
        STACK_USER,
        "Show what is deployed on a server",
        "GET /software_deployments/metadata/{server_id}",
    ),
}

# Types that only an administrator may use. A name may be a pattern: it then
# stands for every type that matches.
RESOURCE_TYPES: tuple[str, ...] = (
    "OS::Blazar::Host",
    "OS::Cinder::EncryptedVolumeType",
    "OS::Cinder::QoSAssociation",
    "OS::Cinder::QoSSpecs",
    "OS::Cinder::Quota",
    "OS::Cinder::VolumeType",
    "OS::Keystone::*",
    "OS::Manila::ShareType",
    "OS::Neutron::ProviderNet",
    "OS::Neutron::QoSBandwidthLimitRule",
    "OS::Neutron::QoSDscpMarkingRule",
    "OS::Neutron::QoSMinimumBandwidthRule",
    "OS::Neutron::QoSMinimumPacketRateRule",
    "OS::Neutron::QoSPolicy",
    "OS::Neutron::Quota",
    "OS::Neutron::Segment",
    "OS::Nova::Flavor",
    "OS::Nova::HostAggregate",
    "OS::Nova::Quota",
    "OS::Octavia::AvailabilityZone",
    "OS::Octavia::AvailabilityZoneProfile",
    "OS::Octavia::Flavor",
    "OS::Octavia::FlavorProfile",
    "OS::Octavia::Quota",
)

#: What the names of rules about types begin with.
TYPE_PREFIX = "resource_types:"


def list_rules() -> list[policy.RuleDefault]:
    """Every rule with its default (entry point ``oslo.policy.policies``)."""
    made = [
        policy.RuleDefault(name, check, description=text)
        for name, (check, text) in BASE_RULES.items()
    ]
    made.extend(_documented(name, *row) for name, row in RULES.items())
    made.extend(
        policy.RuleDefault(
            TYPE_PREFIX + name,
            "rule:project_admin",
            description=f"Use resources of type {name}.",
        )
        for name in RESOURCE_TYPES
    )
    return made


def _documented(
    name: str, persona: str, text: str, operation: str
) -> policy.DocumentedRuleDefault:
    method, _, path = operation.partition(" ")
    legacy = _LEGACY.get(persona)
    return policy.DocumentedRuleDefault(
        name,
        persona,
        f"{text}.",
        [{"method": method, "path": f"/v1/{{tenant_id}}{path}"}],
        deprecated_rule=None
        if legacy is None
        else policy.DeprecatedRule(
            name,
            legacy,
            deprecated_reason=_LEGACY_REASON,
            deprecated_since="W",
        ),
    )
