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

"""Databases cloned from one prepared image, and what every world shares.

The schema is migrated once in a process. A database that is given back is
overwritten with the image and used again, so that what SQLAlchemy compiled
for it stays warm: a new world costs microseconds.
"""

from __future__ import annotations

import functools
import sqlite3

from oslo_config import cfg

from heat.common import config, exception
from heat.db import migration
from heat.db.session import Database
from heat.engine.clients import stand_in
from heat.engine.plugins import PluginRegistry
from heat.engine.resource import UpdateReplace
from heat.engine.resources.openstack.heat.test_resource import TestResource
from heat.tests.convergence import lockable

_free: dict[type[Database], list[Database]] = {}
_images: dict[str, sqlite3.Connection] = {}


class OneConnection(Database):
    """A database in memory whose transactions share one connection.

    There is nobody else, so nothing is ever tried again; what a pool and
    SQLAlchemy do around each transaction costs more than most of these.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url=url)
        self._conn = self.engine.connect()
        self._conn.begin()
        self.raw = self._conn.connection.driver_connection
        self.raw.execute("ROLLBACK")

    def run(self, work):
        if self.raw.in_transaction:
            raise RuntimeError("A transaction inside of a transaction")
        self.raw.execute("BEGIN")
        try:
            made = work(self._conn)
        except BaseException:
            self.raw.execute("ROLLBACK")
            raise
        self.raw.execute("COMMIT")
        return made

    read = run

    @property
    def in_transaction(self) -> bool:
        return self.raw.in_transaction


class PickyResource(TestResource):
    """Finds out only while it updates that it needs a replacement."""

    __test__ = False

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        after = json_snippet.properties(self.properties_schema, self.context)
        if after[self.VALUE].startswith("replace"):
            raise UpdateReplace(self.name)
        return super().handle_update(json_snippet, tmpl_diff, prop_diff)


class KnownResource(TestResource):
    """Its service knows its objects: an id is one object for everybody."""

    __test__ = False
    looked_up = True
    irrecoverable = {"secret": "the secret"}

    def lacks_for_hand_back(self):
        wants = self.properties[self.VALUE] == "secret"
        return super().lacks_for_hand_back() if wants else []

    def handle_check(self):
        if self.resource_id == "nowhere":
            raise exception.EntityNotFound(entity="Known", name="nowhere")
        super().handle_check()


PICKY = "Test::Heat::Picky"
KNOWN = "Test::Heat::Known"


@functools.cache
def conf() -> cfg.ConfigOpts:
    """A configuration that counts the objects of test resources."""
    made = config.load("heat-test", [], conf=cfg.ConfigOpts())
    made.set_override("record_objects", True, stand_in.GROUP)
    return made


@functools.cache
def plugins() -> PluginRegistry:
    found = PluginRegistry.load(conf())
    found.add(PICKY, PickyResource)
    found.add(KNOWN, KnownResource)
    found.add(lockable.LOCKABLE, lockable.LockableResource)
    return found


def raw(db: Database) -> sqlite3.Connection:
    """The driver's own connection of a database in memory."""
    proxied = db.engine.raw_connection()
    try:
        return proxied.driver_connection
    finally:
        proxied.close()


def database(extra: str = "", kind: type[Database] = Database) -> Database:
    """A migrated, empty database in memory.

    :param extra: SQL to run after the migration (triggers)
    :param kind: what is made
    """
    free = _free.setdefault(kind, [])
    db = free.pop() if free else kind(url="sqlite://")
    if extra not in _images:
        _images[extra] = _make_image(extra)
    _images[extra].backup(raw(db))
    return db


def give_back(db: Database) -> None:
    """Let the next world use the database."""
    _free[type(db)].append(db)


def _make_image(extra: str) -> sqlite3.Connection:
    db = Database(url="sqlite://")
    migration.upgrade(db)
    raw(db).executescript(extra)
    image = sqlite3.connect(":memory:")
    raw(db).backup(image)
    db.dispose()
    return image
