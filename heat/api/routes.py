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

"""THE table of the API: path -> method -> what answers, who may, what with.

Paths stand below ``/v1/{tenant_id}``. A method that a path does not list is
answered with 405 and the list, from this table. HEAD is a GET without a body
and OPTIONS answers with the list, so neither stands here.

Adding a route: a row here, a function in ``handlers``, a rule in
``heat.policies.rules``, and, when it writes, a schema in ``schemas``. A test
walks the table and refuses an entry that lacks one of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from heat.api import schemas, validation
from heat.api.handlers import (
    actions,
    events,
    meta,
    resources,
    snapshots,
    software_configs,
    software_deployments,
    stacks,
    templates,
)
from heat.api.request import Handler


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """What answers one method on one path.

    :param policy: rule that the caller must satisfy
    :param body: schema of the body; None: a body is not looked at
    :param query: schema of the query; None: a query is not looked at
    :param bodiless: why a method that writes has no body
    :param enforced: False: the handler enforces rules that depend on the
        body, ``policy`` is not asked
    """

    handler: Handler
    policy: str
    body: validation.Body | None = None
    query: validation.Query | None = None
    bodiless: str = ""
    enforced: bool = True


Methods = Mapping[str, Entry]

_DELETE = "the path says what is deleted"

_LOOKUP = Entry(
    stacks.lookup,
    "stacks:lookup",
    bodiless="a redirect: the client sends the body again",
)
_LOOKUP_ANY: Methods = dict.fromkeys(
    ("GET", "POST", "PUT", "PATCH", "DELETE"), _LOOKUP
)
_LOOKUP_READ: Methods = {"GET": _LOOKUP}
_LOOKUP_POST: Methods = {"GET": _LOOKUP, "POST": _LOOKUP}

_S = "/stacks/{stack_name}/{stack_id}"
_R = f"{_S}/resources/{{resource_name}}"

_TEMPLATES: Mapping[str, Methods] = {
    "/validate": {
        "POST": Entry(
            templates.validate_template,
            "stacks:validate_template",
            body=schemas.TEMPLATE_VALIDATE,
            query=schemas.VALIDATE,
        )
    },
    "/resource_types": {
        "GET": Entry(
            templates.list_resource_types,
            "stacks:list_resource_types",
            query=schemas.RESOURCE_TYPES,
        )
    },
    "/resource_types/{type_name}": {
        "GET": Entry(
            templates.resource_schema,
            "stacks:resource_schema",
            query=schemas.RESOURCE_SCHEMA,
        )
    },
    "/resource_types/{type_name}/template": {
        "GET": Entry(
            templates.generate_template,
            "stacks:generate_template",
            query=schemas.GENERATE_TEMPLATE,
        )
    },
    "/template_versions": {
        "GET": Entry(
            templates.list_template_versions, "stacks:list_template_versions"
        )
    },
    "/template_versions/{template_version}/functions": {
        "GET": Entry(
            templates.list_template_functions,
            "stacks:list_template_functions",
            query=schemas.TEMPLATE_FUNCTIONS,
        )
    },
}

_STACKS: Mapping[str, Methods] = {
    "/stacks": {
        "GET": Entry(stacks.index, "stacks:index", query=schemas.STACK_INDEX),
        "POST": Entry(
            stacks.create, "stacks:create", body=schemas.STACK_CREATE
        ),
    },
    "/stacks/preview": {
        "POST": Entry(
            stacks.preview, "stacks:preview", body=schemas.STACK_CREATE
        )
    },
    "/stacks/detail": {
        "GET": Entry(stacks.detail, "stacks:detail", query=schemas.STACK_INDEX)
    },
    "/stacks/arn:{arn}": _LOOKUP_ANY,
    "/stacks/{stack_name}": _LOOKUP_ANY,
    "/stacks/{stack_name}/resources": _LOOKUP_POST,
    "/stacks/{stack_name}/events": _LOOKUP_POST,
    "/stacks/{stack_name}/template": _LOOKUP_POST,
    "/stacks/{stack_name}/actions": _LOOKUP_POST,
    "/stacks/{stack_name}/environment": _LOOKUP_READ,
    "/stacks/{stack_name}/files": _LOOKUP_READ,
    _S: {
        "GET": Entry(stacks.show, "stacks:show", query=schemas.STACK_SHOW),
        "PUT": Entry(
            stacks.update, "stacks:update", body=schemas.STACK_UPDATE
        ),
        "PATCH": Entry(
            stacks.update_patch,
            "stacks:update_patch",
            body=schemas.STACK_UPDATE,
        ),
        "DELETE": Entry(stacks.delete, "stacks:delete", bodiless=_DELETE),
    },
    f"{_S}/template": {"GET": Entry(stacks.template, "stacks:template")},
    f"{_S}/environment": {
        "GET": Entry(
            stacks.environment,
            "stacks:environment",
            query=schemas.STACK_ENVIRONMENT,
        )
    },
    f"{_S}/files": {"GET": Entry(stacks.files, "stacks:files")},
    f"{_S}/preview": {
        "PUT": Entry(
            stacks.preview_update,
            "stacks:preview_update",
            body=schemas.STACK_UPDATE,
            query=schemas.PREVIEW_UPDATE,
        ),
        "PATCH": Entry(
            stacks.preview_update_patch,
            "stacks:preview_update_patch",
            body=schemas.STACK_UPDATE,
            query=schemas.PREVIEW_UPDATE,
        ),
    },
    f"{_S}/abandon": {
        "DELETE": Entry(stacks.abandon, "stacks:abandon", bodiless=_DELETE)
    },
    f"{_S}/export": {"GET": Entry(stacks.export, "stacks:export")},
    f"{_S}/outputs": {
        "GET": Entry(stacks.list_outputs, "stacks:list_outputs")
    },
    f"{_S}/outputs/{{output_key}}": {
        "GET": Entry(stacks.show_output, "stacks:show_output")
    },
    f"{_S}/snapshots": {
        "GET": Entry(snapshots.list_snapshots, "stacks:list_snapshots"),
        "POST": Entry(
            snapshots.snapshot, "stacks:snapshot", body=schemas.SNAPSHOT
        ),
    },
    f"{_S}/snapshots/{{snapshot_id}}": {
        "GET": Entry(snapshots.show_snapshot, "stacks:show_snapshot"),
        "DELETE": Entry(
            snapshots.delete_snapshot,
            "stacks:delete_snapshot",
            bodiless=_DELETE,
        ),
    },
    f"{_S}/snapshots/{{snapshot_id}}/restore": {
        "POST": Entry(
            snapshots.restore_snapshot,
            "stacks:restore_snapshot",
            bodiless="the path says what is restored",
        )
    },
    f"{_S}/actions": {
        "POST": Entry(
            actions.action,
            "actions:action",
            body=schemas.ACTIONS,
            enforced=False,
        )
    },
}

_RESOURCES: Mapping[str, Methods] = {
    f"{_S}/resources": {
        "GET": Entry(
            resources.index, "resource:index", query=schemas.RESOURCE_INDEX
        )
    },
    _R: {
        "GET": Entry(
            resources.show, "resource:show", query=schemas.RESOURCE_SHOW
        ),
        "PATCH": Entry(
            resources.mark_unhealthy,
            "resource:mark_unhealthy",
            body=schemas.MARK_UNHEALTHY,
        ),
    },
    f"{_R}/metadata": {"GET": Entry(resources.metadata, "resource:metadata")},
    f"{_R}/signal": {
        "POST": Entry(resources.signal, "resource:signal", body=schemas.SIGNAL)
    },
    f"{_S}/events": {
        "GET": Entry(events.index, "events:index", query=schemas.EVENT_INDEX)
    },
    f"{_R}/events": {
        "GET": Entry(events.index, "events:index", query=schemas.EVENT_INDEX)
    },
    f"{_R}/events/{{event_id}}": {"GET": Entry(events.show, "events:show")},
}

_SOFTWARE: Mapping[str, Methods] = {
    "/software_configs": {
        "GET": Entry(
            software_configs.index,
            "software_configs:index",
            query=schemas.CONFIG_INDEX,
        ),
        "POST": Entry(
            software_configs.create,
            "software_configs:create",
            body=schemas.SOFTWARE_CONFIG,
        ),
    },
    "/software_configs/{config_id}": {
        "GET": Entry(software_configs.show, "software_configs:show"),
        "DELETE": Entry(
            software_configs.delete,
            "software_configs:delete",
            bodiless=_DELETE,
        ),
    },
    "/software_deployments": {
        "GET": Entry(
            software_deployments.index,
            "software_deployments:index",
            query=schemas.DEPLOYMENT_INDEX,
        ),
        "POST": Entry(
            software_deployments.create,
            "software_deployments:create",
            body=schemas.DEPLOYMENT_CREATE,
        ),
    },
    "/software_deployments/{deployment_id}": {
        "GET": Entry(software_deployments.show, "software_deployments:show"),
        "PUT": Entry(
            software_deployments.update,
            "software_deployments:update",
            body=schemas.DEPLOYMENT_UPDATE,
        ),
        "DELETE": Entry(
            software_deployments.delete,
            "software_deployments:delete",
            bodiless=_DELETE,
        ),
    },
    "/software_deployments/metadata/{server_id}": {
        "GET": Entry(
            software_deployments.metadata, "software_deployments:metadata"
        )
    },
}

_META: Mapping[str, Methods] = {
    "/build_info": {"GET": Entry(meta.build_info, "build_info:build_info")},
    # Ours: the register of objects let go.
    "/released_objects": {"GET": Entry(meta.released, "stacks:released")},
    "/services": {"GET": Entry(meta.services, "service:index")},
}

ROUTES: Mapping[str, Methods] = {
    **_TEMPLATES,
    **_STACKS,
    **_RESOURCES,
    **_SOFTWARE,
    **_META,
}

# Paths where OPTIONS is a method like any other that is not listed.
NO_OPTIONS = frozenset(("/services",))
