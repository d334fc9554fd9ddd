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

"""Deferred work: who gets a trust, when it goes, and what a crash leaves."""

from __future__ import annotations

import datetime

import fixtures
import sqlalchemy as sa
from oslo_config import cfg

from heat.common import config, exception
from heat.common import context as heat_context
from heat.db import credentials, migration, models, session, stacks
from heat.engine import ports
from heat.engine.clients import settings, trusts
from heat.engine.resource import child
from heat.engine.stack import converge, delegation
from heat.engine.stack.delegation import Method
from heat.tests import base
from heat.tests.fakes import trusts as fake

EVER = datetime.datetime.max


class ChooseTest(base.TestCase):
    def test_table(self):
        for deferred, again, has, wanted in (
            ("trusts", "", "trustee token", (Method.TRUST, "")),
            ("trusts", "", "trustee token password", (Method.TRUST, "")),
            ("trusts", "", "token", (Method.NONE, "[trustee]")),
            ("trusts", "", "trustee", (Method.NONE, "X-Auth-Token")),
            ("trusts", "", "", (Method.NONE, "[trustee]")),
            ("password", "", "trustee token", (Method.NONE, "X-Auth-Key")),
            ("password", "", "token password", (Method.PASSWORD, "")),
            ("password", "trusts", "token password", (Method.PASSWORD, "")),
            ("password", "trusts", "trustee token", (Method.TRUST, "")),
            ("password", "trusts", "token", (Method.NONE, "[trustee]")),
        ):
            with self.subTest(deferred=deferred, again=again, has=has):
                words = has.split()
                found = delegation.choose(
                    deferred,
                    again,
                    trustee="trustee" in words,
                    token="token" in words,
                    password="password" in words,
                )
                self.assertEqual(wanted, found)


class RolesTest(base.TestCase):
    def test_delegated(self):
        held = {"b": "2", "a": "1"}
        self.assertEqual(["1", "2"], trusts.delegated(held, ()))
        self.assertEqual(["2"], trusts.delegated(held, ["b"]))
        error = self.assertRaises(
            exception.MissingCredentialError,
            trusts.delegated,
            held,
            ["b", "c", "d"],
        )
        self.assertIn("roles c, d", str(error))

    def test_marks_differ(self):
        marks = {trusts.new_mark() for _number in range(50)}
        self.assertEqual(50, len(marks))
        for mark in marks:
            self.assertRegex(mark, r"^2[2-8]\d\d-\d\d-\d\dT[\d:]{8}\.000000Z$")


class Crash(BaseException):
    """The process ends here."""


class DelegationTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(fake.Keystone())
        path = self.useFixture(fixtures.TempDir()).path
        self.conf = self.configuration(path)
        url = session.Database.url_for_sqlite(f"{path}/db")
        self.db = session.Database(self.conf, url)
        self.addCleanup(self.db.dispose)
        migration.upgrade(self.db)
        self.now = 0.0
        self.engine = ports.Engine(
            db=self.db,
            conf=self.conf,
            engine_id="e",
            plugins=None,
            sender=None,
            monotonic=lambda: self.now,
        )
        self.delegation = delegation.Delegation(self.engine)
        self.engine.delegation = self.delegation

    def configuration(self, path, trustee=True):
        made = f"{path}/heat.conf"
        with open(made, "w") as out:
            if trustee:
                out.write(
                    "[trustee]\n"
                    "auth_type = v3password\n"
                    f"auth_url = {fake.URL}\n"
                    f"user_id = {fake.TRUSTEE}\n"
                    f"password = {fake.Keystone.password}\n"
                )
        conf = config.load(
            "heat-test",
            [],
            conf=cfg.ConfigOpts(),
            default_config_files=[made],
        )
        settings.configure(conf)
        self.addCleanup(settings.configure, None)
        return conf

    def context(self, user="user", **values):
        values.setdefault("auth_token", self.keystone.token(user))
        return heat_context.RequestContext(
            user_id=user,
            username=user,
            project_id="project",
            auth_url=fake.URL,
            overwrite=False,
            **values,
        )

    @staticmethod
    def tree(*, cloud=True, needs=False):
        return child.Tree(-1, uses_cloud=cloud, needs_deferred=needs)

    def ensure(self, draft, context=None, **tree):
        return self.delegation.ensure(
            context or self.context(), draft, self.tree(**tree)
        )

    def stack(self, stack_id="s", **values):
        given = {
            "id": stack_id,
            "name": stack_id,
            "tenant": "project",
            "raw_template_id": 1,
            **values,
        }
        self.db.run(lambda conn: stacks.insert(conn, given))
        return self.get(stack_id)

    def get(self, stack_id):
        return self.db.read(lambda conn: stacks.get(conn, stack_id))

    def creds(self, creds_id):
        return self.db.read(lambda conn: credentials.get(conn, creds_id))

    def draft(self, **values):
        return converge.draft_of({"id": "new", "name": "new", **values})

    # -- made ---------------------------------------------------------------

    def test_of_a_new_stack(self):
        found = self.creds(self.ensure(self.draft()))
        self.assertEqual(
            ("trust-1", "user", "project"),
            (found.trust_id, found.trustor_user_id, found.tenant_id),
        )
        made = self.keystone.trusts["trust-1"]
        self.assertEqual(
            {
                "id": "trust-1",
                "trustor_user_id": "user",
                "trustee_user_id": fake.TRUSTEE,
                "project_id": "project",
                "impersonation": True,
                "allow_redelegation": False,
                "expires_at": found.trust_mark,
                "roles": [{"id": "id-member"}, {"id": "id-reader"}],
            },
            made,
        )

    def test_options(self):
        self.conf.set_override("trusts_delegated_roles", ["member"])
        self.conf.set_override("allow_trusts_redelegation", True)
        self.ensure(self.draft())
        made = self.keystone.trusts["trust-1"]
        self.assertEqual([{"id": "id-member"}], made["roles"])
        self.assertTrue(made["allow_redelegation"])

    def test_not_without_need(self):
        self.assertIsNone(self.ensure(self.draft(), cloud=False))
        self.assertEqual({}, self.keystone.trusts)

    def test_once_for_a_tree(self):
        top = self.stack()
        key = self.ensure(top)
        self.assertEqual(key, self.get("s").user_creds_id)
        below = self.stack("below", owner_id="s")
        for stack in (self.get("s"), below, self.draft(owner_id="below")):
            self.assertEqual(key, self.ensure(stack))
        self.assertEqual(1, self.keystone.made)

    def test_given_to_the_top_by_what_is_below(self):
        self.stack()
        key = self.ensure(self.draft(owner_id="s"))
        self.assertEqual(key, self.get("s").user_creds_id)

    def test_somebody_was_faster(self):
        stack = self.stack()
        key = self.ensure(stack)
        # As it was read before: another request has made one meanwhile.
        made = self.delegation._make(Method.TRUST, self.context())
        self.assertEqual(key, self.delegation._attached(stack, made, None))
        self.assertEqual(["trust-1"], list(self.keystone.trusts))
        self.assertIsNone(self.creds(made))

    def test_can_not_be_made(self):
        """A stack does without; a type that can't is refused."""

        def refuse():
            self.keystone.refuses = 403

        def roles():
            self.keystone.refuses = None
            self.conf.set_override("trusts_delegated_roles", ["owner"])

        def password():
            self.conf.set_override("deferred_auth_method", "password")

        for change, said in (
            (refuse, "a trust: No"),
            (roles, "roles owner"),
            (password, "X-Auth-Key"),
        ):
            with self.subTest(said):
                change()
                self.assertIsNone(self.ensure(self.draft()))
                error = self.assertRaises(
                    exception.MissingCredentialError,
                    self.ensure,
                    self.draft(),
                    needs=True,
                )
                self.assertIn(said, str(error))
                self.assertEqual({}, self.keystone.trusts)
                self.assertEqual([], self.loose())

    def test_nobody_to_trust(self):
        path = self.useFixture(fixtures.TempDir()).path
        self.engine.conf = self.configuration(path, trustee=False)
        self.assertIsNone(self.ensure(self.draft()))

    def test_password(self):
        self.conf.set_override("deferred_auth_method", "password")
        right, wrong = (
            self.context(password=word)
            for word in (fake.Keystone.password, "wrong")
        )
        found = self.creds(self.ensure(self.draft(), right))
        self.assertEqual(
            ("right", "user", "project", fake.URL, None),
            (
                found.password,
                found.trustor_user_id,
                found.tenant_id,
                found.auth_url,
                found.trust_id,
            ),
        )
        self.assertIsNone(self.ensure(self.draft(), wrong))
        endless = self.context(password="x" * 128)
        self.assertIsNone(self.ensure(self.draft(), endless))
        self.assertEqual({}, self.keystone.trusts)

    def test_another_user_updates(self):
        key = self.ensure(self.stack())
        stack = self.get("s")
        self.assertEqual(key, self.ensure(stack, self.context("other")))
        self.keystone.trusts.clear()
        # Its user finds it working for as long as the token does.
        self.assertEqual(key, self.ensure(stack))
        new = self.ensure(stack, self.context("other"))
        self.assertNotEqual(key, new)
        self.assertEqual(new, self.get("s").user_creds_id)
        self.assertEqual("other", self.creds(new).trustor_user_id)

    def test_what_can_not_be_read(self):
        """The key was lost: the next update makes another trust."""
        key = self.ensure(self.stack())
        self.db.run(
            lambda conn: conn.execute(
                sa.update(models.user_creds).values(trust_id="nonsense")
            )
        )
        new = self.ensure(self.get("s"))
        self.assertNotEqual(key, new)
        self.assertEqual("trust-2", self.creds(new).trust_id)

    # -- deleted ------------------------------------------------------------

    def loose(self):
        return self.db.read(lambda conn: credentials.loose(conn, EVER))

    def test_end(self):
        key = self.ensure(self.stack())
        self.delegation.end(key)
        self.assertIn("trust-1", self.keystone.trusts)
        self.db.run(lambda conn: stacks.soft_delete(conn, "s"))
        self.delegation.end(key)
        self.assertEqual({}, self.keystone.trusts)
        self.assertIsNone(self.creds(key))

    def test_gone_already(self):
        key = self.ensure(self.stack())
        self.db.run(lambda conn: stacks.soft_delete(conn, "s"))
        self.keystone.trusts.clear()
        self.delegation.end(key)
        self.assertIsNone(self.creds(key))

    def test_a_stack_that_could_not_be_stored(self):
        def make():
            with delegation.for_new(
                self.engine, self.context(), self.draft(), self.tree()
            ) as key:
                self.assertIsNotNone(self.creds(key))
                raise exception.StackExists(stack_name="new")

        self.assertRaises(exception.StackExists, make)
        self.assertEqual({}, self.keystone.trusts)
        self.assertEqual([], self.loose())

    def later(self, minutes):
        """Let the time pass, for rows too."""
        moved = datetime.timedelta(minutes=minutes)
        self.useFixture(
            fixtures.MockPatchObject(
                delegation, "_LOOSE_AFTER", delegation._LOOSE_AFTER - moved
            )
        )
        self.now += minutes * 60.0

    def test_crash_before_it_is_recorded(self):
        def probe(point):
            if point == "trusted":
                raise Crash()

        self.engine.probe = probe
        self.assertRaises(Crash, self.ensure, self.draft())
        self.engine.probe = lambda point: None
        # One of another service that shares the service user.
        self.keystone.trusts["theirs"] = {
            **self.keystone.trusts["trust-1"],
            "id": "theirs",
            "expires_at": trusts.new_mark(),
        }
        self.delegation.tidy()
        self.assertEqual({"trust-1", "theirs"}, set(self.keystone.trusts))
        self.later(minutes=11)
        self.delegation.tidy()
        self.assertEqual({"theirs"}, set(self.keystone.trusts))
        self.assertEqual([], self.loose())

    def test_tried_again(self):
        key = self.ensure(self.stack())
        self.db.run(lambda conn: stacks.soft_delete(conn, "s"))
        self.keystone.away = True
        self.delegation.end(key)
        self.assertIsNotNone(self.creds(key))
        self.keystone.away = False
        # Not at once: that is a trust more, not a danger.
        self.now = 100.0
        self.delegation.tidy()
        self.assertIsNotNone(self.creds(key))
        self.now = 700.0
        self.delegation.tidy()
        self.assertEqual({}, self.keystone.trusts)
        self.assertIsNone(self.creds(key))
