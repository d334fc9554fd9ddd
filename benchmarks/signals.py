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
"""How long a signal takes to be answered, one process on SQLite.

    python benchmarks/signals.py

``handle`` only keeps what is sent; ``policy`` has its group updated, and is
answered when the update has begun; ``cooling`` is a policy that does nothing
now. Milliseconds of 50 signals each, one after the other; the CPU time is that
of the whole process until the answer.
"""

from __future__ import annotations

import logging
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
# Others read it when they are imported.
os.environ.setdefault("HEAT_CONCURRENCY_BACKEND", "threading")

from heat.tests import inprocess  # noqa: E402
from heat.tests.functional import test_scaling  # noqa: E402

SIGNALS = 50


def measure(
    service: inprocess.Service, stack: str, name: str, resource: str
) -> None:
    times, cpu = [], []
    for number in range(SIGNALS):
        settle(service, stack)
        began, used = time.perf_counter(), time.process_time()
        answer = service.call(
            "POST",
            f"/stacks/s/{stack}/resources/{resource}/signal",
            {"id": str(number)} if resource == "handle" else None,
        )
        times.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - used))
        if answer.status_code != 200:
            raise SystemExit(f"{name}: {answer.status} {answer.text}")
    times.sort()
    print(
        f"{name:10} CPU {statistics.median(cpu):6.1f}"
        f"  median {statistics.median(times):6.1f}"
        f"  p90 {times[int(0.9 * SIGNALS)]:6.1f}  most {times[-1]:6.1f}"
    )


def settle(service: inprocess.Service, stack: str) -> None:
    """Wait until what the signal before has begun is done."""
    while True:
        shown = service.get(f"/stacks/s/{stack}")["stack"]
        if shown["stack_status"].endswith("_COMPLETE"):
            return
        time.sleep(0.01)


def main() -> None:
    logging.disable(logging.ERROR)
    service = inprocess.Service()
    service.setUp()
    try:
        template = test_scaling.template()
        resources = template["resources"]
        resources["handle"] = {"type": "OS::Heat::WaitConditionHandle"}
        cooling = test_scaling.template(cooldown=3600)["resources"]["policy"]
        resources["cooling"] = cooling
        stack = service.create("s", template)
        for name in ("handle", "policy", "cooling"):
            measure(service, stack, name, name)
    finally:
        service.cleanUp()


if __name__ == "__main__":
    main()
