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

"""Finding plug-ins, and what users are told of them."""

from __future__ import annotations

import os
import sys
import textwrap
import types
import uuid

import fixtures

from heat.common import exception
from heat.engine import plugins
from heat.tests import base
from heat.tests.unit.engine import stacks

VENDOR = '''
import logging

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.engine import support
from heat.engine import translation

LOG = logging.getLogger(__name__)


class Shelf(resource.Resource):
    """A shelf in the vendor's store."""

    support_status = support.SupportStatus(version='3.0.0')

    PROPERTIES = (SIZE, LABEL, BOOKS) = ('size', 'label', 'books')
    ATTRIBUTES = (FREE,) = ('free',)

    properties_schema = {
        SIZE: properties.Schema(
            properties.Schema.INTEGER, _('Size.'), required=True,
            constraints=[constraints.Range(min=1)], update_allowed=True),
        LABEL: properties.Schema(
            properties.Schema.STRING, _('Label.'),
            constraints=[constraints.CustomConstraint('vendor.label')]),
        BOOKS: properties.Schema(
            properties.Schema.LIST, _('Books.'), default=[],
            schema=properties.Schema(properties.Schema.STRING)),
    }
    attributes_schema = {
        FREE: attributes.Schema(
            _('Free places.'), type=attributes.Schema.INTEGER),
    }

    def handle_create(self):
        props = dict((k, v) for k, v in self.properties.items()
                     if v is not None)
        self.resource_id_set('shelf-%d' % props[self.SIZE])
        self.data_set('books', str(len(props[self.BOOKS])))
        return self.resource_id

    def check_create_complete(self, shelf_id):
        return shelf_id == self.resource_id

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if self.SIZE in prop_diff:
            if prop_diff[self.SIZE] < self.properties[self.SIZE]:
                raise resource.UpdateReplace(self.name)

    def _resolve_attribute(self, name):
        if name == self.FREE:
            return self.properties[self.SIZE] - int(self.data()['books'])


class LabelConstraint(constraints.BaseCustomConstraint):
    expected_exceptions = (exception.StackValidationFailed,)

    def validate_with_client(self, client, label):
        if ' ' in label:
            raise exception.StackValidationFailed(message='no blanks')


def resource_mapping():
    return {'Vendor::Store::Shelf': Shelf}


def constraint_mapping():
    return {'vendor.label': LabelConstraint}
'''


class PluginDirTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.dir = self.useFixture(fixtures.TempDir()).path
        self.addCleanup(plugins.__path__.clear)

    def load(self, *dirs):
        return plugins.PluginRegistry.load(
            types.SimpleNamespace(plugin_dirs=[*dirs, "/nonexistent"])
        )

    def drop(self, text, directory=None):
        # Python keeps modules by name, so each gets one of its own.
        name = f"plugin_{uuid.uuid4().hex}"
        path = os.path.join(directory or self.dir, name + ".py")
        with open(path, "w") as out:
            out.write(textwrap.dedent(text))
        module = f"heat.engine.plugins.{name}"
        self.addCleanup(sys.modules.pop, module, None)
        return name, path

    def test_vendor_plugin(self):
        name, path = self.drop(VENDOR)
        registry = self.load(self.dir)
        cls = registry.get("Vendor::Store::Shelf")
        self.assertEqual(f"heat.engine.plugins.{name}", cls.__module__)
        rsrc = stacks.one(cls, {"size": 3, "books": ["a"], "label": "x"})
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        self.assertEqual("shelf-3", rsrc.FnGetRefId())
        self.assertEqual(2, rsrc.FnGetAtt("free"))
        bad = stacks.one(cls, {"size": 3, "label": "x y"})
        exc = self.assertRaises(exception.StackValidationFailed, bad.validate)
        self.assertEqual(
            "Property error: resources.r.properties.label: "
            "Error validating value 'x y': no blanks",
            str(exc),
        )
        larger = stacks.one(cls, {"size": 4}, stored={"size": 3})
        stacks.run(larger, "UPDATE")
        self.assertIsNotNone(registry.constraint("vendor.label"))
        self.assertEqual(
            "A shelf in the vendor's store.",
            registry.description("Vendor::Store::Shelf"),
        )

    def test_broken_ones_are_left_out(self):
        bad, _path = self.drop("import nothing_of_that_name")
        wrong, _path = self.drop(
            "def resource_mapping(): return {'A::B': object}"
        )
        failing, _path = self.drop("def resource_mapping(): return 1 / 0")
        log = self.useFixture(fixtures.FakeLogger())
        registry = self.load(self.dir)
        self.assertNotIn("A::B", registry)
        for name in (bad, wrong, failing):
            self.assertIn(name, log.output)

    OVERRIDE = """
        from heat.engine import resource
        class Mine(resource.Resource):
            pass
        def available_resource_mapping():
            return {'OS::Heat::None': Mine}
        """

    def test_wins_over_built_in(self):
        self.drop(self.OVERRIDE)
        found = self.load(self.dir).get("OS::Heat::None")
        self.assertEqual("Mine", found.__name__)

    def test_two_stop_the_start(self):
        _name, one = self.drop(self.OVERRIDE)
        other = self.useFixture(fixtures.TempDir()).path
        _name, two = self.drop(self.OVERRIDE, other)
        exc = self.assertRaises(exception.Error, self.load, self.dir, other)
        self.assertIn(one, str(exc))
        self.assertIn(two, str(exc))


class RegistryTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.registry = stacks.registry()

    def test_get(self):
        exc = self.assertRaises(
            exception.EntityNotFound, self.registry.get, "No::Such"
        )
        self.assertEqual(
            "The Resource Type (No::Such) could not be found.", str(exc)
        )
        self.assertIsNotNone(self.registry.constraint("test_constr"))
        self.assertIsNone(self.registry.constraint("nothing"))

    def test_types(self):
        every = self.registry.types()
        self.assertEqual(sorted(every), every)
        self.assertIn("OS::Heat::Value", every)
        self.assertEqual(
            ["OS::Heat::Value"], self.registry.types(type_name=".*Value$")
        )
        hidden = self.registry.types("HIDDEN")
        self.assertIn("OS::Neutron::RouterGateway", hidden)
        self.assertEqual(set(), set(hidden) & set(every))
        supported = self.registry.types("supported")
        self.assertLess(set(supported), set(every))
        self.assertIn("OS::Heat::Value", supported)
        self.assertIn("OS::Heat::None", self.registry.types(version="5.0.0"))
        self.assertRaises(exception.Invalid, self.registry.types, "STRANGE")
        self.assertRaises(exception.Invalid, self.registry.types, None, "(")

    def test_declarations_are_sound(self):
        for name in self.registry.types():
            for schema in self.registry.get(name).properties_schema.values():
                schema.validate()

    def test_schema(self):
        found = self.registry.schema("OS::Heat::TestResource")
        self.assertEqual("OS::Heat::TestResource", found["resource_type"])
        self.assertEqual(
            {
                "type": "number",
                "description": "How long this action takes, in seconds.",
                "required": False,
                "update_allowed": True,
                "immutable": False,
            },
            found["properties"]["action_wait_secs"]["schema"]["create"],
        )
        self.assertEqual(
            [{"custom_constraint": "test_constr"}],
            found["properties"]["constraint_prop_secs"]["constraints"],
        )
        self.assertEqual(
            {
                "description": "Detailed information about resource.",
                "type": "map",
            },
            found["attributes"]["show"],
        )
        self.assertEqual("SUPPORTED", found["support_status"]["status"])
        self.assertNotIn("description", found)
        self.assertIn(
            "description", self.registry.schema("OS::Heat::None", True)
        )
        self.assertNotIn(
            "sequence",
            self.registry.schema("OS::Heat::RandomString")["properties"],
        )

    def test_template(self):
        for kind, section in (("hot", "resources"), ("cfn", "Resources")):
            found = self.registry.template("OS::Heat::Value", kind)
            self.assertEqual(["Value"], list(found[section]))
        self.assertRaises(
            exception.EntityNotFound, self.registry.template, "No::Such"
        )
