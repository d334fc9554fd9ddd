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

"""Written fast, and read back as if oslo.serialization had written it."""

import collections
import datetime
import json
import uuid

import hypothesis
import oslotest.base
import testscenarios
from hypothesis import strategies as st
from oslo_serialization import jsonutils

from heat.common import quick_json

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_Pair = collections.namedtuple("_Pair", "a b")
_WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5, 678)


def _deep(levels):
    value = 0
    for _level in range(levels):
        value = [value]
    return value


class QuickJsonTest(oslotest.base.BaseTestCase):
    @hypothesis.given(_VALUES)
    def test_json_values_are_read_back(self, value):
        self.assertEqual(value, json.loads(quick_json.dumps(value)))

    def test_text_is_utf8_and_compact(self):
        self.assertEqual(
            '{"é":[1,null]}'.encode(), quick_json.dumps({"é": [1, None]})
        )

    def test_ascii(self):
        for value, text in (
            ({"a": [1, None]}, b'{"a":[1,null]}'),
            ({"é": [1, "\U0001f600"]}, b'{"\\u00e9":[1,"\\ud83d\\ude00"]}'),
            ({"a": 2**70}, b'{"a": 1180591620717411303424}'),
        ):
            self.assertEqual(text, quick_json.ascii_dumps(value))

    def test_what_neither_writes(self):
        self.assertRaises(TypeError, quick_json.dumps, {(1, 2): 3})


class AsOsloSerializationTest(
    testscenarios.WithScenarios, oslotest.base.BaseTestCase
):
    """What orjson has no, or another, word for."""

    scenarios = [
        ("whole number past 64 bits", {"value": [2**64, -(2**100)]}),
        ("half a surrogate pair", {"value": "\ud800"}),
        ("keys that are numbers", {"value": {1: "a", None: "b"}}),
        ("set", {"value": {"one"}}),
        ("time", {"value": _WHEN}),
        ("id", {"value": uuid.UUID(int=7)}),
        ("tuple", {"value": (1, (2, 3))}),
        ("named tuple", {"value": _Pair(1, 2)}),
        ("deeper than orjson goes", {"value": _deep(300)}),
    ]

    def test_reads_the_same(self):
        self.assertEqual(
            json.loads(jsonutils.dumps(self.value)),
            json.loads(quick_json.dumps(self.value)),
        )
