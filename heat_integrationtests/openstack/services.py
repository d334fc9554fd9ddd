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

"""THE table: what the cloud consists of, and in which order it starts."""

from __future__ import annotations

import dataclasses

from heat_integrationtests.openstack.settings import HOST, Settings

#: The waves of the start. Compute loses ten seconds when the conductor does
#: not listen yet; the other workers look into the catalogue.
EARLY, AFTER_IDENTITY, LAST = range(3)


@dataclasses.dataclass(frozen=True)
class Service:
    """One process.

    :ivar command: program of the environment and its arguments
    :ivar listener: whose port it answers HTTP on, None: a worker
    :ivar queues: what a worker reads when it is ready
    """

    name: str
    command: tuple[str, ...]
    wave: int = EARLY
    listener: str | None = None
    queues: tuple[str, ...] = ()

    def argv(self, settings: Settings) -> list[str]:
        program, *arguments = self.command
        return [
            settings.program(program),
            *(
                each.format(
                    etc=settings.etc,
                    port=settings.port(self.listener) if self.listener else "",
                )
                for each in arguments
            ),
        ]


def _api(
    name: str, module: str, listener: str, *more: str, wave: int = EARLY
) -> Service:
    serve = ("python", "-m", "heat_cloud_serve", module, "{port}", *more)
    return Service(name, serve, wave, listener=listener)


_NOVA = ("--config-file", "{etc}/nova/nova.conf")
_ZAQAR = ("--config-file", "{etc}/zaqar/zaqar.conf")
_OCTAVIA = ("--config-file", "{etc}/octavia/octavia.conf")
_CINDER = ("--config-file", "{etc}/cinder/cinder.conf")

SERVICES = (
    _api("keystone", "keystone.wsgi.api", "keystone"),
    _api("barbican-api", "heat_cloud_secrets", "barbican", "{etc}/barbican"),
    _api("glance-api", "glance.wsgi.api", "glance"),
    _api("gnocchi", "heat_cloud_metrics", "gnocchi", "{etc}/gnocchi"),
    _api("octavia-api", "octavia.wsgi.api", "octavia", *_OCTAVIA),
    _api("placement-api", "placement.wsgi.api", "placement"),
    _api("nova-api", "nova.wsgi.osapi_compute", "nova"),
    _api("neutron-api", "neutron.wsgi.api", "neutron"),
    _api("cinder-api", "cinder.wsgi.api", "cinder", *_CINDER),
    Service(
        "swift",
        ("python", "-m", "heat_cloud_swift", "{etc}/swift"),
        listener="swift",
    ),
    _api("zaqar-api", "heat_cloud_zaqar", "zaqar", *_ZAQAR),
    Service(
        "nova-conductor",
        ("nova-conductor", *_NOVA),
        AFTER_IDENTITY,
        queues=("conductor",),
    ),
    Service(
        "nova-scheduler",
        ("nova-scheduler", *_NOVA),
        AFTER_IDENTITY,
        queues=("scheduler",),
    ),
    # Makes what is ordered.
    Service(
        "barbican-worker",
        ("python", "-m", "heat_cloud_secrets", "{etc}/barbican"),
        AFTER_IDENTITY,
        queues=("barbican.workers",),
    ),
    # Its workers look into the catalogue as they start.
    _api(
        *("aodh", "heat_cloud_alarms", "aodh", "{etc}/aodh"),
        wave=AFTER_IDENTITY,
    ),
    Service(
        "cinder-scheduler",
        ("cinder-scheduler", *_CINDER),
        AFTER_IDENTITY,
        queues=("cinder-scheduler",),
    ),
    Service(
        "cinder-volume",
        ("cinder-volume", *_CINDER),
        AFTER_IDENTITY,
        queues=(f"cinder-volume.{HOST}@dataless",),
    ),
    Service(
        "nova-compute",
        (
            *("python", "-m", "heat_cloud_compute"),
            *("--config-file", "{etc}/nova/nova-compute.conf"),
        ),
        LAST,
        queues=(f"compute.{HOST}",),
    ),
)


def environment(settings: Settings) -> dict[str, str]:
    """What the processes find in their environment, beside the usual."""
    found = {
        f"OS_{name.upper()}_CONFIG_DIR": str(settings.etc / name)
        for name in ("keystone", "glance", "placement", "nova", "neutron")
    }
    return {
        **found,
        "OS_NEUTRON_CONFIG_FILES": "neutron.conf;ml2.conf",
        "PYTHONWARNINGS": "ignore",
        # Many threads, each with its arena, cost hundreds of megabytes.
        "MALLOC_ARENA_MAX": "2",
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
    }
