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

"""What is running: the build and the engines."""

from __future__ import annotations

from heat.api.request import Answer, Call


def build_info(call: Call) -> Answer:
    """GET /build_info"""
    return Answer(
        {
            "api": {"revision": call.settings.revision},
            "engine": {"revision": call.engine.get_revision(call.context)},
        }
    )


def released(call: Call) -> Answer:
    """GET /released_objects"""
    found = call.engine.list_released(call.context)
    return Answer({"released_objects": found})


def services(call: Call) -> Answer:
    """GET /services"""
    return Answer({"services": call.engine.list_services(call.context)})
