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

"""Software deployments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heat.api import views
from heat.api.request import Answer, Call

_CREATE = (
    *("server_id", "config_id", "input_values", "action", "status"),
    *("status_reason", "stack_user_project_id"),
)
_UPDATE = (
    *("config_id", "input_values", "output_values"),
    *("action", "status", "status_reason"),
)


def index(call: Call) -> Answer:
    """GET /software_deployments"""
    rows = call.engine.list_software_deployments(
        call.context, call.query.get("server_id")
    )
    return Answer(
        {
            "software_deployments": [
                views.software_deployment(row) for row in rows
            ]
        }
    )


def metadata(call: Call) -> Answer:
    """GET /software_deployments/metadata/{server_id}"""
    rows = call.engine.metadata_software_deployments(
        call.context, call.path["server_id"]
    )
    shown = [views.software_config_to_deploy(row) for row in rows]
    return Answer({"metadata": shown})


def create(call: Call) -> Answer:
    """POST /software_deployments"""
    given = {"server_id": None, **_given(call, _CREATE)}
    row = call.engine.create_software_deployment(call.context, **given)
    return _shown(row)


def show(call: Call) -> Answer:
    """GET /software_deployments/{deployment_id}"""
    return _shown(
        call.engine.show_software_deployment(
            call.context, call.path["deployment_id"]
        )
    )


def update(call: Call) -> Answer:
    """PUT /software_deployments/{deployment_id}"""
    row = call.engine.update_software_deployment(
        call.context, call.path["deployment_id"], **_given(call, _UPDATE)
    )
    return _shown(row)


def delete(call: Call) -> Answer:
    """DELETE /software_deployments/{deployment_id}"""
    call.engine.delete_software_deployment(
        call.context, call.path["deployment_id"]
    )
    return Answer(status=204)


def _given(call: Call, names: Iterable[str]) -> dict[str, Any]:
    # Null means "not given": the engine has defaults for all of them.
    return {
        name: call.body[name]
        for name in names
        if call.body.get(name) is not None
    }


def _shown(row: dict[str, Any]) -> Answer:
    return Answer({"software_deployment": views.software_deployment(row)})
