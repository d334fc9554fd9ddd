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

"""What outputs tell of attributes that change while nothing is done."""

from __future__ import annotations

import copy
import functools
import json
import time
from unittest import mock

from heat.engine.resources.openstack.heat import wait_condition
from heat.tests import base, inprocess

WAITING = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "condition": {
            "type": "OS::Heat::WaitCondition",
            "properties": {
                "handle": {"get_resource": "handle"},
                "timeout": 60,
            },
        },
    },
    "outputs": {"data": {"value": {"get_attr": ["condition", "data"]}}},
}

BOTH = {"1": "a", "2": "b"}


HOLDING = {
    "heat_template_version": "2018-08-31",
    "resources": {"inner": {"type": "waiting.yaml"}},
    "outputs": {
        "data": {"value": {"get_attr": ["inner", "data"]}},
        "deep": {"value": {"get_attr": ["inner", "resource.condition.data"]}},
    },
}

GROUP = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": 1,
                "resource_def": {"type": "waiting.yaml"},
            },
        }
    },
    "outputs": {
        "list": {"value": {"get_attr": ["group", "data"]}},
        "refs": {"value": {"get_attr": ["group", "refs"]}},
        "map": {"value": {"get_attr": ["group", "attributes", "data"]}},
        "one": {"value": {"get_attr": ["group", "resource.0.data"]}},
    },
}


class LiveOutputsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service = self.useFixture(inprocess.Service())

    def signal(self, stack, ident, data):
        sent = {"id": ident, "data": data, "status": "SUCCESS"}
        path = f"/stacks/{stack}/resources/handle/signal"
        answer = self.service.call("POST", path, sent)
        self.assertEqual(200, answer.status_code, answer.text)

    def output(self, stack, key="data"):
        shown = self.service.get(f"/stacks/{stack}")["stack"]
        [found] = [o for o in shown["outputs"] if o["output_key"] == key]
        one = self.service.get(f"/stacks/{stack}/outputs/{key}")["output"]
        self.assertEqual(found, one)
        return found["output_value"]

    def child(self, stack, name):
        found = self.service.get(f"/stacks/{stack}/resources/{name}")
        links = found["resource"]["links"]
        [href] = [each["href"] for each in links if each["rel"] == "nested"]
        return href.partition("/stacks/")[2]

    def create(self, template):
        """Begin a stack; its path."""
        files = {"waiting.yaml": json.dumps(WAITING)}
        return "s/" + self.service.begin("s", template, files=files)

    def complete(self, stack, action="CREATE", status="COMPLETE"):
        def is_there():
            shown = self.service.get(f"/stacks/{stack}")["stack"]
            return shown["stack_status"] == f"{action}_{status}"

        self.until(is_there)

    def check(self, stack):
        path = f"/stacks/{stack}/actions"
        answer = self.service.call("POST", path, {"check": None})
        self.assertIn(answer.status_code, (200, 201), answer.text)
        self.complete(stack, "CHECK")

    def update(self, stack, template):
        body = {
            "template": template,
            "files": {"waiting.yaml": json.dumps(WAITING)},
        }
        answer = self.service.call("PUT", f"/stacks/{stack}", body)
        self.assertEqual(202, answer.status_code, answer.text)
        self.complete(stack, "UPDATE")

    def below(self, stack, *names):
        """The path of a stack below, once it waits for its signals."""
        for name in names:
            stack = self.until(functools.partial(self.child, stack, name))
        path = f"/stacks/{stack}/resources/handle"
        self.until(
            lambda: (
                self.service.get(path)["resource"]["resource_status"]
                == "CREATE_COMPLETE"
            )
        )
        return stack

    def until(self, look):
        for _try in range(500):
            try:
                if found := look():
                    return found
            except (AssertionError, ValueError):
                pass
            time.sleep(0.02)
        self.fail("it does not happen")

    def waiting(self, template=WAITING):
        """A stack that waits no more: its condition was met."""
        stack = self.create(template)
        self.signal(self.below(stack), "1", "a")
        self.complete(stack)
        return stack

    def test_what_a_later_signal_brings(self):
        stack = self.waiting()
        self.assertEqual({"1": "a"}, json.loads(self.output(stack)))
        self.signal(stack, "2", "b")
        self.assertEqual(BOTH, json.loads(self.output(stack)))

    def test_while_it_waits(self):
        template = copy.deepcopy(WAITING)
        template["resources"]["condition"]["properties"]["count"] = 2
        stack = self.create(template)
        self.signal(self.below(stack), "1", "a")
        path = f"/stacks/{stack}/resources/condition"
        self.until(
            lambda: (
                self.service.get(path)["resource"]["resource_status"]
                == "CREATE_IN_PROGRESS"
            )
        )
        self.assertEqual({"1": "a"}, json.loads(self.output(stack)))
        self.signal(stack, "2", "b")
        self.complete(stack)
        self.assertEqual(BOTH, json.loads(self.output(stack)))

    def test_when_it_has_failed(self):
        template = copy.deepcopy(WAITING)
        template["resources"]["condition"]["properties"]["timeout"] = 1
        stack = self.create(template)
        self.complete(stack, "CREATE", "FAILED")
        self.assertEqual({}, json.loads(self.output(stack)))
        self.signal(stack, "1", "a")
        self.assertEqual({"1": "a"}, json.loads(self.output(stack)))

    def test_an_update_brings_it_to_those_that_refer_to_it(self):
        template = copy.deepcopy(WAITING)
        template["resources"]["reader"] = {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["condition", "data"]}},
        }
        template["outputs"]["read"] = {
            "value": {"get_attr": ["reader", "output"]}
        }
        stack = self.waiting(template)
        self.signal(stack, "2", "b")
        self.assertEqual({"1": "a"}, json.loads(self.output(stack, "read")))

        self.update(stack, template)
        self.assertEqual(BOTH, json.loads(self.output(stack, "read")))

    def test_in_a_stack_below(self):
        """What it tells is as when it was made, until somebody looks or
        updates."""
        stack = self.create(HOLDING)
        inner = self.below(stack, "inner")
        self.signal(inner, "1", "a")
        self.complete(stack)
        self.signal(inner, "2", "b")
        self.assertEqual({"1": "a"}, json.loads(self.output(stack)))
        self.assertEqual(BOTH, json.loads(self.output(inner)))
        path = f"/stacks/{stack}/resources/inner"
        shown = self.service.get(path)["resource"]["attributes"]
        self.assertEqual(BOTH, json.loads(shown["data"]))
        self.check(stack)
        for key in ("data", "deep"):
            self.assertEqual(BOTH, json.loads(self.output(stack, key)), key)
        self.signal(inner, "3", "c")
        self.update(stack, HOLDING)
        for key in ("data", "deep"):
            found = json.loads(self.output(stack, key))
            self.assertEqual({**BOTH, "3": "c"}, found, key)

    def test_in_a_group(self):
        stack = self.create(GROUP)
        member = self.below(stack, "group", "0")
        self.signal(member, "1", "a")
        self.complete(stack)
        self.signal(member, "2", "b")
        self.update(stack, GROUP)
        [found] = self.output(stack, "list")
        self.assertEqual(BOTH, json.loads(found))
        found = self.output(stack, "map")["0"]
        self.assertEqual(BOTH, json.loads(found))
        self.assertEqual(BOTH, json.loads(self.output(stack, "one")))
        self.assertEqual(1, len(self.output(stack, "refs")))

    def test_a_stack_below_that_was_updated_by_itself(self):
        stack = self.create(HOLDING)
        inner = self.below(stack, "inner")
        self.signal(inner, "1", "a")
        self.complete(stack)
        changed = copy.deepcopy(WAITING)
        changed["outputs"]["data"]["value"] = "another"
        self.update(inner, changed)
        self.check(stack)
        self.assertEqual("another", self.output(stack))

    def test_what_a_stack_below_is(self):
        template = copy.deepcopy(HOLDING)
        reference = {"get_attr": ["inner", "OS::stack_id"]}
        template["outputs"]["id"] = {"value": reference}
        stack = self.create(template)
        inner = self.below(stack, "inner")
        self.signal(inner, "1", "a")
        self.complete(stack)
        told = self.output(stack, "id")
        self.assertTrue(told.startswith("arn:openstack:heat:"), told)
        self.assertTrue(told.endswith(f":stacks/{inner}"), told)

    def test_why_an_output_has_no_value_outlasts_a_lock(self):
        """Nothing is read of what is locked, and nothing forgotten."""
        wrong = {
            "heat_template_version": "2018-08-31",
            "resources": {"r": {"type": "OS::Heat::TestResource"}},
            "outputs": {"data": {"value": {"get_param": "unknown"}}},
        }
        outer = copy.deepcopy(HOLDING)
        del outer["outputs"]["deep"]
        files = {"waiting.yaml": json.dumps(wrong)}
        ident = self.service.create("s", outer, files=files)

        def error():
            path = f"/stacks/s/{ident}/outputs/data"
            return self.service.get(path)["output"].get("output_error")

        before = error()
        self.assertIn("The Parameter (unknown) was not provided", before)
        path = f"/stacks/s/{ident}/actions"
        for action in ("lock", "unlock"):
            sent = {action: {"level": "all"} if action == "lock" else None}
            answer = self.service.call("POST", path, sent)
            self.assertLess(answer.status_code, 300, answer.text)
            self.service.wait(ident, f"{action.upper()}_COMPLETE")
            self.assertEqual(before, error(), action)

    def test_what_can_not_be_read_now_is_told_as_it_was_last(self):
        stack = self.waiting()
        with mock.patch.object(
            wait_condition.HeatWaitCondition,
            "_resolve_attribute",
            side_effect=RuntimeError("not now"),
        ):
            self.assertEqual({"1": "a"}, json.loads(self.output(stack)))


