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

"""OS::Heat::SoftwareConfig: a script or manifest for servers."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import properties, resource, support
from heat.engine.resources import software_config


class SoftwareConfig(software_config.ConfigResource):
    """A text that a tool on a server carries out.

    It is never changed: another one takes its place.
    """

    entity = "software_configs"
    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (GROUP, CONFIG, OPTIONS, INPUTS, OUTPUTS) = (
        "group",
        "config",
        "options",
        "inputs",
        "outputs",
    )

    properties_schema = {
        GROUP: software_config.group_schema(),
        CONFIG: properties.Schema(
            properties.Schema.STRING,
            _("The script or manifest."),
        ),
        OPTIONS: software_config.options_schema(),
        INPUTS: software_config.inputs_schema(),
        OUTPUTS: software_config.outputs_schema(),
    }

    def content(self) -> dict[str, Any]:
        return {name: self.properties[name] for name in self.PROPERTIES}


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::SoftwareConfig": SoftwareConfig}
