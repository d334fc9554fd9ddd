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

"""Starting, finding and ending processes, across runs of this program.

A process is recorded by its number and the time of its birth, since numbers
come back. Each leads a group of its own, which ends with it.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Iterable

from heat_integrationtests.openstack import services
from heat_integrationtests.openstack.services import Service
from heat_integrationtests.openstack.settings import Settings

_STOP_SECONDS = 15


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty: no such process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    found = text.rpartition(")")[2].split()
    return [] if found[0] == "Z" else found


def _born(pid: int) -> str | None:
    found = _stat(pid)
    return found[19] if found else None


def _members(group: int) -> list[int]:
    """The processes of a group."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        stat = _stat(int(path.name))
        if stat and int(stat[2]) == group:
            found.append(int(path.name))
    return found


def _path(settings: Settings, name: str) -> pathlib.Path:
    return settings.run / f"{name}.json"


def pid(settings: Settings, name: str) -> int | None:
    """The number of a process that we started and that lives."""
    try:
        found = json.loads(_path(settings, name).read_text())
        number, born = int(found["pid"]), found["born"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return number if born and _born(number) == born else None


def start(settings: Settings, service: Service) -> None:
    """Start a process unless it lives already. Output goes to a file."""
    if pid(settings, service.name) is not None:
        return
    settings.run.mkdir(parents=True, exist_ok=True)
    settings.log.mkdir(parents=True, exist_ok=True)
    # What logs in to a cloud from here is nothing to its services.
    env = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
    with open(settings.log / f"{service.name}.log", "ab") as log:
        made = subprocess.Popen(
            service.argv(settings),
            cwd=settings.state,
            env={**env, **services.environment(settings)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _path(settings, service.name).write_text(
        json.dumps({"pid": made.pid, "born": _born(made.pid)})
    )


def log(settings: Settings, name: str, lines: int = 20) -> str:
    """The end of a process's log."""
    try:
        text = (settings.log / f"{name}.log").read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def stop(settings: Settings, names: Iterable[str]) -> int:
    """End processes with all their children.

    :returns: how many there were
    """
    found = {name: pid(settings, name) for name in names}
    groups = [number for number in found.values() if number is not None]
    for number in groups:
        _signal(number, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while any(map(_members, groups)) and time.monotonic() < deadline:
        time.sleep(0.2)
    for number in groups:
        for member in _members(number):
            _signal(member, signal.SIGKILL)
    for name in found:
        _path(settings, name).unlink(missing_ok=True)
    return len(groups)


def _signal(number: int, which: signal.Signals) -> None:
    try:
        os.kill(number, which)
    except ProcessLookupError:
        pass
