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

"""Column types that the schema needs and SQLAlchemy does not have.

Knows nothing of the tables that use them.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy import types
from sqlalchemy.dialects import mysql

_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class Json(types.TypeDecorator[Any]):
    """A JSON value in a text column; None is stored as NULL.

    Text instead of a native JSON type: it keeps the order of keys, works
    alike on all three databases and is what existing deployments have.
    Non-ASCII characters are stored escaped, so that a lone surrogate or a
    NUL in user data can never make a write fail.
    """

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> types.TypeEngine[Any]:
        if dialect.name == "mysql":
            return dialect.type_descriptor(mysql.LONGTEXT())
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return None if value is None else _encode(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        # Most of what there is to read is empty.
        if value is None:
            return None
        if value == "{}":
            return {}
        return [] if value == "[]" else _decode(value)


class Clipped(types.TypeDecorator[str]):
    """Text for people, cut to what the column holds.

    A reason may quote whatever a cloud answered; that it is long must not
    keep a state from being written.

    :param length: of the VARCHAR in characters; None: a TEXT column, whose
        limit on MariaDB is 65535 bytes
    """

    impl = sa.Text
    cache_ok = True

    def __init__(self, length: int | None = None) -> None:
        super().__init__()
        self.length = length

    def load_dialect_impl(self, dialect: sa.Dialect) -> types.TypeEngine[Any]:
        return dialect.type_descriptor(
            sa.Text() if self.length is None else sa.String(self.length)
        )

    def process_bind_param(
        self, value: str | None, dialect: sa.Dialect
    ) -> str | None:
        if value is None:
            return None
        # Four bytes a character at most; PostgreSQL refuses NUL.
        most = self.length or 16000
        value = str(value).replace("\0", "")
        return value if len(value) <= most else value[: most - 3] + "..."
