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

"""The tables of a Heat database.

Names and types of the first column block of each table are those of every
deployed Heat database, so that one can be taken over in place; what stands
under ``# ours`` is this engine's. Tables only: no query lives here.

There are no foreign keys: rows of a stack are deleted in bulk by stack id,
in whatever order costs least, and hot inserts take no locks on parents.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import types
from sqlalchemy.dialects import mysql

from heat.db.types import Clipped, Json

metadata = sa.MetaData()


def _table(name: str, *items: sa.schema.SchemaItem) -> sa.Table:
    # Binary collation: names of stacks and resources are case-sensitive in
    # the public interface, as they are on SQLite and PostgreSQL. SQLite
    # would otherwise give the id of a deleted row to a new one.
    return sa.Table(
        name,
        metadata,
        *items,
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        mysql_row_format="DYNAMIC",
        sqlite_autoincrement=any(
            isinstance(i, sa.Column)
            and i.primary_key
            and i.autoincrement is True
            for i in items
        ),
    )


def _serial() -> sa.Column[Any]:
    return sa.Column("id", sa.Integer, primary_key=True, autoincrement=True)


def _uuid_key(name: str = "id") -> sa.Column[Any]:
    return sa.Column(name, sa.String(36), primary_key=True)


def _col(
    name: str, type_: types.TypeEngine[Any], *, nn: bool = False
) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=not nn)


def _flag(name: str) -> sa.Column[Any]:
    """A boolean of ours: never NULL, false in rows of other makes."""
    return sa.Column(
        name,
        sa.Boolean,
        nullable=False,
        default=False,
        server_default=sa.false(),
    )


def _times() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return (
        sa.Column("created_at", sa.DateTime),
        sa.Column("updated_at", sa.DateTime),
    )


_INT = sa.Integer()
_BOOL = sa.Boolean()
_WHEN = sa.DateTime()
_TEXT = sa.Text()
_LONG = sa.Text().with_variant(mysql.LONGTEXT(), "mysql")
_S255 = sa.String(255)
_S256 = sa.String(256)
_S64 = sa.String(64)
_S16 = sa.String(16)
_UUID = sa.String(36)
_JSON = Json()
_REASON = Clipped()
_REASON_255 = Clipped(255)

raw_template = _table(
    "raw_template",
    _serial(),
    *_times(),
    _col("template", _JSON),
    _col("files", _JSON),
    _col("environment", _JSON),
    _col("files_id", _INT),
    # ours: what a nested template is told of its resource
    _col("facade", _JSON),
    # ours: its parameter defaults are with the files
    _col("shares_defaults", _BOOL),
    # ours: what it says of itself, for lists of stacks
    _col("description", _LONG),
    sa.Index("ix_raw_template_files_id", "files_id"),
)

raw_template_files = _table(
    "raw_template_files",
    _serial(),
    _col("files", _JSON),
    # ours: the parameter defaults of the versions that share it, and what
    # stands for its content for ever (ids are used again)
    _col("defaults", _JSON),
    _col("content_key", _UUID),
    *_times(),
)

# ours: one row for each layer of the environment of a template version.
environment_layer = _table(
    "environment_layer",
    _serial(),
    _col("raw_template_id", _INT, nn=True),
    _col("position", _INT, nn=True),
    _col("kind", _S16, nn=True),
    _col("name", _TEXT),
    _col("content", _JSON),
    _col("cleared", _JSON),
    sa.Index("ix_environment_layer_template", "raw_template_id", "position"),
)

stack = _table(
    "stack",
    _uuid_key(),
    *_times(),
    _col("deleted_at", _WHEN),
    _col("name", _S255),
    _col("raw_template_id", _INT, nn=True),
    _col("prev_raw_template_id", _INT),
    _col("user_creds_id", _INT),
    _col("username", _S256),
    _col("owner_id", _UUID),
    _col("action", _S255),
    _col("status", _S255),
    _col("status_reason", _REASON),
    _col("timeout", _INT),
    _col("tenant", _S256),
    _col("disable_rollback", _BOOL, nn=True),
    _col("stack_user_project_id", _S64),
    _col("backup", _BOOL),
    _col("nested_depth", _INT),
    _col("convergence", _BOOL),
    _col("current_traversal", _UUID),
    _col("current_deps", _JSON),
    _col("parent_resource_name", _S255),
    # ours
    _col("last_complete_template_id", _INT),
    _col("traversal_started", _WHEN),
    _col("live_name_key", _S64),
    _col("lock_level", _S16),
    _col("lock_wanted", _S16),
    _col("lock_root", _UUID),
    _col("lock_reason", _REASON),
    _col("locked_by", _S256),
    _col("locked_at", _WHEN),
    _col("lock_expires_at", _WHEN),
    _col("lock_request_id", _S64),
    _col("lock_blocked", _JSON),
    _col("base_action", _S255),
    _col("base_status", _S255),
    _col("base_status_reason", _REASON),
    _col("holds_cleanup", _BOOL),
    sa.Index("uq_stack_live_name_key", "live_name_key", unique=True),
    sa.Index("ix_stack_tenant_name", "tenant", "name"),
    sa.Index("ix_stack_name", "name"),
    sa.Index("ix_stack_owner_id", "owner_id"),
    sa.Index("ix_stack_created_at", "created_at"),
    sa.Index("ix_stack_status", "status"),
    sa.Index("ix_stack_raw_template_id", "raw_template_id"),
    sa.Index("ix_stack_prev_raw_template_id", "prev_raw_template_id"),
    sa.Index("ix_stack_last_complete_template", "last_complete_template_id"),
    sa.Index("ix_stack_user_creds_id", "user_creds_id"),
    sa.Index("ix_stack_lock_root", "lock_root"),
    sa.Index("ix_stack_lock_expires_at", "lock_expires_at"),
)

stack_tag = _table(
    "stack_tag",
    _serial(),
    *_times(),
    _col("tag", sa.String(80)),
    _col("stack_id", _UUID, nn=True),
    sa.Index("ix_stack_tag_stack_id", "stack_id", "tag"),
    sa.Index("ix_stack_tag_tag", "tag"),
)

# Kept for databases that are taken over; this engine does not use it.
stack_lock = _table(
    "stack_lock",
    _uuid_key("stack_id"),
    *_times(),
    _col("engine_id", _UUID),
)

resource = _table(
    "resource",
    _serial(),
    _col("uuid", _UUID),
    _col("nova_instance", _S255),
    _col("name", _S255),
    *_times(),
    _col("action", _S255),
    _col("status", _S255),
    _col("status_reason", _REASON),
    _col("stack_id", _UUID, nn=True),
    _col("rsrc_metadata", _JSON),
    _col("properties_data", _JSON),
    _col("engine_id", _UUID),
    _col("atomic_key", _INT),
    _col("needed_by", _JSON),
    _col("requires", _JSON),
    _col("replaces", _INT),
    _col("replaced_by", _INT),
    _col("current_template_id", _INT),
    _col("properties_data_encrypted", _BOOL),
    _col("root_stack_id", _UUID),
    _col("rsrc_prop_data_id", _INT),
    _col("attr_data_id", _INT),
    # ours
    _col("resource_type", _S255),
    _col("claim_id", _UUID),
    _flag("external"),
    _flag("stray"),
    _col("base_action", _S255),
    _col("base_status", _S255),
    _col("base_status_reason", _REASON),
    _col("lock_found", _JSON),
    _col("reference_id", _TEXT),
    _col("tried_prop_data_id", _INT),
    sa.Index("uq_resource_uuid", "uuid", unique=True),
    sa.Index("ix_resource_stack_id", "stack_id", "name"),
    sa.Index("ix_resource_nova_instance", "nova_instance"),
    sa.Index("ix_resource_claim_id", "claim_id"),
    sa.Index("ix_resource_root_stack_id", "root_stack_id"),
)

resource_data = _table(
    "resource_data",
    _serial(),
    *_times(),
    _col("key", _S255),
    _col("value", _TEXT),
    _col("redact", _BOOL),
    _col("decrypt_method", _S64),
    _col("resource_id", _INT, nn=True),
    sa.Index("ix_resource_data_resource_id", "resource_id", "key"),
)

resource_properties_data = _table(
    "resource_properties_data",
    _serial(),
    _col("data", _JSON),
    _col("encrypted", _BOOL),
    *_times(),
)

sync_point = _table(
    "sync_point",
    _uuid_key("entity_id"),
    _uuid_key("traversal_id"),
    sa.Column("is_update", sa.Boolean, primary_key=True),
    sa.Column(
        "atomic_key",
        sa.Integer,
        nullable=False,
        default=0,
        server_default=sa.text("0"),
    ),
    _col("stack_id", _UUID, nn=True),
    _col("input_data", _JSON),
    *_times(),
    _col("extra_data", _JSON),
    # ours
    sa.Column(
        "remaining",
        sa.Integer,
        nullable=False,
        default=0,
        server_default=sa.text("0"),
    ),
    _flag("done"),
    sa.Index("ix_sync_point_stack_id", "stack_id"),
)

# ours: what a finished node tells those that wait for it; one row for each
# sender and traversal, read by all its consumers.
# Events outlive their stack's rows: no key to the stack, an index only.
event = _table(
    "event",
    _serial(),
    _col("uuid", _UUID),
    _col("stack_id", _UUID, nn=True),
    *_times(),
    _col("resource_action", _S255),
    _col("resource_status", _S255),
    _col("resource_name", _S255),
    _col("physical_resource_id", _S255),
    _col("resource_status_reason", _REASON_255),
    _col("resource_type", _S255),
    _col("resource_properties", sa.LargeBinary()),
    _col("rsrc_prop_data_id", _INT),
    sa.Index("uq_event_uuid", "uuid", unique=True),
    sa.Index("ix_event_stack_id", "stack_id", "id"),
)

snapshot = _table(
    "snapshot",
    _uuid_key(),
    _col("stack_id", _UUID, nn=True),
    _col("name", _S255),
    *_times(),
    _col("status", _S255),
    _col("status_reason", _REASON_255),
    _col("data", _JSON),
    _col("tenant", _S64, nn=True),
    _col("action", _S255),
    sa.Index("ix_snapshot_stack_id", "stack_id"),
    sa.Index("ix_snapshot_tenant", "tenant"),
)

resource_snapshot = _table(
    "resource_snapshot",
    _uuid_key(),
    _col("snapshot_id", _UUID, nn=True),
    _col("resource_name", _S255, nn=True),
    *_times(),
    _col("data", _JSON),
    sa.Index("ix_resource_snapshot_snapshot_id", "snapshot_id"),
)

service = _table(
    "service",
    _uuid_key(),
    _col("engine_id", _UUID, nn=True),
    _col("host", _S255, nn=True),
    _col("hostname", _S255, nn=True),
    _col("binary", _S255, nn=True),
    _col("topic", _S255, nn=True),
    _col("report_interval", _INT, nn=True),
    *_times(),
    _col("deleted_at", _WHEN),
    sa.Index("ix_service_engine_id", "engine_id"),
)

software_config = _table(
    "software_config",
    _uuid_key(),
    *_times(),
    _col("name", _S255),
    _col("group", _S255),
    _col("config", _JSON),
    _col("tenant", _S64, nn=True),
    sa.Index("ix_software_config_tenant", "tenant"),
)

software_deployment = _table(
    "software_deployment",
    _uuid_key(),
    *_times(),
    _col("server_id", _UUID, nn=True),
    _col("config_id", _UUID, nn=True),
    _col("input_values", _JSON),
    _col("output_values", _JSON),
    _col("action", _S255),
    _col("status", _S255),
    _col("status_reason", _REASON),
    _col("tenant", _S64, nn=True),
    _col("stack_user_project_id", _S64),
    sa.Index("ix_software_deployment_server_id", "server_id"),
    sa.Index("ix_software_deployment_config_id", "config_id"),
    sa.Index("ix_software_deployment_tenant", "tenant"),
)

user_creds = _table(
    "user_creds",
    _serial(),
    *_times(),
    _col("username", _S255),
    _col("password", _S255),
    _col("region_name", _S255),
    _col("decrypt_method", _S64),
    _col("tenant", sa.String(1024)),
    _col("auth_url", _TEXT),
    _col("tenant_id", _S256),
    _col("trust_id", _S255),
    _col("trustor_user_id", _S64),
    # ours: the end that a trust was given, by which it is found again
    _col("trust_mark", _S64),
)

# ours: the register of objects that were let go (retained, external,
# abandoned).
released_object = _table(
    "released_object",
    _serial(),
    _col("stack_id", _UUID, nn=True),
    _col("stack_name", _S255),
    _col("tenant", _S256),
    _col("resource_name", _S255),
    _col("resource_type", _S255),
    _col("physical_resource_id", _S255),
    _col("region", _S255),
    _col("reason", _S64),
    _col("created_at", _WHEN),
    sa.Index("ix_released_object_tenant", "tenant"),
    sa.Index("ix_released_object_stack_id", "stack_id"),
)

# ours: who manages an object. The key is a digest of region, tenant, type
# and physical id, which together are too long for a unique index on MySQL.
object_claim = _table(
    "object_claim",
    sa.Column("key", sa.String(64), primary_key=True),
    _col("region", _S255),
    _col("tenant", _S256),
    _col("resource_type", _S255),
    _col("physical_resource_id", _S255),
    _col("stack_id", _UUID, nn=True),
    _col("resource_id", _INT),
    sa.Index("ix_object_claim_stack_id", "stack_id"),
)

# ours: a stand-in cloud object for the resource types that tests use.
test_object = _table(
    "test_object",
    _uuid_key(),
    _col("resource_type", _S255),
    _col("resource_name", _S255),
    _col("stack_id", _UUID),
    _col("tenant", _S256),
    _col("resource_uuid", _UUID),
    _col("created_at", _WHEN),
    sa.Index("ix_test_object_stack_id", "stack_id"),
    sa.Index("ix_test_object_resource_uuid", "resource_uuid"),
)
