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

"""A MariaDB and a RabbitMQ of a test's own, which it may kill.

Each has a folder and ports of its own, beside whatever else runs on the
machine, and is started from the programs that the distribution installed.
"""

from __future__ import annotations

import contextlib
import getpass
import glob
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from typing import Self

from heat.tests.functional.deployment import NotReady, free_port

READY_SECONDS = 90


class Server:
    """One process in a folder of its own."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heat-service-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    def create(self) -> Self:
        """Make what it keeps, and start it."""
        try:
            self._prepare()
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def _prepare(self) -> None:
        pass

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _environment(self) -> dict[str, str]:
        return {}

    def start(self) -> None:
        """Start it on what it has kept, and wait until it answers."""
        with open(self.folder / "output.log", "ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                env={**os.environ, **self._environment()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            if self._process.poll() is not None:
                raise NotReady(f"it ended:\n{self._log()}")
            if time.monotonic() > deadline:
                raise NotReady(f"no answer on {self.port}:\n{self._log()}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as got:
                got.settimeout(5)
                return self._greets(got)
        except OSError:
            return False

    def _greets(self, connection: socket.socket) -> bool:
        raise NotImplementedError

    def _log(self) -> str:
        log = self.folder / "output.log"
        return log.read_text(errors="replace")[-3000:] if log.exists() else ""

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """End it and forget what it kept."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _program(*places: str) -> str:
    """The newest file that matches one of some patterns, or names in PATH.

    :raises NotReady: none is installed
    """
    for place in places:
        found = sorted(glob.glob(place)) if "/" in place else []
        path = found[-1] if found else shutil.which(place)
        if path:
            return path
    raise NotReady(f"none of {', '.join(places)} is installed")


class MariaDB(Server):
    """Durable as in production: each commit is on disk."""

    @property
    def url(self) -> str:
        return f"mysql+pymysql://root@127.0.0.1:{self.port}"

    def _prepare(self) -> None:
        subprocess.run(
            [
                _program("mariadb-install-db", "mysql_install_db"),
                "--no-defaults",
                f"--datadir={self.folder / 'data'}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                f"--user={getpass.getuser()}",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )

    def _command(self) -> list[str]:
        return [
            _program("mariadbd", "/usr/sbin/mariadbd", "mysqld"),
            "--no-defaults",
            f"--datadir={self.folder / 'data'}",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            "--bind-address=127.0.0.1",
            f"--port={self.port}",
            f"--user={getpass.getuser()}",
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-buffer-pool-size=256M",
            "--skip-name-resolve",
        ]

    def _greets(self, connection: socket.socket) -> bool:
        # It speaks first; an error packet has 0xff where this has a version.
        greeting = connection.recv(5)
        return len(greeting) == 5 and greeting[4] != 0xFF


class RabbitMQ(Server):
    """A node of its own, without plug-ins."""

    def __init__(self) -> None:
        super().__init__()
        self._between_nodes = free_port()

    @property
    def url(self) -> str:
        return f"rabbit://guest:guest@127.0.0.1:{self.port}/"

    def _prepare(self) -> None:
        (self.folder / "plugins").write_text("[].\n")
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.default = 127.0.0.1:{self.port}\n"
        )

    def _command(self) -> list[str]:
        # What is in PATH may be a wrapper that changes the user.
        return [
            _program(
                "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server",
                "rabbitmq-server",
            )
        ]

    def _environment(self) -> dict[str, str]:
        folder = self.folder
        return {
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"heat-{self.port}@localhost",
            "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_DIST_PORT": str(self._between_nodes),
        }

    def _greets(self, connection: socket.socket) -> bool:
        connection.sendall(b"AMQP\x00\x00\x09\x01")
        return bool(connection.recv(1))
