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

"""Rules of software configs and deployments."""

from __future__ import annotations

from heat.common import exception
from heat.common.context import RequestContext
from heat.engine.software import configs, deployments
from heat.tests import base
from heat.tests.convergence import prepared


class SoftwareTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.db = prepared.database()
        self.addCleanup(prepared.give_back, self.db)
        self.ctx = RequestContext(project_id="p1")
        self.other = RequestContext(project_id="p2")

    def config(self, **given):
        return configs.create(self.db, self.ctx, "p1", **given)["id"]

    def deploy(self, config_id, most=-1, **given):
        given = {"server_id": "s", "status": "IN_PROGRESS", **given}
        return deployments.create(
            self.db, self.ctx, "p1", most, config_id=config_id, **given
        )["id"]

    def test_shapes_are_filled(self):
        made = self.config(inputs=[{"name": "a"}], outputs=[{"name": "b"}])
        shown = configs.show(self.db, self.ctx, made)
        self.assertEqual(
            [
                {
                    "name": "a",
                    "type": "String",
                    "description": None,
                    "default": None,
                }
            ],
            shown["inputs"],
        )
        self.assertIs(False, shown["outputs"][0]["error_output"])
        self.assertEqual("Heat::Ungrouped", shown["group"])

    def test_wrong_shapes(self):
        for wrong in (
            [{}],
            ["a"],
            [{"name": "a", "type": "Colour"}],
            [{"name": "a", "colour": 1}],
        ):
            with self.subTest(wrong=wrong):
                self.assertRaises(ValueError, configs.inputs, wrong)
                self.assertRaises(ValueError, configs.outputs, wrong)

    def test_a_deployment_needs_a_server(self):
        made = self.config()
        for wrong in (None, "", 7, "s" * 37):
            with self.subTest(wrong=wrong):
                error = self.assertRaises(
                    ValueError, self.deploy, made, server_id=wrong
                )
                self.assertIn("server_id", str(error))

    def test_others_see_nothing(self):
        made = self.config()
        deployed = self.deploy(made)
        for show, key in (
            (configs.show, made),
            (configs.delete, made),
            (deployments.show, deployed),
            (deployments.delete, deployed),
            (deployments.update, deployed),
        ):
            self.assertRaises(
                exception.EntityNotFound, show, self.db, self.other, key
            )
        self.assertEqual([], configs.list_(self.db, self.other))
        self.assertEqual([], deployments.list_(self.db, self.other, None))
        admin = RequestContext(is_admin=True)
        self.assertEqual(1, len(configs.list_(self.db, admin)))

    def test_limits(self):
        made = self.config()
        self.assertRaises(
            exception.RequestLimitExceeded,
            configs.create,
            *(self.db, self.ctx, "p1", 1),
        )
        self.deploy(made, 1)
        self.assertRaises(exception.RequestLimitExceeded, self.deploy, made, 1)

    def test_a_config_in_use_stays(self):
        made = self.config()
        deployed = self.deploy(made)
        self.assertRaises(
            exception.InvalidRestrictedAction,
            configs.delete,
            *(self.db, self.ctx, made),
        )
        deployments.delete(self.db, self.ctx, deployed)
        configs.delete(self.db, self.ctx, made)

    def test_reports(self):
        made = self.config(
            outputs=[{"name": "said"}, {"name": "bad", "error_output": True}]
        )
        for report, status in (
            ({"said": 1, "deploy_status_code": "0"}, "COMPLETE"),
            ({}, "COMPLETE"),
            (None, "COMPLETE"),
            ({"bad": "x"}, "FAILED"),
            ({"deploy_status_code": 3}, "FAILED"),
        ):
            with self.subTest(report=report):
                deployed = self.deploy(made)
                told = deployments.signal(self.db, self.ctx, deployed, report)
                self.assertIn(deployed, told)
                found = deployments.show(self.db, self.ctx, deployed)
                self.assertEqual(status, found["status"])
                again = deployments.signal(
                    self.db, self.ctx, deployed, {"said": "late"}
                )
                self.assertIsNone(again)
        self.assertRaises(
            ValueError,
            deployments.signal,
            *(self.db, self.ctx, self.deploy(made), "text"),
        )

    def test_an_update_takes_a_moment(self):
        deployed = self.deploy(self.config())
        found = deployments.update(
            self.db,
            self.ctx,
            deployed,
            output_values={"a": 1},
            updated_at="2026-01-02T03:04:05Z",
        )
        self.assertEqual("2026-01-02T03:04:05Z", found["updated_time"])
        self.assertEqual({"a": 1}, found["output_values"])
        self.assertEqual("IN_PROGRESS", found["status"])
