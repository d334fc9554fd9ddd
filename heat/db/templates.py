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

"""Rows of ``raw_template``, ``raw_template_files``, ``environment_layer``.

A row is one version of a stack's template with what belongs to it. It is
never changed once a traversal uses it; an update of the stack is a new row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.db import bulk, clock, models, plural, secrets, shared_files

_template = models.raw_template
_files = models.raw_template_files
_layer = models.environment_layer

_SHARED = (
    sa.select(_template.c.files_id, _template.c.shares_defaults.label("held"))
    .where(_template.c.id == sa.bindparam("the_id"))
    .with_for_update(read=True)
)


@dataclasses.dataclass(frozen=True, slots=True)
class TemplateRecord:
    """One version: template body, file contents by name, environment.

    ``facade`` is what a nested template is told of its resource.
    """

    id: int
    template: dict[str, Any]
    files: dict[str, str]
    environment: dict[str, Any]
    facade: dict[str, Any] | None = None

    def is_made_of(
        self,
        template: Mapping[str, Any],
        environment: Mapping[str, Any],
        files: Mapping[str, str],
        facade: Mapping[str, Any] | None,
    ) -> bool:
        """Whether it is what would be stored of these."""
        return (
            self.template == template
            and self.environment == environment
            and (self.facade or {}) == (facade or {})
            and self.files == files
        )


@dataclasses.dataclass(frozen=True, slots=True)
class LayerRecord:
    """One layer of an environment; the lowest has the lowest position.

    :param kind: ``inline``, ``file`` or ``explicit``
    :param name: of the file, None for the other kinds
    :param cleared: parameter names that a PATCH took out of this layer
    """

    position: int
    kind: str
    name: str | None
    content: Any
    cleared: Any = None


def insert(
    conn: sa.Connection,
    template: Mapping[str, Any],
    environment: Mapping[str, Any] | None,
    files: Mapping[str, str] | None,
    layers: Sequence[LayerRecord] = (),
    *,
    files_of: int | None = None,
    same_defaults: bool = False,
    facade: Mapping[str, Any] | None = None,
    secret: Collection[str] = (),
) -> int:
    """Store one version and return its id.

    :param files_of: id of a version that has the same files: they are
        stored once, as long as it is still there
    :param same_defaults: that version has the same parameter defaults, too
    :param facade: what a nested template is told of its resource
    :param secret: names of parameters whose values are stored encrypted;
        so are the files of layers that hold one of them
    """
    own = dict(environment or {})
    files_id, shares = None, False
    if files and files_of is not None:
        files_id, held = _shared_files(conn, files_of)
        shares = files_id is not None and same_defaults and held
    if files and files_id is None:
        defaults = own.get(shared_files.DEFAULTS) or None
        shares = defaults is not None
        hidden = _secret_files(layers, secret)
        files_id = shared_files.insert(conn, files, defaults, hidden, secret)
    if shares:
        own.pop(shared_files.DEFAULTS, None)
    template_id = bulk.insert_one(
        conn,
        _template,
        {
            "template": template,
            "description": _description(template),
            "environment": secrets.seal_environment(conn, own, secret),
            "files_id": files_id,
            "shares_defaults": shares,
            "facade": facade,
            "created_at": clock.utcnow(),
        },
    )
    _insert_layers(conn, template_id, layers, secret)
    return template_id


def _insert_layers(
    conn: sa.Connection,
    template_id: int,
    layers: Sequence[LayerRecord],
    secret: Collection[str],
) -> None:
    rows = []
    for each in layers:
        content = secrets.seal_environment(conn, each.content, secret)
        rows.append(
            {
                "raw_template_id": template_id,
                "position": each.position,
                "kind": each.kind,
                "name": each.name,
                "content": content,
                "cleared": each.cleared,
            }
        )
    bulk.insert(conn, _layer, rows)


def _secret_files(
    layers: Sequence[LayerRecord], secret: Collection[str]
) -> set[str]:
    """Names of the environment files that hold a secret."""
    return {
        each.name
        for each in layers
        if each.name is not None
        and any(
            name in (each.content.get(section) or ())
            for section in secrets.SECTIONS
            for name in secret
        )
    }


def _shared_files(
    conn: sa.Connection, template_id: int
) -> tuple[int | None, bool]:
    """The files row of a version, which stays until we have committed, and
    whether it holds the version's parameter defaults.

    Whoever deletes the version meanwhile waits for its row, and then sees
    that somebody else has its files too.
    """
    found = conn.execute(_SHARED, {"the_id": template_id}).one_or_none()
    return (None, False) if found is None else (found.files_id, found.held)


_VERSIONS = bulk.Among(
    _template.c.id,
    sa.select(
        _template.c.id,
        _template.c.template,
        _template.c.environment,
        _template.c.files,
        _template.c.facade,
        _template.c.files_id,
        _template.c.shares_defaults,
        _files.c.content_key,
    )
    .outerjoin(_files, _files.c.id == _template.c.files_id)
    .where,
)


def get(conn: sa.Connection, template_id: int) -> TemplateRecord | None:
    """The version with this id, or None."""
    return get_many(conn, [template_id]).get(template_id)


def get_many(
    conn: sa.Connection, template_ids: Iterable[int | None]
) -> dict[int, TemplateRecord]:
    """The versions with these ids, by id; None and missing are left out."""
    wanted = sorted({each for each in template_ids if each is not None})
    found: dict[int, TemplateRecord] = {}
    for chunk in bulk.chunks(wanted):
        rows = _VERSIONS.run(conn, chunk).all()
        kept = shared_files.get_many(
            conn,
            {row.files_id: row.content_key for row in rows if row.files_id},
        )
        for row in rows:
            found[row.id] = _record(conn, row, kept.get(row.files_id))
    return found


def _record(
    conn: sa.Connection, row: Any, kept: shared_files.SharedFiles | None
) -> TemplateRecord:
    environment = secrets.open_environment(conn, row.environment or {})
    if row.shares_defaults:
        defaults = kept.defaults if kept is not None else None
        environment[shared_files.DEFAULTS] = defaults or {}
    # A database that was taken over may hold files in both places.
    files = kept.files if kept is not None else {}
    return TemplateRecord(
        row.id,
        row.template or {},
        files or secrets.open_files(conn, row.files or {}),
        environment,
        row.facade,
    )


def descriptions(
    conn: sa.Connection, template_ids: Iterable[int | None]
) -> dict[int, str]:
    """What versions say of themselves, by id.

    Only those of a database that was taken over are read whole for it.
    """
    wanted = sorted({each for each in template_ids if each is not None})
    found: dict[int, str] = {}
    for column in (_template.c.description, _template.c.template):
        for chunk in bulk.chunks([key for key in wanted if key not in found]):
            for key, said in conn.execute(
                sa.select(_template.c.id, column).where(
                    _template.c.id.in_(chunk), column.is_not(None)
                )
            ):
                text = said if isinstance(said, str) else _description(said)
                found[key] = text
    return found


def _description(template: Mapping[str, Any]) -> str:
    text = template.get("description") or template.get("Description")
    return text if isinstance(text, str) else ""


def event_sinks(conn: sa.Connection, template_id: int) -> list[Any]:
    """The sinks of a version's environment, as the user gave them."""
    found = conn.execute(
        sa.select(_template.c.environment).where(_template.c.id == template_id)
    ).scalar()
    return list((found or {}).get("event_sinks") or ())


