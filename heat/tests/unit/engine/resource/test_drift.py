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

"""What counts as a difference between a live object and its resource."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from heat.common import exception
from heat.engine import resource
from heat.engine.resource import drift, lifecycle, notation
from heat.tests import base
from heat.tests.unit.engine import stacks

SCHEMA = notation.properties("""
    text string (update)
    number integer (update)
    truth boolean (update, =true)
    silent string (update, ="")
    free map (update)
    said map{a string, b integer} (update)
    names list{* string} (update)
    places list{* map{subnet string, ip string}} (update)
""")


class Live(resource.Resource):
    """Its live state is what a test says."""

    properties_schema = SCHEMA
    live: Any = {}

    def get_live_state(self, resource_properties: Any) -> dict[str, Any]:
        if isinstance(self.live, Exception):
            raise self.live
        return dict(self.live)


def made(wanted: dict[str, Any], live: Any) -> Live:
    rsrc = stacks.one(
        Live,
        wanted,
        stored=wanted,
        state=("CREATE", "COMPLETE"),
        physical_id="p",
    )
    assert isinstance(rsrc, Live)
    rsrc.live = live
    return rsrc


class DriftTest(base.TestCase):
    def test_table(self):
        for wanted, live, names in (
            ({"text": "a"}, {"text": "a"}, []),
            ({"text": "a"}, {"text": "b"}, ["text"]),
            ({"text": "a"}, {"text": None}, ["text"]),
            ({"text": "a"}, {}, []),
            ({"text": ""}, {"text": None}, []),
            ({"number": 5}, {"number": "5"}, []),
            ({"number": 5}, {"number": "6"}, ["number"]),
            ({"number": 5}, {"number": "five"}, ["number"]),
            ({"truth": False}, {"truth": "False"}, []),
            # A default holds as well, an empty one says nothing.
            ({}, {"truth": False}, ["truth"]),
            ({}, {"silent": "server"}, []),
            ({}, {"text": "chosen by the service"}, []),
            ({"free": {"a": 1}}, {"free": {"a": "1"}}, []),
            ({"free": {"a": 1}}, {"free": {"a": "1", "b": "2"}}, ["free"]),
            ({"free": {}}, {"free": {"b": "2"}}, ["free"]),
            ({"said": {"a": "x"}}, {"said": {"a": "x", "b": 2, "c": 3}}, []),
            ({"said": {"a": "x"}}, {"said": {"b": 2}}, ["said"]),
            ({"said": {"a": "x"}}, {"said": None}, ["said"]),
            ({"names": ["a", "b"]}, {"names": ["b", "a"]}, []),
            ({"names": ["a"]}, {"names": ["a", "b"]}, ["names"]),
            ({"names": ["a", "a"]}, {"names": ["a", "b"]}, ["names"]),
            (
                {"places": [{"subnet": "s"}]},
                {"places": [{"subnet": "s", "ip": "10.0.0.4"}]},
                [],
            ),
            (
                {"places": [{"subnet": "s"}]},
                {"places": [{"subnet": "t", "ip": "10.0.0.4"}]},
                ["places"],
            ),
        ):
            with self.subTest(wanted=wanted, live=live):
                rsrc = made(wanted, live)
                found = drift.differences(rsrc.properties, live)
                self.assertEqual(names, [each.name for each in found])

    @hypothesis.given(
        st.fixed_dictionaries(
            {},
            optional={
                "text": st.text(min_size=1),
                "number": st.integers(),
                "truth": st.booleans(),
                "free": st.dictionaries(st.text(min_size=1), st.integers()),
                "names": st.lists(st.text(min_size=1)),
            },
        )
    )
    def test_what_was_asked_for_is_no_difference(self, wanted):
        rsrc = made(wanted, wanted)
        shown = json.loads(json.dumps(wanted))
        self.assertEqual([], drift.differences(rsrc.properties, shown))

    def test_a_check_tells_and_does_not_fail(self):
        rsrc = made({"text": "a", "number": 1}, {"text": "b", "number": 1})
        operation = lifecycle.Operation(rsrc, "CHECK")
        self.assertEqual(lifecycle.Done(), operation.start())
        self.assertEqual(
            "differs from the template: resources.r.properties.text: "
            'expected "a", found "b"',
            operation.remark,
        )
        self.assertEqual(("CHECK", "COMPLETE"), rsrc.state)

    def test_a_check_of_the_users_object_compares_nothing(self):
        rsrc = made({"text": "a"}, {"text": "b"})
        rsrc.external = True
        operation = lifecycle.Operation(rsrc, "CHECK")
        operation.start()
        self.assertEqual("", operation.remark)

    def test_what_can_not_be_compared_fails_no_check(self):
        rsrc = made({"text": "a"}, KeyError("odd"))
        operation = lifecycle.Operation(rsrc, "CHECK")
        self.assertEqual(lifecycle.Done(), operation.start())
        self.assertEqual("", operation.remark)

    def test_look(self):
        seen = drift.look(made({"text": "a"}, {"text": "b", "number": 3}))
        self.assertEqual(drift.Seen(values={"text": "b"}), seen)
        gone = exception.EntityNotFound(entity="Thing", name="t")
        self.assertIn("gone", drift.look(made({}, gone)).unfit)
        bad = exception.ResourceInError(
            resource_status="ERROR", status_reason="No valid host"
        )
        self.assertIn("No valid host", drift.look(made({}, bad)).unfit)
        self.assertRaises(KeyError, drift.look, made({}, KeyError("odd")))
