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

"""heat-api and heat-engine against a real cloud, for the stories about it.

The cloud is the one that the environment's ``OS_*`` variables log in to (a
project with the role member is enough). The service's own user is ``heat``
in the project ``service``, the administrator of the stack users' domain
``heat`` is ``heat_domain_admin``, with the same password unless
``HEAT_TEST_SERVICE_PASSWORD`` says another. ``HEAT_TEST_CLOUD_RABBIT_URL``
(one URL, or several with blanks between: so many processes run stories at
once) and ``HEAT_TEST_MYSQL_URL`` name the services that Heat itself uses. All
of it is what ``python -m heat_integrationtests.openstack`` makes and prints.

Also a program: ``python -m heat_integrationtests.cloud`` starts the service,
prints its URL and stops it at Ctrl-C.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import pathlib
import signal
import sys
import tempfile
import textwrap
import time
import unittest
from typing import Any

import openstack
import requests
from heatclient import client as heat_client

from heat.tests.functional import deployment

MYSQL = "HEAT_TEST_MYSQL_URL"
RABBIT = "HEAT_TEST_CLOUD_RABBIT_URL"
REQUIRE = "HEAT_TEST_REQUIRE_SERVICES"
PASSWORD = "HEAT_TEST_SERVICE_PASSWORD"  # noqa: S105 - name of a variable
ADMIN_PASSWORD = "HEAT_TEST_ADMIN_PASSWORD"  # noqa: S105 - the same
_NEEDED = ("OS_AUTH_URL", MYSQL, RABBIT)


def check_environment(*more: str) -> None:
    """Skip, or fail where services are required, without a cloud.

    :param more: variables that have to be set as well
    """
    missing = [n for n in (*_NEEDED, *more) if not os.environ.get(n)]
    if not missing:
        return
    told = f"no cloud: {', '.join(missing)} not set"
    if os.environ.get(REQUIRE) == "1":
        raise RuntimeError(told)
    raise unittest.SkipTest(told)


@functools.cache
def transport_url() -> str:
    """One of the transport URLs, with whose vhost this process is alone.

    Waits for one when other processes have them all.
    """
    urls = os.environ[RABBIT].split()
    for url in urls:
        if _take(url, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return url
    _take(urls[0], fcntl.LOCK_EX)
    return urls[0]


#: Open files, each with the lock of a vhost: it ends with the process.
_taken: list[Any] = []


def _take(url: str, how: int) -> bool:
    name = f"heat-vhost-{hashlib.sha256(url.encode()).hexdigest()[:16]}"
    lock = open(pathlib.Path(tempfile.gettempdir()) / name, "w")
    try:
        fcntl.flock(lock, how)
    except BlockingIOError:
        lock.close()
        return False
    _taken.append(lock)
    return True


def connect(user: str, project: str, password: str | None = None) -> Any:
    """A connection of another user of the cloud.

    :param password: None: the same as that of the environment's user
    """
    return openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth_url=os.environ["OS_AUTH_URL"],
        username=user,
        password=password or os.environ["OS_PASSWORD"],
        project_name=project,
        user_domain_name="Default",
        project_domain_name="Default",
        region_name=os.environ.get("OS_REGION_NAME"),
    )


def administrator() -> Any:
    """A connection of the cloud's administrator."""
    return connect("admin", "admin", os.environ.get(ADMIN_PASSWORD))


class CloudCluster(deployment.Cluster):
    """The service with Keystone in front of it.

    :param region: whose services it uses; None: those of OS_REGION_NAME
    :ivar extra: more lines of heat.conf, with their sections
    """

    extra = ""

    def __init__(self, engines: int = 1, region: str | None = None) -> None:
        check_environment()
        super().__init__(os.environ[MYSQL], transport_url(), engines=engines)
        self.region = region or os.environ.get("OS_REGION_NAME") or ""
        self.auth_url = os.environ["OS_AUTH_URL"]
        self.cloud: Any = openstack.connect(cloud="envvars")

    def write_conf(self) -> None:
        database = self.server.set(database=self.name).render_as_string(
            hide_password=False
        )
        password = os.environ.get(PASSWORD) or os.environ["OS_PASSWORD"]
        user = textwrap.dedent(
            f"""\
            auth_type = password
            auth_url = {self.auth_url}
            username = heat
            password = {password}
            project_name = service
            user_domain_name = Default
            project_domain_name = Default
            """
        )
        self.conf.write_text(
            textwrap.dedent(
                f"""\
                [DEFAULT]
                auth_strategy = keystone
                transport_url = {self.rabbit}
                num_engine_workers = 1
                auth_encryption_key = only for tests, 32 characters...
                region_name_for_services = {self.region}
                stack_user_domain_name = heat
                stack_domain_admin = heat_domain_admin
                stack_domain_admin_password = {password}
                enable_stack_adopt = true
                enable_stack_abandon = true
                [database]
                connection = {database}
                [heat_api]
                bind_host = 127.0.0.1
                bind_port = {self.port}
                [clients_keystone]
                auth_uri = {self.auth_url}
                [oslo_messaging_rabbit]
                rabbit_quorum_queue = false
                """
            )
            + f"[keystone_authtoken]\nwww_authenticate_uri = {self.auth_url}\n"
            + user
            + "[trustee]\n"
            + user
            + self.extra
        )

    def wait_ready(self) -> None:
        deadline = time.monotonic() + deployment.READY_SECONDS
        answer = "no answer"
        while time.monotonic() < deadline:
            try:
                got = requests.get(
                    f"{self.url}/v1/{self.project_id}/build_info",
                    headers={"X-Auth-Token": self.cloud.auth_token},
                    timeout=10,
                )
            except requests.RequestException as err:
                answer = str(err)
            else:
                if got.status_code == 200:
                    return
                answer = f"{got.status_code} {got.text[:500]}"
            time.sleep(0.3)
        raise deployment.NotReady(f"{answer}\n{self.logs()}")

    @property
    def project_id(self) -> str:
        return str(self.cloud.current_project_id)

    @property
    def endpoint(self) -> str:
        return f"{self.url}/v1/{self.project_id}"

    def heat(self, connection: Any = None) -> Any:
        """A client of the service.

        :param connection: who asks; None: the user of the environment
        """
        of = connection or self.cloud
        return heat_client.Client(
            "1",
            session=of.session,
            endpoint_override=f"{self.url}/v1/{of.current_project_id}",
        )


def main() -> None:
    """Start the service, print its URL, stop at a signal."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    made = CloudCluster()
    made.start()
    try:
        print(made.endpoint, made.folder, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        made.stop()


if __name__ == "__main__":
    main()
