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

"""OS::Heat::CloudConfig: settings for cloud-init."""

from __future__ import annotations

from typing import Any

import yaml

from heat.common.i18n import _
from heat.engine import properties, resource, support
from heat.engine.resources import software_config


class CloudConfig(software_config.ConfigResource):
    """A document for cloud-init, written as a map.

    It is handed to a server as its user data, alone or as a part of it.
    """

    entity = "software_configs"
    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (CLOUD_CONFIG,) = ("cloud_config",)

    properties_schema = {
        CLOUD_CONFIG: properties.Schema(
            properties.Schema.MAP,
            _("The settings, as cloud-init names them."),
        ),
    }

    def content(self) -> dict[str, Any]:
        settings = self.properties[self.CLOUD_CONFIG] or {}
        text = yaml.safe_dump(settings, default_flow_style=False)
        return {"group": None, "config": f"#cloud-config\n{text}"}


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::CloudConfig": CloudConfig}
