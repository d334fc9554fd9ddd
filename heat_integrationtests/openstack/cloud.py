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

"""Starting, stopping, judging and removing the whole cloud.

A cloud that was not made to its end, by another version of this package, or
with databases that are gone, is made anew; one that was, is only started.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import pathlib
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator

import keystoneauth1.exceptions
import openstack.exceptions
import requests

from heat_integrationtests.openstack import (
    configs,
    install,
    processes,
    schemas,
    seed,
    servers,
    services,
)
from heat_integrationtests.openstack.services import Service
from heat_integrationtests.openstack.settings import (
    ADDRESS,
    CloudError,
    Settings,
)

_SECONDS = 120
_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Tell the person how far it is; stdout is for what was asked for."""
    spent = time.monotonic() - _BEGAN
    print(f"cloud {spent:5.1f} s: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """One program at a time changes the clouds of a folder."""
    settings.home.mkdir(parents=True, exist_ok=True)
    with open(settings.home / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest() -> str:
    """Changes when a cloud would be made in another way."""
    found = hashlib.sha256(install.digest().encode())
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


# -- start -------------------------------------------------------------------


def start(settings: Settings) -> None:
    """Make and start what is absent; return when all of it serves.

    :raises CloudError: it can't be had
    """
    if install.install(settings):
        say("installed")
    if is_healthy(settings):
        say("runs already")
        return
    recorded = settings.as_recorded()
    if settings.recorded().get("made") == _digest() and _may_go_on(recorded):
        settings = recorded
        made = True
    else:
        destroy(settings)
        settings = servers.prepare(settings)
        settings.remember()
        made = False
    _check_ports(settings)
    configs.write(settings)
    if not made:
        schemas.make(settings)
        say("databases made")
    _launch(settings, services.EARLY)
    _until(settings, "keystone", lambda: _answers(settings, "keystone"))
    if not made:
        seed.identity(settings)
        say("users made")
    _launch(settings, services.AFTER_IDENTITY)
    for service in services.SERVICES:
        if service.listener:
            _until(settings, service.name, _serving(settings, service))
    if not made:
        seed.resources(settings)
        say("flavors, image and networks made")
    _until_served(settings, services.AFTER_IDENTITY)
    _launch(settings, services.LAST)
    _until_served(settings, services.LAST)
    _until(settings, "nova-compute", lambda: not _down(settings))
    seed.greet(settings)
    if not made:
        schemas.map_hosts(settings)
        settings.remember(made=_digest())
    say("serves")


def _may_go_on(recorded: Settings) -> bool:
    """Whether the servers still have what the cloud left there."""
    return servers.has_databases(
        recorded, schemas.DATABASES
    ) and servers.has_vhost(recorded)


def _check_ports(settings: Settings) -> None:
    for service in services.SERVICES:
        if not service.listener or processes.pid(settings, service.name):
            continue
        port = settings.port(service.listener)
        with socket.socket() as probe:
            if probe.connect_ex((ADDRESS, port)) == 0:
                raise CloudError(
                    f"port {port} ({service.name}) is somebody else's;"
                    " HEAT_CLOUD_PORT chooses others"
                )


def _launch(settings: Settings, wave: int) -> None:
    for service in services.SERVICES:
        if service.wave == wave:
            processes.start(settings, service)


def _until(settings: Settings, name: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        lives = processes.pid(settings, name) is not None
        if not lives or time.monotonic() > deadline:
            what = "is not ready" if lives else "ended"
            raise CloudError(
                f"{name} {what}:\n{processes.log(settings, name)}"
            )
        time.sleep(0.2)


def _serving(settings: Settings, service: Service) -> Callable[[], bool]:
    """The question whether a service is ready to serve."""
    if service.listener:
        return lambda: _answers(settings, str(service.listener))
    return lambda: servers.are_served(settings, service.queues)


def _until_served(settings: Settings, wave: int) -> None:
    for service in services.SERVICES:
        if service.wave == wave:
            _until(settings, service.name, _serving(settings, service))


def _answers(settings: Settings, listener: str) -> bool:
    try:
        got = requests.get(settings.url(listener, "/"), timeout=10)
    except requests.RequestException:
        return False
    return got.status_code < 500


def _down(settings: Settings) -> list[str]:
    """Workers that Nova and Cinder don't take for alive."""
    cloud = seed.connect(settings)
    try:
        told = [*cloud.compute.services(), *cloud.block_storage.services()]
    except (
        keystoneauth1.exceptions.ClientException,
        openstack.exceptions.SDKException,
    ):
        told = []
    up = {each.binary for each in told if each.state == "up"}
    return [
        service.name
        for service in services.SERVICES
        if service.name.startswith(("nova-", "cinder-"))
        and not service.listener
        and service.name not in up
    ]


# -- the rest ----------------------------------------------------------------


def status(settings: Settings) -> dict[str, str]:
    """What is wrong with each service; empty texts: nothing."""
    settings = settings.as_recorded()
    found = {}
    for service in services.SERVICES:
        if processes.pid(settings, service.name) is None:
            found[service.name] = "does not run"
        elif service.listener and not _answers(settings, service.listener):
            found[service.name] = "does not answer"
        else:
            found[service.name] = ""
    if not any(found.values()):
        found.update(dict.fromkeys(_down(settings), "is not up"))
    return found


def is_healthy(settings: Settings) -> bool:
    if settings.recorded().get("made") != _digest():
        return False
    return not any(status(settings).values())


def stop(settings: Settings) -> None:
    """End the processes; all else stays for the next start."""
    names = [service.name for service in services.SERVICES]
    say(f"{processes.stop(settings, names)} processes ended")


def destroy(settings: Settings) -> None:
    """End the processes and forget everything, but the installation."""
    stop(settings)
    if settings.recorded():
        servers.forget(settings.as_recorded())
    shutil.rmtree(settings.state, ignore_errors=True)
