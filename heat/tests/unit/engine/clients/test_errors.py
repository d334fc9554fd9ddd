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

"""What errors mean, and what is tried again."""

from __future__ import annotations

import glanceclient.exc
import keystoneauth1.exceptions
import novaclient.exceptions
import openstack.exceptions
import requests

from heat.engine.clients import errors
from heat.tests import base


def of_the_sdk(status: int, words: str) -> Exception:
    response = requests.Response()
    response.status_code = status
    response._content = f'{{"e": {{"message": "{words}"}}}}'.encode()
    response.headers["content-type"] = "application/json"
    response.request = requests.Request("GET", "http://secret/").prepare()
    try:
        openstack.exceptions.raise_from_response(response)
    except openstack.exceptions.SDKException as exc:
        return exc
    raise AssertionError


class TranslateTest(base.TestCase):
    def test_table(self):
        nova, glance = novaclient.exceptions, glanceclient.exc
        for error, kind, words in (
            (nova.NotFound(404, "gone"), errors.NotFound, "gone"),
            (nova.Forbidden(403, "Quota exceeded"), errors.OverLimit, "Quota"),
            (nova.Forbidden(403, "no"), errors.Forbidden, "no"),
            (nova.OverLimit(413, "much"), errors.OverLimit, "much"),
            (nova.BadRequest(400, "bad"), errors.BadRequest, "bad"),
            (nova.ClientException(503, "away"), errors.ServiceFault, "away"),
            (glance.HTTPNotFound("none"), errors.NotFound, "none"),
            (glance.HTTPConflict("busy"), errors.Conflict, "busy"),
            (of_the_sdk(409, "in use"), errors.Conflict, "in use"),
            (of_the_sdk(409, "Quota used"), errors.OverLimit, "Quota used"),
            (of_the_sdk(401, "old"), errors.Unauthorized, "old"),
            (of_the_sdk(500, "oops"), errors.ServiceFault, "oops"),
            (
                keystoneauth1.exceptions.ConnectFailure("no route"),
                errors.Unreachable,
                "no route",
            ),
            (
                keystoneauth1.exceptions.MissingAuthPlugin("none"),
                errors.Unauthorized,
                "none",
            ),
        ):
            with self.subTest(error=repr(error)):
                made = errors.translate("some", error)
                self.assertIs(kind, type(made))
                self.assertIn(words, str(made))
                self.assertIn("some", str(made))
                self.assertNotIn("http://secret", str(made))

    def test_expired_token_says_what_to_do(self):
        made = errors.translate("nova", of_the_sdk(401, "expired."))
        self.assertIn("[trustee]", str(made))


class CallTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.pauses = []
        self.calls = 0

    def call(self, *answers, **kwargs):
        left = list(answers)

        def function():
            self.calls += 1
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        kwargs.setdefault("retries", 2)
        return errors.call("s", function, pause=self.pauses.append, **kwargs)

    def test_repeats_what_may_be_repeated(self):
        away = of_the_sdk(503, "away")
        self.assertEqual(7, self.call(away, away, 7, idempotent=True))
        self.assertEqual(3, self.calls)
        self.assertLess(self.pauses[0], self.pauses[1] * 2)
        self.assertLessEqual(max(self.pauses), errors.LONGEST_PAUSE)

    def test_gives_up(self):
        away = of_the_sdk(503, "away")
        self.assertRaises(
            errors.ServiceFault,
            self.call,
            away,
            away,
            away,
            idempotent=True,
        )
        self.assertEqual(3, self.calls)

    def test_once_only(self):
        for answer, idempotent in (
            (of_the_sdk(503, "away"), False),
            (of_the_sdk(404, "gone"), True),
        ):
            self.calls = 0
            self.assertRaises(
                errors.ServiceError, self.call, answer, idempotent=idempotent
            )
            self.assertEqual(1, self.calls)

    def test_our_own_bugs_stay_what_they_are(self):
        self.assertRaises(
            ZeroDivisionError, self.call, ZeroDivisionError(), idempotent=True
        )
