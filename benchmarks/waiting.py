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
"""How many resources an engine makes whose plug-in waits for a service.

    python benchmarks/waiting.py --database URL --rabbit URL [--engines 1 2]

A plug-in from outside that sleeps in ``handle_create``, and says neither that
it may block nor that it has a client, is made in one large stack and in many
small ones, with one engine and with two, each with one worker.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
# Others read it when they are imported.
os.environ.setdefault("HEAT_CONCURRENCY_BACKEND", "threading")

from heat.tests.functional import base, deployment  # noqa: E402

PLUGIN = """
import time
import uuid

from heat.engine import properties, resource


class Slow(resource.Resource):
    properties_schema = {
        "seconds": properties.Schema(properties.Schema.NUMBER)
    }

    def handle_create(self):
        time.sleep(self.properties["seconds"])
        self.resource_id_set(uuid.uuid4().hex)


def resource_mapping():
    return {"Bench::Slow": Slow}
"""

# Stacks, resources in each, seconds that each waits.
WORK = ((1, 400, 0.2), (20, 20, 0.2), (1, 400, 0.5), (20, 20, 0.5))


def measure(
    project: base.Project, stacks: int, inside: int, seconds: float
) -> None:
    """Create and print resources a second."""
    slow = {"type": "Bench::Slow", "properties": {"seconds": seconds}}
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {f"r{number}": slow for number in range(inside)},
    }
    names = [f"s{stacks}-{seconds}-{number}" for number in range(stacks)]
    began = time.perf_counter()
    for name in names:
        project.create(name, template)
    for name in names:
        project.wait(name, "CREATE_COMPLETE")
    rate = stacks * inside / (time.perf_counter() - began)
    print(f"  {stacks:3} x {inside:3}, {seconds} s: {rate:5.0f} resources/s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--rabbit", required=True)
    parser.add_argument("--engines", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench_slow.py").write_text(PLUGIN, "utf-8")
        for engines in args.engines:
            cluster = deployment.Cluster(
                args.database,
                args.rabbit,
                engines=engines,
                options=[f"plugin_dirs={folder}"],
            ).start()
            try:
                print(f"{engines} engines")
                for work in WORK:
                    measure(base.Project(cluster.url), *work)
            finally:
                cluster.stop()


if __name__ == "__main__":
    main()
