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
"""What a row costs in a group of templates, and what it costs in a flat stack.

    python benchmarks/members.py http://127.0.0.1:8004 --inside 1 7

Over ReST, with what ``python -m heat.tests.functional.deployment`` (or
``heat-standalone``) has started; without a limit to the resources of a stack
(``--option max_resources_per_stack=-1``). A ResourceGroup of ``--members``
templates with ``--inside`` resources each, and a flat stack with as many rows
(a member is one itself), are created, updated so that every resource is, and
deleted, in turns. Milliseconds a row from the request to the end, the medians;
*ratio* is that of the two.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import statistics
import sys
import time
from typing import Any

import requests

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from heat.tests.functional import base  # noqa: E402

VERSION = "2021-04-16"
Template = dict[str, Any]


def flat(rows: int, rev: int) -> Template:
    """Resources that need nothing of each other, another value each time."""
    return {
        "heat_template_version": VERSION,
        "resources": {
            f"r{number}": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": f"{rev}-{number}"},
            }
            for number in range(rows)
        },
    }


def group(members: int) -> Template:
    of = {"count": members, "resource_def": {"type": "member.yaml"}}
    resource = {"type": "OS::Heat::ResourceGroup", "properties": of}
    return {"heat_template_version": VERSION, "resources": {"g": resource}}


def live(project: base.Project, bodies: list[dict[str, Any]]) -> list[float]:
    """Seconds to create a stack, update it and delete it.

    :param bodies: of the first request and of the second
    """
    first, second = bodies
    began = [time.perf_counter()]
    made = project.create("measured", **first)
    judge(made, 201)
    stack = f"/stacks/measured/{made.json()['stack']['id']}"
    wait(project, stack, "CREATE_COMPLETE")
    began.append(time.perf_counter())
    judge(project.call("PUT", stack, second), 202)
    wait(project, stack, "UPDATE_COMPLETE")
    began.append(time.perf_counter())
    judge(project.call("DELETE", stack), 204)
    wait(project, stack, "DELETE_COMPLETE")
    began.append(time.perf_counter())
    return [after - before for before, after in itertools.pairwise(began)]


def judge(answer: requests.Response, status: int) -> None:
    if answer.status_code != status:
        raise SystemExit(f"{answer.status_code} {answer.text}")


def wait(project: base.Project, stack: str, wanted: str) -> None:
    """Look more often, and for a deleted one as well, than tests do."""
    while True:
        answer = project.call("GET", stack)
        if answer.status_code == 404 and wanted == "DELETE_COMPLETE":
            return
        judge(answer, 200)
        shown = answer.json()["stack"]
        if shown["stack_status"] == wanted:
            return
        if shown["stack_status"].endswith("_FAILED"):
            raise SystemExit(shown["stack_status_reason"])
        time.sleep(0.02)


def measure(
    project: base.Project, members: int, inside: int, rounds: int
) -> None:
    rows = members * (inside + 1)
    plain = [{"template": flat(rows, rev)} for rev in (0, 1)]
    grouped = [
        {
            "template": group(members),
            "files": {"member.yaml": json.dumps(flat(inside, rev))},
        }
        for rev in (0, 1)
    ]
    times: list[tuple[list[float], list[float]]] = []
    for _round in range(rounds + 1):
        times.append((live(project, plain), live(project, grouped)))
    # The first one after a start loads what the others find.
    for number, action in enumerate(("create", "update", "delete")):
        one, many = (
            statistics.median(each[kind][number] for each in times[1:])
            for kind in (0, 1)
        )
        print(
            f"inside {inside:3} {action}: flat {1000 * one / rows:5.2f}"
            f"  group {1000 * many / rows:5.2f}  ratio {many / one:4.2f}"
            f"  members/s {members / many:4.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--inside", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for inside in args.inside:
        measure(base.Project(args.url), args.members, inside, args.rounds)


if __name__ == "__main__":
    main()
