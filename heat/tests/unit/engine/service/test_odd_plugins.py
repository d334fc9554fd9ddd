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

"""What a plug-in tells, and cannot be kept: its resource fails, the engine
goes on, and the stack can be updated and deleted."""

from heat.tests import base, inprocess

_PLUGIN = """
import uuid

from heat.engine import attributes, properties, resource

HOW = {
    "object": lambda rsrc: rsrc.resource_id_set(object()),
    "map": lambda rsrc: rsrc.resource_id_set({"a": 1}),
    "half": lambda rsrc: rsrc.resource_id_set("a\\udc80"),
    "zero": lambda rsrc: rsrc.resource_id_set("a\\0b"),
    "long": lambda rsrc: rsrc.resource_id_set("x" * 300),
    "metadata": lambda rsrc: rsrc.metadata_set({"a": object()}),
    "data": lambda rsrc: rsrc.data_set("key", "a\\udc80"),
    "reference": lambda rsrc: rsrc.resource_id_set("half a character"),
    "number": lambda rsrc: rsrc.resource_id_set(5),
    "uuid": lambda rsrc: rsrc.resource_id_set(uuid.UUID(int=1)),
    "data number": lambda rsrc: rsrc.data_set("key", 5),
    "attribute": lambda rsrc: rsrc.resource_id_set("a"),
}


class Odd(resource.Resource):
    properties_schema = {"how": properties.Schema(properties.Schema.STRING)}
    attributes_schema = {"some": attributes.Schema("some")}

    def handle_create(self):
        if self.properties["how"] == "error":
            raise Exception("half a character: \\udc80, and \\0")
        HOW[self.properties["how"]](self)

    def get_reference_id(self):
        if self.resource_id == "half a character":
            return "a\\udc80"
        return super().get_reference_id()

    def _resolve_attribute(self, name):
        return object()

    def handle_delete(self):
        pass


def resource_mapping():
    return {"Test::Odd": Odd}
"""


class OddPluginsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service, _module = inprocess.with_plugin(
            self, "odd_ones", _PLUGIN
        )

    def live(self, how, status, words):
        """Create a stack, which ends so; update and delete it."""

        def template(how):
            odd = {"type": "Test::Odd", "properties": {"how": how}}
            value = {"value": [{"get_attr": ["a", "some"]}]}
            reads = {"type": "OS::Heat::Value", "properties": value}
            return {
                "heat_template_version": "2018-08-31",
                "resources": {"a": odd, "b": reads},
            }

        made = self.service.call(
            "POST", "/stacks", {"stack_name": "s", "template": template(how)}
        )
        stack_id = made.get_json()["stack"]["id"]
        shown = self.service.wait(stack_id, f"CREATE_{status}")
        self.assertIn(words, shown["stack_status_reason"])
        where = f"/stacks/s/{stack_id}"
        self.service.call("PUT", where, {"template": template("number")})
        self.service.wait(stack_id, "UPDATE_COMPLETE")
        self.service.call("DELETE", where)
        self.service.wait(stack_id, "DELETE_COMPLETE")

    def test_failures(self):
        for how, words in (
            ("object", "Test::Odd tells what can't be kept: the id of its"),
            ("map", "the id of its object is no text"),
            ("half", "the id of its object can't be stored"),
            ("zero", "the id of its object can't be stored"),
            ("long", "the id of its object can't be stored"),
            ("metadata", "its metadata can't be stored"),
            ("data", "its data 'key' can't be stored"),
            ("reference", "resources.a: its end can't be recorded"),
            ("error", "half a character: ?, and ?"),
        ):
            with self.subTest(how=how):
                self.live(how, "FAILED", words)

    def test_what_can_be_kept(self):
        for how in ("number", "uuid", "data number", "attribute"):
            with self.subTest(how=how):
                self.live(how, "COMPLETE", "")
