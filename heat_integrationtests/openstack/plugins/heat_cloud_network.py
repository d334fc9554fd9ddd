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

"""A mechanism driver that binds each port at once, as if agents had.

QoS rules and trunks are taken and kept; there is nothing that they could
take effect on.
"""

from neutron.services.trunk.drivers import base as trunk_base
from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api
from neutron_lib.services.qos import base as qos_base
from neutron_lib.services.qos import constants as qos_constants
from neutron_lib.services.trunk import constants as segmentation

_ANY_NUMBER = {"type:range": [0, 2**31 - 1]}
_BOTH = {"type:values": constants.VALID_DIRECTIONS}
_RULES = {
    qos_constants.RULE_TYPE_BANDWIDTH_LIMIT: {
        qos_constants.MAX_KBPS: _ANY_NUMBER,
        qos_constants.MAX_BURST: _ANY_NUMBER,
        qos_constants.DIRECTION: _BOTH,
    },
    qos_constants.RULE_TYPE_DSCP_MARKING: {
        qos_constants.DSCP_MARK: {"type:values": constants.VALID_DSCP_MARKS},
    },
    qos_constants.RULE_TYPE_MINIMUM_BANDWIDTH: {
        qos_constants.MIN_KBPS: _ANY_NUMBER,
        qos_constants.DIRECTION: _BOTH,
    },
    qos_constants.RULE_TYPE_MINIMUM_PACKET_RATE: {
        qos_constants.MIN_KPPS: _ANY_NUMBER,
        qos_constants.DIRECTION: {
            "type:values": constants.VALID_DIRECTIONS_AND_ANY
        },
    },
}


class InstantDriver(api.MechanismDriver):
    """There are no agents, and no cables to wait for."""

    def initialize(self) -> None:
        # Both make themselves known to their service plug-ins.
        self.quality = _Quality(
            name="heat_cloud",
            vif_types=[portbindings.VIF_TYPE_OVS],
            vnic_types=[portbindings.VNIC_NORMAL],
            supported_rules=_RULES,
            requires_rpc_notifications=False,
        )
        self.trunks = _Trunks(
            name="heat_cloud",
            interfaces=(portbindings.VIF_TYPE_OVS,),
            segmentation_types=(segmentation.SEGMENTATION_TYPE_VLAN,),
            can_trunk_bound_port=True,
        )

    def bind_port(self, context) -> None:
        for segment in context.segments_to_bind:
            context.set_binding(
                segment[api.ID],
                portbindings.VIF_TYPE_OVS,
                {portbindings.CAP_PORT_FILTER: True},
                status=constants.PORT_STATUS_ACTIVE,
            )
            return


class _Quality(qos_base.DriverBase):
    """Takes all rules."""


class _Trunks(trunk_base.DriverBase):
    """Takes all trunks, and says that they work."""

    @property
    def is_loaded(self) -> bool:
        return True
