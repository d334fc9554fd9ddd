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

"""Secret values in rows: sealed when they are written, plain in records.

Callers say which names are secret; nobody who reads has to know. The keys
travel with the connection (:data:`OPTION`, set by the database that opened
it); without keys values are stored as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import sqlalchemy as sa

from heat.common import crypt, exception

#: Name of the execution option that holds the :class:`crypt.Crypt`.
OPTION: Final = "heat_crypt"

#: What the column ``decrypt_method`` says of values that are sealed here.
METHOD: Final = "heat_fernet_v1"

#: Sections of an environment whose values belong to parameters.
SECTIONS: Final = ("parameters", "parameter_defaults")


def crypt_of(conn: sa.Connection) -> crypt.Crypt | None:
    """The keys of the database that a connection belongs to."""
    found: crypt.Crypt | None = conn.get_execution_options().get(OPTION)
    return found


def seal_environment(
    conn: sa.Connection, data: Mapping[str, Any], names: Collection[str]
) -> Mapping[str, Any]:
    """An environment as it is stored; it is not changed.

    :param names: the secret parameters
    """
    keys = crypt_of(conn)
    if keys is None:
        return data
    made = dict(data)
    for section in SECTIONS:
        values = data.get(section)
        if not isinstance(values, Mapping):
            continue
        sealed = {
            name: keys.seal(value)
            for name, value in values.items()
            if name in names or crypt.is_sealed(value)
        }
        if sealed:
            made[section] = {**values, **sealed}
    return made


def sealed_names(data: Any) -> set[str]:
    """The parameters whose values are sealed in a stored environment."""
    return {
        name
        for section in SECTIONS
        for name, value in ((data or {}).get(section) or {}).items()
        if crypt.is_sealed(value)
    }


def open_environment(conn: sa.Connection, data: Any) -> Any:
    """An environment as it was given to :func:`seal_environment`.

    :raises InvalidEncryptionKey: it was sealed with another key
    """
    if not isinstance(data, dict):
        return data
    keys = crypt_of(conn)
    for section in SECTIONS:
        values = data.get(section)
        if not isinstance(values, dict):
            continue
        for name, value in values.items():
            if type(value) is dict and crypt.is_sealed(value):
                values[name] = _needed(keys).open(value)
    return data


def seal_files(
    conn: sa.Connection, files: Mapping[str, str], names: Collection[str]
) -> dict[str, str]:
    """Files as they are stored.

    :param names: the files that hold secrets
    """
    keys = crypt_of(conn)
    if keys is None:
        return dict(files)
    return {
        name: keys.seal_text(text)
        if name in names or crypt.is_sealed(text)
        else text
        for name, text in files.items()
    }


def open_files(
    conn: sa.Connection, files: Mapping[str, str]
) -> dict[str, str]:
    """Files as they were given to :func:`seal_files`.

    :raises InvalidEncryptionKey: one was sealed with another key
    """
    keys = crypt_of(conn)
    return {
        name: _needed(keys).open_text(text)
        if isinstance(text, str) and crypt.is_sealed(text)
        else text
        for name, text in files.items()
    }


def seal_value(conn: sa.Connection, text: str) -> tuple[str, str | None]:
    """A text as it is stored, and the ``decrypt_method`` beside it."""
    keys = crypt_of(conn)
    return (text, None) if keys is None else (keys.encrypt(text), METHOD)


def open_value(
    conn: sa.Connection, text: str | None, method: str | None
) -> str | None:
    """The text that :func:`seal_value` was given.

    :raises InvalidEncryptionKey: it was sealed with another key, or in
        another way
    """
    if text is None or method is None:
        return text
    if method != METHOD:
        raise exception.InvalidEncryptionKey()
    return _needed(crypt_of(conn)).decrypt(text)


#: The part of a resource in a snapshot that is sealed as a whole.
RESOURCE_DATA: Final = "resource_data"


def seal_snapshot(conn: sa.Connection, data: Any) -> Any:
    """The data of a snapshot as they are stored; not changed themselves."""
    keys = crypt_of(conn)
    return data if keys is None else _snapshot(data, keys.seal)


def open_snapshot(conn: sa.Connection, data: Any) -> Any:
    """The data of a snapshot as they were given to :func:`seal_snapshot`.

    :raises InvalidEncryptionKey: they were sealed with another key
    """
    keys = crypt_of(conn)
    return _snapshot(
        data,
        lambda kept: (
            _needed(keys).open(kept) if crypt.is_sealed(kept) else kept
        ),
    )


def renew_snapshot(keys: crypt.Crypt, data: Any) -> Any:
    """The stored data of a snapshot, sealed with the first key.

    :raises InvalidEncryptionKey: they were sealed with none of the keys
    """
    return _snapshot(
        data,
        lambda kept: (
            keys.renew(kept) if crypt.is_sealed(kept) else keys.seal(kept)
        ),
    )


def _snapshot(data: Any, change: Callable[[Any], Any]) -> Any:
    """A snapshot with what plug-ins keep for its resources changed."""
    found = data.get("resources") if isinstance(data, dict) else None
    if not isinstance(found, dict):
        return data
    made = {
        name: {**each, RESOURCE_DATA: change(each[RESOURCE_DATA])}
        if isinstance(each, dict) and each.get(RESOURCE_DATA)
        else each
        for name, each in found.items()
    }
    return {**data, "resources": made}


def _needed(keys: crypt.Crypt | None) -> crypt.Crypt:
    if keys is None:
        raise exception.InvalidEncryptionKey()
    return keys
