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

"""What a guest is told at its first boot.

With the format RAW it is told the user's data as it is. Otherwise the data
comes as one part of several, beside a part with the resource's metadata,
which the agents in an image look for. Where user data is the id of a
software config, that config's text is meant; HEAT_CFNTOOLS takes texts only.
"""

from __future__ import annotations

import email
import json
from email.mime import multipart, text
from typing import Any

from heat.common import exception
from heat.engine.clients import collection
from heat.engine.software import configs
from heat.rpc import api

_RAW = "RAW"
_CFNTOOLS = "HEAT_CFNTOOLS"
_KINDS = (
    ("#cloud-config", "cloud-config"),
    ("#cloud-boothook", "cloud-boothook"),
    ("#include", "x-include-url"),
    ("#!", "x-shellscript"),
)
_MULTIPART = ("content-type: multipart/", "mime-version:")


def build(server: Any, properties: Any) -> str | None:
    """The user data for the service, None for none."""
    kind = properties["user_data_format"]
    data = properties["user_data"] or ""
    if kind != _CFNTOOLS and collection.looks_like_id(data):
        data = _config_text(server, data)
    if kind == _RAW:
        return data or None
    metadata = server.guest_metadata(properties)
    if not data and not metadata:
        return None
    parts = multipart.MIMEMultipart()
    if metadata:
        parts.attach(
            _part(json.dumps(metadata), "x-cfninitdata", "cfn-init-data")
        )
    if data:
        _attach(parts, data)
    return parts.as_string()


def _config_text(server: Any, ident: str) -> str:
    """The text of this software config; an id that is none is a text."""
    try:
        found = configs.show(server.stack.db, server.context, ident)
    except exception.EntityNotFound:
        return ident
    return str(found[api.SOFTWARE_CONFIG_CONFIG] or "")


def _attach(parts: multipart.MIMEMultipart, data: str) -> None:
    """Add the user's data; each part of a document of several by itself."""
    if data.lstrip().lower().startswith(_MULTIPART):
        for each in email.message_from_string(data.lstrip()).walk():
            if not each.is_multipart():
                parts.attach(each)
        return
    parts.attach(_part(data, _kind(data), "cfn-userdata"))


def _kind(data: str) -> str:
    for start, kind in _KINDS:
        if data.startswith(start):
            return kind
    return "x-cfninitdata"


def _part(content: str, kind: str, name: str) -> text.MIMEText:
    made = text.MIMEText(content, _subtype=kind)
    made.add_header("Content-Disposition", "attachment", filename=name)
    return made


def agent_config(server: Any) -> dict[str, Any]:
    """What the guest's agent is configured with."""
    found = server.metadata_get().get("os-collect-config")
    return found if isinstance(found, dict) else {}
