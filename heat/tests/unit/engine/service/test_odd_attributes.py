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

"""Attributes that are read each time, of plug-ins that are in trouble."""

from __future__ import annotations

from typing import Any

from heat.tests import base, inprocess

_PLUGIN = '''
import collections

from heat.common import exception
from heat.engine import attributes, resource

#: What its service says: raised when it can be.
NOW = {"value": "A", "made": None, "varies": None, "shown": None}

#: How often it was asked, by attribute.
READS = collections.Counter()


class Odd(resource.Resource):
    """Tells what its service says, kept and read each time."""

    attributes_schema = {
        "kept": attributes.Schema("kept"),
        "read": attributes.Schema("read", cache_mode="cache_none"),
        "else": attributes.Schema("else", cache_mode="cache_none"),
    }

    def __init__(self, *args):
        if NOW["made"] is not None:
            raise NOW["made"]
        super().__init__(*args)

    @classmethod
    def varies(cls, attribute):
        if NOW["varies"] is not None:
            raise NOW["varies"]
        return super().varies(attribute)

    def handle_create(self):
        self.resource_id_set(self.name)

    def handle_check(self):
        pass

    def _resolve_attribute(self, name):
        READS[name] += 1
        if isinstance(NOW["value"], Exception):
            raise NOW["value"]
        return NOW["value"]

    def _show_resource(self):
        if isinstance(NOW["shown"], Exception):
            raise NOW["shown"]
        return NOW["shown"]


def resource_mapping():
    return {"Test::OddAttributes": Odd}
'''


def _reference(*names: str) -> dict[str, Any]:
    return {"get_attr": list(names)}


def _template(other: str = "1") -> dict[str, Any]:
    odd = {"type": "Test::OddAttributes"}
    parts = [_reference("odd", "read"), _reference("odd", "kept")]
    values = {
        "kept": _reference("odd", "kept"),
        "read": _reference("odd", "read"),
        "part": _reference("odd", "read", "part"),
        "else": _reference("odd", "else"),
        "all": _reference("odd"),
        "seen": _reference("seen", "value"),
    }
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "odd": odd,
            "other": {
                "type": "OS::Heat::Value",
                "properties": {"value": other},
            },
            "seen": {
                "type": "OS::Heat::Value",
                "properties": {"value": parts},
            },
        },
        "outputs": {key: {"value": value} for key, value in values.items()},
    }


class OddAttributesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service, module = inprocess.with_plugin(
            self, "odd_attributes", _PLUGIN
        )
        self.now, self.reads = module.NOW, module.READS
        self.now.update(
            {"value": "A", "made": None, "varies": None, "shown": None}
        )
        self.path = "/stacks/s/" + self.service.create("s", _template())

    def outputs(self):
        shown = self.service.get(self.path)["stack"]
        found = {
            each["output_key"]: each["output_value"]
            for each in shown["outputs"]
        }
        for key, value in found.items():
            self.assertEqual(value, self.output(key))
        return found

    def output(self, key):
        one = self.service.get(f"{self.path}/outputs/{key}")["output"]
        self.assertNotIn("output_error", one)
        return one["output_value"]

    def act(self, action):
        self.service.call("POST", f"{self.path}/actions", {action: None})
        ident = self.path.rpartition("/")[2]
        self.service.wait(ident, f"{action.upper()}_COMPLETE")

    def update(self, other):
        body = {"template": _template(other)}
        self.service.call("PUT", self.path, body)
        self.service.wait(self.path.rpartition("/")[2], "UPDATE_COMPLETE")

    def test_all_attributes_of_a_service_that_is_away(self):
        before = self.outputs()
        self.now["value"] = RuntimeError("it is away")
        self.assertEqual(before, self.outputs())
        self.update("2")
        self.act("check")
        self.assertEqual(before, self.outputs())

    def test_none_is_a_value(self):
        self.now["value"] = None
        self.update("2")
        found = self.outputs()
        self.assertEqual([None, "A"], found["seen"])
        self.assertEqual((None, "A"), (found["read"], found["kept"]))
        self.act("check")
        self.assertIsNone(self.outputs()["kept"])

    def test_one_output_asks_for_what_it_refers_to(self):
        self.reads.clear()
        self.output("else")
        self.assertEqual({"else": 1}, dict(self.reads))
        self.output("kept")
        self.assertEqual({"else": 1}, dict(self.reads))

    def test_a_look_asks_once(self):
        for value in ("B", RuntimeError("it is away")):
            self.now["value"] = value
            self.reads.clear()
            self.service.get(self.path)
            self.assertEqual((1, 1), (self.reads["read"], self.reads["else"]))
            self.reads.clear()
            path = f"{self.path}/resources/odd?with_attr=read&with_attr=kept"
            self.service.get(path)
            self.assertEqual({"read": 1, "else": 1, "kept": 1}, self.reads)

    def attributes(self, query=""):
        path = f"{self.path}/resources/odd{query}"
        return self.service.get(path)["resource"]["attributes"]

    def test_what_its_service_shows_is_told_too(self):
        """And is told in the place of what the type declares."""
        declared = {"kept": "A", "read": "A", "else": "A"}
        self.assertEqual(declared, self.attributes())
        shown = {"id": "odd", "kept": {"b": [1]}, "size": 3}
        self.now["shown"] = shown
        told = {**declared, **shown}
        self.assertEqual(told, self.attributes())
        self.reads.clear()
        self.assertEqual(told, self.attributes("?with_attr=size"))
        self.assertEqual({"read": 1, "else": 1}, self.reads)
        self.assertEqual(
            {**told, "show": shown}, self.attributes("?with_attr=show")
        )
        self.assertEqual("A", self.output("kept"))
        for nothing in (None, [1], "text", RuntimeError("it is away")):
            with self.subTest(nothing=nothing):
                self.now["shown"] = nothing
                self.assertEqual(declared, self.attributes())

    def test_a_plug_in_that_can_no_more_be_used(self):
        before = self.outputs()
        for how in ("made", "varies"):
            for error in (RuntimeError("broken"), ValueError("a value")):
                with self.subTest(how=how, error=error):
                    self.now[how] = error
                    self.assertEqual(before, self.outputs())
            self.now[how] = None

    def test_a_number_that_nobody_can_write(self):
        before = self.outputs()
        self.now["value"] = 10**5000
        self.assertEqual(before, self.outputs())
        self.act("check")
        self.assertEqual(before, self.outputs())
