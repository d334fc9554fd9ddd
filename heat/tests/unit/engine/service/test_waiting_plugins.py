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

"""Plug-ins whose steps wait for something keep nobody else waiting."""

from heat.tests import base, inprocess

_PLUGIN = '''
import threading
import time

from heat.engine import properties, resource

#: The test lets them go on.
GATE = threading.Event()
#: As many as there are turns at once have come to it.
CAME = threading.Semaphore(0)
_lock = threading.Lock()
running = most = 0


class Quiet(resource.Resource):
    """Waits for a service, and does not say so."""

    properties_schema = {}

    def handle_create(self):
        global running, most
        with _lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with _lock:
            running -= 1
        self.resource_id_set(self.name)


class Stuck(resource.Resource):
    """Says that it waits, and does."""

    properties_schema = {}
    may_block = True

    def handle_create(self):
        CAME.release()
        GATE.wait(60)
        self.resource_id_set(self.name)


def resource_mapping():
    return {"Test::Quiet": Quiet, "Test::Stuck": Stuck}
'''


def _template(type_, count):
    return {
        "heat_template_version": "2018-08-31",
        "resources": {f"r{n}": {"type": type_} for n in range(count)},
    }


class WaitingPluginsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.service, self.module = inprocess.with_plugin(
            self, "waiting_ones", _PLUGIN
        )
        self.addCleanup(self.module.GATE.set)

    def test_who_does_not_say_so_is_found_out(self):
        self.service.create("s", _template("Test::Quiet", 30))
        # One after the other but for the first, in less time than alone.
        self.assertGreater(self.module.most, 4)

    def test_a_full_pool_of_waiting_steps_stops_no_other_stack(self):
        stuck = self.service.begin("stuck", _template("Test::Stuck", 40))
        for _step in range(16):
            self.assertTrue(self.module.CAME.acquire(timeout=30))
        self.service.create("s", _template("OS::Heat::TestResource", 3))
        shown = self.service.get(f"/stacks/stuck/{stuck}")["stack"]
        self.assertEqual("CREATE_IN_PROGRESS", shown["stack_status"])
        self.module.GATE.set()
        self.service.wait(stuck, "CREATE_COMPLETE")