def get_layers(conn: sa.Connection, template_id: int) -> list[LayerRecord]:
    """The layers of a version's environment, the lowest first."""
    rows = conn.execute(
        sa.select(
            *(_layer.c[each.name] for each in dataclasses.fields(LayerRecord))
        )
        .where(_layer.c.raw_template_id == template_id)
        .order_by(_layer.c.position, _layer.c.id)
    )
    return [
        dataclasses.replace(
            each, content=secrets.open_environment(conn, each.content)
        )
        for each in (LayerRecord(*row) for row in rows)
    ]


def update(
    conn: sa.Connection,
    template_id: int,
    *,
    template: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> bool:
    """Rewrite a version in place; False: there is none.

    Only for what does not change its meaning, such as a new encryption key.
    """
    values: dict[str, Any] = {"updated_at": clock.utcnow()}
    if template is not None:
        values["template"] = template
        values["description"] = _description(template)
    if environment is not None:
        names: set[str] = set()
        for stored, defaults in conn.execute(
            sa.select(_template.c.environment, _files.c.defaults)
            .outerjoin(_files, _files.c.id == _template.c.files_id)
            .where(_template.c.id == template_id)
        ):
            names |= secrets.sealed_names(stored)
            names |= secrets.sealed_names({shared_files.DEFAULTS: defaults})
        values["environment"] = secrets.seal_environment(
            conn, environment, names
        )
        values["shares_defaults"] = False
    result = conn.execute(
        sa.update(_template)
        .where(_template.c.id == template_id)
        .values(**values)
    )
    return bool(result.rowcount)


def delete_unreferenced(
    conn: sa.Connection, stack_id: str, ids: Iterable[int | None]
) -> set[int]:
    """Delete versions of a stack that nothing refers to any more.

    :param stack_id: whose versions they are: of the resources only those
        of this stack are asked
    :param ids: candidates; those that a stack or a resource still names
        stay
    :returns: the ids that were deleted
    """
    gone: set[int] = set()
    for chunk in bulk.chunks(sorted({i for i in ids if i is not None})):
        which = {"the_ids": chunk, "the_stack": stack_id}
        unused = conn.execute(_UNUSED, which).all()
        if unused:
            gone.update(row.id for row in unused)
            _delete(conn, unused)
    return gone


def _unused(*, of_all: bool = False) -> sa.Select[Any]:
    """Those of some versions that nothing refers to, and what is theirs.

    :param of_all: versions of several stacks: a resource names versions of
        its own one only
    """
    stack, resource = models.stack, models.resource
    named = [
        sa.exists().where(column == _template.c.id)
        for column in (
            stack.c.raw_template_id,
            stack.c.prev_raw_template_id,
            stack.c.last_complete_template_id,
        )
    ]
    whose: sa.BindParameter[Any]
    whose = sa.bindparam("the_stack", expanding=of_all)
    its = resource.c.stack_id
    its_own = its.in_(whose) if of_all else its == whose
    version = resource.c.current_template_id == _template.c.id
    named.append(sa.exists().where(its_own, version))
    layered = sa.exists().where(_layer.c.raw_template_id == _template.c.id)
    found = sa.select(
        _template.c.id,
        _template.c.files_id,
        layered.label("layered"),
    ).where(
        _template.c.id.in_(sa.bindparam("the_ids", expanding=True)),
        *(sa.not_(each) for each in named),
    )
    told = _template.c.id.label(plural.WHOSE)
    return found.add_columns(told) if of_all else found


_UNUSED = _unused()
plural.ask_for_all(
    _UNUSED,
    _unused(of_all=True),
    "the_ids",
    listed=True,
    gathers=["the_stack"],
)
_REMOVE_LAYERS = sa.delete(_layer).where(
    _layer.c.raw_template_id.in_(sa.bindparam("the_ids", expanding=True))
)
_REMOVE = sa.delete(_template).where(
    _template.c.id.in_(sa.bindparam("the_ids", expanding=True))
)
# Nested stacks share the files of the one above: mostly nothing goes. Asked
# last: of versions that go in one transaction each sees the others before.
_REMOVE_FILES = sa.delete(_files).where(
    _files.c.id.in_(sa.bindparam("the_ids", expanding=True)),
    sa.not_(sa.exists().where(_template.c.files_id == _files.c.id)),
)


def _delete(conn: sa.Connection, versions: Sequence[Any]) -> None:
    """Delete rows of :data:`_UNUSED` and what only they have."""
    layered = [row.id for row in versions if row.layered]
    if layered:
        conn.execute(_REMOVE_LAYERS, {"the_ids": layered})
    conn.execute(_REMOVE, {"the_ids": [row.id for row in versions]})
    files = {row.files_id for row in versions} - {None}
    if files:
        conn.execute(_REMOVE_FILES, {"the_ids": sorted(files)})
