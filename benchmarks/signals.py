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
"""How long a signal takes to be answered.

    python benchmarks/signals.py
    python benchmarks/signals.py --database URL --rabbit URL

Without options it is one process on SQLite, asked without HTTP; with them
heat-api and two heat-engine on a database server and RabbitMQ, asked by HTTP.
``handle`` only keeps what is sent; ``policy`` has its group updated, and is
answered when the update has begun; ``cooling`` is a policy that does nothing
now. Milliseconds of 50 signals each, one after the other; the CPU time is that
of all processes of the service until the answer. What a process does meanwhile
of an update that has begun counts as well.
"""

from __future__ import annotations

import argparse
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
from heat.tests.functional import base, deployment, test_scaling  # noqa: E402

SIGNALS = 50


class Alone:
    """API and engine in this process."""

    def __init__(self) -> None:
        self._service = inprocess.Service()
        self._service.setUp()
        self.call = self._service.call
        self.create = self._service.create
        self.stop = self._service.cleanUp
        self.cpu = time.process_time


class Production:
    """heat-api and two heat-engine, each a process with workers."""

    def __init__(self, database: str, rabbit: str) -> None:
        self._cluster = deployment.Cluster(database, rabbit).start()
        self._project = base.Project(self._cluster.url)
        self.call = self._project.call
        self.stop = self._cluster.stop

    def create(self, name: str, template: object) -> str:
        made = self._project.create(name, template)
        self._project.wait(name, "CREATE_COMPLETE")
        return str(made.json()["stack"]["id"])

    def cpu(self) -> float:
        """Seconds of all processes so far."""
        groups = {each.pid for each in self._cluster.processes.values()}
        ticks = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) in groups:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


Service = Alone | Production


# Of the CPU time it is the mean: the clock of /proc is a coarse one.
def measure(service: Service, stack: str, name: str, resource: str) -> None:
    times, cpu = [], []
    for number in range(SIGNALS):
        settle(service, stack)
        used = service.cpu()
        began = time.perf_counter()
        answer = service.call(
            "POST",
            f"/stacks/s/{stack}/resources/{resource}/signal",
            {"id": str(number)} if resource == "handle" else None,
        )
        times.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (service.cpu() - used))
        if answer.status_code != 200:
            raise SystemExit(f"{name}: {answer.status_code} {answer.text}")
    times.sort()
    print(
        f"{name:10} CPU {statistics.mean(cpu):6.1f}"
        f"  median {statistics.median(times):6.1f}"
        f"  p90 {times[int(0.9 * SIGNALS)]:6.1f}  most {times[-1]:6.1f}"
    )


def settle(service: Service, stack: str) -> None:
    """Wait until what the signal before has begun is done."""
    while True:
        answer = service.call("GET", f"/stacks/s/{stack}")
        if "_COMPLETE" in answer.text:
            return
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database")
    parser.add_argument("--rabbit")
    args = parser.parse_args()
    logging.disable(logging.ERROR)
    service: Service = (
        Production(args.database, args.rabbit) if args.database else Alone()
    )
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
        service.stop()


if __name__ == "__main__":
    main()
