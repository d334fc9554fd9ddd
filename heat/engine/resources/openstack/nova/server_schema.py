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

"""The properties and attributes of OS::Nova::Server."""

from __future__ import annotations

from heat.engine.resource import notation

PROPERTIES = notation.properties("""
    admin_pass string (update) -- Password of the server's administrator.
    admin_user string (hidden) -- Without effect.
    availability_zone string -- Zone that the server is placed in.
    block_device_mapping list{* map{
        delete_on_termination boolean -- It goes when the server goes.
        device_name string (required) -- Device, such as vda.
        snapshot_id string (is cinder.snapshot) -- Snapshot to make it from.
        volume_id string (is cinder.volume) -- The volume.
        volume_size integer -- Size in GiB.
    }} -- Volumes to attach; block_device_mapping_v2 says more.
    block_device_mapping_v2 list{* map{
        boot_index integer -- Place in the boot order; 0 boots first.
        delete_on_termination boolean -- It goes when the server goes.
        device_name string -- Device, such as vda.
        device_type string (in ["cdrom", "disk"]) -- Disk or CD.
        disk_bus string (in ["ide", "lame_bus", "sata", "scsi", "usb",
            "virtio"]) -- Bus that it is on.
        ephemeral_format string (in ["ext2", "ext3", "ext4", "xfs", "ntfs"])
            -- File system of an empty local disk.
        ephemeral_size integer (range 1..None) -- Size of an empty local disk
            -- in GiB.
        image string (is glance.image) -- Name or id of the image to make it
            -- from.
        image_id string (hidden, is glance.image) -- Old name of image.
        snapshot_id string (is cinder.snapshot) -- Snapshot to make it from.
        swap_size integer -- Size of a swap disk in MiB.
        volume_id string (is cinder.volume) -- The volume.
        volume_size integer -- Size in GiB of a volume that is made.
        volume_type string (is cinder.vtype) -- Type of a volume that is made.
    }} -- The server's disks.
    config_drive boolean -- Whether user data comes on a disk, too.
    deployment_swift_data map{
        container string (len 1..None) -- Container of the object.
        object string (len 1..None) -- Object that metadata is put into.
    } (update, ={}) -- Where software deployments are polled from.
    diskConfig string (in ["AUTO", "MANUAL"]) -- Whether the root disk is
        -- made one partition.
    flavor string (required, update, is nova.flavor) -- Name or id of its
        -- flavor.
    flavor_update_policy string (update, ="RESIZE", in ["RESIZE", "REPLACE"])
        -- What another flavor means for the server.
    image string (update, is glance.image) -- Name or id of the image that it
        -- boots from.
    image_update_policy string (update, ="REBUILD", in ["REBUILD", "REPLACE",
        "REBUILD_PRESERVE_EPHEMERAL"]) -- What another image means for it.
    key_name string (is nova.keypair) -- Key pair that logs in.
    metadata map (update, ={}) -- Keys and values that are kept with it.
    name string (update) -- What it is called; made up when left out.
    networks list{* map{
        allocate_network string (update, in ["none", "auto"]) -- No network
            -- at all, or one that is chosen; stands alone.
        fixed_ip string (is ip_addr) -- The address wanted on the network.
        floating_ip string -- Id of the floating IP that leads here.
        network string (is neutron.network) -- Name or id of the network.
        port string (is neutron.port) -- Name or id of a port that is there.
        port_extra_properties map{
            admin_state_up boolean (update, =true) -- Whether it carries
                -- traffic.
            allowed_address_pairs list{* map} (update) -- Further addresses
                -- that traffic may come from.
            binding:vnic_type string (update, ="normal", in ["normal",
                "direct", "macvtap", "direct-physical", "baremetal",
                "virtio-forwarder", "smart-nic"]) -- Kind of network card.
            mac_address string (is mac_addr) -- Its MAC address.
            no_fixed_ips boolean (update, =false) -- It gets no address.
            port_security_enabled boolean (update) -- Whether security groups
                -- apply.
            propagate_uplink_status boolean (update) -- Whether the state of
                -- the uplink is passed on.
            qos_policy string (update, is neutron.qos_policy) -- QoS policy.
            value_specs map (update, ={}) -- Further attributes.
        } (update) -- A port is made with these, in place of by Nova.
        subnet string -- Name or id of the subnet that the address is of.
        tag string -- Tag that tells the guest which card it is.
        uuid string (hidden, is neutron.network) -- Old name of network.
    }} (update) -- Its network cards, in order.
    personality map (deprecated, ={}) -- Files to write into it.
    reservation_id string -- Groups servers that were asked for together.
    scheduler_hints map -- Hints for placing it.
    security_groups list (=[]) -- Names or ids of security groups; not for
        -- ports that are there.
    software_config_transport string (update, ="POLL_SERVER_CFN", in
        ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL",
        "ZAQAR_MESSAGE"]) -- How it learns of software deployments.
    tags list{* string} (update) -- Tags of the server.
    user_data string (update, ="") -- What the guest is told at its first
        -- boot.
    user_data_format string (="HEAT_CFNTOOLS", in ["HEAT_CFNTOOLS", "RAW",
        "SOFTWARE_CONFIG"]) -- How user_data is wrapped.
    user_data_update_policy string (update, ="REPLACE", in ["REPLACE",
        "IGNORE", "REBUILD"]) -- What other user data means for it.
""")

ATTRIBUTES = notation.attributes("""
    accessIPv4 string -- Address to reach it by, when somebody set one.
    accessIPv6 string -- Address to reach it by, when somebody set one.
    addresses map -- Its ports with addresses, by network.
    console_urls map -- Addresses of its consoles, by kind.
    first_address string -- The first of its addresses; see addresses.
    instance_name string -- What the hypervisor calls it.
    name string -- What it is called.
    networks map -- Its addresses, by network.
    os_collect_config map -- What the guest's agent is configured with.
    tags list -- Its tags.
""")
