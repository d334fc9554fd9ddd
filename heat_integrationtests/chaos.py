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
"""Chaos: engines are killed and stalled, database and bus cut off.

Several engines over a database server and RabbitMQ work on stacks that are
created, updated with replacements and deleted, while faults happen in turn.
When the faults have stopped every stack must reach its final state, and the
table of stand-in objects must hold exactly what the living stacks want:
nothing leaked, nothing doubled.

    python -m heat_integrationtests.chaos --stacks 50 --resources 20
    python -m heat_integrationtests.chaos --stacks 10 --members 20

MariaDB and RabbitMQ are a server each of the test's own, which are killed and
started again, too. Services named on the command line are left alone:
connections to them go through a proxy, which is what is cut.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import random
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import requests
import sqlalchemy as sa

from heat.tests.functional import deployment
from heat_integrationtests import services

FINAL_SECONDS = 120
FAULTS = ("kill", "stall", "database", "bus")
# With services of its own: killed, and started again.
CRASHES = ("crash database", "crash bus")


class Proxy:
    """A port of ours in front of a service; it can be cut for a while."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._cut_until = 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, seconds: float) -> None:
        """Drop every connection and refuse new ones for a while."""
        self._cut_until = time.monotonic() + seconds
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for sock in pair:
                _close(sock)

    def close(self) -> None:
        _close(self._listener)
        self.cut(0)

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            if time.monotonic() < self._cut_until:
                _close(client)
                continue
            try:
                server = socket.create_connection(self._target, 5)
            except OSError:
                _close(client)
                continue
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            threading.Thread(
                target=self._pump, args=(pair,), daemon=True
            ).start()

    def _pump(self, pair: tuple[socket.socket, socket.socket]) -> None:
        other = {pair[0]: pair[1], pair[1]: pair[0]}
        try:
            while True:
                for sock in select.select(pair, (), ())[0]:
                    data = sock.recv(65536)
                    if not data:
                        return
                    other[sock].sendall(data)
        except (OSError, ValueError):
            return
        finally:
            with self._lock:
                self._pairs.discard(pair)
            for sock in pair:
                _close(sock)


