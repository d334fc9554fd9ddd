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

"""URLs that carry a signature in place of a token.

The signature is version 2 of those of AWS: a keyed hash over method, host,
path and query, which Keystone checks (``/v3/ec2tokens``). Both ends take the
path as it is when it is no longer quoted. Pure.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final
from urllib import parse

METHOD: Final = "HmacSHA256"
VERSION: Final = "2"
SIGNATURE: Final = "Signature"
ACCESS_KEY: Final = "AWSAccessKeyId"

# A client does not send the port that goes without saying.
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


def signature(
    secret: str, verb: str, host: str, path: str, query: Mapping[str, str]
) -> str:
    """The signature of a request.

    :param host: as in the header ``Host``
    :param path: not quoted
    :param query: everything but the signature itself, not quoted
    """
    pairs = (
        f"{parse.quote(key, safe='')}={parse.quote(query[key], safe='-_~')}"
        for key in sorted(query)
    )
    told = "\n".join((verb, host, path, "&".join(pairs)))
    digest = hmac.new(secret.encode(), told.encode(), hashlib.sha256)
    return base64.b64encode(digest.digest()).decode("ascii")


def signed_url(
    base: str, arn: str, verb: str, access: str, secret: str
) -> str:
    """A URL by which whoever has it may send one kind of request.

    It has no time in it: Keystone refuses a signature that says when it was
    made after minutes, and a wait condition may last for hours. It is good
    until the keys are gone.

    :param base: what the path begins with, such as
        ``http://HOST:8000/v1/waitcondition``
    :param arn: identity of the resource, see
        :class:`heat.common.identifier.HeatIdentifier`
    :param verb: method of the request
    """
    parts = parse.urlsplit(base)
    host = parts.netloc.removesuffix(_DEFAULT_PORTS.get(parts.scheme, " "))
    path = f"{parts.path.rstrip('/')}/{parse.quote(arn)}"
    query = {
        "SignatureMethod": METHOD,
        ACCESS_KEY: access,
        "SignatureVersion": VERSION,
    }
    query[SIGNATURE] = signature(
        secret, verb, host, parse.unquote(path), query
    )
    return parse.urlunsplit(
        (parts.scheme, host, path, parse.urlencode(query), "")
    )


def access_key_of(url: str) -> str | None:
    """The access key in a signed URL, None when it is no such URL."""
    if not url.startswith(("http://", "https://")):
        return None
    found = parse.parse_qs(parse.urlsplit(url).query).get(ACCESS_KEY)
    return found[0] if found else None


def arn_of(url: str) -> str:
    """The ARN in a signed URL; "" when there is none."""
    path = parse.unquote(parse.urlsplit(url).path)
    _before, found, rest = path.partition("/arn:")
    return found[1:] + rest
