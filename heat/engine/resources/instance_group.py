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

"""What is common to groups of instances that a launch configuration makes.

The launch configuration keeps its resolved properties in its data, where
the group reads them: the definitions of the stack know only the values of
what a resource refers to itself.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.db import resource_data
from heat.engine import function
from heat.engine.resource import notation
from heat.engine.resources import group
from heat.scaling import rolling_update, template

#: Key of a launch configuration's data: its properties as JSON.
LAUNCH = "launch"

#: The type of the members. An environment maps it to another one to have
#: groups of anything that takes the same properties.
INSTANCE = "AWS::EC2::Instance"

#: What stands for a value that is not known yet.
_UNKNOWN = {"get_param": "unknown"}

_PAUSE = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)


def update_policy_schema(name: str) -> dict[str, Any]:
    """The schema of a policy for rolling updates, by its name."""
    return notation.properties(f"""
        {name} map{{
            MinInstancesInService integer (=0, range 0..None) -- Instances
            -- that nothing is done with at any time.
            MaxBatchSize integer (=1, range 1..None) -- Instances changed at
            -- once.
            PauseTime string (="PT0S") -- Time between two batches, as ISO
            -- 8601 writes durations.
        }} -- How fast instances are changed. Left out, all are at once.
    """)


def seconds(duration: str) -> float:
    """What ISO 8601 writes as days, hours, minutes and seconds.

    :raises ValueError: for another text
    """
    found = _PAUSE.fullmatch(duration)
    if found is None or duration.endswith(("P", "T")):
        raise ValueError(
            _("%s is no duration of ISO 8601, such as PT5M") % duration
        )
    days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def like_server(rsrc: Any, server_id: str) -> dict[str, Any]:
    """Properties of an instance that is like a server.

    :param rsrc: the resource that asks
    """
    servers = rsrc.client_plugin("nova").collection("servers")
    shown: Mapping[str, Any] = servers.get(server_id)
    flavor = shown.get("flavor") or {}
    groups = {each["name"] for each in shown.get("security_groups") or ()}
    found = {
        "ImageId": (shown.get("image") or {}).get("id"),
        "InstanceType": flavor.get("original_name") or flavor.get("id"),
        "KeyName": shown.get("key_name"),
        "SecurityGroups": sorted(groups),
    }
    return {key: value for key, value in found.items() if value}


class InstancesResource(group.GroupResource):
    """Instances that a launch configuration makes."""

    LAUNCH_CONFIG, BALANCERS, TAGS, INSTANCE_LIST = (
        "LaunchConfigurationName",
        "LoadBalancerNames",
        "Tags",
        "InstanceList",
    )
    #: name of the update policy
    rolling: ClassVar[str]

    #: address of a member, for the list of all
    _ADDRESS = template.Asked("", ("PublicIp",))

    # -- the members -------------------------------------------------------

    def members(self) -> dict[str, Any]:
        return dict(itertools.islice(self._all(), self.size()))

    def spares(self) -> Iterable[tuple[str, Any]]:
        return itertools.islice(self._all(), self.size(), None)

    def _all(self) -> Iterator[tuple[str, Any]]:
        body = self._body(self._launch())
        return ((name, body) for name in template.member_names())

    def _body(self, launch: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "type": INSTANCE,
            "properties": {**launch, **self.own_properties()},
        }

    def own_properties(self) -> dict[str, Any]:
        """What the group adds to the launch configuration."""
        return {self.TAGS: self.tags()}

    def tags(self) -> list[dict[str, Any]]:
        """The tags of every instance; metering finds it by them."""
        given = [dict(tag) for tag in self.properties[self.TAGS] or ()]
        name = self.get_reference_id()
        return [*given, {"Key": "metering.groupname", "Value": name}]

    def _launch(self) -> dict[str, Any]:
        """The properties that the launch configuration has kept."""
        wanted = self.properties[self.LAUNCH_CONFIG]
        found = self.stack.resource_by_refid(wanted)
        node = None
        if found is not None:
            node = self.stack.definition.node(found.name)
        kept = {}
        if node is not None:
            ident = node.row_id
            kept = self.stack.db.read(
                lambda conn: resource_data.get_many(conn, [ident])
            ).get(ident, {})
        if LAUNCH not in kept:
            raise exception.NotFound(
                _("There is no launch configuration %s in this stack") % wanted
            )
        return dict(json.loads(kept[LAUNCH]))

    def samples(self) -> dict[str, Any]:
        """One member, as far as the templates of both tell of it."""
        launch: dict[str, Any] = {
            "ImageId": _UNKNOWN,
            "InstanceType": _UNKNOWN,
        }
        defn = self._launch_definition()
        if defn is not None:
            given = group.unknowns(dict(defn.section("properties")))
            given.pop("InstanceId", None)
            launch.update(given)
        return {"0": self._body(launch)}

    def _launch_definition(self) -> Any:
        name: Any = self.t.section("properties")
        if isinstance(name, Mapping):
            name = name.get(self.LAUNCH_CONFIG)
        if isinstance(name, function.Function):
            name = next(iter(function.dependencies(name)), None)
        return self.stack.definition.resource_definitions.get(name)

    # -- pace --------------------------------------------------------------

    def pace(self, changing: bool) -> rolling_update.Pace:
        given = self._policy()
        if not changing or given is None:
            return rolling_update.UNLIMITED
        return rolling_update.Pace(
            given["MaxBatchSize"],
            given["MinInstancesInService"],
            seconds(given["PauseTime"]),
        )

    def _policy(self) -> Any:
        return self.target.update_policy(
            self.update_policy_schema, self.context
        )[self.rolling]

    def validate(self) -> None:
        super().validate()
        policy = self._policy()
        if policy is None:
            return
        try:
            seconds(policy["PauseTime"])
        except ValueError as exc:
            place = ["UpdatePolicy", self.rolling, "PauseTime"]
            raise exception.StackValidationFailed(
                path=["resources", self.name, *place], message=exc
            ) from exc

    # -- create ------------------------------------------------------------

    def handle_create(self) -> None:
        if self.properties[self.BALANCERS]:
            # Not earlier: a template may well be meant for another cloud.
            raise exception.NotSupported(
                feature=_("Adding instances to %s") % self.BALANCERS
            )
        super().handle_create()

    def get_reference_id(self) -> str:
        return self.physical_resource_name() or self.name

    # -- attributes --------------------------------------------------------

    def _of_member(self, key: Any) -> template.Asked:
        if key[0] == self.INSTANCE_LIST:
            return self._ADDRESS
        return super()._of_member(key)

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        found = super().FnGetAtt(key, *path)
        if key != self.INSTANCE_LIST:
            return found
        return ",".join(str(each) for each in found or () if each)