def _close(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()


class ChaosCluster(deployment.Cluster):
    """A cluster whose connections can be cut."""

    def __init__(self, database: str, rabbit: str, engines: int) -> None:
        address = sa.make_url(database)
        self.database_proxy = Proxy(
            address.host or "127.0.0.1", address.port or 3306
        )
        bus = sa.make_url(rabbit)
        self.bus_proxy = Proxy(bus.host or "127.0.0.1", bus.port or 5672)
        through = bus.set(host="127.0.0.1", port=self.bus_proxy.port)
        super().__init__(
            database,
            through.render_as_string(hide_password=False),
            engines=engines,
        )

    def write_conf(self) -> None:
        direct = self.server
        self.server = direct.set(
            host="127.0.0.1", port=self.database_proxy.port
        )
        super().write_conf()
        self.server = direct
        with open(self.conf, "a") as conf:
            conf.write("[test_resources]\nrecord_objects = true\n")

    def stall(self, name: str, seconds: float) -> None:
        """Stop a process and its workers, and let them go on later."""
        group = self.processes[name].pid
        os.killpg(group, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(group, signal.SIGCONT)

    def stop(self) -> None:
        super().stop()
        self.database_proxy.close()
        self.bus_proxy.close()


class Stack:
    """A stack that goes through its life, whatever happens meanwhile."""

    def __init__(self, api: Any, url: str, name: str, size: int, seed: int):
        self.session, self.url, self.name = api, url, name
        self.size = size
        self.random = random.Random(seed)
        self.revision = 0
        self.id = self.reason = ""

    def template(self, replace: bool = False) -> dict[str, Any]:
        resources: dict[str, Any] = {}
        for i in range(self.size):
            value: Any = f"{self.revision}-{i}"
            if i and i % 3:
                value = {"get_attr": [f"r{i - 1}", "output"]}
            properties: dict[str, Any] = {"value": value}
            if i % 4 == 0:
                properties["wait_secs"] = 1
            if replace and i % 2 == 0:
                properties["update_replace"] = True
            resources[f"r{i}"] = {
                "type": "OS::Heat::TestResource",
                "properties": properties,
            }
        return {
            "heat_template_version": "2018-08-31",
            "resources": resources,
        }

    def body(self, replace: bool = False) -> dict[str, Any]:
        """What is sent to create or update it."""
        return {"template": self.template(replace)}

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Ask until somebody answers; a conflict is an answer."""
        while True:
            try:
                got = self.session.request(
                    method, self.url + path, timeout=60, **kwargs
                )
            except requests.RequestException:
                time.sleep(0.5)
                continue
            if got.status_code < 500:
                return got
            time.sleep(0.5)

    def live(self) -> None:
        got = self.call(
            "POST",
            "/stacks",
            json={"stack_name": self.name, **self.body()},
        )
        if got.status_code == 409:  # an answer got lost
            got = self.call("GET", f"/stacks?name={self.name}")
            self.id = got.json()["stacks"][0]["id"]
        else:
            self.id = got.json()["stack"]["id"]
        for replace in (True, False, True):
            if self.random.random() < 0.7:
                self.settle()
            self.revision += 1
            self.call(
                "PUT",
                f"/stacks/{self.name}/{self.id}",
                json=self.body(replace),
            )
        self.settle()
        if self.random.random() < 0.5:
            self.call("DELETE", f"/stacks/{self.name}/{self.id}")

    def settle(self, seconds: float = 30) -> str:
        deadline = time.monotonic() + seconds
        while True:
            got = self.call("GET", f"/stacks?id={self.id}&show_deleted=True")
            stacks = got.json().get("stacks", ())
            status = stacks[0]["stack_status"] if stacks else "GONE"
            self.reason = stacks[0]["stack_status_reason"] if stacks else ""
            if not status.endswith("IN_PROGRESS"):
                return status
            if time.monotonic() > deadline:
                return status
            time.sleep(0.3)


class Group(Stack):
    """A stack whose members are small stacks, which share transactions."""

    MEMBER = json.dumps(
        {
            "heat_template_version": "2018-08-31",
            "parameters": {
                "value": {"type": "string"},
                "replace": {"type": "boolean"},
            },
            "resources": {
                "r": {
                    "type": "OS::Heat::TestResource",
                    "properties": {
                        "value": {"get_param": "value"},
                        "update_replace": {"get_param": "replace"},
                    },
                },
                # It stands for nothing, and requires what does.
                "told": {
                    "type": "OS::Heat::Value",
                    "properties": {"value": {"get_attr": ["r", "output"]}},
                },
            },
        }
    )

    def template(self, replace: bool = False) -> dict[str, Any]:
        properties = {"value": f"{self.revision}-%index%", "replace": replace}
        member = {"type": "member.yaml", "properties": properties}
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": self.size, "resource_def": member},
        }
        return {
            "heat_template_version": "2018-08-31",
            "resources": {"group": group},
        }

    def body(self, replace: bool = False) -> dict[str, Any]:
        return {**super().body(replace), "files": {"member.yaml": self.MEMBER}}


def make_faults(
    cluster: ChaosCluster,
    stop: threading.Event,
    seed: int,
    servers: Mapping[str, services.Server],
) -> collections.Counter[str]:
    """One fault after the other until told to stop.

    :param servers: what may be killed, by its fault
    """
    chance = random.Random(seed)
    done: collections.Counter[str] = collections.Counter()
    names = [f"engine-{i}" for i in range(cluster.engines)]
    kinds: list[str] = []
    while not stop.wait(chance.uniform(1, 3)):
        if not kinds:
            kinds = [*FAULTS, *servers]
        kind = kinds.pop(chance.randrange(len(kinds)))
        name = chance.choice(names)
        print(f"chaos: {kind} {name}", flush=True)
        if kind == "kill":
            cluster.kill(name)
            time.sleep(chance.uniform(0, 2))
            cluster.start_engine(name)
        elif kind == "stall":
            cluster.stall(name, 8)
        elif kind in servers:
            servers[kind].kill()
            time.sleep(chance.uniform(0, 3))
            servers[kind].start()
        elif kind == "database":
            cluster.database_proxy.cut(chance.uniform(0, 5))
        else:
            cluster.bus_proxy.cut(chance.uniform(0, 5))
        done[kind] += 1
    return done


def check(cluster: ChaosCluster, stacks: list[Stack]) -> list[str]:
    """What is wrong at the end, in words."""
    wrong = []
    url = cluster.server.set(database=cluster.name)
    engine = sa.create_engine(url)
    wanted: collections.Counter[str] = collections.Counter()
    for stack in stacks:
        status = stack.settle(FINAL_SECONDS)
        if status.endswith("IN_PROGRESS"):
            wrong.append(f"{stack.name} stays {status}")
        elif not status.startswith(("DELETE", "GONE")):
            if not status.endswith("_COMPLETE"):
                stack.revision += 1
                stack.call(
                    "PUT",
                    f"/stacks/{stack.name}/{stack.id}",
                    json=stack.body(),
                )
                status = stack.settle(FINAL_SECONDS)
            if status.endswith("_COMPLETE"):
                wanted[stack.id] = stack.size
            else:
                wrong.append(f"{stack.name} is {status}: {stack.reason}")
    with engine.connect() as conn:
        rows = conn.execute(
            sa.text("SELECT stack_id, resource_name FROM test_object")
        ).all()
        owners = conn.execute(sa.text("SELECT id, owner_id FROM stack")).all()
    engine.dispose()
    above = {row.id: row.owner_id for row in owners}
    found = collections.Counter(_root(row.stack_id, above) for row in rows)
    double = collections.Counter((r.stack_id, r.resource_name) for r in rows)
    wrong += [
        f"{key} is there {n} times" for key, n in double.items() if n > 1
    ]
    for stack in stacks:
        if found[stack.id] != wanted[stack.id]:
            wrong.append(
                f"{stack.name} ({stack.settle()}): {found[stack.id]} "
                f"objects, {wanted[stack.id]} wanted"
            )
    return wrong


def _root(stack_id: str, above: Mapping[str, str | None]) -> str:
    """The stack at the top of the tree that a stack stands in."""
    while (owner_id := above.get(stack_id)) is not None:
        stack_id = owner_id
    return stack_id


def run(
    database: str | None = None, rabbit: str | None = None, **kwargs: int
) -> list[str]:
    """One run; what was wrong at its end.

    :param database: URL of a server; None: one of its own, to be killed
    :param rabbit: transport URL with a vhost; None: likewise
    """
    servers: dict[str, services.Server] = {}
    try:
        if database is None:
            servers[CRASHES[0]] = services.MariaDB().create()
            database = servers[CRASHES[0]].url
        if rabbit is None:
            servers[CRASHES[1]] = services.RabbitMQ().create()
            rabbit = servers[CRASHES[1]].url
        return _run(database, rabbit, servers, **kwargs)
    finally:
        for server in servers.values():
            server.remove()


def _make_room(cluster: ChaosCluster) -> None:
    """Objects of nested stacks have longer names than stand-ins have room
    for; SQLite, where the others run, has."""
    engine = sa.create_engine(cluster.server.set(database=cluster.name))
    with engine.begin() as conn:
        conn.execute(
            sa.text("ALTER TABLE test_object MODIFY id VARCHAR(255) NOT NULL")
        )
    engine.dispose()


def _run(
    database: str,
    rabbit: str,
    servers: Mapping[str, services.Server],
    *,
    engines: int = 3,
    stacks: int = 50,
    resources: int = 20,
    members: int = 0,
    seed: int = 0,
) -> list[str]:
    cluster = ChaosCluster(database, rabbit, engines)
    cluster.start()
    _make_room(cluster)
    stop = threading.Event()
    try:
        url = f"{cluster.url}/v1/chaos"
        session = requests.Session()
        kind = Group if members else Stack
        all_stacks = [
            kind(session, url, f"s{i}", members or resources, seed * 1000 + i)
            for i in range(stacks)
        ]
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            faults = pool.submit(make_faults, cluster, stop, seed, servers)
            lives = [pool.submit(each.live) for each in all_stacks]
            try:
                concurrent.futures.wait(lives)
            finally:
                # The pool waits for the faults, too.
                stop.set()
            print(f"chaos: {dict(faults.result())}", flush=True)
            for life in lives:
                life.result()
        wrong = check(cluster, all_stacks)
        if wrong:
            print(cluster.logs(40), file=sys.stderr)
        return wrong
    finally:
        stop.set()
        cluster.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", help="URL of a server to leave alone")
    parser.add_argument("--rabbit", help="transport URL of one to leave alone")
    parser.add_argument("--engines", type=int, default=3)
    parser.add_argument("--stacks", type=int, default=50)
    parser.add_argument("--resources", type=int, default=20)
    parser.add_argument(
        "--members",
        type=int,
        default=0,
        help="make groups of so many small stacks in place of resources",
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    began = time.monotonic()
    wrong = run(**vars(args))
    for each in wrong:
        print(f"WRONG: {each}")
    seconds = time.monotonic() - began
    verdict = f"{len(wrong)} wrong" if wrong else "nothing lost or doubled"
    size = args.members or args.resources
    print(f"{args.stacks} x {size} in {seconds:.0f} s: {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
