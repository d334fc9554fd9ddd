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
which the agents in an image look for in a file. cloud-init knows nothing of
such a part, so one before it says what to do. HEAT_CFNTOOLS tells in two more
files where the agents find the CloudFormation API. Where user data is the id
of a software config, that config's text is meant; HEAT_CFNTOOLS takes texts
only.
"""

from __future__ import annotations

import email
import json
from email import message
from email.mime import multipart, text
from typing import Any
from urllib import parse

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
#: What a part is that goes into a file of the guest, by its name.
_FILE = "x-cfninitdata"
#: A handler in the words of cloud-init, for every Python that an image has.
#: What it writes may be secret, and the agents are root.
PART_HANDLER = """\
#part-handler
import os

FOLDER = "/var/lib/heat-cfntools"


def list_types():
    return ["text/x-cfninitdata"]


def handle_part(data, ctype, filename, payload):
    if ctype in ("__begin__", "__end__"):
        return
    if not os.path.isdir(FOLDER):
        os.makedirs(FOLDER, 0o700)
    if not isinstance(payload, bytes):
        payload = payload.encode("utf-8")
    path = os.path.join(FOLDER, os.path.basename(filename))
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as kept:
        kept.write(payload)
"""
#: What the agents' library is configured with; they take the port from the
#: other file.
_BOTO = """\
[Boto]
debug = 0
is_secure = {secure}
https_validate_certificates = {validate}
cfn_region_name = heat
cfn_region_endpoint = {host}
"""


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
    parts: list[message.Message] = []
    if metadata:
        parts.append(_part(json.dumps(metadata), _FILE, "cfn-init-data"))
    if kind == _CFNTOOLS:
        parts.extend(_tools(server))
    if data:
        parts.extend(_parts(data))
    if parts[0].get_content_subtype() == _FILE:
        # It handles what comes after it.
        handler = _part(PART_HANDLER, "part-handler", "part-handler.py")
        parts.insert(0, handler)
    return multipart.MIMEMultipart(_subparts=parts).as_string()


def _tools(server: Any) -> list[message.Message]:
    """Where cfn-init and cfn-hup ask for metadata, when that is known."""
    url = (server.cfn_url("") or "").removesuffix("/").removesuffix("/v1")
    host = parse.urlsplit(url).hostname
    if not host:
        return []
    conf = server.stack.conf
    told = _BOTO.format(
        secure=getattr(conf, "instance_connection_is_secure", "0"),
        validate=getattr(
            conf, "instance_connection_https_validate_certificates", "1"
        ),
        host=host,
    )
    return [
        _part(url, _FILE, "cfn-metadata-server"),
        _part(told, _FILE, "cfn-boto-cfg"),
    ]


def _config_text(server: Any, ident: str) -> str:
    """The text of this software config; an id that is none is a text."""
    try:
        found = configs.show(server.stack.db, server.context, ident)
    except exception.EntityNotFound:
        return ident
    return str(found[api.SOFTWARE_CONFIG_CONFIG] or "")


def _parts(data: str) -> list[message.Message]:
    """The user's data; each part of a document of several by itself."""
    if data.lstrip().lower().startswith(_MULTIPART):
        found = email.message_from_string(data.lstrip())
        return [each for each in found.walk() if not each.is_multipart()]
    return [_part(data, _kind(data), "cfn-userdata")]


def _kind(data: str) -> str:
    for start, kind in _KINDS:
        if data.startswith(start):
            return kind
    return _FILE


def _part(content: str, kind: str, name: str) -> text.MIMEText:
    made = text.MIMEText(content, _subtype=kind)
    made.add_header("Content-Disposition", "attachment", filename=name)
    return made


def agent_config(server: Any) -> dict[str, Any]:
    """What the guest's agent is configured with."""
    found = server.metadata_get().get("os-collect-config")
    return found if isinstance(found, dict) else {}
