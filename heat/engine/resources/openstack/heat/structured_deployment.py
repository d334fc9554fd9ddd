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

"""OS::Heat::StructuredDeployment: a map of settings on a server."""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import constraints, properties, resource, support
from heat.engine.resources import software_deployment


class StructuredDeployment(software_deployment.DeploymentResource):
    """A structured config, deployed on a server.

    In its settings a map of the one key ``get_input`` stands for the value
    of an input.
    """

    entity = "software_deployments"
    support_status = support.SupportStatus(version="2014.1")

    INPUT_KEY, VALIDATE = "input_key", "input_values_validate"
    LAX, STRICT = "LAX", "STRICT"

    properties_schema = {
        **software_deployment.schema(),
        INPUT_KEY: properties.Schema(
            properties.Schema.STRING,
            _("The key of the map that stands for an input."),
            default="get_input",
        ),
        VALIDATE: properties.Schema(
            properties.Schema.STRING,
            _("Whether an input without a value is an error (STRICT)."),
            default=LAX,
            constraints=[constraints.AllowedValues([LAX, STRICT])],
        ),
    }
    PROPERTIES = tuple(properties_schema)

    def filled(
        self, config: Any, inputs: list[dict[str, Any]], props: Any
    ) -> Any:
        values = {each["name"]: each.get("value") for each in inputs}
        return self._fill(config or {}, values, props)

    def _fill(self, config: Any, values: dict[str, Any], props: Any) -> Any:
        key = props[self.INPUT_KEY]
        if isinstance(config, dict):
            if list(config) == [key]:
                return self._value(str(config[key]), values, props)
            return {
                name: self._fill(value, values, props)
                for name, value in config.items()
            }
        if isinstance(config, list):
            return [self._fill(each, values, props) for each in config]
        return config

    def _value(self, name: str, values: dict[str, Any], props: Any) -> Any:
        if values.get(name) is None and props[self.VALIDATE] == self.STRICT:
            raise ValueError(
                _(
                    "Input %s of the config has no value; give it one in "
                    "input_values."
                )
                % name
            )
        return values.get(name)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::StructuredDeployment": StructuredDeployment}
