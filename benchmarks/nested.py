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
"""What a group costs whose members are templates, one process on SQLite.

    python benchmarks/nested.py [--members 100] [--inside 1] [--defaults 0]

A ResourceGroup of ``--members`` templates with ``--inside`` resources each is
created, updated with nothing to change, updated so that every resource is, and
deleted. CPU time is that of the whole process, API and engine; the requests
that wait for the end are in it. A *row* is a resource, those that are stacks
too. ``--defaults`` gives the tree that many parameter defaults, of which no
template declares any.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
# Others read it when they are imported.
os.environ.setdefault("HEAT_CONCURRENCY_BACKEND", "threading")

from heat.tests import inprocess  # noqa: E402


def member(inside: int) -> str:
    """The template of a member."""
    return json.dumps(
        {
            "heat_template_version": "2018-08-31",
            "parameters": {"value": {"type": "string"}},
            "resources": {
                f"r{number}": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": {"get_param": "value"}},
                }
                for number in range(inside)
            },
            "outputs": {"value": {"value": {"get_attr": ["r0", "output"]}}},
        }
    )


def group(members: int, value: str) -> dict[str, Any]:
    """The template of the stack."""
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "count": members,
                    "resource_def": {
                        "type": "member.yaml",
                        "properties": {"value": value + "-%index%"},
                    },
                },
            }
        },
    }


def resident() -> int:
    """Memory of this process in MiB."""
    with open("/proc/self/statm", encoding="ascii") as seen:
        pages = int(seen.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


class Bench:
    """One service, one stack."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.rows = args.members * (args.inside + 1) + 1
        self.stack = ""
        inprocess.WAIT_SECONDS = 1200
        self.service = inprocess.Service(max_resources_per_stack=-1)

    def run(self) -> None:
        self.service.setUp()
        try:
            print(
                f"{'':10}{'s':>8}{'CPU s':>8}{'ms/row':>8}"
                f"{'sql/row':>9}{'MiB':>7}"
            )
            self.measure("create", self.create)
            self.measure("no-op", lambda: self.update("a"))
            self.measure("update", lambda: self.update("b"))
            self.measure("delete", self.delete)
        finally:
            self.service.cleanUp()

    def body(self, value: str) -> dict[str, Any]:
        return {
            "template": group(self.args.members, value),
            "files": {"member.yaml": member(self.args.inside)},
            "environment": {
                "parameter_defaults": {
                    f"some_parameter_{number}": "x" * 40
                    for number in range(self.args.defaults)
                }
            },
        }

    def measure(self, name: str, work: Callable[[], None]) -> None:
        began, used = time.perf_counter(), time.process_time()
        with self.service.statements() as seen:
            work()
        used = time.process_time() - used
        passed = time.perf_counter() - began
        print(
            f"{name:10}{passed:8.1f}{used:8.2f}{1000 * used / self.rows:8.2f}"
            f"{len(seen) / self.rows:9.1f}{resident():7}",
            flush=True,
        )
        if self.args.statements:
            _print_statements(seen, self.args.members)

    def create(self) -> None:
        answer = self.service.call(
            "POST", "/stacks", {"stack_name": "s"} | self.body("a")
        )
        if answer.status_code != 201:
            raise SystemExit(f"create: {answer.status} {answer.text}")
        self.stack = answer.get_json()["stack"]["id"]
        self.wait("CREATE_COMPLETE")

    def update(self, value: str) -> None:
        answer = self.service.call(
            "PUT", f"/stacks/s/{self.stack}", self.body(value)
        )
        if answer.status_code != 202:
            raise SystemExit(f"update: {answer.status} {answer.text}")
        self.wait("UPDATE_COMPLETE")

    def delete(self) -> None:
        answer = self.service.call("DELETE", f"/stacks/s/{self.stack}")
        if answer.status_code != 204:
            raise SystemExit(f"delete: {answer.status} {answer.text}")
        self.wait("DELETE_COMPLETE")

    def wait(self, status: str) -> None:
        # What asks for the end costs as well.
        time.sleep(0.2)
        while True:
            [shown] = self.service.get(
                f"/stacks?id={self.stack}&show_deleted=1"
            )["stacks"]
            if not shown["stack_status"].endswith("_IN_PROGRESS"):
                break
            time.sleep(0.2)
        if shown["stack_status"] != status:
            raise SystemExit(str(shown))


def _print_statements(seen: list[str], members: int) -> None:
    """Which statements there were, how often for each member."""
    counted: dict[str, int] = {}
    for each in seen:
        text = " ".join(each.split())[:150]
        counted[text] = counted.get(text, 0) + 1
    for text, times in sorted(counted.items(), key=lambda each: -each[1])[:45]:
        print(f"  {times / members:7.2f} {text}")


def main() -> None:
    logging.disable(logging.ERROR)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--inside", type=int, default=1)
    parser.add_argument("--defaults", type=int, default=0)
    parser.add_argument("--statements", action="store_true")
    Bench(parser.parse_args()).run()


if __name__ == "__main__":
    main()
