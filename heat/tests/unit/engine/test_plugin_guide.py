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

"""The example of the guide for authors of plug-ins does what it says."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import types

from heat.common import exception
from heat.engine import clients, plugins
from heat.engine.clients import registry as client_registry
from heat.tests.unit.engine.stack import test_nested as nested

EXAMPLES = (
    pathlib.Path(__file__).parents[4] / "doc/source/plugin_guide/examples"
)


def template(**properties):
    lamp = {"type": "Acme::Light::Lamp", "properties": properties}
    return nested.hot(
        {"a": lamp}, {"watts": {"value": nested.attr("a", "watts")}}
    )


class PluginGuideTest(nested.NestedTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(plugins.__path__.clear)
        for name in ("lamp", "acme_client"):
            module = f"heat.engine.plugins.{name}"
            self.addCleanup(sys.modules.pop, module, None)
        self.addCleanup(clients.configure, self.world.conf)
        conf = types.SimpleNamespace(plugin_dirs=[str(EXAMPLES)])
        self.engine.plugins = plugins.PluginRegistry.load(conf)
        spec = importlib.util.spec_from_file_location(
            "acme_client", EXAMPLES / "acme_client.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        client_registry.register("acme", module.AcmeClientPlugin)
        self.addCleanup(client_registry._plugins.pop, "acme")
        self.lamps = module.AcmeLights.lamps

    def test_a_life(self):
        stack = self.make(template(room="kitchen"))
        [lamp] = self.lamps.values()
        self.assertEqual("kitchen", lamp["room"])
        self.assertTrue(lamp["name"].startswith("stack-a-"))
        self.assertEqual({"watts": 10}, self.world.outputs(stack))
        self.update(stack, template(room="kitchen", brightness=50))
        self.assertEqual({"watts": 5}, self.world.outputs(stack))
        self.update(stack, template(room="hall", brightness=50))
        self.assertState("UPDATE_COMPLETE", stack)
        [other] = self.lamps.values()
        self.assertIsNot(lamp, other)
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)
        self.assertEqual({}, self.lamps)

    def test_gone_already(self):
        stack = self.make(template(room="kitchen"))
        self.lamps.clear()
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_what_is_wrong(self):
        for properties, word in (
            ({}, "room"),
            ({"room": ""}, "room"),
            ({"room": "x", "brightness": 101}, "brightness"),
        ):
            with (
                self.subTest(word=word),
                self.assertRefused(
                    word, error=exception.StackValidationFailed
                ),
            ):
                self.begin(template(**properties))
