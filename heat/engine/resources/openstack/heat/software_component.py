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

"""OS::Heat::SoftwareComponent: several configs, by action."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints, properties, resource, support
from heat.engine.resources import software_config


class SoftwareComponent(software_config.ConfigResource):
    """Configs for one piece of software, each for some actions.

    A deployment takes the one that its action asks for.
    """

    entity = "software_configs"
    support_status = support.SupportStatus(version="2014.2")

    PROPERTIES = (CONFIGS, INPUTS, OUTPUTS, OPTIONS) = (
        "configs",
        "inputs",
        "outputs",
        "options",
    )
    CONFIG_KEYS = (CONFIG_ACTIONS, CONFIG_TEXT, CONFIG_TOOL) = (
        "actions",
        "config",
        "tool",
    )

    properties_schema = {
        CONFIGS: properties.Schema(
            properties.Schema.LIST,
            _("The configs; no action may stand in two of them."),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CONFIG_ACTIONS: properties.Schema(
                        properties.Schema.LIST,
                        _("The actions that it is for."),
                        default=["CREATE", "UPDATE"],
                        schema=properties.Schema(properties.Schema.STRING),
                        constraints=[constraints.Length(min=1)],
                    ),
                    CONFIG_TEXT: properties.Schema(
                        properties.Schema.STRING,
                        _("The script or manifest."),
                    ),
                    CONFIG_TOOL: properties.Schema(
                        properties.Schema.STRING,
                        _("The tool on the server that takes it."),
                        required=True,
                    ),
                },
            ),
            required=True,
            constraints=[constraints.Length(min=1)],
        ),
        INPUTS: software_config.inputs_schema(),
        OUTPUTS: software_config.outputs_schema(),
        OPTIONS: software_config.options_schema(),
    }

    def validate(self) -> None:
        super().validate()
        met: set[str] = set()
        for config in self.properties[self.CONFIGS]:
            for action in config[self.CONFIG_ACTIONS]:
                if action in met:
                    raise exception.StackValidationFailed(
                        path=[
                            *("resources", self.name, "properties"),
                            self.CONFIGS,
                        ],
                        message=_("Action %s stands in two configs.") % action,
                    )
                met.add(action)

    def content(self) -> dict[str, Any]:
        props = self.properties
        return {
            "group": "component",
            "config": {self.CONFIGS: props[self.CONFIGS]},
            "inputs": props[self.INPUTS],
            "outputs": props[self.OUTPUTS],
            "options": props[self.OPTIONS],
        }


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::SoftwareComponent": SoftwareComponent}
