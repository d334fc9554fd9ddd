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

"""Support status, and the steps of the small scheduler."""

from __future__ import annotations

from heat.common import exception
from heat.engine import scheduler, support
from heat.tests import base


class SupportTest(base.TestCase):
    def test_status(self):
        earlier = support.SupportStatus(version="1")
        status = support.SupportStatus(
            support.DEPRECATED, "use another", "2", earlier
        )
        status.validate()
        self.assertEqual(
            {
                "status": "DEPRECATED",
                "message": "use another",
                "version": "2",
                "previous_status": earlier.to_dict(),
            },
            status.to_dict(),
        )
        wrong = support.SupportStatus(previous_status="text")
        self.assertRaises(exception.InvalidSchemaError, wrong.validate)
        self.assertEqual("UNKNOWN", support.SupportStatus("STRANGE").status)

    def test_substitute(self):
        status = support.SupportStatus(substitute_class=int)
        self.assertTrue(status.is_substituted(int))
        self.assertFalse(status.is_substituted(str))
        self.assertFalse(support.SupportStatus().is_substituted(None))


class SchedulerTest(base.TestCase):
    def test_steps(self):
        seen = []

        def task(first):
            seen.append(first)
            yield
            seen.append("end")

        runner = scheduler.TaskRunner(task, "begin")
        runner.start()
        self.assertFalse(runner.done())
        runner.run_to_completion(wait_time=0)
        self.assertTrue(runner.done())
        self.assertEqual(["begin", "end"], seen)
        self.assertRaises(RuntimeError, runner.start)

    def test_timeout(self):
        def task():
            while True:
                yield

        runner = scheduler.TaskRunner(task)
        self.assertRaises(scheduler.Timeout, runner, wait_time=0, timeout=0.01)

    def test_function(self):
        seen = []
        scheduler.TaskRunner(seen.append, 1)()
        self.assertEqual([1], seen)
