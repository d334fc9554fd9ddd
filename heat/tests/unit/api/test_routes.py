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

"""The route table against the rules, the schemas and the contract."""

from __future__ import annotations

from heat.api import routes, schemas
from heat.api.handlers import actions
from heat.policies import rules
from heat.tests import base

MUTATING = {"POST", "PUT", "PATCH", "DELETE"}

# The contract's table: path -> methods. S is a stack with its id.
S = "/stacks/{stack_name}/{stack_id}"
ALL = "GET POST PUT PATCH DELETE"
CONTRACT = {
    "/validate": "POST",
    "/resource_types": "GET",
    "/resource_types/{type_name}": "GET",
    "/resource_types/{type_name}/template": "GET",
    "/template_versions": "GET",
    "/template_versions/{template_version}/functions": "GET",
    "/stacks": "GET POST",
    "/stacks/preview": "POST",
    "/stacks/detail": "GET",
    "/stacks/{stack_name}": ALL,
    "/stacks/arn:{arn}": ALL,
    "/stacks/{stack_name}/resources": "GET POST",
    "/stacks/{stack_name}/events": "GET POST",
    "/stacks/{stack_name}/template": "GET POST",
    "/stacks/{stack_name}/actions": "GET POST",
    "/stacks/{stack_name}/environment": "GET",
    "/stacks/{stack_name}/files": "GET",
    S: "GET PUT PATCH DELETE",
    f"{S}/template": "GET",
    f"{S}/environment": "GET",
    f"{S}/files": "GET",
    f"{S}/preview": "PUT PATCH",
    f"{S}/abandon": "DELETE",
    f"{S}/export": "GET",
    f"{S}/snapshots": "GET POST",
    f"{S}/snapshots/{{snapshot_id}}": "GET DELETE",
    f"{S}/snapshots/{{snapshot_id}}/restore": "POST",
    f"{S}/outputs": "GET",
    f"{S}/outputs/{{output_key}}": "GET",
    f"{S}/resources": "GET",
    f"{S}/resources/{{resource_name}}": "GET PATCH",
    f"{S}/resources/{{resource_name}}/metadata": "GET",
    f"{S}/resources/{{resource_name}}/signal": "POST",
    f"{S}/resources/{{resource_name}}/events": "GET",
    f"{S}/resources/{{resource_name}}/events/{{event_id}}": "GET",
    f"{S}/events": "GET",
    f"{S}/actions": "POST",
    "/build_info": "GET",
    "/released_objects": "GET",
    "/services": "GET",
    "/software_configs": "GET POST",
    "/software_configs/{config_id}": "GET DELETE",
    "/software_deployments": "GET POST",
    "/software_deployments/{deployment_id}": "GET PUT DELETE",
    "/software_deployments/metadata/{server_id}": "GET",
}


def entries():
    for path, methods in routes.ROUTES.items():
        for method, entry in methods.items():
            yield path, method, entry


class RoutesTest(base.TestCase):
    def test_the_table_is_the_contracts(self):
        table = {path: set(m) for path, m in routes.ROUTES.items()}
        self.assertEqual(
            {p: set(m.split()) for p, m in CONTRACT.items()}, table
        )

    def test_writing_needs_a_schema(self):
        for path, method, entry in entries():
            with self.subTest(path=path, method=method):
                needs_reason = method in MUTATING and entry.body is None
                if method in MUTATING:
                    self.assertEqual(needs_reason, entry.bodiless != "")

    def test_every_entry_has_a_known_rule(self):
        known = {rule.name for rule in rules.list_rules()}
        for path, method, entry in entries():
            with self.subTest(path=path, method=method):
                self.assertIn(entry.policy, known)

    def test_only_actions_enforce_their_own_rules(self):
        free = [path for path, _m, entry in entries() if not entry.enforced]
        self.assertEqual([f"{S}/actions"], free)

    def test_every_action_has_a_rule_and_a_schema(self):
        known = {rule.name for rule in rules.list_rules()}
        self.assertEqual(
            set(schemas.ACTIONS.schema["properties"]), set(actions.ACTIONS)
        )
        for name in actions.ACTIONS:
            self.assertIn(f"actions:{name}", known)

    def test_documented_operations_exist(self):
        for rule in rules.list_rules():
            for operation in getattr(rule, "operations", ()):
                path = operation["path"].removeprefix("/v1/{tenant_id}")
                with self.subTest(rule=rule.name):
                    self.assertIn(path, routes.ROUTES)
                    self.assertIn(operation["method"], routes.ROUTES[path])
