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

"""JSON Schemas of request bodies and queries.

Bodies stay open to unknown keys where clients of Heat send extra ones (all
that a stack is made from: what is not named here travels to the engine as an
argument). Templates and environments are not described here: they need
paths, functions and the registry, and are checked by the engine.

``description`` of a value is the rule a user reads when the value breaks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.api import validation
from heat.common import identifier

# Text that ends up in a column of the database: PostgreSQL refuses NUL.
_LINE: dict[str, Any] = {
    "type": "string",
    "pattern": r"\A[^\x00]*\Z",
    "description": "text without NUL characters",
}
_LINE_OR_NULL = {**_LINE, "type": ["string", "null"]}
_OBJECT_OR_NULL = {"type": ["object", "null"]}
_LIST_OR_NULL = {"type": ["array", "null"]}
# Users have always been free to send the words.
_TRUTH = {
    "type": ["boolean", "string"],
    "pattern": r"\A(?:[Tt]rue|TRUE|[Ff]alse|FALSE)\Z",
    "description": "true or false",
}
_NAMES = {
    "type": ["array", "null"],
    "items": {"type": "string", "minLength": 1},
}

STACK_NAME = {
    "type": "string",
    "pattern": identifier.STACK_NAME,
    "description": "a letter, then letters, digits, underscores, periods "
    "or hyphens, 255 characters at most",
}

_STACK: Mapping[str, Any] = {
    "template": {"type": ["object", "string", "null"]},
    "template_url": _LINE_OR_NULL,
    "parameters": _OBJECT_OR_NULL,
    "environment": {"type": ["object", "string", "null"]},
    "files": {
        "type": ["object", "null"],
        "additionalProperties": {"type": "string"},
    },
    "environment_files": _NAMES,
    "environment_files_remove": _NAMES,
    "files_container": _LINE_OR_NULL,
    "timeout_mins": {
        "type": ["integer", "string", "null"],
        "minimum": 0,
        "maximum": 2**31 - 1,
        "pattern": r"\A0*[0-9]{1,9}\Z",
        "description": "a whole number of minutes, 0 for the usual timeout",
    },
    "disable_rollback": _TRUTH,
    "converge": _TRUTH,
    "existing": _TRUTH,
    "tags": {
        "type": ["array", "string", "null"],
        "items": _LINE,
        **{k: v for k, v in _LINE.items() if k != "type"},
    },
    "clear_parameters": _NAMES,
    "adopt_stack_data": {"type": ["object", "string", "null"]},
}


def _object(
    properties: Mapping[str, Any], *required: str, closed: bool = False
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": not closed,
    }


STACK_CREATE = validation.Body(
    _object({"stack_name": STACK_NAME, **_STACK}, "stack_name")
)
STACK_UPDATE = validation.Body(_object(_STACK))
TEMPLATE_VALIDATE = validation.Body(_object(_STACK))

# The keys are the actions; exactly one of them is asked for.
LOCK_LEVELS = ("all", "stacks")
ACTIONS = validation.Body(
    {
        "type": "object",
        "properties": {
            "suspend": True,
            "resume": True,
            "check": True,
            "cancel_update": True,
            "cancel_without_rollback": True,
            "lock": {
                "type": ["object", "null"],
                "properties": {
                    "level": {"enum": list(LOCK_LEVELS)},
                    "reason": _LINE_OR_NULL,
                    "expires_in": {
                        "type": ["integer", "null"],
                        "minimum": 1,
                        "maximum": 2**31 - 1,
                        "description": "a whole number of seconds greater "
                        "than 0",
                    },
                },
                "additionalProperties": False,
            },
            "unlock": True,
        },
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
)

SIGNAL = validation.Body({"type": ["object", "null"]}, optional=True)
MARK_UNHEALTHY = validation.Body(
    _object(
        {"mark_unhealthy": _TRUTH, "resource_status_reason": _LINE_OR_NULL},
        "mark_unhealthy",
        closed=True,
    )
)
SNAPSHOT = validation.Body(
    _object({"name": {**_LINE_OR_NULL, "maxLength": 255}}), optional=True
)

SOFTWARE_CONFIG = validation.Body(
    _object(
        {
            "name": {**_LINE_OR_NULL, "maxLength": 255},
            "group": {**_LINE_OR_NULL, "maxLength": 255},
            # Null, text, and - from older clients - any document.
            "config": True,
            "inputs": {**_LIST_OR_NULL, "items": {"type": "object"}},
            "outputs": {**_LIST_OR_NULL, "items": {"type": "object"}},
            "options": _OBJECT_OR_NULL,
        }
    )
)
_DEPLOYMENT: Mapping[str, Any] = {
    "server_id": {**_LINE, "minLength": 1, "maxLength": 255},
    "config_id": {**_LINE_OR_NULL, "maxLength": 36},
    "input_values": _OBJECT_OR_NULL,
    "action": {**_LINE_OR_NULL, "maxLength": 255},
    "status": {**_LINE_OR_NULL, "maxLength": 255},
    "status_reason": _LINE_OR_NULL,
    "stack_user_project_id": {**_LINE_OR_NULL, "maxLength": 64},
}
DEPLOYMENT_CREATE = validation.Body(
    _object(_DEPLOYMENT, "server_id", "config_id")
)
DEPLOYMENT_UPDATE = validation.Body(
    _object(
        {
            **{k: v for k, v in _DEPLOYMENT.items() if k != "server_id"},
            "output_values": _OBJECT_OR_NULL,
        }
    )
)

# -- queries ------------------------------------------------------------------
# "integer", "boolean" and "array" tell how the text is read; "x-split" gives
# the characters that part one text into several values.

_COUNT = {
    "type": "integer",
    "minimum": 0,
    "maximum": 2**31 - 1,
    "description": "a whole number, 0 or more",
}
_FLAG = {"type": "boolean", "description": "true or false"}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_TAGS = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "x-split": ",",
    "description": "names of tags with commas between them",
}
# A filter given several times accepts any of its values.
_FILTER = {"type": ["string", "array"]}
_SORT_DIR = {"enum": ["asc", "desc"]}

STACK_FILTERS = (
    *("id", "status", "name", "action", "tenant", "username", "owner_id"),
    *("stack_name", "stack_status", "stack_action", "stack_owner", "parent"),
)
_STACK_SORT_KEYS = [
    *("stack_name", "stack_status", "creation_time", "updated_time"),
    *("name", "status", "created_at", "updated_at", "action", "id"),
]
EVENT_FILTERS = (
    "resource_status",
    "resource_action",
    "resource_name",
    "resource_type",
)
_EVENT_SORT_KEYS = [
    *("event_time", "created_at", *EVENT_FILTERS),
    *("uuid", "id"),
]
RESOURCE_FILTERS = (
    *("type", "status", "name", "action", "id", "physical_resource_id"),
)


def _sort_keys(names: list[str]) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"enum": names},
        "x-split": ",;",
    }


STACK_INDEX = validation.Query(
    {
        "limit": _COUNT,
        "marker": _TEXT,
        "sort_dir": _SORT_DIR,
        "sort_keys": _sort_keys(_STACK_SORT_KEYS),
        "show_deleted": _FLAG,
        "show_nested": _FLAG,
        "show_hidden": _FLAG,
        "tags": _TAGS,
        "tags_any": _TAGS,
        "not_tags": _TAGS,
        "not_tags_any": _TAGS,
        "with_count": _FLAG,
        "global_tenant": _FLAG,
        **dict.fromkeys(STACK_FILTERS, _FILTER),
    }
)
STACK_SHOW = validation.Query({"resolve_outputs": _FLAG})
STACK_ENVIRONMENT = validation.Query({"with_sources": _FLAG})
PREVIEW_UPDATE = validation.Query({"show_nested": _FLAG})
VALIDATE = validation.Query(
    {
        "show_nested": _FLAG,
        "ignore_errors": {**_TEXTS, "x-split": ","},
    }
)
RESOURCE_TYPES = validation.Query(
    {
        "support_status": _TEXT,
        "name": _TEXT,
        "version": _TEXT,
        "with_description": _FLAG,
    }
)
RESOURCE_SCHEMA = validation.Query({"with_description": _FLAG})
GENERATE_TEMPLATE = validation.Query(
    {"template_type": {"enum": ["cfn", "hot"]}}
)
TEMPLATE_FUNCTIONS = validation.Query({"with_condition_func": _FLAG})
RESOURCE_INDEX = validation.Query(
    {
        "nested_depth": _COUNT,
        "with_detail": _FLAG,
        **dict.fromkeys(RESOURCE_FILTERS, _FILTER),
    },
    closed=True,
)
RESOURCE_SHOW = validation.Query({"with_attr": _TEXTS})
EVENT_INDEX = validation.Query(
    {
        "limit": _COUNT,
        "marker": _TEXT,
        "sort_dir": _SORT_DIR,
        "sort_keys": _sort_keys(_EVENT_SORT_KEYS),
        "nested_depth": _COUNT,
        **dict.fromkeys(EVENT_FILTERS, _FILTER),
    }
)
CONFIG_INDEX = validation.Query(
    {"limit": _COUNT, "marker": _TEXT, "global_tenant": _FLAG}
)
DEPLOYMENT_INDEX = validation.Query({"server_id": _TEXT})
