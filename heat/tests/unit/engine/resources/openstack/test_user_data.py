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

"""What a guest is told at its first boot."""

from __future__ import annotations

import email
import json
import pathlib
import types
import uuid

import fixtures

from heat.common import exception
from heat.engine.resources.openstack.nova import user_data
from heat.tests import base
from heat.tests.unit.engine.resources.openstack import test_server_parts

server = test_server_parts.server
HANDLER = ("part-handler", user_data.PART_HANDLER.encode())


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
                    HANDLER,
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
            [HANDLER, ("x-cfninitdata", config.encode())], self.parts(rsrc)
        )

    def test_the_guest_writes_files(self):
        """As cloud-init does it: parts with a handler go to the handler."""
        rsrc = server(metadata={"a": "ä"}, user_data="#!/bin/sh\n")
        told = email.message_from_string(
            user_data.build(rsrc, rsrc.properties)
        )
        handler, *parts = told.get_payload()
        self.assertEqual("text/part-handler", handler.get_content_type())
        guest = {}
        exec(handler.get_payload(), guest)  # noqa: S102 - as the guest does
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "a"
        guest["FOLDER"] = str(folder)
        guest["handle_part"](None, "__begin__", None, None)
        for each in parts:
            kind = each.get_content_type()
            if kind in guest["list_types"]():
                content = each.get_payload(decode=True)
                # Bytes or a text, as the version of cloud-init wants.
                for given in (content, content.decode()):
                    name = each.get_filename()
                    guest["handle_part"](None, kind, f"../{name}", given)
        guest["handle_part"](None, "__end__", None, None)
        (kept,) = folder.iterdir()
        self.assertEqual("cfn-init-data", kept.name)
        self.assertEqual({"a": "ä"}, json.loads(kept.read_text()))
        self.assertEqual(0o600, kept.stat().st_mode & 0o777)
        self.assertEqual(0o700, folder.stat().st_mode & 0o777)

    def test_where_the_tools_ask(self):
        """heat-cfntools take the port from one file, the rest from another."""
        boto = (
            b"[Boto]\ndebug = 0\nis_secure = 1\n"
            b"https_validate_certificates = 0\n"
            b"cfn_region_name = heat\ncfn_region_endpoint = cfn.test\n"
        )
        files = [
            HANDLER,
            ("x-cfninitdata", b"https://cfn.test:8000"),
            ("x-cfninitdata", boto),
        ]
        script = ("x-shellscript", b"#!/bin/sh\n")
        for kind, option, url, told in (
            ("HEAT_CFNTOOLS", "metadata", "", [*files, script]),
            ("HEAT_CFNTOOLS", "metadata", "/", [*files, script]),
            ("HEAT_CFNTOOLS", "waitcondition", "/v1/waitcondition", files),
            ("SOFTWARE_CONFIG", "metadata", "", [script]),
        ):
            rsrc = server(user_data="#!/bin/sh\n", user_data_format=kind)
            rsrc.stack.values.ports.conf = types.SimpleNamespace(
                instance_connection_is_secure="1",
                instance_connection_https_validate_certificates="0",
                **{f"heat_{option}_server_url": f"https://cfn.test:8000{url}"},
            )
            with self.subTest(kind=kind, option=option, url=url):
                self.assertEqual(told, self.parts(rsrc)[: len(told)])
        # Nobody asks what needs nothing.
        rsrc = server(user_data_format="HEAT_CFNTOOLS")
        self.assertIsNone(user_data.build(rsrc, rsrc.properties))
