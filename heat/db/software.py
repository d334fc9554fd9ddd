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

"""Rows of the ``software_config`` and ``software_deployment`` tables.

A ``tenant`` of None in a look-up means everybody's.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from heat.db import clock, models, pagination

_config = models.software_config
_deployment = models.software_deployment


@dataclasses.dataclass(frozen=True, slots=True)
class ConfigRecord:
    """One configuration; it never changes.

    ``config`` holds the keys config, inputs, outputs and options.
    """

    id: str
    name: str | None
    group: str | None
    config: dict[str, Any]
    tenant: str
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None


@dataclasses.dataclass(frozen=True, slots=True)
class DeploymentRecord:
    """One configuration on one server."""

    id: str
    server_id: str
    config_id: str
    input_values: dict[str, Any] | None
    output_values: dict[str, Any] | None
    action: str | None
    status: str | None
    status_reason: str | None
    tenant: str
    stack_user_project_id: str | None
    created_at: datetime.datetime | None
    updated_at: datetime.datetime | None


_CONFIG_COLUMNS = tuple(
    _config.c[each.name] for each in dataclasses.fields(ConfigRecord)
)
_DEPLOYMENT_COLUMNS = tuple(
    _deployment.c[each.name] for each in dataclasses.fields(DeploymentRecord)
)


def insert_config(conn: sa.Connection, values: Mapping[str, Any]) -> str:
    """Insert a configuration and return its id (made here if absent)."""
    return _insert(conn, _config, values)


def get_config(
    conn: sa.Connection, config_id: str, tenant: str | None = None
) -> ConfigRecord | None:
    """The configuration with this id, or None."""
    query = sa.select(*_CONFIG_COLUMNS).where(_config.c.id == config_id)
    if tenant is not None:
        query = query.where(_config.c.tenant == tenant)
    row = conn.execute(query).first()
    return None if row is None else ConfigRecord(*row)


def list_configs(
    conn: sa.Connection,
    tenant: str | None,
    *,
    limit: int | None = None,
    marker: str | None = None,
) -> list[ConfigRecord]:
    """One page of configurations, the oldest first.

    :param marker: id of the last one of the page before
    :raises Invalid: there is no such marker
    """
    query = sa.select(*_CONFIG_COLUMNS)
    if tenant is not None:
        query = query.where(_config.c.tenant == tenant)
    query = pagination.page(
        conn,
        query,
        [(_config.c.created_at, False), (_config.c.id, False)],
        None if marker is None else _config.c.id == marker,
        limit,
    )
    return [ConfigRecord(*row) for row in conn.execute(query)]


def delete_config(conn: sa.Connection, config_id: str) -> bool:
    """Delete a configuration; False: there is none.

    Ask :func:`count_deployments` first whether one uses it.
    """
    result = conn.execute(sa.delete(_config).where(_config.c.id == config_id))
    return bool(result.rowcount)


def count_configs(conn: sa.Connection, tenant: str) -> int:
    """How many a tenant has, for ``max_software_configs_per_tenant``."""
    return _count(conn, _config, _config.c.tenant == tenant)


def insert_deployment(conn: sa.Connection, values: Mapping[str, Any]) -> str:
    """Insert a deployment and return its id (made here if absent)."""
    return _insert(conn, _deployment, values)


def get_deployment(
    conn: sa.Connection, deployment_id: str, tenant: str | None = None
) -> DeploymentRecord | None:
    """The deployment with this id, or None.

    :param tenant: the tenant it, or its stack's user project, must be
    """
    query = sa.select(*_DEPLOYMENT_COLUMNS).where(
        _deployment.c.id == deployment_id
    )
    if tenant is not None:
        query = query.where(_owned(tenant))
    row = conn.execute(query).first()
    return None if row is None else DeploymentRecord(*row)


def list_deployments(
    conn: sa.Connection,
    tenant: str | None,
    *,
    server_id: str | None = None,
) -> list[DeploymentRecord]:
    """Deployments, of one server or all, the oldest first."""
    query = sa.select(*_DEPLOYMENT_COLUMNS).order_by(
        _deployment.c.created_at, _deployment.c.id
    )
    if tenant is not None:
        query = query.where(_owned(tenant))
    if server_id is not None:
        query = query.where(_deployment.c.server_id == server_id)
    return [DeploymentRecord(*row) for row in conn.execute(query)]


def update_deployment(
    conn: sa.Connection, deployment_id: str, **values: Any
) -> bool:
    """Write columns of a deployment; False: there is none."""
    values.setdefault("updated_at", clock.utcnow())
    result = conn.execute(
        sa.update(_deployment)
        .where(_deployment.c.id == deployment_id)
        .values(**values)
    )
    return bool(result.rowcount)


def delete_deployment(conn: sa.Connection, deployment_id: str) -> bool:
    """Delete a deployment; False: there is none."""
    result = conn.execute(
        sa.delete(_deployment).where(_deployment.c.id == deployment_id)
    )
    return bool(result.rowcount)


def count_deployments(
    conn: sa.Connection,
    *,
    tenant: str | None = None,
    config_id: str | None = None,
) -> int:
    """How many a tenant has, or how many use a configuration."""
    conditions = []
    if tenant is not None:
        conditions.append(_deployment.c.tenant == tenant)
    if config_id is not None:
        conditions.append(_deployment.c.config_id == config_id)
    return _count(conn, _deployment, *conditions)


def _owned(tenant: str) -> sa.ColumnElement[bool]:
    # Servers sign in as a user of the stack's own project.
    return sa.or_(
        _deployment.c.tenant == tenant,
        _deployment.c.stack_user_project_id == tenant,
    )


def _insert(
    conn: sa.Connection, table: sa.Table, values: Mapping[str, Any]
) -> str:
    columns = {"id": str(uuid.uuid4()), "created_at": clock.utcnow()}
    columns.update(values)
    # A dict, not keywords: there is a column named "group".
    conn.execute(sa.insert(table).values(columns))
    return str(columns["id"])


def _count(
    conn: sa.Connection,
    table: sa.Table,
    *conditions: sa.ColumnElement[bool],
) -> int:
    query = sa.select(sa.func.count()).select_from(table).where(*conditions)
    return int(conn.execute(query).scalar_one())