_PLUGIN = '''
from heat.engine import attributes, resource

#: What its service says.
NOW = {"value": "A"}


class Cell(resource.Resource):
    """Tells what its service says, kept and read each time."""

    properties_schema = {}
    attributes_schema = {
        "kept": attributes.Schema("kept"),
        "read": attributes.Schema("read", cache_mode="cache_none"),
    }

    def handle_create(self):
        self.resource_id_set(self.name)

    def handle_check(self):
        pass

    def handle_suspend(self):
        pass

    def handle_resume(self):
        pass

    def _resolve_attribute(self, name):
        if NOW["value"] is None:
            raise RuntimeError("it is away")
        return NOW["value"]


def resource_mapping():
    return {"Test::Cell": Cell}
'''

CELL = {
    "heat_template_version": "2018-08-31",
    "resources": {"cell": {"type": "Test::Cell"}},
    "outputs": {
        "kept": {"value": {"get_attr": ["cell", "kept"]}},
        "read": {"value": {"get_attr": ["cell", "read"]}},
        "all": {"value": {"get_attr": ["cell"]}},
    },
}


class KeptAttributesTest(base.TestCase):
    """Values that may be kept are renewed whenever something is done."""

    def setUp(self):
        super().setUp()
        self.service, module = inprocess.with_plugin(self, "cells", _PLUGIN)
        self.now = module.NOW
        self.now["value"] = "A"
        self.ident = self.service.create("s", CELL)

    def outputs(self):
        shown = self.service.get(f"/stacks/s/{self.ident}")["stack"]
        return {
            each["output_key"]: each["output_value"]
            for each in shown["outputs"]
        }

    def single(self):
        return {key: self.outputs()[key] for key in ("kept", "read")}

    def test_each_action_renews_them(self):
        for action in ("check", "suspend", "resume"):
            old = self.outputs()["kept"]
            self.now["value"] = action
            found = self.outputs()
            self.assertEqual((old, action), (found["kept"], found["read"]))
            path = f"/stacks/s/{self.ident}/actions"
            self.service.call("POST", path, {action: None})
            self.service.wait(self.ident, f"{action.upper()}_COMPLETE")
            self.assertEqual(action, self.outputs()["kept"])

    def test_who_looks_at_the_resource_sees_what_is_now(self):
        self.now["value"] = "B"
        path = f"/stacks/s/{self.ident}/resources/cell"
        found = self.service.get(path)["resource"]["attributes"]
        self.assertEqual({"kept": "B", "read": "B"}, found)

    def test_a_service_that_is_away(self):
        before = self.single()
        self.now["value"] = None
        self.assertEqual(before, self.single())
        path = f"/stacks/s/{self.ident}/resources/cell"
        found = self.service.get(path)["resource"]["attributes"]
        self.assertEqual({"kept": "A", "read": None}, found)
        self.service.call(
            "POST", f"/stacks/s/{self.ident}/actions", {"check": None}
        )
        self.service.wait(self.ident, "CHECK_COMPLETE")
        self.assertEqual(before, self.single())
