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

"""The services' databases: made empty, then filled by their own programs."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
from collections.abc import Callable, Sequence

from heat_integrationtests.openstack import servers, services
from heat_integrationtests.openstack.settings import (
    REGION,
    CloudError,
    Settings,
)

DATABASES = (
    "keystone",
    "aodh",
    "barbican",
    "glance",
    "gnocchi",
    "octavia",
    "placement",
    "nova_api",
    "nova_cell0",
    "nova",
    "neutron",
    "cinder",
    "zaqar",
)
#: Programs at a time; they compute more than they wait.
_AT_A_TIME = 3

Commands = Sequence[Sequence[str]]


def _program(
    settings: Settings, name: str, *files: str
) -> Callable[..., list[str]]:
    given = [settings.program(name)]
    for file in files:
        given += ["--config-file", str(settings.etc / file)]
    return lambda *arguments: [*given, *arguments]


def _keystone(settings: Settings) -> Commands:
    manage = _program(settings, "keystone-manage", "keystone/keystone.conf")
    owner = ("--keystone-user", str(os.geteuid()))
    owner += ("--keystone-group", str(os.getegid()))
    addresses: list[str] = []
    for interface in ("admin", "internal", "public"):
        addresses += [f"--bootstrap-{interface}-url", settings.auth_url]
    return (
        manage("db_sync"),
        manage("fernet_setup", *owner),
        manage("credential_setup", *owner),
        manage(
            *("bootstrap", "--bootstrap-password", settings.password),
            *("--bootstrap-region-id", REGION, *addresses),
        ),
    )


def _aodh(settings: Settings) -> Commands:
    return (_program(settings, "aodh-dbsync", "aodh/aodh.conf")(),)


def _barbican(settings: Settings) -> Commands:
    url = settings.database_url("barbican")
    program = settings.program("barbican-db-manage")
    return ((program, "--dburl", url, "upgrade"),)


def _glance(settings: Settings) -> Commands:
    manage = _program(settings, "glance-manage", "glance/glance-api.conf")
    return (manage("db_sync"),)


def _gnocchi(settings: Settings) -> Commands:
    upgrade = _program(settings, "gnocchi-upgrade", "gnocchi/gnocchi.conf")
    # A sack is looked into at each round, and few are needed here.
    return (upgrade("--sacks-number", "1"),)


def _octavia(settings: Settings) -> Commands:
    manage = _program(settings, "octavia-db-manage", "octavia/octavia.conf")
    return (manage("upgrade", "head"),)


def _placement(settings: Settings) -> Commands:
    manage = _program(settings, "placement-manage", "placement/placement.conf")
    return (manage("db", "sync"),)


def _nova(settings: Settings) -> Commands:
    manage = _program(settings, "nova-manage", "nova/nova.conf")
    first = settings.database_url("nova_cell0")
    return (
        manage("api_db", "sync"),
        manage("cell_v2", "map_cell0", "--database_connection", first),
        manage("db", "sync"),
        manage("cell_v2", "create_cell", "--name", "cell1"),
    )


def _neutron(settings: Settings) -> Commands:
    manage = _program(
        settings,
        "neutron-db-manage",
        "neutron/neutron.conf",
        "neutron/ml2.conf",
    )
    return (manage("upgrade", "heads"),)


def _cinder(settings: Settings) -> Commands:
    manage = _program(settings, "cinder-manage", "cinder/cinder.conf")
    return (manage("db", "sync"),)


def _zaqar(settings: Settings) -> Commands:
    manage = _program(settings, "zaqar-sql-db-manage", "zaqar/zaqar.conf")
    return (manage("upgrade", "head"),)


#: The longest first.
_SERVICES = (
    *(_neutron, _nova, _keystone, _cinder, _octavia, _barbican),
    *(_glance, _placement, _zaqar, _aodh, _gnocchi),
)


def make(settings: Settings) -> None:
    """Make all databases anew.

    :raises CloudError: a service's program failed
    """
    servers.make_databases(settings, DATABASES)
    (settings.etc / "keystone/fernet-keys").mkdir(mode=0o700, exist_ok=True)
    (settings.etc / "keystone/credential-keys").mkdir(
        mode=0o700, exist_ok=True
    )
    with concurrent.futures.ThreadPoolExecutor(_AT_A_TIME) as pool:
        for done in [
            pool.submit(_run, settings, commands(settings))
            for commands in _SERVICES
        ]:
            done.result()


def map_hosts(settings: Settings) -> None:
    """Tell Nova's API of the compute node, once that has reported."""
    manage = _program(settings, "nova-manage", "nova/nova.conf")
    _run(settings, [manage("cell_v2", "discover_hosts")])


def _run(settings: Settings, commands: Commands) -> None:
    for command in commands:
        done = subprocess.run(
            command,
            env={**os.environ, **services.environment(settings)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            end = "\n".join(done.stdout.splitlines()[-30:])
            raise CloudError(f"{' '.join(command)} failed:\n{end}")
