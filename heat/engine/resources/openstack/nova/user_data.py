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
which the agents in an image look for. Pure.
"""

from __future__ import annotations

import json
from email.mime import multipart, text
from typing import Any

_RAW = "RAW"
_KINDS = (
    ("#cloud-config", "cloud-config"),
    ("#cloud-boothook", "cloud-boothook"),
    ("#include", "x-include-url"),
    ("#!", "x-shellscript"),
)


def build(server: Any, properties: Any) -> str | None:
    """The user data for the service, None for none."""
    data = properties["user_data"]
    if properties["user_data_format"] == _RAW:
        return data or None
    metadata = server.template_metadata()
    if not data and not metadata:
        return None
    parts = multipart.MIMEMultipart()
    if metadata:
        parts.attach(
            _part(json.dumps(metadata), "x-cfninitdata", "cfn-init-data")
        )
    if data:
        parts.attach(_part(data, _kind(data), "cfn-userdata"))
    return parts.as_string()


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
