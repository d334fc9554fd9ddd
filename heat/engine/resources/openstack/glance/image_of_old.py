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

"""OS::Glance::Image, which templates of the first years name."""

from __future__ import annotations

from typing import Any

from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.glance import image

_OWN = notation.properties("""
    is_public boolean (=false) -- Whether all projects see it.
""")


class Image(image.WebImage):
    """An image that the image service fetches from the web."""

    support_status = support.SupportStatus(
        support.HIDDEN, message="Use OS::Glance::WebImage."
    )
    properties_schema = {
        **{
            name: each
            for name, each in image.WebImage.properties_schema.items()
            if name != "visibility"
        },
        **_OWN,
    }

    def create_body(self, properties: Any) -> dict[str, Any]:
        body = super().create_body(properties)
        public = body.pop("is_public", False)
        return {**body, "visibility": "public" if public else "private"}


def resource_mapping() -> dict[str, Any]:
    return {"OS::Glance::Image": Image}
