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

"""Answers of the CloudFormation API: XML, or JSON where it is asked for.

An answer is a dictionary. A list in it becomes ``<member>`` elements, as
clients expect; None is left out.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any
from urllib import parse
from xml.etree import ElementTree

from werkzeug import wrappers

_XML, _JSON = "application/xml", "application/json"

# What XML 1.0 can't hold at all; the report of a server may well have it.
_NOT_IN_XML = {
    code: None for code in (*range(32), 0xFFFE, 0xFFFF) if code not in (9, 10)
} | {code: None for code in range(0xD800, 0xE000)}


def wants_json(environ: Mapping[str, Any]) -> bool:
    """Whether the client asked for JSON, in the query or by a header."""
    asked = parse.parse_qs(str(environ.get("QUERY_STRING", "")))
    if asked.get("ContentType") == ["JSON"]:
        return True
    accepted = str(environ.get("HTTP_ACCEPT", ""))
    return _JSON in accepted and "xml" not in accepted


def success(
    action: str, result: Any, request_id: str, *, as_json: bool
) -> wrappers.Response:
    """The answer to an action.

    :param result: what is inside of ``<ACTION>Result``
    """
    body = {
        f"{action}Response": {
            f"{action}Result": result,
            "ResponseMetadata": {"RequestId": request_id},
        }
    }
    return _response(body, 200, as_json)


def error(
    code: str, message: str, status: int, request_id: str, *, as_json: bool
) -> wrappers.Response:
    """The answer to a request that failed."""
    body = {
        "ErrorResponse": {
            "Error": {
                "Type": "Receiver" if status >= 500 else "Sender",
                "Code": code,
                "Message": message,
            },
            "RequestId": request_id,
        }
    }
    return _response(body, status, as_json)


def _response(
    body: dict[str, Any], status: int, as_json: bool
) -> wrappers.Response:
    if as_json:
        return wrappers.Response(
            json.dumps(body), status=status, content_type=_JSON
        )
    return wrappers.Response(to_xml(body), status=status, content_type=_XML)


def to_xml(body: Mapping[str, Any]) -> bytes:
    """The XML of a dictionary with one key, the name of the root."""
    ((name, value),) = body.items()
    root = ElementTree.Element(name)
    _fill(root, value)
    made: bytes = ElementTree.tostring(root, encoding="UTF-8")
    return made


def _fill(element: ElementTree.Element, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if each is not None:
                _fill(ElementTree.SubElement(element, str(key)), each)
    elif isinstance(value, list | tuple):
        for each in value:
            _fill(ElementTree.SubElement(element, "member"), each)
    elif value is not None:
        element.text = text(value).translate(_NOT_IN_XML)


def text(value: Any) -> str:
    """A plain value as clients of this API read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value)
