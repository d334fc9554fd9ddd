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

"""MariaDB and RabbitMQ: access, databases, and a vhost.

Both are used where they are. When the environment names none and none
answers on the usual port, root gets Debian's.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Iterator

import amqp
import kombu
import kombu.exceptions
import sqlalchemy as sa

from heat_integrationtests.openstack.settings import (
    DEFAULT_MYSQL,
    DEFAULT_RABBIT,
    MYSQL,
    RABBIT,
    CloudError,
    Settings,
)

#: Debian's root logs in by socket only; this one may use TCP.
_OWN_MYSQL = "mysql+pymysql://heat_cloud:heat_cloud@127.0.0.1:3306"
_OWN_USER = "".join(
    f"CREATE USER IF NOT EXISTS 'heat_cloud'@'{host}' IDENTIFIED BY"
    f" 'heat_cloud'; GRANT ALL ON *.* TO 'heat_cloud'@'{host}';"
    for host in ("%", "localhost")
)
_SECONDS = 60


def prepare(settings: Settings) -> Settings:
    """See to it that both answer, and make the vhost.

    :raises CloudError: one does not
    """
    mysql, rabbit = settings.mysql, settings.rabbit
    if not _lets_in(mysql):
        mysql = _get_mysql(mysql)
    if not _answers(rabbit):
        _get("rabbitmq-server", RABBIT, rabbit == DEFAULT_RABBIT)
        _wait("RabbitMQ", lambda: _answers(rabbit))
    return dataclasses.replace(
        settings, mysql=mysql, rabbit=_with_vhosts(rabbit, settings)
    )


def _get_mysql(url: str) -> str:
    if url == DEFAULT_MYSQL and _lets_in(_OWN_MYSQL):
        return _OWN_MYSQL
    if not shutil.which("mariadb"):
        _get("mariadb-server", MYSQL, url == DEFAULT_MYSQL)
    elif url != DEFAULT_MYSQL:
        raise CloudError(f"{MYSQL}: no access to {url}")
    _start("mariadb")
    socket = ["mariadb", "--user=root", "--execute"]
    _wait("MariaDB", lambda: _ends_well(*socket, _OWN_USER))
    return _OWN_MYSQL


def _get(package: str, variable: str, may: bool) -> None:
    """Install a package of the distribution, and start what is in it."""
    if not (may and os.geteuid() == 0 and shutil.which("apt-get")):
        raise CloudError(f"{package} does not answer; {variable} says where")
    if not shutil.which(f"/usr/sbin/{package}"):
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            ("update", "-q"),
            ("install", "-q", "-y", "--no-install-recommends", package),
        ):
            done = subprocess.run(
                ["apt-get", *command],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise CloudError(f"{package}: {done.stdout}{done.stderr}")
    _start(package)


def _start(service: str) -> None:
    _ends_well("service", service, "start")


def _ends_well(*command: str) -> bool:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def _wait(what: str, is_there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_there():
        if time.monotonic() > deadline:
            raise CloudError(f"{what} does not answer")
        time.sleep(0.5)


# -- MariaDB -----------------------------------------------------------------


def _lets_in(url: str) -> bool:
    try:
        with _connection(url) as conn:
            conn.execute(sa.text("SELECT 1"))
    except sa.exc.OperationalError:
        return False
    return True


@contextlib.contextmanager
def _connection(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        connect_args={"connect_timeout": 5},
    )
    try:
        with engine.connect() as conn:
            yield conn
    finally:
        engine.dispose()


_CONNECTIONS = 500


def make_databases(settings: Settings, names: tuple[str, ...]) -> None:
    """Make databases anew: what was in them is dropped.

    The server is let take the connections of a cloud beside those of whoever
    else uses it, until it is started again: its default is 151.
    """
    with _connection(settings.mysql) as conn:
        conn.execute(
            sa.text(
                "SET GLOBAL max_connections ="
                f" GREATEST(@@max_connections, {_CONNECTIONS})"
            )
        )
        for name in names:
            quoted = f"`{settings.database(name)}`"
            conn.execute(sa.text(f"DROP DATABASE IF EXISTS {quoted}"))
            conn.execute(
                sa.text(f"CREATE DATABASE {quoted} CHARACTER SET utf8mb4")
            )


def has_databases(settings: Settings, names: tuple[str, ...]) -> bool:
    """Whether the server answers, and has all of them."""
    try:
        return {settings.database(name) for name in names} <= _databases(
            settings
        )
    except sa.exc.OperationalError:
        return False


def _databases(settings: Settings) -> set[str]:
    """The names of the databases of this cloud."""
    pattern = settings.database("").replace("_", r"\_") + "%"
    with _connection(settings.mysql) as conn:
        told = conn.execute(
            sa.text("SHOW DATABASES LIKE :pattern"), {"pattern": pattern}
        )
        return set(told.scalars())


def forget(settings: Settings) -> None:
    """Drop the cloud's databases and its vhost, where they still are."""
    try:
        found = _databases(settings)
    except sa.exc.OperationalError:
        found = set()
    for name in found:
        with _connection(settings.mysql) as conn:
            conn.execute(sa.text(f"DROP DATABASE `{name}`"))
    if settings.has_vhosts:
        for vhost in (settings.name, *settings.heat_vhosts):
            _ends_well("rabbitmqctl", "--quiet", "delete_vhost", vhost)


# -- RabbitMQ ----------------------------------------------------------------


def _connect(url: str) -> kombu.Connection:
    # oslo.messaging says rabbit://, kombu says amqp://.
    return kombu.Connection(
        url.replace("rabbit://", "amqp://", 1), connect_timeout=5
    )


def _answers(url: str) -> bool:
    try:
        with _connect(url) as connection:
            connection.connect()
    except (OSError, kombu.exceptions.OperationalError, amqp.AMQPError):
        return False
    return True


def _with_vhosts(url: str, settings: Settings) -> str:
    """The URL with a vhost of the cloud's own; all of these are made.

    A broker that takes no commands from here is used with the vhost that
    its URL has: then no other cloud may use that.
    """
    if not _ends_well("rabbitmqctl", "--quiet", "list_vhosts"):
        return url
    parts = urllib.parse.urlsplit(url)
    user = urllib.parse.unquote(parts.username or "guest")
    for name in (settings.name, *settings.heat_vhosts):
        # Whatever an earlier run left in its queues is gone with the old one.
        _ends_well("rabbitmqctl", "--quiet", "delete_vhost", name)
        for command in (
            ("add_vhost", name),
            ("set_permissions", "-p", name, user, ".*", ".*", ".*"),
        ):
            if not _ends_well("rabbitmqctl", "--quiet", *command):
                raise CloudError(f"rabbitmqctl {command[0]} failed")
    return parts._replace(path=f"/{settings.name}").geturl()


def has_vhost(settings: Settings) -> bool:
    """Whether the broker lets the services in."""
    return _answers(settings.rabbit)


def are_served(settings: Settings, queues: tuple[str, ...]) -> bool:
    """Whether each of the queues has somebody who reads it."""
    with _connect(settings.rabbit) as connection:
        for queue in queues:
            channel = connection.channel()
            try:
                told = channel.queue_declare(queue, passive=True)
            except connection.channel_errors:
                return False
            channel.close()
            if not told.consumer_count:
                return False
    return True
