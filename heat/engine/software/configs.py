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

"""Software configs: texts for servers, with inputs and outputs.

A config never changes. Whoever may use it is of its project; an
administrator without a project may use everybody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import software
from heat.db.session import Database
from heat.rpc import api

Dict = dict[str, Any]

DEFAULT_GROUP = "Heat::Ungrouped"

_INPUT = {
    "name": None,
    "type": "String",
    "description": None,
    "default": None,
}
_INPUT_MORE = ("value", "replace_on_change")
_OUTPUT = {
    "name": None,
    "type": "String",
    "description": None,
    "error_output": False,
}


def owner(context: RequestContext) -> str | None:
    """The project whose rows are seen; None: everybody's.

    :raises Forbidden: there is none, and the caller is no administrator
    """
    if context.project_id:
        return context.project_id
    if context.is_admin:
        return None
    raise exception.Forbidden()


def found_by(
    conn: sa.Connection, context: RequestContext, config_id: str
) -> software.ConfigRecord:
    """A config of the caller's project.

    :raises EntityNotFound: there is none
    """
    found = software.get_config(conn, config_id, owner(context))
    if found is None:
        raise exception.EntityNotFound(
            entity="Software config", name=config_id
        )
    return found


def show(db: Database, context: RequestContext, config_id: str) -> Dict:
    """One config. Errors as :func:`found_by`."""
    return present(db.read(lambda conn: found_by(conn, context, config_id)))


def list_(
    db: Database,
    context: RequestContext,
    limit: int | None = None,
    marker: str | None = None,
) -> list[Dict]:
    """A page of the configs, without what is in them."""
    rows = db.read(
        lambda conn: software.list_configs(
            conn, owner(context), limit=limit, marker=marker
        )
    )
    return [_brief(row) for row in rows]


def create(
    db: Database,
    context: RequestContext,
    tenant: str | None,
    most: int = -1,
    **given: Any,
) -> Dict:
    """Make a config.

    :param tenant: the project it belongs to
    :param most: how many a project may have, -1 for any number
    :param given: group, name, config, inputs, outputs, options
    :raises ValueError: an input or output is wrong
    :raises RequestLimitExceeded: there are too many
    """
    if tenant is None:
        raise exception.Forbidden()
    values = {
        "name": given.get("name"),
        "group": given.get("group") or DEFAULT_GROUP,
        "tenant": tenant,
        "config": {
            "config": given.get("config"),
            "options": given.get("options"),
            "inputs": inputs(given.get("inputs")),
            "outputs": outputs(given.get("outputs")),
        },
    }

    def work(conn: sa.Connection) -> software.ConfigRecord:
        if 0 <= most <= software.count_configs(conn, tenant):
            raise exception.RequestLimitExceeded(
                message=_(
                    "the project has %d software configs, which is as many "
                    "as it may have"
                )
                % most
            )
        made = software.insert_config(conn, values)
        found = software.get_config(conn, made)
        assert found is not None  # noqa: S101 - just inserted
        return found

    return present(db.run(work))


def delete(db: Database, context: RequestContext, config_id: str) -> None:
    """Delete a config.

    :raises EntityNotFound: there is none
    :raises InvalidRestrictedAction: a deployment uses it
    """

    def work(conn: sa.Connection) -> None:
        found_by(conn, context, config_id)
        if software.count_deployments(conn, config_id=config_id):
            raise exception.InvalidRestrictedAction(
                message=_(
                    "Software config %s is in use by a deployment; delete "
                    "that first."
                )
                % config_id
            )
        software.delete_config(conn, config_id)

    db.run(work)


# -- shapes -------------------------------------------------------------------


def inputs(given: Iterable[Any] | None) -> list[Dict]:
    """Inputs with all their keys. Errors as :func:`create`."""
    return [
        _shaped(each, _INPUT, _INPUT_MORE, _("input")) for each in given or ()
    ]


def outputs(given: Iterable[Any] | None) -> list[Dict]:
    """Outputs with all their keys. Errors as :func:`create`."""
    return [_shaped(each, _OUTPUT, (), _("output")) for each in given or ()]


def _shaped(
    given: Any, keys: Mapping[str, Any], more: Sequence[str], what: str
) -> Dict:
    if not isinstance(given, Mapping) or not given.get("name"):
        raise ValueError(
            _("Each %(what)s is a map with a name, not %(given)r.")
            % {"what": what, "given": given}
        )
    unknown = sorted(str(k) for k in given if k not in keys and k not in more)
    if unknown:
        raise ValueError(
            _("The %(what)s %(name)s has no key %(unknown)s.")
            % {
                "what": what,
                "name": given["name"],
                "unknown": ", ".join(unknown),
            }
        )
    made = {
        key: default if given.get(key) is None else given[key]
        for key, default in keys.items()
    }
    made.update({key: given[key] for key in more if key in given})
    if made["type"] not in api.PARAM_TYPES:
        raise ValueError(
            _("The type of %(what)s %(name)s is one of %(known)s.")
            % {
                "what": what,
                "name": given["name"],
                "known": ", ".join(api.PARAM_TYPES),
            }
        )
    return made


def present(row: software.ConfigRecord) -> Dict:
    """A config as it travels."""
    body = row.config or {}
    return {
        **_brief(row),
        api.SOFTWARE_CONFIG_CONFIG: body.get("config"),
        api.SOFTWARE_CONFIG_INPUTS: body.get("inputs") or [],
        api.SOFTWARE_CONFIG_OUTPUTS: body.get("outputs") or [],
        api.SOFTWARE_CONFIG_OPTIONS: body.get("options"),
    }


def _brief(row: software.ConfigRecord) -> Dict:
    return {
        api.SOFTWARE_CONFIG_ID: row.id,
        api.SOFTWARE_CONFIG_NAME: row.name,
        api.SOFTWARE_CONFIG_GROUP: row.group,
        api.SOFTWARE_CONFIG_CREATION_TIME: when(row.created_at),
        api.SOFTWARE_CONFIG_PROJECT: row.tenant,
    }


def when(moment: Any) -> str | None:
    """A moment as it travels: ISO 8601 with Z."""
    if moment is None:
        return None
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"
