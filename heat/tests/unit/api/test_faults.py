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

"""From class names to statuses, and what a client may read."""

from __future__ import annotations

import inspect

import oslo_messaging

from heat.api import faults
from heat.common import exception
from heat.tests import base
from heat.tests.unit.api import client

# The contract's table; what is not here is 500.
CONTRACT = {
    400: "ValueError NotSupported Invalid StackValidationFailed "
    "InvalidSchemaError InvalidTemplateReference InvalidTemplateVersion "
    "InvalidTemplateSection UnknownUserParameter UserParameterMissing "
    "ImmutableParameterModified MissingCredentialError RequestLimitExceeded "
    "DownloadLimitExceeded ResourcePropertyConflict PropertyUnspecifiedError "
    "ResourceActionNotSupported ResourceTypeUnavailable "
    "PhysicalResourceNameAmbiguity PhysicalResourceIDAmbiguity "
    "InvalidBreakPointHook CircularDependencyException "
    "InvalidMergeStrategyForParam ConflictingMergeStrategyForParam "
    # by their base classes
    "StackResourceLimitExceeded ResourceActionRestricted UnicodeDecodeError",
    403: "Forbidden InvalidTenant",
    404: "EntityNotFound NotFound ResourceNotAvailable ResourceNotFound "
    "SnapshotNotFound",
    409: "StackExists ActionInProgress StackLocked ActionNotComplete",
    500: "InvalidGlobalResource StopActionFailed EventSendFailed "
    "InvalidEncryptionKey HeatException Error KeyError Whatever",
    501: "NotImplementedYet NoSuchMethod UnsupportedVersion",
}
TRACE = ["Traceback (most recent call last):\n", '  File "secret.py"\n']


def make(name):
    """An instance of a class of ours, whatever its arguments are."""
    cls = getattr(exception, name)
    made = cls.__new__(cls)
    exception.HeatException.__init__(made)
    made.message = "the text"
    return made


class StatusTest(base.TestCase):
    def test_by_name_over_rpc(self):
        for status, names in CONTRACT.items():
            for name in names.split():
                for told in (name, f"{name}_Remote"):
                    error = oslo_messaging.RemoteError(told, "text", TRACE)
                    with self.subTest(told):
                        fault = faults.of(error, "req-1")
                        self.assertEqual(status, fault.status)
                        self.assertEqual(name, fault.kind)
                        self.assertNotIn("secret.py", str(fault.body()))

    def test_by_class(self):
        for status, names in CONTRACT.items():
            for name in names.split():
                if not hasattr(exception, name):
                    continue
                error = make(name)
                with self.subTest(name):
                    self.assertEqual(status, faults.of(error, "r").status)
                remote = type(f"{name}_Remote", (type(error),), {})
                error.__class__ = remote
                fault = faults.of(error, "r")
                self.assertEqual((status, name), (fault.status, fault.kind))

    def test_every_class_of_ours_has_a_status(self):
        for name, cls in inspect.getmembers(exception, inspect.isclass):
            if issubclass(cls, exception.HeatException):
                status = faults.of(make(name), "r").status
                self.assertIn(status, CONTRACT, name)

    def test_texts(self):
        glued = ValueError("wrong\nTraceback (most recent call last):\n x")
        for error, text in (
            (ValueError("wrong"), "wrong"),
            (glued, "wrong"),
            (
                oslo_messaging.RemoteError("ValueError", "wrong", TRACE),
                "wrong",
            ),
            (
                exception.StackValidationFailed(
                    error="E", path=["resources", "a"], message="m"
                ),
                "E: : resources.a: : m",
            ),
            (exception.StackValidationFailed(error="E", message="m"), "E: m"),
        ):
            self.assertEqual(text, faults.of(error, "r").message)

    def test_unexpected_errors_show_the_id_only(self):
        fault = faults.of(KeyError("password=secret"), "req-7")
        self.assertIn("req-7", fault.message)
        self.assertNotIn("secret", fault.message)
        fault = faults.of(
            oslo_messaging.MessagingTimeout("topic secret"), "req-8"
        )
        self.assertEqual(500, fault.status)
        self.assertIn("No engine answered", fault.message)
        self.assertIn("req-8", fault.message)
        self.assertNotIn("secret", fault.message)

    def test_our_own_failures_tell_what_they_are(self):
        error = exception.StopActionFailed(stack_name="s", engine_id="e")
        self.assertEqual(
            "Failed to stop stack (s) on other engine (e) (req-9)",
            faults.of(error, "req-9").message,
        )


class ThroughTheApiTest(client.ApiTestCase):
    def test_an_error_of_the_engine(self):
        self.engine.answers["create_stack"] = exception.StackExists(
            stack_name="a"
        )
        response = self.request(
            "POST",
            f"{client.ROOT}/stacks",
            json={"stack_name": "a", "template": client.TEMPLATE},
        )
        self.assert_fault(
            response, 409, "StackExists", "The Stack (a) already exists."
        )
        body = response.get_json()
        self.assertEqual("Conflict", body["title"])
        self.assertEqual(
            "There was a conflict when trying to complete your request.",
            body["explanation"],
        )

    def test_an_unexpected_error(self):
        self.engine.answers["show_stack"] = RuntimeError("secret")
        response = self.get(client.S)
        self.assert_fault(response, 500, "RuntimeError")
        self.assertNotIn("secret", response.text)
        self.assertIn(
            response.headers["x-openstack-request-id"], response.text
        )

    def test_an_answer_nobody_expects(self):
        self.engine.answers["show_stack"] = [{}]
        self.assert_fault(self.get(client.S), 500, "KeyError")
