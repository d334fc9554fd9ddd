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

"""Where the cloud's parts are: folder, ports, names of databases."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any, Self

import sqlalchemy as sa

ADDRESS = "127.0.0.1"
REGION = "RegionOne"
#: The host that Nova, Neutron and Cinder believe to be on.
HOST = "heat-cloud"
DOMAIN = "Default"

FIRST_PORT = 21500
#: So many deployments of Heat may use a cloud at the same time.
HEATS = 2
#: Each listens on the first port plus its place here.
LISTENERS = (
    *("keystone", "glance", "placement", "nova", "neutron", "cinder"),
    *("swift", "swift-account", "swift-container", "swift-object", "zaqar"),
)

#: Environment variables that choose, and what holds without them.
FOLDER = "HEAT_CLOUD_DIR"
PORT = "HEAT_CLOUD_PORT"
MYSQL = "HEAT_TEST_MYSQL_URL"
RABBIT = "HEAT_TEST_RABBIT_URL"
DEFAULT_MYSQL = "mysql+pymysql://root@127.0.0.1:3306"
DEFAULT_RABBIT = "rabbit://guest:guest@127.0.0.1:5672/"

# Behind the others, so that these keep their ports.
LISTENERS += ("barbican", "octavia", "aodh", "gnocchi")


class CloudError(Exception):
    """The cloud can't be had; the text says why, for a person."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """One cloud on this machine.

    :ivar home: the virtual environment is here, for all clouds
    :ivar first_port: tells one cloud from another
    :ivar mysql: URL of a database server, without a database
    :ivar rabbit: transport URL that the services use, with its vhost
    """

    home: pathlib.Path
    first_port: int
    mysql: str
    rabbit: str
    password: str = "secret"

    @classmethod
    def load(cls) -> Self:
        """What the environment says."""
        cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        home = os.environ.get(FOLDER) or f"{cache}/heat-cloud"
        return cls(
            home=pathlib.Path(home).expanduser().absolute(),
            first_port=int(os.environ.get(PORT) or FIRST_PORT),
            mysql=os.environ.get(MYSQL) or DEFAULT_MYSQL,
            rabbit=os.environ.get(RABBIT) or DEFAULT_RABBIT,
        )

    def as_recorded(self) -> Self:
        """The same cloud with the servers that it was made with."""
        return dataclasses.replace(self, **self.recorded().get("urls", {}))

    # -- files ---------------------------------------------------------------

    @property
    def venv(self) -> pathlib.Path:
        return self.home / "venv"

    @property
    def state(self) -> pathlib.Path:
        """All of one cloud that is not in a database."""
        return self.home / str(self.first_port)

    @property
    def etc(self) -> pathlib.Path:
        return self.state / "etc"

    @property
    def data(self) -> pathlib.Path:
        return self.state / "data"

    @property
    def log(self) -> pathlib.Path:
        return self.state / "log"

    @property
    def run(self) -> pathlib.Path:
        return self.state / "run"

    def program(self, name: str) -> str:
        return str(self.venv / "bin" / name)

    # -- names ---------------------------------------------------------------

    @property
    def name(self) -> str:
        """The vhost, and the beginning of each database's name."""
        return f"heat_cloud_{self.first_port}"

    @property
    def heat_vhosts(self) -> tuple[str, ...]:
        """For deployments of Heat that serve at the same time."""
        return tuple(f"{self.name}_heat{number}" for number in range(HEATS))

    @property
    def has_vhosts(self) -> bool:
        """Whether the vhosts are the cloud's own."""
        return self.rabbit.endswith(f"/{self.name}")

    @property
    def heat_rabbits(self) -> tuple[str, ...]:
        """Transport URLs, one for each deployment of Heat at a time."""
        if not self.has_vhosts:
            return (self.rabbit,)
        server = self.rabbit.removesuffix(self.name)
        return tuple(server + vhost for vhost in self.heat_vhosts)

    def port(self, listener: str) -> int:
        return self.first_port + LISTENERS.index(listener)

    def url(self, listener: str, path: str = "") -> str:
        return f"http://{ADDRESS}:{self.port(listener)}{path}"

    @property
    def auth_url(self) -> str:
        return self.url("keystone", "/v3")

    def database(self, name: str) -> str:
        return f"{self.name}_{name}"

    def database_url(self, name: str) -> str:
        return (
            sa.make_url(self.mysql)
            .set(database=self.database(name))
            .update_query_dict({"charset": "utf8mb4"})
            .render_as_string(hide_password=False)
        )

    # -- the record ----------------------------------------------------------

    @property
    def _record(self) -> pathlib.Path:
        return self.state / "cloud.json"

    def recorded(self) -> dict[str, Any]:
        """What :meth:`remember` wrote; empty when there is nothing sound."""
        try:
            found = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def remember(self, **more: Any) -> None:
        """Write down how the cloud is being made, and how far it came."""
        urls = {"mysql": self.mysql, "rabbit": self.rabbit}
        self.state.mkdir(parents=True, exist_ok=True)
        unfinished = self._record.with_suffix(".new")
        unfinished.write_text(json.dumps({"urls": urls, **more}))
        unfinished.chmod(0o600)
        unfinished.replace(self._record)
