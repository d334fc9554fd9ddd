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

"""The client plug-in ``acme``, for the group ``heat.clients``."""

from heat.engine.clients import client_plugin


class GoneError(Exception):
    """The light service does not know the lamp (any more)."""


class AcmeLights:
    """Stands for the library that speaks to the service."""

    lamps = {}

    def install(self, name, room, brightness):
        lamp = {"id": f"lamp-{len(self.lamps) + 1}", "name": name}
        lamp.update(room=room, watts=brightness // 10, state="on")
        self.lamps[lamp["id"]] = lamp
        return lamp

    def show(self, lamp_id):
        if lamp_id not in self.lamps:
            raise GoneError(lamp_id)
        return self.lamps[lamp_id]

    def dim(self, lamp_id, brightness):
        self.show(lamp_id)["watts"] = brightness // 10

    def remove(self, lamp_id):
        del self.lamps[self.show(lamp_id)["id"]]


class AcmeClientPlugin(client_plugin.ClientPlugin):
    """Makes the client of one user."""

    def _create(self, version=None):
        return AcmeLights()

    def is_not_found(self, ex):
        return isinstance(ex, GoneError)
