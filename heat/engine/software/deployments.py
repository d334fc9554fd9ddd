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

"""Software deployments: a config on a server, and what came of it.

Whatever changes about the deployments of a server is put into the metadata
of the resource that is that server, where agents look for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import resource_data, resources, signals, software, stacks
from heat.db.session import Database
from heat.engine.clients import message_queue, object_store
from heat.engine.software import configs
from heat.rpc import api

Dict = dict[str, Any]

IN_PROGRESS, COMPLETE, FAILED = "IN_PROGRESS", "COMPLETE", "FAILED"

#: Where agents find their deployments in a server's metadata.
METADATA_KEY = "deployments"

#: Keys of a server's data: the URL by which a copy of its metadata is written,
#: the queue that it is put into, for an agent that looks there.
METADATA_URL, METADATA_QUEUE = "metadata_put_url", "metadata_queue"

_CODE = api.SOFTWARE_DEPLOYMENT_OUTPUT_STATUS_CODE


_LONGEST_ID = 36


def server(server_id: Any) -> str:
    """The id of the server of a new deployment.

    :raises ValueError: there is none, or what can't be one
    """
    if not isinstance(server_id, str) or not server_id:
        raise ValueError(_("server_id is needed: the id of a server."))
    if len(server_id) > _LONGEST_ID:
        raise ValueError(
            _("server_id has more than %d characters.") % _LONGEST_ID
        )
    return server_id


def found_by(
    conn: sa.Connection, context: RequestContext, deployment_id: str
) -> software.DeploymentRecord:
    """A deployment that the caller may see.

    :raises EntityNotFound: there is none
    """
    tenant = configs.owner(context)
    found = software.get_deployment(conn, deployment_id, tenant)
    if found is None:
        raise exception.EntityNotFound(
            entity="Software deployment", name=deployment_id
        )
    return found


def show(db: Database, context: RequestContext, deployment_id: str) -> Dict:
    """One deployment. Errors as :func:`found_by`."""
    return present(
        db.read(lambda conn: found_by(conn, context, deployment_id))
    )


def list_(
    db: Database, context: RequestContext, server_id: str | None
) -> list[Dict]:
    """The deployments of a server, or all."""
    tenant = configs.owner(context)
    rows = db.read(
        lambda conn: software.list_deployments(
            conn, tenant, server_id=server_id
        )
    )
    return [present(row) for row in rows]


def metadata(
    db: Database, context: RequestContext, server_id: str
) -> list[Dict]:
    """The configs that a server has to deploy, the oldest first."""
    tenant = configs.owner(context)
    return db.read(lambda conn: _to_deploy(conn, tenant, server_id))


def _to_deploy(
    conn: sa.Connection, tenant: str | None, server_id: str
) -> list[Dict]:
    found = []
    for row in software.list_deployments(conn, tenant, server_id=server_id):
        config = software.get_config(conn, row.config_id)
        if config is not None:
            found.append(
                {
                    **configs.present(config),
                    api.SOFTWARE_DEPLOYMENT_UPDATED_TIME: configs.when(
                        config.updated_at or config.created_at
                    ),
                }
            )
    return found


def create(
    db: Database,
    context: RequestContext,
    tenant: str | None,
    most: int = -1,
    **given: Any,
) -> Dict:
    """Make a deployment.

    :param tenant: the project it belongs to
    :param most: how many a project may have, -1 for any number
    :param given: columns: server_id, config_id, input_values, action,
        status, status_reason, stack_user_project_id, id
    :raises ValueError: as :func:`server`
    :raises EntityNotFound: there is no such config
    :raises RequestLimitExceeded: there are too many
    """
    if tenant is None:
        raise exception.Forbidden()
    server(given.get("server_id"))
    values = {key: value for key, value in given.items() if value is not None}
    values["tenant"] = tenant

    def work(conn: sa.Connection) -> software.DeploymentRecord:
        configs.found_by(conn, context, str(given.get("config_id")))
        if 0 <= most <= software.count_deployments(conn, tenant=tenant):
            raise exception.RequestLimitExceeded(
                message=_(
                    "the project has %d software deployments, which is as "
                    "many as it may have"
                )
                % most
            )
        made = software.insert_deployment(conn, values)
        _push(conn, tenant, values["server_id"])
        found = software.get_deployment(conn, made)
        assert found is not None  # noqa: S101 - just inserted
        return found

    return present(db.run(work))


def update(
    db: Database,
    context: RequestContext,
    deployment_id: str,
    **given: Any,
) -> Dict:
    """Change columns of a deployment; None leaves one as it is.

    :raises EntityNotFound: there is no such deployment, or config
    """
    values = {key: value for key, value in given.items() if value is not None}
    moment = values.pop("updated_at", None)
    if isinstance(moment, str):
        moment = timeutils.normalize_time(timeutils.parse_isotime(moment))
    if moment is not None:
        values["updated_at"] = moment

    def work(conn: sa.Connection) -> software.DeploymentRecord:
        before = found_by(conn, context, deployment_id)
        if "config_id" in values:
            configs.found_by(conn, context, values["config_id"])
        software.update_deployment(conn, deployment_id, **values)
        if "config_id" in values:
            _push(conn, before.tenant, before.server_id)
        return found_by(conn, context, deployment_id)

    return present(db.run(work))


def delete(db: Database, context: RequestContext, deployment_id: str) -> None:
    """Delete a deployment. Errors as :func:`found_by`."""

    def work(conn: sa.Connection) -> None:
        row = found_by(conn, context, deployment_id)
        software.delete_deployment(conn, deployment_id)
        _push(conn, row.tenant, row.server_id)

    db.run(work)


def signal(
    db: Database,
    context: RequestContext,
    deployment_id: str,
    details: Mapping[str, Any] | None,
    updated_at: str | None = None,
) -> str | None:
    """Take over what a server reports of a deployment.

    Reports after the first are ignored: it is over by then.

    :param details: outputs by name; those of errors make it fail
    :returns: a sentence for the event, None when it was ignored
    :raises EntityNotFound: there is no such deployment
    :raises ValueError: the details are no map
    """
    if not isinstance(details or {}, Mapping):
        raise ValueError(_("The outputs of a deployment are a map."))
    given = dict(details or {})

    def work(conn: sa.Connection) -> str | None:
        row = found_by(conn, context, deployment_id)
        if row.status != IN_PROGRESS:
            return None
        config = software.get_config(conn, row.config_id)
        body = config.config if config else {}
        declared = body.get("outputs") or []
        problems = _problems(declared, given)
        values: Dict = {
            "status": FAILED if problems else COMPLETE,
            "status_reason": "; ".join(problems) or _("Outputs received"),
            "output_values": {
                **(row.output_values or {}),
                **_kept(declared, given),
            },
        }
        if updated_at is not None:
            values["updated_at"] = timeutils.normalize_time(
                timeutils.parse_isotime(updated_at)
            )
        software.update_deployment(conn, deployment_id, **values)
        if problems:
            return _("deployment %(id)s failed (%(why)s)") % {
                "id": deployment_id,
                "why": values["status_reason"],
            }
        return _("deployment %s succeeded") % deployment_id

    return db.run(work)


def _problems(declared: list[Dict], given: Mapping[str, Any]) -> list[str]:
    """What makes a reported deployment a failed one."""
    found = [
        f"{each['name']}: {given[each['name']]}"
        for each in declared
        if each.get("error_output") and given.get(each["name"])
    ]
    code = given.get(_CODE)
    if code not in (None, "", 0, "0"):
        found.append(
            _("%(key)s: the deployment exited with status code %(code)s")
            % {"key": _CODE, "code": code}
        )
    return found


def _kept(declared: list[Dict], given: Mapping[str, Any]) -> Dict:
    names = {each["name"] for each in declared}
    names.update(api.SOFTWARE_DEPLOYMENT_OUTPUTS)
    return {key: value for key, value in given.items() if key in names}


def _push(conn: sa.Connection, tenant: str, server_id: str) -> None:
    """Tell a server, when it is a resource, what it has to deploy."""
    for row in resources.find_physical(conn, server_id):
        stack = stacks.get(conn, row.stack_id)
        if row.stray or stack is None or stack.tenant != tenant:
            continue
        now = signals.hold(conn, row.id)
        if now is None:
            continue
        listed = _to_deploy(conn, tenant, server_id)
        metadata = {**now.metadata, METADATA_KEY: listed}
        signals.write(conn, row.id, signals.Change({"metadata": metadata}, {}))
        data = resource_data.get_many(conn, [row.id])[row.id]
        # Its row is held: what is told last is the newest.
        tell(data, metadata)


def tell(data: Mapping[str, str], metadata: Mapping[str, Any]) -> None:
    """Tell the agent of a server, where it does not ask.

    :param data: of the server's resource
    :raises ServiceError: who passes it on refuses, or fails
    """
    if METADATA_URL in data:
        object_store.write(data[METADATA_URL], json.dumps(metadata))
    if METADATA_QUEUE in data:
        place = message_queue.Place.read(
            data[METADATA_QUEUE], data.get("user_id"), data.get("password")
        )
        if place is not None:
            message_queue.Queue(place).post(metadata)


def present(row: software.DeploymentRecord) -> Dict:
    """A deployment as it travels."""
    return {
        api.SOFTWARE_DEPLOYMENT_ID: row.id,
        api.SOFTWARE_DEPLOYMENT_SERVER_ID: row.server_id,
        api.SOFTWARE_DEPLOYMENT_CONFIG_ID: row.config_id,
        api.SOFTWARE_DEPLOYMENT_INPUT_VALUES: row.input_values,
        api.SOFTWARE_DEPLOYMENT_OUTPUT_VALUES: row.output_values,
        api.SOFTWARE_DEPLOYMENT_ACTION: row.action,
        api.SOFTWARE_DEPLOYMENT_STATUS: row.status,
        api.SOFTWARE_DEPLOYMENT_STATUS_REASON: row.status_reason,
        api.SOFTWARE_DEPLOYMENT_CREATION_TIME: configs.when(row.created_at),
        api.SOFTWARE_DEPLOYMENT_UPDATED_TIME: configs.when(row.updated_at),
    }
