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

"""From what the engine answers to the structures of CloudFormation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.common import identifier
from heat.rpc import api

Dict = dict[str, Any]


def arn(identity: Mapping[str, Any]) -> str:
    """An identity as clients of this API name it."""
    return identifier.HeatIdentifier.from_dict(dict(identity)).arn()


def _status(row: Mapping[str, Any], action: str, status: str) -> str:
    return f"{row[action]}_{row[status]}"


def stack_brief(row: Mapping[str, Any]) -> Dict:
    """A stack in a list."""
    return {
        "StackId": arn(row[api.STACK_ID]),
        "StackName": row[api.STACK_NAME],
        "TemplateDescription": row.get(api.STACK_TMPL_DESCRIPTION),
        "StackStatus": _status(row, api.STACK_ACTION, api.STACK_STATUS),
        "StackStatusReason": row[api.STACK_STATUS_DATA],
        "CreationTime": row[api.STACK_CREATION_TIME],
        "LastUpdatedTime": row.get(api.STACK_UPDATED_TIME),
        "DeletionTime": row.get(api.STACK_DELETION_TIME),
    }


def stack(row: Mapping[str, Any]) -> Dict:
    """A stack in full."""
    shown = stack_brief(row)
    del shown["TemplateDescription"]
    return {
        **shown,
        "Description": row.get(api.STACK_DESCRIPTION),
        "DisableRollback": row[api.STACK_DISABLE_ROLLBACK],
        "TimeoutInMinutes": row.get(api.STACK_TIMEOUT),
        "NotificationARNs": [],
        "Capabilities": [],
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value}
            for key, value in (row.get(api.STACK_PARAMETERS) or {}).items()
        ],
        "Outputs": [_output(each) for each in row.get(api.STACK_OUTPUTS, ())],
    }


def _output(row: Mapping[str, Any]) -> Dict:
    value = row.get(api.OUTPUT_VALUE)
    return {
        "OutputKey": row[api.OUTPUT_KEY],
        "OutputValue": value if isinstance(value, str) else json.dumps(value),
        "Description": row.get(api.OUTPUT_DESCRIPTION),
    }


def _resource(row: Mapping[str, Any], moment: str) -> Dict:
    return {
        "LogicalResourceId": row[api.RES_NAME],
        "PhysicalResourceId": row.get(api.RES_PHYSICAL_ID) or "",
        "ResourceType": row[api.RES_TYPE],
        "ResourceStatus": _status(row, api.RES_ACTION, api.RES_STATUS),
        "ResourceStatusReason": row[api.RES_STATUS_DATA],
        moment: row[api.RES_UPDATED_TIME],
    }


def resource_brief(row: Mapping[str, Any]) -> Dict:
    """A resource in a list."""
    return _resource(row, "LastUpdatedTimestamp")


def resource(row: Mapping[str, Any], moment: str = "Timestamp") -> Dict:
    """A resource with the stack it is in.

    :param moment: what its last change is called
    """
    return {
        "StackId": arn(row[api.RES_STACK_ID]),
        "StackName": row[api.RES_STACK_NAME],
        "Description": row.get(api.RES_DESCRIPTION) or "",
        **_resource(row, moment),
    }


def resource_detail(row: Mapping[str, Any]) -> Dict:
    """A resource with its metadata, which are a text in JSON."""
    return {
        **resource(row, "LastUpdatedTimestamp"),
        "Metadata": json.dumps(row.get(api.RES_METADATA) or {}),
    }


def event(row: Mapping[str, Any]) -> Dict:
    """An event."""
    return {
        "EventId": row[api.EVENT_ID]["path"].rpartition("/")[2],
        "StackId": arn(row[api.EVENT_STACK_ID]),
        "StackName": row[api.EVENT_STACK_NAME],
        "LogicalResourceId": row[api.EVENT_RES_NAME],
        "PhysicalResourceId": row.get(api.EVENT_RES_PHYSICAL_ID) or "",
        "ResourceType": row[api.EVENT_RES_TYPE],
        "ResourceStatus": _status(
            row, api.EVENT_RES_ACTION, api.EVENT_RES_STATUS
        ),
        "ResourceStatusReason": row[api.EVENT_RES_STATUS_DATA],
        "ResourceProperties": json.dumps(
            row.get(api.EVENT_RES_PROPERTIES) or {}
        ),
        "Timestamp": row[api.EVENT_TIMESTAMP],
    }


def validated(row: Mapping[str, Any]) -> Dict:
    """What a template's parameters are."""
    return {
        "Description": row.get("Description") or "",
        "Capabilities": [],
        "Parameters": [
            {
                "ParameterKey": key,
                "Description": each.get("Description") or "",
                "NoEcho": each.get("NoEcho", "false"),
                "DefaultValue": _default(each.get("Default")),
            }
            for key, each in (row.get("Parameters") or {}).items()
        ],
    }


def _default(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
