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

"""Declared types of REST services, on openstacksdk and HTTP."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any
from unittest import mock

from heat.common import exception
from heat.engine import resource
from heat.engine.clients import errors
from heat.engine.resource import lifecycle, notation, rest, resumption
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks


class Thing(rest.RestResource):
    default_client_name = "neutron"
    entity = "thing"
    properties_schema = notation.properties("""
        name string (update)
        note string (update)
        network string (update, is neutron.network)
        ways list{* map{to string, network string}} (update)
        old string (hidden)
        label string
        more map (update)
    """)
    body_keys = {"network": "network_id", "ways.network": "net"}
    finds = {"network": "neutron.network", "ways.network": "neutron.network"}
    renamed = {"old": "note"}
    extra_property = "more"
    status_key = "status"
    pending = frozenset({"BUILD"})
    deleted_at_once = False


class RestTest(base.TestCase):
    def setUp(self):
        super().setUp()
        stacks.registry()  # makes the named constraints known
        self.cloud = self.useFixture(cloud.Cloud())
        self.things = self.cloud.objects(
            "http://network/v2.0/things", "thing", "things", status="ACTIVE"
        )
        self.network = self.cloud.networks.add(name="blue")["id"]

    def made(self, props: Any = None, **state: Any) -> Any:
        view = stacks.view({"r": {"type": "T", "properties": props or {}}})
        values = dataclasses.replace(view.values, context=self.cloud.context)
        stack = resource.StackView(view.definition, values=values)
        rsrc = Thing("r", view.definition.resource_definitions["r"], stack)
        rsrc.load_state(uuid=str(uuid.uuid4()), **state)
        return rsrc

    def stored(self, props: Any, before: Any, **values: Any) -> Any:
        thing = self.things.add(**values)
        return self.made(
            props,
            physical_id=thing["id"],
            action="CREATE",
            stored_properties=before,
        )

    def test_create(self):
        rsrc = self.made(
            {
                "old": "text",
                "network": "blue",
                "ways": [{"to": "x", "network": self.network}, {"to": "y"}],
                "more": {"extra": 1},
            }
        )
        rsrc.validate()
        stacks.run(rsrc, "CREATE")
        self.assertEqual(
            {
                "name": rsrc.physical_resource_name(),
                "note": "text",
                "network_id": self.network,
                "ways": [{"to": "x", "net": self.network}, {"to": "y"}],
                "extra": 1,
            },
            self.things.calls[0][2]["thing"],
        )
        self.assertIn(rsrc.resource_id, self.things.stored)
        self.assertEqual("ACTIVE", rsrc.FnGetAtt("show")["status"])

    def test_waits_without_a_thread(self):
        self.things.defaults["status"] = "BUILD"
        operation = lifecycle.Operation(self.made(), "CREATE")
        self.assertEqual(
            lifecycle.Waiting(rest.POLL_SECONDS), operation.start()
        )
        for each in self.things.stored.values():
            each["status"] = "ACTIVE"
        self.assertEqual(lifecycle.Done(), operation.poll())

    def test_bad_state(self):
        self.things.defaults["status"] = "ERROR"
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, self.made(), "CREATE"
        )
        self.assertIn("ResourceInError: resources.r: ", str(error))

    def test_refused_in_the_services_words(self):
        body = {"NeutronError": {"message": "Not that one."}}
        self.things.refuse.append(("POST", 400, body))
        rsrc = self.made()
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, rsrc, "CREATE"
        )
        self.assertEqual(
            "BadRequest: resources.r: Not that one. (neutron, HTTP 400)",
            str(error),
        )
        self.assertIsNone(rsrc.resource_id)

    def test_create_is_not_repeated(self):
        self.things.refuse.append(("POST", 503, {}))
        self.assertRaises(
            exception.ResourceFailure, stacks.run, self.made(), "CREATE"
        )
        self.assertEqual(["POST"], self.things.methods())

    def test_name_of_nothing(self):
        error = self.assertRaises(
            exception.StackValidationFailed,
            self.made({"network": "red"}).validate,
        )
        self.assertIn("resources.r.properties.network: ", str(error))
        self.assertIn("red", str(error))

    def test_update_in_place(self):
        rsrc = self.stored(
            {"note": "new", "more": {"b": 2}},
            {"note": "old", "network": self.network, "name": "mine"},
        )
        verdict = lifecycle.verdict(rsrc)
        self.assertEqual(
            (True, False),
            (verdict.needs_update, verdict.needs_replace),
        )
        stacks.run(rsrc, "UPDATE")
        method, _path, body = self.things.calls[0]
        self.assertEqual("PUT", method)
        self.assertEqual(
            {
                "note": "new",
                "network_id": None,
                "name": rsrc.physical_resource_name(),
                "b": 2,
            },
            body["thing"],
        )

    def test_replacement(self):
        rsrc = self.stored({"label": "b"}, {"label": "a"})
        self.assertTrue(lifecycle.verdict(rsrc).needs_replace)

    def test_delete_waits_until_it_is_gone(self):
        rsrc = self.stored({}, {})
        self.assertEqual(
            lifecycle.Done(), lifecycle.Operation(rsrc, "DELETE").start()
        )
        self.assertEqual({}, self.things.stored)
        self.assertEqual(["DELETE", "GET"], self.things.methods())

    def test_delete_of_what_is_gone(self):
        rsrc = self.stored({}, {})
        self.things.stored.clear()
        stacks.run(rsrc, "DELETE")

    def test_delete_meets_a_conflict(self):
        rsrc = self.stored({}, {})
        busy = {"NeutronError": {"message": "In use."}}
        self.things.refuse.extend([("DELETE", 409, busy)] * 2)
        operation = lifecycle.Operation(rsrc, "DELETE")
        self.assertEqual(
            lifecycle.Waiting(rest.CONFLICT_SECONDS), operation.start()
        )
        self.assertEqual(lifecycle.Done(), operation.poll())

    def test_delete_gives_up_on_a_conflict(self):
        rsrc = self.stored({}, {})
        busy = {"NeutronError": {"message": "In use."}}
        self.things.refuse.extend([("DELETE", 409, busy)] * 99)
        operation = lifecycle.Operation(rsrc, "DELETE")
        operation.start()

        def poll():
            for _number in range(rest.CONFLICT_TRIES):
                operation.poll()

        error = self.assertRaises(exception.ResourceFailure, poll)
        self.assertIn("In use.", str(error))

    def test_delete_finds_what_an_interrupted_creation_left(self):
        rsrc = self.made(action="CREATE", status="FAILED")
        self.things.add(name=rsrc.physical_resource_name())
        other = self.things.add(name="st-r-other")["id"]
        stacks.run(rsrc, "DELETE")
        self.assertEqual([other], list(self.things.stored))

    def resumed(self, rsrc):
        return resumption.Resumption(rsrc, "CREATE")

    def test_another_engine_goes_on(self):
        thing = self.things.add(status="BUILD")
        rsrc = self.made(
            physical_id=thing["id"], action="CREATE", status="FAILED"
        )
        operation = self.resumed(rsrc)
        self.assertEqual(
            lifecycle.Waiting(rest.POLL_SECONDS), operation.start()
        )
        thing["status"] = "ACTIVE"
        self.assertEqual(lifecycle.Done(), operation.poll())
        self.assertEqual({"GET"}, set(self.things.methods()))

    def test_another_engine_meets_an_error(self):
        thing = self.things.add(status="ERROR")
        rsrc = self.made(
            physical_id=thing["id"], action="CREATE", status="FAILED"
        )
        self.assertRaises(exception.ResourceFailure, self.resumed(rsrc).start)

    def test_what_nobody_recorded_is_found_and_gone_on_with(self):
        rsrc = self.made(action="CREATE", status="FAILED")
        thing = self.things.add(name=rsrc.physical_resource_name())
        self.assertEqual(lifecycle.Done(), self.resumed(rsrc).start())
        self.assertEqual(thing["id"], rsrc.resource_id)
        self.assertEqual({"GET"}, set(self.things.methods()))

    def test_nothing_was_made(self):
        rsrc = self.made(action="CREATE", status="FAILED")
        self.assertRaises(exception.UpdateReplace, self.resumed(rsrc).start)

    def test_what_takes_more_than_one_call_is_not_gone_on_with(self):
        rsrc = self.made(action="CREATE", status="FAILED")
        self.things.add(name=rsrc.physical_resource_name())
        with mock.patch.object(Thing, "finish_create", lambda *args: None):
            self.assertRaises(
                exception.UpdateReplace, self.resumed(rsrc).start
            )

    def test_delete_takes_nobody_elses(self):
        rsrc = self.made(
            {"name": "mine"},
            action="CREATE",
            status="FAILED",
            stored_properties={"name": "mine"},
        )
        self.things.add(name="mine")
        stacks.run(rsrc, "DELETE")
        self.assertEqual(1, len(self.things.stored))

    def test_check(self):
        rsrc = self.stored({}, {})
        stacks.run(rsrc, "CHECK")
        self.things.stored[rsrc.resource_id]["status"] = "ERROR"
        for _number in range(2):
            self.assertRaises(
                exception.ResourceFailure, stacks.run, rsrc, "CHECK"
            )
            self.things.stored.clear()

    def test_live_state(self):
        rsrc = self.stored({}, {}, note="live", network_id="n", label="x")
        state = rsrc.get_live_state(rsrc.properties)
        self.assertEqual({"note": "live", "network": "n"}, state)
        self.things.stored.clear()
        self.assertRaises(
            exception.EntityNotFound, rsrc.get_live_state, rsrc.properties
        )

    def test_no_cloud(self):
        self.cloud.context.auth_token = None
        available, reason = Thing.is_service_available(self.cloud.context)
        self.assertFalse(available)
        # Nobody is asked whether there is such a network.
        self.made({"network": "red"}).validate()
        self.assertEqual([], self.cloud.networks.calls)

    def test_unauthorized(self):
        self.things.refuse.append(("POST", 401, {}))
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, self.made(), "CREATE"
        )
        self.assertIsInstance(error.exc, errors.Unauthorized)
