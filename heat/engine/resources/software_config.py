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

"""What is common to the types that are a software config."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource
from heat.engine.software import configs
from heat.rpc import api

NAME, TYPE, DESCRIPTION = "name", "type", "description"
DEFAULT, REPLACE, ERROR = "default", "replace_on_change", "error_output"


def _io_schema(what: str, further: dict[str, Any]) -> Any:
    """The schema of one input or output."""
    return properties.Schema(
        properties.Schema.MAP,
        schema={
            NAME: properties.Schema(
                properties.Schema.STRING,
                _("The name of the %s.") % what,
                required=True,
            ),
            DESCRIPTION: properties.Schema(
                properties.Schema.STRING,
                _("What the %s is.") % what,
            ),
            TYPE: properties.Schema(
                properties.Schema.STRING,
                _("What kind of value it has."),
                default="String",
                constraints=[constraints.AllowedValues(api.PARAM_TYPES)],
            ),
            **further,
        },
    )


def inputs_schema() -> Any:
    """The property ``inputs``."""
    further = {
        DEFAULT: properties.Schema(
            properties.Schema.ANY, _("Its value if a deployment has none.")
        ),
        REPLACE: properties.Schema(
            properties.Schema.BOOLEAN,
            _("Whether another value makes a new deployment."),
            default=False,
        ),
    }
    return properties.Schema(
        properties.Schema.LIST,
        _("What the config is given when it is deployed."),
        schema=_io_schema(_("input"), further),
    )


def outputs_schema() -> Any:
    """The property ``outputs``."""
    further = {
        ERROR: properties.Schema(
            properties.Schema.BOOLEAN,
            _("Whether a deployment that gives it has failed."),
            default=False,
        ),
    }
    return properties.Schema(
        properties.Schema.LIST,
        _("What a deployment of the config reports."),
        schema=_io_schema(_("output"), further),
    )


def group_schema() -> Any:
    """The property ``group``."""
    return properties.Schema(
        properties.Schema.STRING,
        _("The tool on the server that takes the config."),
        default=configs.DEFAULT_GROUP,
    )


def options_schema() -> Any:
    """The property ``options``."""
    return properties.Schema(
        properties.Schema.MAP, _("Settings of the tool on the server.")
    )


class ConfigResource(resource.Resource):
    """A resource whose object is a software config."""

    ATTRIBUTES = (CONFIG_ATTR,) = ("config",)

    attributes_schema = {
        CONFIG_ATTR: attributes.Schema(
            _("The config as servers get it."),
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    def content(self) -> dict[str, Any]:
        """Group, config, inputs, outputs and options."""
        raise NotImplementedError

    def handle_create(self) -> None:
        conf = self.stack.conf
        made = configs.create(
            self.stack.db,
            self.context,
            self.stack.tenant_id,
            conf.max_software_configs_per_tenant,
            name=self.physical_resource_name(),
            **self.content(),
        )
        self.resource_id_set(made[api.SOFTWARE_CONFIG_ID])

    def handle_delete(self) -> None:
        if self.resource_id is None:
            return
        try:
            configs.delete(self.stack.db, self.context, self.resource_id)
        except exception.EntityNotFound:
            return

    def _resolve_attribute(self, name: str) -> Any:
        found = self._show_resource() if name == self.CONFIG_ATTR else None
        return found and found[api.SOFTWARE_CONFIG_CONFIG]

    def _show_resource(self) -> dict[str, Any] | None:
        """The config as the API shows it."""
        if self.resource_id is None:
            return None
        try:
            return configs.show(self.stack.db, self.context, self.resource_id)
        except exception.EntityNotFound:
            return None
