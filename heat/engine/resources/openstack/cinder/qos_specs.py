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

"""OS::Cinder::QoSSpecs and QoSAssociation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine.resource import link, notation, rest


class QoSSpecs(rest.RestResource):
    """Limits on the use of volumes, for the types they are associated with.

    Usually only an administrator may make some.
    """

    default_client_name = "cinder"
    entity = "qos_spec"
    properties_schema = notation.properties("""
        name string -- What they are called; made up when left out.
        specs map (required, update) -- The limits: keys and values.
    """)
    not_sent = frozenset({"specs"})

    def create_body(self, properties: Any) -> dict[str, Any]:
        return {
            **_texts(properties["specs"]),
            **super().create_body(properties),
        }

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        if "specs" not in prop_diff:
            return None
        wanted = _texts(self.properties_of(json_snippet)["specs"])
        gone = sorted(self.shown()["specs"].keys() - wanted.keys())
        if gone:
            self.collection().request(
                "PUT", f"/{self.resource_id}/delete_keys", json={"keys": gone}
            )
        self.collection().update(self.resource_id, wanted)
        return None

    def remove_object(self) -> None:
        # The service deletes none that a type is associated with.
        self.collection().request(
            "GET", f"/{self.resource_id}/disassociate_all"
        )
        super().remove_object()

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"specs": dict(resource_data.get("specs") or {})}


class QoSAssociation(link.Link):
    """Lets QoS specs hold for volume types."""

    default_client_name = "cinder"
    entity = "qos_spec"
    properties_schema = notation.properties("""
        qos_specs string (required, is cinder.qos_specs) -- Name or id of the
            -- QoS specs.
        volume_types list{* string (is cinder.vtype)} (required, update) --
            -- Names or ids of the volume types.
    """)
    finds = {
        "qos_specs": "cinder.qos_spec",
        "volume_types": "cinder.volume_type",
    }

    def _ask(self, verb: str, types: Any) -> None:
        for each in sorted(types):
            self.collection().request(
                "GET",
                f"/{self.resource_id}/{verb}",
                params={"vol_type_id": each},
            )

    def _associated(self) -> set[str]:
        found = self.collection().request(
            "GET", f"/{self.resource_id}/associations"
        )
        return {each["id"] for each in found["qos_associations"]}

    def connect(self, properties: Any) -> None:
        self.resource_id_set(properties["qos_specs"])
        wanted = set(properties["volume_types"])
        ours = set(self.properties["volume_types"])
        now = self._associated()
        self._ask("disassociate", (ours & now) - wanted)
        self._ask("associate", wanted - now)

    def remove_object(self) -> None:
        ours = set(self.properties["volume_types"])
        self._ask("disassociate", ours & self._associated())

    def prepare_for_replace(self) -> None:
        """Give up the types: each can have one association only."""
        if self.resource_id is None or self.given_up in self.data():
            return
        ours = set(self.properties["volume_types"]) & self._associated()
        self.data_set(self.given_up, json.dumps(sorted(ours)))
        self._ask("disassociate", ours)

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Take the types back."""
        self._ask("associate", json.loads(self.data()[self.given_up]))

    def shown(self) -> dict[str, Any]:
        """The types, of which those that are wanted are associated."""
        now = self._associated()
        # Of specs of the user's the template need not name any.
        given = "volume_types" in self.properties.given()
        wanted = self.properties["volume_types"] if given else ()
        missing = set(wanted) - now
        if missing:
            raise exception.EntityNotFound(
                entity="QoS association with the volume type",
                name=", ".join(sorted(missing)),
            )
        return {"volume_types": sorted(now)}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items()}


def resource_mapping() -> dict[str, Any]:
    return {
        "OS::Cinder::QoSAssociation": QoSAssociation,
        "OS::Cinder::QoSSpecs": QoSSpecs,
    }
