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

"""The rules: who they let in, what an operator can change."""

from __future__ import annotations

import os
import pathlib

from oslo_policy import policy

from heat.common import context, exception
from heat.policies import enforcement, rules
from heat.tests import base
from heat.tests.unit.api import client

PERSONAS = {
    "nobody": [],
    "stack_user": ["heat_stack_user"],
    "reader": ["reader"],
    "member": ["member"],
    "admin": ["admin"],
}
# Persona of a rule -> who passes it.
PASSES = {
    rules.READER: {"reader", "member", "admin"},
    rules.MEMBER: {"member", "admin"},
    rules.STACK_USER: {"stack_user", "member", "admin"},
    rules.ADMIN: {"admin"},
    rules.NOBODY: set(),
    rules.ANYBODY: set(PERSONAS),
}
# The contract's rules that are not for readers.
MEMBERS = """
stacks:validate_template stacks:generate_template stacks:create
stacks:update stacks:update_patch stacks:preview_update
stacks:preview_update_patch stacks:delete stacks:abandon stacks:export
stacks:snapshot stacks:delete_snapshot stacks:restore_snapshot
resource:mark_unhealthy actions:suspend actions:resume
actions:cancel_update actions:cancel_without_rollback actions:lock
actions:unlock software_configs:create software_configs:delete
software_deployments:create software_deployments:update
software_deployments:delete
"""
STACK_USERS = """
stacks:lookup resource:metadata resource:signal
software_deployments:metadata
"""


def caller(roles, project="p", **kwargs):
    return context.RequestContext(
        roles=roles, project_id=project, user_id="u", overwrite=False, **kwargs
    )


class RulesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.enforcer = enforcement.Enforcer(client.make_conf())

    def test_personas_of_the_contract(self):
        for name, (persona, _text, _operation) in rules.RULES.items():
            if name in MEMBERS.split():
                wanted = rules.MEMBER
            elif name in STACK_USERS.split():
                wanted = rules.STACK_USER
            elif name.endswith("global_index"):
                wanted = rules.NOBODY
            elif name == "service:index":
                wanted = rules.ADMIN
            elif name == "actions:action":
                wanted = rules.ANYBODY
            else:
                wanted = rules.READER
            self.assertEqual(wanted, persona, name)

    def test_who_passes(self):
        for name, (persona, _text, _operation) in rules.RULES.items():
            for who, roles in PERSONAS.items():
                with self.subTest(rule=name, who=who):
                    self.assertEqual(
                        who in PASSES[persona],
                        self.enforcer.check(caller(roles), name, "p"),
                    )

    def test_another_project(self):
        for who, roles in PERSONAS.items():
            with self.subTest(who=who):
                self.assertEqual(
                    who == "admin",
                    self.enforcer.check(caller(roles), "stacks:show", "q"),
                )

    def test_require(self):
        error = self.assertRaises(
            exception.Forbidden,
            self.enforcer.require,
            caller(["reader"]),
            "stacks:create",
        )
        self.assertEqual(
            "You are not authorized to use stacks:create.", str(error)
        )

    def test_administrators(self):
        check = self.enforcer.is_admin
        self.assertTrue(check(caller(["admin"])))
        self.assertTrue(check(caller(["admin"], None, system_scope="all")))
        self.assertFalse(check(caller(["admin"], is_admin_project=False)))
        self.assertFalse(check(caller(["member"])))

    def test_resource_types(self):
        self.assertEqual(24, len(set(rules.RESOURCE_TYPES)))
        for name, roles, allowed in (
            ("OS::Nova::Flavor", ["member"], False),
            ("OS::Nova::Flavor", ["admin"], True),
            ("OS::Keystone::User", ["member"], False),
            ("OS::Keystone::User", ["admin"], True),
            ("OS::Nova::Server", ["member"], True),
            ("OS::Octavia::FlavorProfile", ["member"], False),
        ):
            with self.subTest(name=name, roles=roles):
                ask = self.enforcer.require_resource_type
                if allowed:
                    ask(caller(roles), name)
                    continue
                error = self.assertRaises(
                    exception.Forbidden, ask, caller(roles), name
                )
                self.assertIn(name, str(error))

    def test_unknown_rules_are_an_error(self):
        self.assertRaises(
            policy.PolicyNotRegistered,
            self.enforcer.check,
            caller(["admin"]),
            "no:such",
        )

    def test_names_are_unique(self):
        names = [rule.name for rule in rules.list_rules()]
        self.assertEqual(len(names), len(set(names)))


class OperatorTest(base.TestCase):
    def enforcer(self, text, **overrides):
        path = self.create_tempfiles([("policy", text)], ext=".yaml")[0]
        conf = client.make_conf()
        enforcement.Enforcer(conf)  # registers the options
        conf.set_override("policy_file", path, group="oslo_policy")
        for name, value in overrides.items():
            conf.set_override(name, value, group="oslo_policy")
        return enforcement.Enforcer(conf)

    def test_overrides(self):
        enforcer = self.enforcer('"stacks:create": "role:builder"\n')
        self.assertTrue(enforcer.check(caller(["builder"]), "stacks:create"))
        self.assertFalse(enforcer.check(caller(["member"]), "stacks:create"))

    def test_a_changed_file_counts_in_a_second(self):
        text = '"stacks:create": "role:builder"\n'
        path = self.create_tempfiles([("policy", text)], ext=".yaml")[0]
        conf = client.make_conf()
        enforcement.Enforcer(conf)  # registers the options
        conf.set_override("policy_file", path, group="oslo_policy")
        clock = iter((0.0, 0.9, 1.0))
        enforcer = enforcement.Enforcer(conf, lambda: next(clock))
        builder = caller(["builder"])
        self.assertTrue(enforcer.check(builder, "stacks:create"))
        pathlib.Path(path).write_text('"stacks:create": "!"\n')
        os.utime(path, (2e9, 2e9))
        self.assertTrue(enforcer.check(builder, "stacks:create"))
        self.assertFalse(enforcer.check(builder, "stacks:create"))

    def test_types_of_an_operators_own(self):
        enforcer = self.enforcer('"resource_types:OS::Nova::Server": "!"\n')
        self.assertRaises(
            exception.Forbidden,
            enforcer.require_resource_type,
            caller(["admin"]),
            "OS::Nova::Server",
        )
        enforcer.require_resource_type(caller(["member"]), "OS::Heat::None")

    def test_older_defaults(self):
        enforcer = self.enforcer("{}\n", enforce_new_defaults=False)
        for roles, rule, allowed in (
            (["_member_"], "stacks:create", True),
            (["heat_stack_user"], "stacks:create", False),
            (["heat_stack_user"], "resource:signal", True),
            (["_member_"], "service:index", False),
            (["admin"], "stacks:global_index", False),
        ):
            with self.subTest(roles=roles, rule=rule):
                self.assertEqual(allowed, enforcer.check(caller(roles), rule))
