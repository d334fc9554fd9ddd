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

"""A token that another takes the place of, by the answers of services."""

from __future__ import annotations

import datetime

import fixtures
import keystoneauth1.exceptions
from keystoneauth1 import access, fixture
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import access as access_auth
from keystoneauth1.identity import base as identity_base
from oslo_config import cfg
from requests_mock.contrib import fixture as requests_fixture

from heat.common import config, exception
from heat.common import context as heat_context
from heat.engine.clients import lasting, registry, session, settings
from heat.tests import base

URL = "http://compute.example/servers"
HOUR = datetime.timedelta(hours=1)


def token(left=HOUR):
    """What Keystone says of a token with so much time left."""
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    return fixture.V3Token(expires=now + left, user_id="u")


class Stored(identity_base.BaseIdentityPlugin):
    """What a stack has stored: tokens ``stored-1``, ``stored-2`` ..."""

    def __init__(self, error=None):
        super().__init__()
        self.error = error
        self.asked = 0

    def get_auth_ref(self, session):
        if self.error is not None:
            raise self.error
        self.asked += 1
        return access.create(body=token(), auth_token=f"stored-{self.asked}")


class LastingTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.http = self.useFixture(requests_fixture.Fixture())
        self.good = {"user", "stored-1"}
        self.http.get(URL, status_code=200, text=self.answer)
        self.stored = Stored()
        self.made = 0

    def answer(self, request, context):
        used = request.headers["X-Auth-Token"]
        if used not in self.good:
            context.status_code = 401
        return used

    def make(self):
        self.made += 1
        return self.stored

    def session(self, left=HOUR):
        ref = access.create(body=token(left), auth_token="user")
        given = access_auth.AccessInfoPlugin(ref, auth_url="http://k")
        return ks_session.Session(auth=lasting.Lasting(given, self.make))

    def test_as_long_as_it_lasts(self):
        made = self.session()
        self.assertEqual("user", made.get(URL).text)
        self.assertEqual(0, self.made)

    def test_refused_by_a_service(self):
        made = self.session()
        self.good.remove("user")
        for _time in range(2):
            self.assertEqual("stored-1", made.get(URL).text)
        self.assertEqual((1, 1), (self.made, self.stored.asked))

    def test_stored_one_ends_too(self):
        made = self.session()
        self.good = {"stored-2"}
        # Each request is repeated once only.
        self.assertRaises(keystoneauth1.exceptions.Unauthorized, made.get, URL)
        self.assertEqual("stored-2", made.get(URL).text)

    def test_refused_to_two_at_once(self):
        """Both began with the first token; both must get an answer."""
        made = self.session()
        self.good.remove("user")
        self.assertTrue(made.auth.invalidate())
        self.assertTrue(made.auth.invalidate())
        self.assertEqual("stored-1", made.get(URL).text)

    def test_about_to_end(self):
        for left, wanted in ((59, "stored-1"), (90, "user"), (-5, "stored-1")):
            with self.subTest(left=left):
                self.stored = Stored()
                made = self.session(datetime.timedelta(seconds=left))
                self.assertEqual(wanted, made.get(URL).text)

    def test_about_to_end_and_no_other(self):
        for error in (
            keystoneauth1.exceptions.Unauthorized(),
            exception.AuthorizationFailure(),
        ):
            with self.subTest(error=error):
                self.stored = Stored(error)
                made = self.session(datetime.timedelta(seconds=30))
                self.assertEqual("user", made.get(URL).text)

    def test_keystone_refuses_to_scope_it(self):
        given = Stored(keystoneauth1.exceptions.NotFound())
        made = ks_session.Session(auth=lasting.Lasting(given, self.make))
        self.assertEqual("stored-1", made.get(URL).text)


class ContextTest(base.TestCase):
    """Which of a context's credentials count."""

    def context(self, **values):
        return heat_context.RequestContext(
            auth_url="http://k/v3", overwrite=False, **values
        )

    def deferred(self, **values):
        return heat_context.Deferred("u", "p", **values)

    def test_table(self):
        stored = self.deferred(password="x", auth_url="http://k/v3")
        info = dict(token())
        for name, context, wanted in (
            ("token", self.context(auth_token="t"), "Token"),
            (
                "token and data",
                self.context(auth_token="t", auth_token_info=info),
                "Token",
            ),
            (
                "token, and stored",
                self.context(auth_token="t").with_deferred(stored),
                "Lasting",
            ),
            (
                "password, and stored",
                self.context(username="n", password="x").with_deferred(stored),
                "Password",
            ),
            ("stored", self.context().with_deferred(stored), "Password"),
        ):
            with self.subTest(name):
                self.assertTrue(session.has_credentials(context))
                made = session.auth(context)
                self.assertEqual(wanted, type(made).__name__)

    def test_what_vouches_stays_in_its_own_cloud(self):
        """A service token is no business of the cloud of somebody else."""
        vouching = session.password("s", "x", "p", "http://k/v3")
        self.useFixture(
            fixtures.MonkeyPatch(
                "heat.engine.clients.session._service", lambda: vouching
            )
        )
        conf = cfg.ConfigOpts()
        config.register(conf)
        conf([], project="heat", default_config_files=[])
        self.addCleanup(settings.configure, settings.conf())
        settings.configure(conf)
        for own, wanted in (
            (None, "ServiceTokenAuthWrapper"),
            ("http://k", "ServiceTokenAuthWrapper"),
            ("http://k/v3/", "ServiceTokenAuthWrapper"),
            ("http://other/v3", "Token"),
        ):
            with self.subTest(own):
                conf.set_override("auth_uri", own, group="clients_keystone")
                made = session.auth(self.context(auth_token="t"))
                self.assertEqual(wanted, type(made).__name__)

    def test_stored_trust_needs_a_trustee(self):
        context = self.context().with_deferred(self.deferred(trust_id="t"))
        error = self.assertRaises(
            exception.AuthorizationFailure, session.auth, context
        )
        self.assertIn("[trustee]", str(error))

    def test_the_same_request_otherwise(self):
        context = self.context(auth_token="t", project_id="p", roles=["r"])
        clients = registry.of(context)
        made = context.with_deferred(self.deferred(trust_id="t"))
        self.assertEqual("u", made.user_id)
        self.assertIsNone(context.deferred)
        self.assertEqual(context.request_id, made.request_id)
        self.assertEqual(["r"], made.roles)
        # Clients of its own, and always the same.
        self.assertIsNot(clients, registry.of(made))
        self.assertIs(registry.of(made), registry.of(made))
        self.assertIs(clients, registry.of(context))

    def test_does_not_travel(self):
        stored = self.deferred(password="secret!", trust_id="trust!")
        made = self.context(auth_token="t").with_deferred(stored)
        told = str(made.to_dict())
        self.assertNotIn("secret!", told)
        self.assertNotIn("trust!", told)
        self.assertNotIn("secret!", repr(stored))
        back = heat_context.RequestContext.from_dict(made.to_dict())
        self.assertIsNone(back.deferred)
