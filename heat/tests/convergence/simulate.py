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

"""Run seeds of the simulation.

``python -m heat.tests.convergence.simulate --seeds 5000 --processes 2``
runs many; ``--seed N -v`` tells the story of one, step by step; ``--mutants``
proves that each broken engine is caught.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import gc
import hashlib
import logging
import sys
import time
import traceback

from heat.tests.convergence import invariants, mutants, simulation, story

COMMAND = "python -m heat.tests.convergence.simulate"


def run_seed(seed: int, say=None) -> str | None:
    """Live through one story; what went wrong, or None."""
    try:
        with simulation.SimulatedWorld(seed, say) as world:
            story.Story(world).run()
    except (Exception, invariants.Violation) as error:
        if say is not None:
            traceback.print_exc()
        return f"seed {seed}: {type(error).__name__}: {error}"
    return None


def digest(seed: int) -> str:
    """What tells a story from another: its lines, and the records it left."""
    seen = hashlib.sha256()

    def say(line: str) -> None:
        seen.update(line.encode() + b"\n")

    with simulation.SimulatedWorld(seed, say) as world:
        story.Story(world).run()
        for record in world.watch.records():
            say(record)
    return seen.hexdigest()


@contextlib.contextmanager
def quick():
    """No log, and few looks for garbage."""
    level, thresholds = logging.root.manager.disable, gc.get_threshold()
    logging.disable(logging.CRITICAL)
    gc.set_threshold(50000, 20, 20)
    try:
        yield
    finally:
        logging.disable(level)
        gc.set_threshold(*thresholds)


def run_seeds(seeds: range) -> list[str]:
    """What went wrong, one line for each seed that failed."""
    with quick():
        return [found for seed in seeds if (found := run_seed(seed))]


def catch(mutant: str, seeds: range) -> tuple[int, str] | None:
    """How many seeds it took to catch a mutant, and by what; or None."""
    for count, seed in enumerate(seeds, 1):
        with quick(), mutants.MUTANTS[mutant]():
            found = run_seed(seed)
        if found is not None:
            # It is the mutant that fails, and not the engine as it is; and
            # a rule has caught it, it is not just broken.
            with quick():
                seen = ": Violation: " in found and not run_seed(seed)
                return (count, found) if seen else None
    return None


def _catch_all(seeds: range, processes: int) -> int:
    missed = 0
    names = list(mutants.MUTANTS)
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        caught = list(pool.map(catch, names, [seeds] * len(names)))
    for mutant, found in zip(names, caught, strict=True):
        if found is None:
            missed += 1
            print(f"{mutant}: not caught by {len(seeds)} seeds")
        else:
            print(f"{mutant}: caught by {found[0]} seeds ({found[1]})")
    return 1 if missed else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--seed", type=int, help="run only this one")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--mutants", action="store_true", help="break the engine instead"
    )
    parser.add_argument(
        "--digests", action="store_true", help="print one of each story"
    )
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args(arguments)
    if options.mutants:
        first = options.first
        seeds = range(first, first + options.seeds)
        return _catch_all(seeds, options.processes)
    if options.digests:
        with quick():
            for seed in range(options.first, options.first + options.seeds):
                print(digest(seed))
        return 0
    began = time.monotonic()
    if options.seed is not None:
        seeds = range(options.seed, options.seed + 1)
        if options.verbose:
            with quick():
                found = [run_seed(options.seed, print)]
            failures = [each for each in found if each]
        else:
            failures = run_seeds(seeds)
    else:
        seeds = range(options.first, options.first + options.seeds)
        failures = _run_many(seeds, options.processes)
    for failure in failures:
        print(failure)
        number = failure.split(":")[0].removeprefix("seed ")
        print(f"    {COMMAND} --seed {number} -v")
    spent = time.monotonic() - began
    print(f"{len(seeds)} seeds, {len(failures)} failed, {spent:.1f} s")
    return 1 if failures else 0


def _run_many(seeds: range, processes: int) -> list[str]:
    if processes == 1:
        return run_seeds(seeds)
    chunks = [seeds[at : at + 50] for at in range(0, len(seeds), 50)]
    failures: list[str] = []
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        for found in pool.map(run_seeds, chunks):
            failures += found
    return failures


if __name__ == "__main__":
    sys.exit(main())
