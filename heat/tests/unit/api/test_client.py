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

"""The public client against the application behind a real server."""

from __future__ import annotations

import threading
from wsgiref import simple_server

from heatclient import client as heat_client
from heatclient import exc

from heat.common import exception
from heat.tests.fakes import engine
from heat.tests.unit.api import client

NAME = engine.NAME


class QuietHandler(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass


class HeatClientTest(client.ApiTestCase):
    def setUp(self):
        super().setUp()
        server = simple_server.make_server(
            "127.0.0.1", 0, self.app, handler_class=QuietHandler
        )
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.heat = heat_client.Client(
            "1",
            endpoint=f"http://127.0.0.1:{server.server_port}{client.ROOT}",
            token="any",  # noqa: S106
        )

    def rpc(self):
        return [method for method, _arguments in self.engine.calls]

    def test_a_stacks_life(self):
        made = self.heat.stacks.create(
            stack_name=NAME, template=client.TEMPLATE, files={}, tags="a,b"
        )
        self.assertEqual(engine.STACK_ID, made["stack"]["id"])
        shown = self.heat.stacks.get(NAME)
        self.assertEqual("CREATE", shown.action)
        self.assertEqual("COMPLETE", shown.status)
        listed = list(self.heat.stacks.list(limit=1, filters={"name": NAME}))
        self.assertEqual(shown.identifier, listed[0].identifier)
        self.heat.stacks.update(NAME, existing=True, parameters={"a": 1})
        self.heat.stacks.update(NAME, template=client.TEMPLATE)
        changes = self.heat.stacks.preview_update(
            NAME, existing=True, show_nested=True
        )
        self.assertEqual(
            "server",
            changes["resource_changes"]["updated"][0]["resource_name"],
        )
        self.heat.actions.suspend(NAME)
        self.heat.stacks.delete(NAME)
        self.assertEqual(
            [
                "create_stack",
                *("identify_stack", "show_stack"),
                "list_stacks",
                *("identify_stack", "update_stack") * 2,
                *("identify_stack", "preview_update_stack"),
                *("identify_stack", "stack_suspend"),
                *("identify_stack", "delete_stack"),
            ],
            self.rpc(),
        )

    def test_what_a_stack_holds(self):
        resource = self.heat.resources.list(NAME, nested_depth=1)[0]
        self.assertEqual(NAME, resource.stack_name)
        self.assertEqual(
            {"some_key": "value"}, self.heat.resources.metadata(NAME, "server")
        )
        self.heat.resources.signal(NAME, "server")
        self.heat.resources.signal(NAME, "server", data={"a": 1})
        self.heat.resources.mark_unhealthy(NAME, "server", True, "")
        events = self.heat.events.list(NAME, sort_keys=["event_time"])
        event = self.heat.events.get(NAME, "server", events[0].id)
        self.assertEqual("CREATE_IN_PROGRESS", event.resource_status)
        self.assertEqual(
            "k", self.heat.stacks.output_list(NAME)["outputs"][0]["output_key"]
        )
        self.assertEqual("s-1", self.heat.stacks.snapshot(NAME)["id"])
        self.heat.stacks.restore(NAME, "s-1")
        self.heat.stacks.snapshot_delete(NAME, "s-1")
        self.assertEqual({"a.yaml": "b"}, self.heat.stacks.files(NAME))
        self.assertIn(
            "Parameters", self.heat.stacks.validate(template={"a": 1})
        )

    def test_software(self):
        config = self.heat.software_configs.create(name="conf", config="x")
        self.assertEqual("c-1", config.id)
        made = self.heat.software_deployments.create(
            config_id="c-1", server_id="srv", action="CREATE"
        )
        self.assertEqual("d-1", made.id)
        made.update(status="COMPLETE")
        made.delete()
        self.assertEqual(
            1, len(self.heat.software_deployments.metadata("srv"))
        )

    def test_an_error(self):
        self.engine.answers["create_stack"] = exception.StackExists(
            stack_name=NAME
        )
        error = self.assertRaises(
            exc.HTTPConflict,
            self.heat.stacks.create,
            stack_name=NAME,
            template=client.TEMPLATE,
        )
        self.assertEqual(
            f"ERROR: The Stack ({NAME}) already exists.", str(error)
        )

    def test_about_the_service(self):
        self.assertEqual("heat-engine", self.heat.services.list()[0].binary)
        self.assertIn("api", self.heat.build_info.build_info())
        self.heat.resource_types.list(filters={"name": "x"})
        self.heat.resource_types.get("OS::Heat::None")
        self.heat.resource_types.generate_template("OS::Heat::None", "hot")
        self.heat.template_versions.list()
        self.heat.template_versions.get("heat_template_version.2013-05-23")
