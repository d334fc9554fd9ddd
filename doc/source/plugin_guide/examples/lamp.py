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

"""Acme::Light::Lamp: a lamp of the Acme light service."""

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource, support


class Lamp(resource.Resource):
    """A lamp that can be dimmed."""

    support_status = support.SupportStatus(version="1.0")

    PROPERTIES = (ROOM, BRIGHTNESS) = ("room", "brightness")
    ATTRIBUTES = (WATTS,) = ("watts",)

    properties_schema = {
        ROOM: properties.Schema(
            properties.Schema.STRING,
            _("Where the lamp is."),
            required=True,
            constraints=[constraints.Length(min=1, max=40)],
        ),
        BRIGHTNESS: properties.Schema(
            properties.Schema.INTEGER,
            _("Percent."),
            default=100,
            constraints=[constraints.Range(min=0, max=100)],
            update_allowed=True,
        ),
    }
    attributes_schema = {
        WATTS: attributes.Schema(
            _("The power that it takes now."),
            type=attributes.Schema.INTEGER,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    # The name of a client plug-in; client() gives what that one makes.
    default_client_name = "acme"

    def handle_create(self):
        lamp = self.client().install(
            name=self.physical_resource_name(),
            room=self.properties[self.ROOM],
            brightness=self.properties[self.BRIGHTNESS],
        )
        # From here on the lamp is found, and deleted, whatever happens.
        self.resource_id_set(lamp["id"])
        return lamp["id"]

    def check_create_complete(self, lamp_id):
        lamp = self.client().show(lamp_id)
        if lamp["state"] == "broken":
            raise exception.ResourceInError(
                resource_status=lamp["state"], status_reason=lamp["why"]
            )
        return lamp["state"] == "on"

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if self.BRIGHTNESS in prop_diff:
            self.client().dim(self.resource_id, prop_diff[self.BRIGHTNESS])

    def handle_delete(self):
        if self.resource_id is None:
            return
        try:
            self.client().remove(self.resource_id)
        except Exception as ex:
            self.client_plugin().ignore_not_found(ex)

    def _resolve_attribute(self, name):
        if self.resource_id is None:
            return None
        return self.client().show(self.resource_id)[name]


def resource_mapping():
    return {"Acme::Light::Lamp": Lamp}
