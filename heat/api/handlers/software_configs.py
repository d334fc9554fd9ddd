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

"""Software configurations."""

from __future__ import annotations

from heat.api import views
from heat.api.request import Answer, Call

_FIELDS = ("group", "name", "config", "inputs", "outputs", "options")


def index(call: Call) -> Answer:
    """GET /software_configs"""
    context, everywhere = call.context, call.query.get("global_tenant", False)
    if everywhere:
        call.require("software_configs:global_index")
        context = call.everywhere()
    rows = call.engine.list_software_configs(
        context, **call.given("limit", "marker")
    )
    return Answer(
        {
            "software_configs": [
                views.software_config_brief(row, show_project=everywhere)
                for row in rows
            ]
        }
    )


def create(call: Call) -> Answer:
    """POST /software_configs"""
    given = {name: call.body.get(name) for name in _FIELDS}
    for name in ("inputs", "outputs"):
        # Engines of other makes take no null for them.
        given[name] = given[name] or []
    row = call.engine.create_software_config(call.context, **given)
    return Answer({"software_config": views.software_config(row)})


def show(call: Call) -> Answer:
    """GET /software_configs/{config_id}"""
    row = call.engine.show_software_config(
        call.context, call.path["config_id"]
    )
    return Answer({"software_config": views.software_config(row)})


def delete(call: Call) -> Answer:
    """DELETE /software_configs/{config_id}"""
    call.engine.delete_software_config(call.context, call.path["config_id"])
    return Answer(status=204)
