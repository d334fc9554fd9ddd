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

"""The domain of users of stacks, before an identity service in memory."""

from __future__ import annotations

from oslo_config import cfg

from heat.common import config, exception
from heat.engine.clients import errors, settings, stack_domain
from heat.tests import base
from heat.tests.fakes import keystone


class StackDomainTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        config.register(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        self.keystone = self.useFixture(keystone.Keystone())
        self.keystone.configure(self.conf)
        self.addCleanup(settings.configure, settings.conf())
        settings.configure(self.conf)
        self.domain = stack_domain.get()

    def test_options_that_are_needed(self):
        self.assertTrue(stack_domain.is_configured())
        for name, value in (
            ("auth_strategy", "noauth"),
            ("stack_user_domain_id", None),
            ("stack_domain_admin", None),
            ("stack_domain_admin_password", None),
        ):
            self.conf.set_override(name, value)
            self.assertFalse(stack_domain.is_configured(), name)
            error = self.assertRaises(
                exception.AuthorizationFailure, stack_domain.get
            )
            self.assertIn("stack_domain_admin", str(error))
            self.conf.clear_override(name)
            self.keystone.configure(self.conf)

    def test_everything_may_be_done_twice(self):
        domain = self.domain
        project = domain.create_stack_domain_project("s-1")
        self.assertEqual(project, domain.create_stack_domain_project("s-1"))
        user = domain.create_stack_domain_user("n", project, "old")
        again = domain.create_stack_domain_user("n", project, "new")
        self.assertEqual(user, again)
        self.assertEqual("new", self.keystone.users[user]["password"])
        self.assertEqual({(project, user)}, self.keystone.assigned)
        keys = domain.create_stack_domain_user_keypair(user, project)
        for _time in range(2):
            domain.delete_stack_domain_user_keypair(keys.id)
            domain.delete_stack_domain_project(project)
        self.assertEqual({}, self.keystone.users)
        self.assertEqual({}, self.keystone.projects)
        self.assertEqual({}, self.keystone.credentials)

    def test_user_is_kept_out(self):
        domain = self.domain
        project = domain.create_stack_domain_project("s-1")
        user = domain.create_stack_domain_user("n", project, "pw")
        ask = domain.stack_domain_user_token
        self.assertEqual(f"token-{user}", ask(user, project, "pw"))
        domain.disable_stack_domain_user(user)
        self.assertRaises(errors.Unauthorized, ask, user, project, "pw")
        domain.enable_stack_domain_user(user)
        self.assertEqual(f"token-{user}", ask(user, project, "pw"))

    def test_role_is_missing(self):
        self.keystone.roles.clear()
        error = self.assertRaises(
            exception.EntityNotFound,
            self.domain.create_stack_domain_user,
            "n",
            "p",
        )
        self.assertIn("heat_stack_user", str(error))
