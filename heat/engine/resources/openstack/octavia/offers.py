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

"""OS::Octavia::Flavor, AvailabilityZone, and the profile of each.

Usually only an administrator may make some.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from heat.engine.resource import notation, rest


class Offer(rest.RestResource):
    """Something that load balancers may be made with."""

    default_client_name = "octavia"
    #: the property that is JSON in a text
    data_property: ClassVar[str | None] = None

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See the base; JSON is compared, not how it is written."""
        found = super().parse_live_resource_data(
            resource_properties, resource_data
        )
        name = self.data_property
        if name is not None and name in found:
            wanted = resource_properties[name]
            if _meaning(wanted) == _meaning(found[name]):
                found[name] = wanted
        return found


def _meaning(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


class FlavorProfile(Offer):
    """What a provider makes of load balancers of a flavor."""

    entity = "flavorprofile"
    data_property = "flavor_data"
    properties_schema = notation.properties("""
        flavor_data string (required, update, is json_string) -- What the
            -- provider is told, as JSON.
        name string (update) -- What it is called; made up when left out.
        provider_name string (update) -- The provider.
    """)


class Flavor(Offer):
    """A kind of load balancers that users choose from."""

    entity = "flavor"
    properties_schema = notation.properties("""
        description string (update, ="") -- What it is for.
        enabled boolean (update, =true) -- Whether it can be chosen.
        flavor_profile string (required, is octavia.flavorprofile) -- Name or
            -- id of its profile.
        name string (update) -- What it is called; made up when left out.
    """)
    attributes_schema = notation.attributes("""
        flavor_profile_id string -- Id of its profile.
    """)
    body_keys = {"flavor_profile": "flavor_profile_id"}
    finds = {"flavor_profile": "octavia.flavorprofile"}


class AvailabilityZoneProfile(Offer):
    """What a provider makes of load balancers in a zone."""

    entity = "availability_zone_profile"
    data_property = "availability_zone_data"
    properties_schema = notation.properties("""
        availability_zone_data string (required, update, is json_string)
            -- What the provider is told, as JSON.
        name string (update) -- What it is called; made up when left out.
        provider_name string (update) -- The provider.
    """)


class AvailabilityZone(Offer):
    """Where users may have their load balancers. Its name is its id."""

    entity = "availability_zone"
    properties_schema = notation.properties("""
        availability_zone_profile string (required,
            is octavia.availabilityzoneprofile) -- Name or id of its profile.
        description string (update, ="") -- What it is for.
        enabled boolean (update, =true) -- Whether it can be chosen.
        name string (update) -- What it is called; made up when left out.
            -- Another name is another zone.
    """)
    attributes_schema = notation.attributes("""
        availability_zone_profile_id string -- Id of its profile.
    """)
    body_keys = {"availability_zone_profile": "availability_zone_profile_id"}
    finds = {"availability_zone_profile": "octavia.availability_zone_profile"}

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        return "name" in changed_properties_set


def resource_mapping() -> dict[str, Any]:
    return {
        f"OS::Octavia::{cls.__name__}": cls
        for cls in (
            AvailabilityZone,
            AvailabilityZoneProfile,
            Flavor,
            FlavorProfile,
        )
    }
