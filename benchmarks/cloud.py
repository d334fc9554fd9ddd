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

"""Many servers at once: time, calls to the services, threads of the engine.

    eval "$(python -m heat_integrationtests.openstack env)"
    python -m benchmarks.cloud --servers 100

One stack of servers on one engine with one worker. All calls of Heat go
through counting proxies (:mod:`heat_integrationtests.faults`); what Nova and
Neutron say to one another is not counted.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import resource
import threading
import time
from typing import Any

from heatclient import exc

from heat.osc import lock
from heat_integrationtests import cloud, faults

_MANY = 10**6
_LOOK_SECONDS = 2.0


class Use:
    """The most threads and memory that one of a process and its children
    had at a time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.threads = 0
        self.mebibytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Use:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            for path in self._all():
                threads = len(list(path.glob("task/*")))
                self.threads = max(self.threads, threads)
                self.mebibytes = max(self.mebibytes, _resident(path))

    def _all(self) -> list[pathlib.Path]:
        found = [pathlib.Path(f"/proc/{self._pid}")]
        for process in found:
            # Any of a process's threads may have started a child.
            for children in process.glob("task/*/children"):
                try:
                    text = children.read_text()
                except OSError:
                    continue
                found += [pathlib.Path("/proc", each) for each in text.split()]
        return found


def _resident(process: pathlib.Path) -> int:
    try:
        pages = int((process / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() >> 20


def template(count: int) -> dict[str, Any]:
    server = {
        "type": "OS::Nova::Server",
        "properties": {
            "flavor": "m1.tiny",
            "image": "cirros-like",
            "networks": [{"network": "private"}],
        },
    }
    return {
        "heat_template_version": "2018-08-31",
        "resources": {f"server{number}": server for number in range(count)},
    }


def wait(heat: Any, ident: str, status: str) -> None:
    while True:
        try:
            stack = heat.stacks.get(ident, resolve_outputs=False)
        except exc.HTTPNotFound:
            if status != "DELETE_COMPLETE":
                raise
            return
        if stack.stack_status == status:
            return
        if not stack.stack_status.endswith("IN_PROGRESS"):
            raise SystemExit(stack.stack_status_reason)
        time.sleep(_LOOK_SECONDS)


def told(region: faults.FaultyRegion, count: int) -> None:
    """Print the calls since the last time, and forget them."""
    for name, proxy in sorted(region.proxies.items()):
        total = sum(proxy.counts.values())
        print(f"  {name}: {total} calls, {total / count:.2f} each server")
        same: collections.Counter[str] = collections.Counter()
        for (method, path), number in proxy.counts.items():
            same[f"{method} {path}"] += number
        for what, number in same.most_common(6):
            print(f"    {number:6} {what}")
    region.calm()


def lock_and_unlock(
    heat: Any, ident: str, region: faults.FaultyRegion, count: int
) -> None:
    """Lock a stack with all that is in it, and unlock it."""
    for what, body in (
        ("LOCK", lock.lock_body("all", None, None)),
        ("UNLOCK", lock.UNLOCK_BODY),
    ):
        began = time.monotonic()
        lock.post(heat, body, ident)
        wait(heat, ident, f"{what}_COMPLETE")
        print(f"{what.lower()}: {time.monotonic() - began:.1f} s")
        told(region, count)


def measure(
    running: Any, region: faults.FaultyRegion, count: int, locks: bool
) -> None:
    heat = running.heat()
    with Use(running.processes["engine-0"].pid) as use:
        began = time.monotonic()
        made = heat.stacks.create(
            stack_name=f"bench-{int(time.time())}",
            template=template(count),
            disable_rollback=True,
        )["stack"]["id"]
        try:
            wait(heat, made, "CREATE_COMPLETE")
            print(f"create: {time.monotonic() - began:.1f} s")
            told(region, count)
            if locks:
                lock_and_unlock(heat, made, region, count)
        finally:
            began = time.monotonic()
            heat.stacks.delete(made)
            wait(heat, made, "DELETE_COMPLETE")
    print(f"delete: {time.monotonic() - began:.1f} s")
    told(region, count)
    print(f"threads of the engine's worker: {use.threads} at most")
    print(f"memory of the engine's worker: {use.mebibytes} MiB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument(
        "--lock", action="store_true", help="lock and unlock them, too"
    )
    args = parser.parse_args()
    admin = cloud.administrator()
    region = faults.FaultyRegion(admin).start()
    try:
        running = cloud.CloudCluster(1, region=region.name)
        admin.compute.update_quota_set(
            admin.identity.get_project(running.project_id),
            instances=_MANY,
            cores=_MANY,
            ram=_MANY,
        )
        admin.network.update_quota(running.project_id, ports=_MANY)
        running.start()
        try:
            region.calm()
            measure(running, region, args.servers, args.lock)
        finally:
            running.stop()
    finally:
        region.stop()


if __name__ == "__main__":
    main()
