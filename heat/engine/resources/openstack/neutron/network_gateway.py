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

"""OS::Neutron::NetworkGateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import support
from heat.engine.clients import errors
from heat.engine.resource import notation
from heat.engine.resources.openstack.neutron import neutron

_KEYS = ("segmentation_type", "segmentation_id")


class NetworkGateway(neutron.NeutronResource):
    """Connects networks with networks outside of the cloud, on layer 2.

    Usually only an administrator may make one.
    """

    support_status = support.SupportStatus(version="2014.1")

    required_service_extension = "network-gateway"
    entity = "network_gateway"
    status_key = None
    # Nobody tells which of the networks are connected.
    finishes_again = False
    properties_schema = notation.properties("""
        connections list{* map{
            network string (required, is neutron.network) -- Name or id of the
                -- network.
            network_id string (hidden, is neutron.network) -- Old name of
                -- network.
            segmentation_id integer (range 0..4094) -- Which of the segments
                -- outside; needed for vlan.
            segmentation_type string (="flat", in ["flat", "vlan"]) -- How the
                -- packets outside are told apart.
        }} (update, ={}) -- The networks that are connected.
        devices list{* map{
            id string (required) -- Id of the device.
            interface_name string (required) -- Its interface.
        }} (required, update, len 1..None) -- The devices that connect them.
        name string (update) -- What it is called; made up when left out.
    """)
    attributes_schema = notation.attributes("""
        default string -- Whether it is the one that is used by default.
    """)
    not_sent = frozenset({"connections"})
    finds = {"connections.network": "neutron.network"}
    renamed = {"connections.network_id": "network"}

    def validate(self) -> None:
        super().validate()
        for index, each in enumerate(self.properties["connections"] or ()):
            numbered = bool(each["segmentation_id"])
            if numbered != (each["segmentation_type"] == "vlan"):
                raise exception.StackValidationFailed(
                    path=[
                        "properties",
                        "connections",
                        str(index),
                        "segmentation_id",
                    ],
                    message=_("It is needed for vlan, and there for it only."),
                )

    def _connect(self, verb: str, connection: Mapping[str, Any]) -> None:
        self.collection().request(
            "PUT",
            f"/{self.resource_id}/{verb}_network",
            json=dict(connection),
            idempotent=False,
        )

    def finish_create(self, properties: Any) -> None:
        for each in _connections(properties):
            self._connect("connect", each)

    def needs_replace_with_prop_diff(
        self,
        changed_properties_set: set[str],
        after_props: Any,
        before_props: Any,
    ) -> bool:
        # The service takes devices for a new gateway only.
        return "devices" in changed_properties_set

    def finish_update(
        self, changed: Mapping[str, Any], properties: Any
    ) -> None:
        if "connections" not in changed:
            return
        before = _connections(self.properties)
        after = _connections(properties)
        for each in before:
            if each not in after:
                self._disconnect(each)
        for each in after:
            if each not in before:
                self._connect("connect", each)

    def _disconnect(self, connection: Mapping[str, Any]) -> None:
        try:
            self._connect("disconnect", connection)
        except errors.NotFound:
            return

    def remove_object(self) -> None:
        for each in _connections(self.properties):
            self._disconnect(each)
        super().remove_object()


def _connections(properties: Any) -> list[dict[str, Any]]:
    """The connections, as the service takes them."""
    return [
        {
            "network_id": each["network"],
            **{key: each[key] for key in _KEYS if each[key] is not None},
        }
        for each in properties["connections"] or ()
    ]


def resource_mapping() -> dict[str, Any]:
    return {"OS::Neutron::NetworkGateway": NetworkGateway}
