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

"""Starts the service for a story, as real processes, and stops it again.

:class:`Standalone` is heat-standalone with a folder of its own;
:class:`Cluster` is heat-api and some heat-engine processes over a database
server and RabbitMQ. Both have ``url`` (scheme, host, port) once started.
Also a program: ``python -m heat.tests.functional.deployment --help``.
"""

from __future__ import annotations

import argparse
import atexit
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Self

import kombu
import requests
import sqlalchemy as sa

from heat.rpc import api

READY_SECONDS = 180
STOP_SECONDS = 20


class NotReady(Exception):
    """The service did not come up; the text holds the end of its logs."""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Deployment:
    """Processes that share a folder for their files and logs."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heat-test-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> Self:
        try:
            self._start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        raise NotImplementedError

    def run(
        self, name: str, *command: str, env: Mapping[str, str] | None = None
    ) -> None:
        """Start ``python -m command``; output goes to a file."""
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=self.folder,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # One signal reaches the workers of a process too.
                start_new_session=True,
            )

    def wait_ready(self) -> None:
        """Wait until the API answers and reaches an engine."""
        deadline = time.monotonic() + READY_SECONDS
        answer = "no answer"
        while time.monotonic() < deadline:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise NotReady(
                        f"{name} ended with {process.returncode}\n"
                        + self.logs()
                    )
            try:
                got = requests.get(
                    f"{self.url}/v1/readiness/build_info", timeout=10
                )
                if got.status_code == 200:
                    return
                answer = f"{got.status_code} {got.text[:500]}"
            except requests.RequestException as err:
                answer = str(err)
            time.sleep(0.1)
        raise NotReady(f"{answer}\n{self.logs()}")

    def logs(self, lines: int = 60) -> str:
        """The last lines of every log."""
        parts = []
        for path in sorted(self.folder.rglob("*.log")):
            tail = path.read_text(errors="replace").splitlines()[-lines:]
            parts.append(f"--- {path.name}\n" + "\n".join(tail))
        return "\n".join(parts)

    def kill(self, name: str) -> None:
        """End one process and its workers at once, as a crash would."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.processes.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            # Workers that outlived their parent, too.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


class Standalone(Deployment):
    """heat-standalone: one process, SQLite in the folder."""

    def _start(self) -> None:
        self.run(
            "standalone",
            "heat.cmd.standalone",
            "--port",
            str(self.port),
            "--state-dir",
            str(self.folder / "state"),
        )


class Cluster(Deployment):
    """heat-api and heat-engine processes over real services.

    A process has one at a time, as they share a vhost.

    :param database: URL of a server, without the name of a database; a
        database is created for this deployment, and dropped by stop()
    :param rabbit: transport URL with a vhost
    :param backend: threading or eventlet
    :param options: more of [DEFAULT], as lines of ``name = value``
    """

    def __init__(
        self,
        database: str,
        rabbit: str,
        *,
        engines: int = 2,
        backend: str = "threading",
        options: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.server = sa.make_url(database)
        self.name = f"heat_it_{uuid.uuid4().hex[:12]}"
        self.rabbit = rabbit
        self.engines = engines
        self.backend = backend
        self.options = tuple(options)
        self.conf = self.folder / "heat.conf"

    def start(self) -> Self:
        end_kept()
        return super().start()

    def _start(self) -> None:
        self._execute(f"CREATE DATABASE {self.name}")
        self.forget_queues()
        self.write_conf()
        self.call("heat.cmd.manage", "--config-file", self.conf, "db_sync")
        for number in range(self.engines):
            self.start_engine(f"engine-{number}")
        self.run(
            "api",
            "heat.cmd.api",
            "--config-file",
            str(self.conf),
            env=self.env,
        )

    @property
    def env(self) -> dict[str, str]:
        return {"HEAT_CONCURRENCY_BACKEND": self.backend}

    def start_engine(self, name: str) -> None:
        self.run(
            name,
            "heat.cmd.engine",
            "--config-file",
            str(self.conf),
            env=self.env,
        )

    def write_conf(self) -> None:
        url = self.server.set(database=self.name).render_as_string(
            hide_password=False
        )
        self.conf.write_text(
            textwrap.dedent(
                f"""\
                [DEFAULT]
                auth_strategy = noauth
                transport_url = {self.rabbit}
                num_engine_workers = 1
                auth_encryption_key = only for tests, 32 characters...
                [database]
                connection = {url}
                [heat_api]
                bind_host = 127.0.0.1
                bind_port = {self.port}
                [engine]
                heartbeat_interval = 1
                dead_after = 5
                recovery_interval = 2
                [oslo_messaging_rabbit]
                rabbit_quorum_queue = false
                [DEFAULT]
                """
            )
            + "".join(f"{line}\n" for line in self.options)
        )

    def forget_queues(self) -> None:
        """Drop what an earlier deployment on this vhost left unread.

        Queues are named after topics, so only one deployment at a time may
        use a vhost.
        """
        topics = (api.ENGINE_TOPIC, api.LISTENER_TOPIC, api.WORKER_TOPIC)
        url = self.rabbit.replace("rabbit://", "amqp://", 1)
        with kombu.Connection(url, connect_timeout=10) as connection:
            for topic in topics:
                connection.channel().queue_delete(topic)

    def call(self, module: str, *args: object) -> None:
        """Run ``python -m module`` to its end."""
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, args)],
            cwd=self.folder,
            env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotReady(f"{module} {args}:\n{done.stdout}{done.stderr}")

    def stop(self) -> None:
        super().stop()
        force = (
            " WITH (FORCE)"
            if self.server.get_backend_name() == "postgresql"
            else ""
        )
        self._execute(f"DROP DATABASE IF EXISTS {self.name}{force}")

    def _execute(self, statement: str) -> None:
        address = self.server
        if address.get_backend_name() == "postgresql":
            address = address.set(database="postgres")
        engine = sa.create_engine(
            address,
            isolation_level="AUTOCOMMIT",
            connect_args={"connect_timeout": 10},
        )
        try:
            with engine.connect() as conn:
                conn.execute(sa.text(statement))
        finally:
            engine.dispose()


#: A deployment that the next class of tests may use, too, and its kind.
_kept: tuple[Hashable, Deployment] | None = None


def keep(kind: Hashable, make: Callable[[], Deployment]) -> Deployment:
    """A running deployment for tests that leave it as it is.

    Starting one costs as much as a story, so it is kept while those who ask
    want the same kind, at most until the process ends.
    """
    global _kept
    if _kept is None or _kept[0] != kind:
        end_kept()
        _kept = (kind, make().start())
    return _kept[1]


@atexit.register
def end_kept() -> None:
    """Stop the deployment that is kept, if there is one."""
    global _kept
    kept, _kept = _kept, None
    if kept is not None:
        kept[1].stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Start the service, print its URL, stop at Ctrl-C."
    )
    parser.add_argument("--database", help="URL of a database server")
    parser.add_argument("--rabbit", help="transport URL, with the vhost")
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--backend", default="threading")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of [DEFAULT]; may repeat",
    )
    args = parser.parse_args()
    if args.database and args.rabbit:
        made: Deployment = Cluster(
            args.database,
            args.rabbit,
            engines=args.engines,
            backend=args.backend,
            options=args.option,
        )
    else:
        made = Standalone()
    # SIGTERM must run the clean-up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    made.start()
    try:
        print(made.url, made.folder, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        made.stop()


if __name__ == "__main__":
    main()
