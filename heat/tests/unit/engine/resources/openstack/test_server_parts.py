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

"""What a server is asked for with: disks, user data."""

from __future__ import annotations

import dataclasses
import email
import types
import uuid

from heat.common import context as heat_context
from heat.common import exception
from heat.engine import resource
from heat.engine.resources.openstack.nova import server_disks, user_data
from heat.tests import base
from heat.tests.unit.engine import stacks


def server(metadata=None, **properties):
    """A server's resource, with no cloud."""
    section = {
        "type": "OS::Nova::Server",
        "properties": {"flavor": "f", **properties},
    }
    if metadata:
        section["metadata"] = metadata
    registry = stacks.registry()
    view = stacks.view({"r": section})
    context = heat_context.RequestContext()
    values = dataclasses.replace(view.values, context=context)
    stack = resource.StackView(view.definition, values=values)
    definition = view.definition.resource_definitions["r"]
    rsrc = registry.get("OS::Nova::Server")("r", definition, stack)
    rsrc.load_state(uuid=str(uuid.uuid4()))
    return rsrc


class DisksTest(base.TestCase):
    def test_refused(self):
        image = {"image": "i", "volume_size": 1}
        for disks, words in (
            ([{}], "block_device_mapping_v2[0]"),
            ([image, {"delete_on_termination": True}], "v2[1]"),
            ([{"volume_id": "v", "snapshot_id": "s"}], "same time"),
            ([image, {"swap_size": 1, "ephemeral_size": 1}], "same time"),
            ([{"image": "i"}], "volume_size"),
            ([{"volume_id": "v", "volume_type": "t"}], "volume_type"),
            ([{"swap_size": 64}], "boots from"),
            ([], "boots from"),
        ):
            with self.subTest(disks=disks):
                rsrc = server(block_device_mapping_v2=disks)
                error = self.assertRaises(
                    exception.HeatException, rsrc.validate
                )
                self.assertIn(words, str(error))

    def test_more_refused(self):
        disk = {"image": "i", "volume_size": 1, "volume_type": "t"}
        for properties, words in (
            (
                {"block_device_mapping_v2": [disk], "personality": {"a": "b"}},
                "properties.personality",
            ),
            ({"image": "i", "reservation_id": "r"}, "reservation_id"),
            (
                {
                    "block_device_mapping": [
                        {"device_name": "vda", "volume_id": "v"}
                    ],
                    "block_device_mapping_v2": [disk],
                },
                "same time",
            ),
        ):
            with self.subTest(properties=properties):
                error = self.assertRaises(
                    exception.HeatException, server(**properties).validate
                )
                self.assertIn(words, str(error))

    def wanted(self, *disks, **properties):
        rsrc = server(block_device_mapping_v2=list(disks), **properties)
        rsrc.validate()
        return server_disks.wanted(rsrc.properties)

    def test_the_first_that_can_boots(self):
        found = self.wanted(
            {"swap_size": 64},
            {"volume_id": "v"},
            {"image": "i", "volume_size": 2},
        )
        self.assertEqual([-1, 0, -1], [each["boot_index"] for each in found])

    def test_unless_something_else_does(self):
        found = self.wanted(
            {"volume_id": "v"},
            {"image": "i", "volume_size": 2, "boot_index": 0},
        )
        self.assertEqual([-1, 0], [each["boot_index"] for each in found])
        [extra] = self.wanted({"volume_id": "v"}, image="i")
        self.assertEqual(-1, extra["boot_index"])

    def test_sources(self):
        for disk, asked in (
            (
                {"snapshot_id": "s", "volume_type": "fast"},
                {
                    "uuid": "s",
                    "source_type": "snapshot",
                    "destination_type": "volume",
                    "volume_type": "fast",
                    "boot_index": -1,
                },
            ),
            (
                {"ephemeral_size": 3, "ephemeral_format": "xfs"},
                {
                    "source_type": "blank",
                    "destination_type": "local",
                    "volume_size": 3,
                    "guest_format": "xfs",
                    "boot_index": -1,
                },
            ),
            (
                {"swap_size": 64},
                {
                    "source_type": "blank",
                    "destination_type": "local",
                    "volume_size": 64,
                    "guest_format": "swap",
                    "boot_index": -1,
                },
            ),
        ):
            with self.subTest(disk=disk):
                self.assertEqual([asked], self.wanted(disk, image="i"))

    def test_the_old_form(self):
        rsrc = server(
            block_device_mapping=[
                {
                    "device_name": "vda",
                    "snapshot_id": "s",
                    "volume_size": 3,
                    "delete_on_termination": True,
                },
                {"device_name": "vdb", "volume_id": "v"},
            ]
        )
        rsrc.validate()
        self.assertEqual(
            {"vda": "s:snap:3:1", "vdb": "v"},
            server_disks.legacy(rsrc.properties),
        )


class UserDataTest(base.TestCase):
    def parts(self, rsrc):
        """Kind and content of each part."""
        told = email.message_from_string(
            user_data.build(rsrc, rsrc.properties)
        )
        return [
            (each.get_content_subtype(), each.get_payload(decode=True))
            for each in told.walk()
            if not each.is_multipart()
        ]

    def test_raw(self):
        rsrc = server(user_data="#!/bin/sh\n", user_data_format="RAW")
        self.assertEqual("#!/bin/sh\n", user_data.build(rsrc, rsrc.properties))
        rsrc = server(user_data_format="RAW")
        self.assertIsNone(user_data.build(rsrc, rsrc.properties))

    def test_wrapped(self):
        for kind in ("HEAT_CFNTOOLS", "SOFTWARE_CONFIG"):
            rsrc = server(
                metadata={"a": 1},
                user_data="#cloud-config\n{}",
                user_data_format=kind,
            )
            self.assertEqual(
                [
                    ("x-cfninitdata", b'{"a": 1}'),
                    ("cloud-config", b"#cloud-config\n{}"),
                ],
                self.parts(rsrc),
            )

    def test_each_part_of_a_document_of_several(self):
        inner = server(
            metadata={"a": 1},
            user_data="#!/bin/sh\n",
            user_data_format="SOFTWARE_CONFIG",
        )
        document = user_data.build(inner, inner.properties)
        rsrc = server(user_data=document, user_data_format="SOFTWARE_CONFIG")
        self.assertEqual(self.parts(inner), self.parts(rsrc))

    def test_the_text_of_a_software_config(self):
        config, unknown = str(uuid.uuid4()), str(uuid.uuid4())

        def show(_db, _context, ident):
            if ident != config:
                raise exception.EntityNotFound(entity="Config", name=ident)
            return {"config": "#!/bin/sh\nfrom config"}

        # The store of configs is elsewhere tested: its answers are enough.
        self.patch(user_data, "configs", types.SimpleNamespace(show=show))
        for given, kind, told in (
            (config, "RAW", "#!/bin/sh\nfrom config"),
            (unknown, "RAW", unknown),
        ):
            rsrc = server(user_data=given, user_data_format=kind)
            self.assertEqual(told, user_data.build(rsrc, rsrc.properties))
        rsrc = server(user_data=config, user_data_format="SOFTWARE_CONFIG")
        self.assertEqual(
            [("x-shellscript", b"#!/bin/sh\nfrom config")], self.parts(rsrc)
        )
        rsrc = server(user_data=config, user_data_format="HEAT_CFNTOOLS")
        self.assertEqual(
            [("x-cfninitdata", config.encode())], self.parts(rsrc)
        )
