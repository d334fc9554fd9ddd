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
"""What environment files cost the engine: CPU seconds, in one process.

For each shape the time in which the YAML library alone loads the files, and
that of the engine's validate. ``python -m benchmarks.environment``; the
figures go into benchmarks/README.rst.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import yaml

from heat.engine.stack import validate
from heat.tests.convergence import world


def request(files: int, params: int, overlap: bool) -> dict[str, Any]:
    """Arguments of a validate.

    :param overlap: all files set the same parameters, else each its own
    """
    declared: dict[str, Any] = {}
    texts = {}
    for number in range(files):
        lines = ["parameter_defaults:"]
        for index in range(params):
            name = f"p{index}" if overlap else f"p{number}_{index}"
            if index % 4 == 3:
                declared[name] = {"type": "json"}
                lines.append(f"  {name}: {{k{number}: {{a: x, b: [1, 2]}}}}")
            elif index % 4 == 2:
                declared[name] = {"type": "number"}
                lines.append(f"  {name}: {number}")
            else:
                declared[name] = {"type": "string"}
                lines.append(f'  {name}: "value {index} of {number}"')
        texts[f"env/{number}.yaml"] = "\n".join(lines) + "\n"
    return {
        "template": {
            "heat_template_version": "2021-04-16",
            "parameters": declared,
        },
        "files": texts,
        "environment_files": list(texts),
    }


def best(work: Callable[[], object], times: int) -> float:
    """The least CPU seconds of some runs."""
    found = []
    for _number in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def measure(files: int, params: int, overlap: bool, times: int) -> None:
    made = world.World()
    body = request(files, params, overlap)
    texts = list(body["files"].values())
    alone = best(
        lambda: [yaml.load(t, Loader=yaml.CSafeLoader) for t in texts], times
    )
    whole = best(
        lambda: validate.validate_template(
            made.engines[0], made.context, **body
        ),
        times,
    )
    made.close()
    shape = "overlap" if overlap else "distinct"
    print(
        f"{files:4} x {params:3} {shape:8}  load {alone:6.3f} s"
        f"  validate {whole:6.3f} s  ratio {whole / alone:4.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    for files, params in ((50, 50), (200, 50), (300, 100)):
        for overlap in (True, False):
            measure(files, params, overlap, args.times)


if __name__ == "__main__":
    main()
