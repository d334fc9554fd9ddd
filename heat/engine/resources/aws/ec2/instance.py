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

"""AWS::EC2::Instance: a server of the compute service, in EC2's words.

Everything a server does is in :mod:`...openstack.nova.server`; here one set
of words becomes the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, properties, resource
from heat.engine.resource import notation, rest
from heat.engine.resources.openstack.nova import (
    server,
    server_networks,
    server_schema,
    server_update,
)

IMAGE, FLAVOR, TAGS = "ImageId", "InstanceType", "Tags"
SUBNET, CARDS = "SubnetId", "NetworkInterfaces"

#: property of an instance -> that of a server which says the same
_PLAIN = {
    "AvailabilityZone": "availability_zone",
    FLAVOR: "flavor",
    IMAGE: "image",
    "KeyName": "key_name",
    "UserData": "user_data",
}


class Instance(server.Server):
    """A virtual machine, in the words of EC2.

    Its tags are metadata of the server.
    """

    finds = {IMAGE: "glance.image", FLAVOR: "nova.flavor"}
    renamed = {}

    properties_schema = notation.properties("""
        AvailabilityZone string -- Zone that the instance is placed in.
        BlockDeviceMappings list{* map{
            DeviceName string (required) -- Device, such as vda.
            Ebs map{
                DeleteOnTermination boolean (=true) -- The volume goes when
                -- the instance goes.
                SnapshotId string (is cinder.snapshot) -- Snapshot to make
                -- the volume from.
                VolumeSize string -- Size in GiB.
            } -- The volume.
        }} -- Volumes to make for the instance.
        ImageId string (required, is glance.image) -- Name or id of the
        -- image.
        InstanceType string (required, update, is nova.flavor) -- Name or id
        -- of the flavor.
        KeyName string (is nova.keypair) -- Key pair that logs in.
        NetworkInterfaces list (update) -- Ports that are there: their ids,
        -- or maps with NetworkInterfaceId and DeviceIndex.
        NovaSchedulerHints list{* map{
            Key string (required) -- Name of the hint.
            Value string (required) -- Its value.
        }} -- Hints for placing the instance.
        SecurityGroupIds list -- Ids of security groups.
        SecurityGroups list -- Names or ids of security groups.
        SubnetId string (update) -- The subnet of its address.
        Tags list{* map{
            Key string (required) -- Name of the tag.
            Value string (required) -- Its value.
        }} (update) -- Tags of the instance.
        UserData string -- What it is told at its first boot.
        Volumes list{* map{
            Device string (required) -- Device, such as vdb.
            VolumeId string (required, is cinder.volume) -- The volume.
        }} (=[]) -- Volumes that are there, to attach.
    """)
    attributes_schema = notation.attributes("""
        AvailabilityZone string -- Zone that the instance is in.
        PrivateDnsName string -- Same as PrivateIp.
        PrivateIp string -- Its first fixed address.
        PublicDnsName string -- Same as PublicIp.
        PublicIp string -- Its first floating address, or else PrivateIp.
    """)
    # A floating address comes when the instance is there.
    for _each in ("PublicDnsName", "PublicIp"):
        attributes_schema[_each].cache_mode = attributes.Schema.CACHE_NONE
    del _each

    @staticmethod
    def as_server(props: Any) -> properties.Properties:
        """The properties of a server that is such an instance."""
        given: dict[str, Any] = {
            theirs: props[ours]
            for ours, theirs in _PLAIN.items()
            if props[ours] is not None
        }
        given["metadata"] = _pairs(props[TAGS])
        given["scheduler_hints"] = _pairs(props["NovaSchedulerHints"])
        given["security_groups"] = [
            *(props["SecurityGroupIds"] or ()),
            *(props["SecurityGroups"] or ()),
        ]
        given["networks"] = _cards(props)
        given["block_device_mapping"] = _disks(props)
        given = {key: value for key, value in given.items() if value}
        return properties.Properties(server_schema.PROPERTIES, given)

    def validate(self) -> None:
        # What a server checks is about words that an instance has not.
        rest.RestResource.validate(self)
        given = self.properties.data.get
        if given(SUBNET) is not None and given(CARDS) is not None:
            raise exception.ResourcePropertyConflict(SUBNET, CARDS)

    def create_body(self, properties: Any) -> dict[str, Any]:
        return super().create_body(self.as_server(properties))

    def check_create_complete(self, token: Any) -> bool:
        return self.is_ready()

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Mapping[str, Any]
    ) -> Any:
        self.take_back()
        if not prop_diff:
            return None
        before = self.as_server(self.properties)
        after = self.as_server(self.properties_of(json_snippet))
        changed = {
            key: after[key]
            for key in ("flavor", "metadata", "networks")
            if after[key] != before[key]
        }
        return server_update.plan(self, before, after, changed)

    def prepare_for_replace(self) -> None:
        self.let_go(self.as_server(self.properties))

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        shown = self.shown()
        if name == "AvailabilityZone":
            return shown.get("OS-EXT-AZ:availability_zone")
        fixed, floating = _addresses(shown)
        return fixed if name.startswith("Private") else floating or fixed

    def parse_live_resource_data(
        self, resource_properties: Any, resource_data: Mapping[str, Any]
    ) -> dict[str, Any]:
        tags = resource_data.get("metadata") or {}
        found: dict[str, Any] = {
            TAGS: [{"Key": key, "Value": tags[key]} for key in sorted(tags)]
        }
        flavor = (resource_data.get("flavor") or {}).get("original_name")
        if flavor:
            found[FLAVOR] = self.client_plugin().find("flavor", flavor)
        found.update(self._live_cards(resource_properties))
        return found

    def _live_cards(self, wished: Any) -> dict[str, Any]:
        wanted = self.as_server(wished)
        if not wanted["networks"]:
            return {}
        live = server_networks.live(self, wanted)
        if live == _cards(wished):
            return {key: wished[key] for key in (SUBNET, CARDS)}
        ports = [each["port"] for each in live if "port" in each]
        return {SUBNET: None, CARDS: ports}


def _pairs(given: Any) -> dict[str, str]:
    return {each["Key"]: each["Value"] for each in given or ()}


def _cards(props: Any) -> list[dict[str, str]]:
    """The network cards, in order."""
    if props[SUBNET]:
        return [{"subnet": props[SUBNET]}]
    ports = [
        each if isinstance(each, Mapping) else {"NetworkInterfaceId": each}
        for each in props[CARDS] or ()
    ]
    ports.sort(key=lambda each: int(each.get("DeviceIndex", 0)))
    for each in ports:
        if not each.get("NetworkInterfaceId"):
            raise ValueError(
                _("Each of %s needs a NetworkInterfaceId.") % CARDS
            )
    return [{"port": str(each["NetworkInterfaceId"])} for each in ports]


def _disks(props: Any) -> list[dict[str, Any]]:
    """Volumes to make from snapshots, and those that are there."""
    made = []
    for each in props["BlockDeviceMappings"] or ():
        volume = each["Ebs"] or {}
        if not volume.get("SnapshotId"):
            raise ValueError(
                _("%s needs the SnapshotId of a volume to make.")
                % "BlockDeviceMappings"
            )
        made.append(
            {
                "device_name": each["DeviceName"],
                "snapshot_id": volume["SnapshotId"],
                "volume_size": volume["VolumeSize"],
                "delete_on_termination": volume["DeleteOnTermination"],
            }
        )
    made.extend(
        {"device_name": each["Device"], "volume_id": each["VolumeId"]}
        for each in props["Volumes"] or ()
    )
    return [
        {key: value for key, value in each.items() if value is not None}
        for each in made
    ]


def _addresses(shown: Mapping[str, Any]) -> tuple[str, str]:
    """The first fixed and the first floating address, "" for none."""
    found = {"fixed": "", "floating": ""}
    for addresses in (shown.get("addresses") or {}).values():
        for each in addresses:
            kind = each.get("OS-EXT-IPS:type", "fixed")
            found[kind] = found.get(kind) or each["addr"]
    return found["fixed"], found["floating"]


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::EC2::Instance": Instance}
