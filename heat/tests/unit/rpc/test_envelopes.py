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

"""Messages stay what any peer writes and reads."""

import datetime
import json

import oslotest.base
from kombu import serialization
from oslo_messaging._drivers import common

from heat.rpc import envelopes

_SAID = {"method": "show", "args": {"name": "é", "size": 2**70}}


def _read(text):
    return serialization.loads(
        text, "application/json", "utf-8", accept=["application/json"]
    )


class EnvelopesTest(oslotest.base.BaseTestCase):
    def setUp(self):
        super().setUp()
        envelopes.quicken()
        envelopes.quicken()

    def test_oslo_messaging_writes_with_it(self):
        envelope = common.serialize_msg({"a": [1, "é"]})
        self.assertEqual('{"a":[1,"é"]}', envelope["oslo.message"])

    def test_a_peer_reads_what_is_written(self):
        kind, encoding, text = serialization.dumps(
            common.serialize_msg(_SAID), serializer="json"
        )
        self.assertEqual(("application/json", "utf-8"), (kind, encoding))
        envelope = json.loads(text)
        self.assertEqual("2.0", envelope["oslo.version"])
        self.assertEqual(_SAID, json.loads(envelope["oslo.message"]))

    def test_what_a_peer_writes_is_read(self):
        envelope = {"oslo.version": "2.0", "oslo.message": json.dumps(_SAID)}
        for text in (json.dumps(envelope), json.dumps(envelope).encode()):
            self.assertEqual(_SAID, common.deserialize_msg(_read(text)))

    def test_what_is_no_envelope_is_kombus(self):
        when = datetime.datetime(2026, 1, 2)
        for value in (2**70, {"at": when}, {"x": "y"}, [float("inf")]):
            text = serialization.dumps(value, serializer="json")[2]
            self.assertEqual(value, _read(text))

    def test_an_error_goes_and_comes(self):
        try:
            raise ValueError("é")
        except ValueError as error:
            text = common.serialize_remote_exception(
                (ValueError, error, error.__traceback__)
            )
        found = common.deserialize_remote_exception(text, ["builtins"])
        self.assertIn("é", str(found))
