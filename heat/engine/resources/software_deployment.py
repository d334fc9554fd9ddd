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

"""What is common to deployments of software configs.

For each action that the properties name, the config is copied with the
values of its inputs, and a deployment of the copy is put before the server.
The resource waits until the server has reported, unless it is told not to.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, constraints, properties
from heat.engine.resources import signal_box, signal_responder
from heat.engine.software import configs, deployments
from heat.rpc import api

ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME")
STDOUT, STDERR, STATUS_CODE = api.SOFTWARE_DEPLOYMENT_OUTPUTS

CONFIG, SERVER, INPUT_VALUES = "config", "server", "input_values"
DEPLOY_ACTIONS, NAME, TRANSPORT = "actions", "name", "signal_transport"

#: what a server that signals as a user is told
_OF_SENDER = (
    "auth_url",
    "user_id",
    "username",
    "password",
    "project_id",
    "domain_id",
    "region_name",
)

Dict = dict[str, Any]


def schema() -> dict[str, Any]:
    """The properties of every deployment of one server."""
    return {
        CONFIG: properties.Schema(
            properties.Schema.STRING,
            _("The id of the software config."),
            update_allowed=True,
        ),
        SERVER: properties.Schema(
            properties.Schema.STRING,
            _("The id of the server."),
            required=True,
        ),
        INPUT_VALUES: properties.Schema(
            properties.Schema.MAP,
            _("Values of the inputs of the config, by their names."),
            update_allowed=True,
        ),
        DEPLOY_ACTIONS: properties.Schema(
            properties.Schema.LIST,
            _("The actions of the stack that deploy the config."),
            default=["CREATE", "UPDATE"],
            update_allowed=True,
            constraints=[constraints.AllowedValues(ACTIONS)],
        ),
        NAME: properties.Schema(
            properties.Schema.STRING,
            _("The name of the copy of the config that is deployed."),
            update_allowed=True,
        ),
        TRANSPORT: properties.Schema(
            properties.Schema.STRING,
            _("How the server reports the end of a deployment."),
            default="CFN_SIGNAL",
            constraints=[
                constraints.AllowedValues(
                    [
                        "CFN_SIGNAL",
                        "TEMP_URL_SIGNAL",
                        "HEAT_SIGNAL",
                        "NO_SIGNAL",
                        "ZAQAR_SIGNAL",
                    ]
                )
            ],
        ),
    }


class DeploymentResource(signal_responder.SignalResponder):
    """A config on a server."""

    PROPERTIES = tuple(schema())
    ATTRIBUTES = (STDOUT, STDERR, STATUS_CODE)
    # Deployments of these are reported as well.
    no_signal_actions = ()
    resumes_create = True

    attributes_schema = {
        STDOUT: attributes.Schema(
            _("What the config has printed."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
        STDERR: attributes.Schema(
            _("What the config has printed as errors."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
        STATUS_CODE: attributes.Schema(
            _("The code with which the config has ended."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }

    # -- attributes: those of the class, and the outputs of the config ------

    @classmethod
    def offers(cls, attribute: str) -> bool:
        return True

    @classmethod
    def varies(cls, attribute: str) -> bool:
        """All of them: what is on the server tells when it likes."""
        return True

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        if key in self.attributes:
            return super().FnGetAtt(key, *path)
        value = self._resolve_attribute(key)
        return attributes.select_from_attribute(value, path)

    def _resolve_attribute(self, name: str) -> Any:
        found = self._deployment()
        values = (found or {}).get(api.SOFTWARE_DEPLOYMENT_OUTPUT_VALUES)
        return (values or {}).get(name)

    def _deployment(self) -> Dict | None:
        if self.resource_id is None:
            return None
        try:
            return deployments.show(
                self.stack.db, self.context, self.resource_id
            )
        except exception.EntityNotFound:
            return None

    # -- actions -------------------------------------------------------------

    def handle_create(self) -> bool:
        self.check_transport()
        self.resource_id_set(str(uuid.uuid4()))
        self.make_credentials()
        return self._deploy("CREATE", self.properties)

    def resume_create(self, found: bool) -> bool:
        """What the server was given is what it reports on: it stays."""
        if self._deployment() is None:
            return self._deploy("CREATE", self.properties)
        return self._waits(self.properties)

    def check_create_complete(self, deployed: bool) -> bool:
        return self._is_done(deployed)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> bool:
        return self._deploy("UPDATE", self.properties_of(json_snippet))

    def check_update_complete(self, deployed: bool) -> bool:
        return self._is_done(deployed)

    def handle_suspend(self) -> bool:
        return self._deploy("SUSPEND", self.properties)

    def check_suspend_complete(self, deployed: bool) -> bool:
        if not self._is_done(deployed):
            return False
        # It was needed until then.
        super().handle_suspend()
        return True

    def handle_resume(self) -> bool:
        super().handle_resume()
        return self._deploy("RESUME", self.properties)

    def check_resume_complete(self, deployed: bool) -> bool:
        return self._is_done(deployed)

    def handle_delete(self) -> bool:
        if self.resource_id is None:
            self.delete_user()
            return False
        return self._deploy("DELETE", self.properties)

    def check_delete_complete(self, deployed: bool) -> bool:
        if not self._is_done(deployed):
            return False
        found = self._deployment()
        if found is not None:
            deployments.delete(self.stack.db, self.context, found["id"])
            self._drop_config(found[api.SOFTWARE_DEPLOYMENT_CONFIG_ID])
        self.delete_user()
        return True

    def _give_up(self, deployed: bool) -> None:
        """Nobody waits for the server's report any more."""
        found = self._deployment() if deployed else None
        if found is not None and found["status"] == "IN_PROGRESS":
            deployments.update(
                self.stack.db,
                self.context,
                found["id"],
                status=deployments.FAILED,
                status_reason=_("The report is no longer waited for"),
            )

    handle_create_cancel = handle_update_cancel = _give_up
    handle_suspend_cancel = handle_resume_cancel = _give_up
    handle_delete_cancel = _give_up

    def needs_replace_failed(self) -> bool:
        """What was not deployed is deployed again, on the same server."""
        return self.resource_id is None

    # -- deploying -----------------------------------------------------------

    def _deploy(self, action: str, props: Any) -> bool:
        """Put the deployment of an action before the server.

        :returns: whether its end is to be waited for
        """
        if action not in props[DEPLOY_ACTIONS]:
            return False
        waits = self._waits(props)
        source = self._source(props, action)
        made = configs.create(
            self.stack.db,
            self.context,
            self.stack.tenant_id,
            name=props[NAME] or self.physical_resource_name(),
            **self.derived(source, props, action),
        )
        values = {
            "config_id": made[api.SOFTWARE_CONFIG_ID],
            "input_values": props[INPUT_VALUES] or {},
            "action": action,
            "status": "IN_PROGRESS" if waits else "COMPLETE",
            "status_reason": _("Deploy data available")
            if waits
            else _("Not waiting for outputs signal"),
        }
        before = self._deployment()
        if before is None:
            conf = self.stack.conf
            deployments.create(
                self.stack.db,
                self.context,
                self.stack.tenant_id,
                conf.max_software_deployments_per_tenant,
                id=self.resource_id,
                server_id=props[SERVER],
                stack_user_project_id=self.stack_user_project_id(make=False),
                **values,
            )
        else:
            deployments.update(
                self.stack.db, self.context, before["id"], **values
            )
            self._drop_config(before[api.SOFTWARE_DEPLOYMENT_CONFIG_ID])
        return waits

    def _waits(self, props: Any) -> bool:
        """Whether the server reports the end."""
        return bool(props[TRANSPORT] != self.NO_SIGNAL)

    def _is_done(self, deployed: bool) -> bool:
        found = self._deployment() if deployed else None
        if found is not None and found["status"] == deployments.IN_PROGRESS:
            found = self._fetch() or found
        if found is None or found["status"] == deployments.COMPLETE:
            return True
        if found["status"] == deployments.FAILED:
            raise exception.Error(
                _("The deployment failed: %s") % found["status_reason"]
            )
        return False

    def _fetch(self) -> Dict | None:
        """Take over the report that lies outside; None: there is none.

        One that can't be read is the end of the deployment, too: there
        will be no other.
        """
        box = signal_box.of(self, self.data())
        posted = next(box.posted(()), None) if box else None
        if posted is None:
            return None
        try:
            self.handle_signal(posted.details())
        except ValueError as exc:
            deployments.update(
                self.stack.db,
                self.context,
                str(self.resource_id),
                status=deployments.FAILED,
                status_reason=str(exc),
            )
        return self._deployment()

    def make_box(self) -> None:
        """Each deployment gets an object of its own to report to."""

    def _drop_config(self, config_id: str) -> None:
        try:
            configs.delete(self.stack.db, self.context, config_id)
        except (exception.EntityNotFound, exception.InvalidRestrictedAction):
            return

    def _source(self, props: Any, action: str) -> Dict:
        """The config that the properties name, for an action."""
        if not props[CONFIG]:
            return {}
        found = configs.show(self.stack.db, self.context, props[CONFIG])
        if found[api.SOFTWARE_CONFIG_GROUP] != "component":
            return found
        body = found[api.SOFTWARE_CONFIG_CONFIG] or {}
        for each in body.get("configs") or ():
            if action in each["actions"]:
                return {
                    **found,
                    "group": each.get("tool"),
                    "config": each.get("config"),
                }
        return {**found, "config": ""}

    def derived(self, source: Dict, props: Any, action: str) -> Dict:
        """The copy of a config with the values of its inputs."""
        values = dict(props[INPUT_VALUES] or {})
        inputs = copy.deepcopy(source.get("inputs") or [])
        for each in inputs:
            each["value"] = values.pop(each["name"], each.get("default"))
        inputs.extend(
            {"name": name, "value": value}
            for name, value in sorted(values.items())
        )
        inputs.extend(
            {"name": name, "value": value}
            for name, value in self._own_inputs(props, action).items()
        )
        config = source.get("config")
        return {
            "group": source.get("group"),
            "config": self.filled(config, inputs, props),
            "inputs": inputs,
            "outputs": source.get("outputs"),
            "options": source.get("options"),
        }

    def filled(self, config: Any, inputs: list[Dict], props: Any) -> Any:
        """The config with what stands in it for inputs replaced."""
        return "" if config is None else config

    def _own_inputs(self, props: Any, action: str) -> Mapping[str, Any]:
        """What every deployment tells the server of itself."""
        found = {
            "deploy_server_id": props[SERVER],
            "deploy_action": action,
            "deploy_stack_id": f"{self.stack.name}/{self.stack.id}",
            "deploy_resource_name": self.name,
            "deploy_signal_transport": props[TRANSPORT],
        }
        if props[TRANSPORT] == self.CFN_SIGNAL:
            found.update(
                deploy_signal_id=self.alarm_url(),
                deploy_signal_verb=self.VERBS[self.SIGNAL],
            )
        if props[TRANSPORT] == self.TEMP_URL_SIGNAL:
            found.update(
                deploy_signal_id=signal_box.make(
                    self, uuid.uuid4().hex, versions=False
                ),
                deploy_signal_verb="PUT",
            )
        if props[TRANSPORT] == self.ZAQAR_SIGNAL:
            suffix = f"-{uuid.uuid4().hex[:8]}"
            queue = signal_box.make_queue(self, suffix)
            found["deploy_queue_id"] = queue
        if props[TRANSPORT] in (self.HEAT_SIGNAL, self.ZAQAR_SIGNAL):
            known = self.signal_attribute()
            found.update(
                (f"deploy_{name}", known[name])
                for name in _OF_SENDER
                if name in known
            )
        return found

    # -- the server's report -------------------------------------------------

    def handle_signal(self, details: Any = None) -> str | None:
        """Take over what the server reports."""
        if self.resource_id is None:
            return None
        return deployments.signal(
            self.stack.db, self.context, self.resource_id, details
        )
