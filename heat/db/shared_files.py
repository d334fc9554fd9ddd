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
"""Rows of ``raw_template_files``: what all stacks of a tree have in common.

The files of a stack, and the values that parameters of these names have in
all of its tree, go down to every nested stack as they are. In a large tree
they are by far the most of what there is to store, so they are stored once
(:func:`heat.db.templates.insert`) and read once: a row is never changed but
for the key that it is sealed with.
"""

from __future__ import annotations

import collections
import dataclasses
import threading
import uuid
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from heat.common import crypt
from heat.db import bulk, clock, models, secrets

_files = models.raw_template_files

DEFAULTS = "parameter_defaults"

# Made once: it takes longer to put together than to run.
_THESE = bulk.Among(
    _files.c.id,
    sa.select(_files.c.id, _files.c.files, _files.c.defaults).where,
)

# Rows kept. They can be large, and few trees are worked on at once.
_KEPT = 32


@dataclasses.dataclass(frozen=True, slots=True)
class SharedFiles:
    """One row, opened; nobody may change what it holds.

    :ivar defaults: None: versions have their own
    """

    files: dict[str, str]
    defaults: dict[str, Any] | None


_Entry = tuple[crypt.Crypt | None, SharedFiles]
_cache: collections.OrderedDict[str, _Entry] = collections.OrderedDict()
_lock = threading.Lock()


def insert(
    conn: sa.Connection,
    files: Mapping[str, str],
    defaults: Mapping[str, Any] | None,
    secret_files: Collection[str],
    secret: Collection[str],
) -> int:
    """Store a row and return its id.

    :param secret_files: names of the files that are stored encrypted
    :param secret: names of the defaults that are
    """
    sealed = secrets.seal_environment(conn, {DEFAULTS: defaults}, secret)
    return bulk.insert_one(
        conn,
        _files,
        {
            "files": secrets.seal_files(conn, files, secret_files),
            "defaults": sealed[DEFAULTS],
            "content_key": str(uuid.uuid4()),
            "created_at": clock.utcnow(),
        },
    )


def get_many(
    conn: sa.Connection, keys: Mapping[int, str | None]
) -> dict[int, SharedFiles]:
    """Rows by id.

    :param keys: ``content_key`` by id; numbers are given anew when rows are
        gone, these are not
    :raises InvalidEncryptionKey: one was sealed with another key
    """
    mine = secrets.crypt_of(conn)
    found: dict[int, SharedFiles] = {}
    with _lock:
        for row_id, key in keys.items():
            entry = _cache.get(key) if key is not None else None
            if key is not None and entry is not None and entry[0] is mine:
                _cache.move_to_end(key)
                found[row_id] = entry[1]
    for chunk in bulk.chunks(sorted(keys.keys() - found.keys())):
        for row in _THESE.run(conn, chunk).all():
            made = found[row.id] = _opened(conn, row.files, row.defaults)
            _keep(keys[row.id], (mine, made))
    return found


def _opened(conn: sa.Connection, files: Any, defaults: Any) -> SharedFiles:
    values = secrets.open_environment(conn, {DEFAULTS: defaults})[DEFAULTS]
    return SharedFiles(secrets.open_files(conn, files or {}), values)


def _keep(key: str | None, entry: _Entry) -> None:
    if key is None:
        return
    with _lock:
        _cache[key] = entry
        while len(_cache) > _KEPT:
            _cache.popitem(last=False)
