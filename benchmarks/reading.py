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
"""CPU time and statements of requests that read, in one process on SQLite.

    python benchmarks/reading.py

CPU time is that of the whole process, API and engine together, so that what
else the machine does hardly matters. Each figure is the median of some
requests, the first ones left out.
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

REQUESTS = 50
HOT = {"heat_template_version": "2018-08-31", "description": "d"}


def template(count: int) -> dict[str, object]:
    return HOT | {
        "resources": {
            f"r{n}": {
                "type": "OS::Heat::Value",
                "properties": {"value": {"get_param": "OS::stack_name"}},
            }
            for n in range(count)
        },
        "outputs": {"o": {"value": {"get_attr": ["r0", "value"]}}},
    }


def measure(
    service: inprocess.Service, name: str, method: str, path: str, body: object
) -> None:
    def send() -> None:
        answer = service.call(method, path, body)
        if answer.status_code != 200:
            raise SystemExit(f"{name}: {answer.status} {answer.text}")

    for _warm in range(5):
        send()
    with service.statements() as seen:
        send()
    spent = []
    for _request in range(REQUESTS):
        began = time.process_time()
        send()
        spent.append((time.process_time() - began) * 1000)
    print(f"{name:32} {statistics.median(spent):7.1f} ms {len(seen):3}")


def main() -> None:
    logging.disable(logging.CRITICAL)
    service = inprocess.Service()
    service.setUp()
    for number in range(200):
        service.create(f"s{number}", template(1), tags=["a", "b"])
    big = f"/stacks/big/{service.create('big', template(100))}"
    for name, path in (
        ("stack list, 200 stacks", "/stacks?limit=200"),
        ("stack list, 20 stacks", "/stacks?limit=20"),
        ("stack list with count", "/stacks?limit=20&with_count=1"),
        ("stack show, 100 resources", big),
        ("stack show, outputs left out", f"{big}?resolve_outputs=0"),
        ("resource list, 100 resources", f"{big}/resources"),
        ("resource show", f"{big}/resources/r7"),
        ("event list, 20 events", f"{big}/events?limit=20"),
        ("resource type list", "/resource_types"),
        ("resource type show", "/resource_types/OS::Nova::Server"),
    ):
        measure(service, name, "GET", path, None)
    for count in (1, 100):
        measure(
            service,
            f"validate, {count} resources",
            "POST",
            "/validate",
            {"template": template(count)},
        )
    os._exit(0)


if __name__ == "__main__":
    main()
