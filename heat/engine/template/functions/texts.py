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
"""More functions that make values out of texts.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib import parse

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base

#: Algorithms whose digest has a length of its own.
_ALGORITHMS = tuple(
    sorted(
        name
        for name in hashlib.algorithms_guaranteed
        if not name.startswith("shake")
    )
)


class Digest(base.HotFunction):
    """The digest of a string, in hexadecimal.

    Takes the form::

        digest:
          - <algorithm>
          - <value>

    Algorithms are those of Python's hashlib, such as md5, sha1, sha256 and
    sha512.
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._list_args("[<algorithm>, <value>]", 2, 2)
        if isinstance(args[0], str):
            self._check_algorithm(args[0])

    def _check_algorithm(self, name: Any) -> str:
        if not isinstance(name, str) or name.lower() not in _ALGORITHMS:
            raise ValueError(
                _("The algorithm must be one of %s") % ", ".join(_ALGORITHMS)
            )
        return name.lower()

    def result(self) -> str:
        name = self._check_algorithm(function.resolve(self.args[0]))
        text = base.want_text(
            function.resolve(self.args[1]), _("What is digested")
        )
        made = hashlib.new(name, text.encode(), usedforsecurity=False)
        return made.hexdigest()


class StrSplit(base.HotFunction):
    """Split a string into a list by a delimiter.

    Takes the form::

        str_split:
          - <delimiter>
          - <string>
          - <index>

    With an index it gives that item of the list; -1 is the last one.
    Splitting null gives null.
    """

    #: Most arguments: an index, too.
    most = 3

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<delimiter>, <string>, <index>]"
        if self.most == 2:
            usage = "[<delimiter>, <string>]"
        self._list_args(usage, 2, self.most)

    def result(self) -> Any:
        values = function.resolve(self.args)
        delimiter = base.want_text(values[0], _("The delimiter"))
        if not delimiter:
            raise ValueError(_("The delimiter can't be empty"))
        if values[1] is None:
            return None
        parts = base.want_text(values[1], _("What is split")).split(delimiter)
        if len(values) == 2:
            return parts
        return self._item(parts, values[2])

    @staticmethod
    def _item(parts: list[str], index: Any) -> str:
        try:
            number = int(index)
        except (TypeError, ValueError):
            raise ValueError(
                _('The index "%s" is not a whole number') % (index,)
            ) from None
        count = len(parts)
        if isinstance(index, bool) or not -count <= number < count:
            raise ValueError(
                _("The index %(index)s is not between %(first)d and %(last)d")
                % {"index": index, "first": -count, "last": count - 1}
            )
        return parts[number]


class MakeUrl(base.HotFunction):
    """Put together a URL.

    Takes the form::

        make_url:
          scheme: <protocol>
          username: <username>
          password: <password>
          host: <hostname or IP>
          port: <port>
          path: <path>
          query:
            <key1>: <value1>
          fragment: <fragment>

    All parts are optional. What needs quoting is quoted, and an IPv6
    address is put in brackets.
    """

    parts = (
        "scheme",
        "username",
        "password",
        "host",
        "port",
        "path",
        "query",
        "fragment",
    )

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._map_args("{scheme: ..., host: ..., ...}", (), self.parts)
        for part, value in args.items():
            if isinstance(value, list) or (
                isinstance(value, dict) and part != "query"
            ):
                raise TypeError(
                    _("%(part)s must be a %(kind)s")
                    % {
                        "part": part,
                        "kind": "map" if part == "query" else "string",
                    }
                )

    def result(self) -> str:
        args = function.resolve(self.args)
        port = self._port(args.get("port"))
        query = base.want_map(args.get("query"), _("query"))
        given = {
            part: self._text(part, args.get(part))
            for part in self.parts
            if part not in ("port", "query")
        }
        path = given["path"]
        if path and not path.startswith("/") and (given["host"] or port):
            path = f"/{path}"
        return parse.urlunsplit(
            (
                given["scheme"],
                self._location(given, port),
                parse.quote(path, safe="/%:@!$&'()*+,;=~"),
                parse.urlencode(
                    [(key, _query(value)) for key, value in query.items()]
                ),
                parse.quote(given["fragment"], safe="/%:@!$&'()*+,;=~?"),
            )
        )

    def _text(self, part: str, value: Any) -> str:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        return base.want_text(value, part)

    @staticmethod
    def _location(given: dict[str, str], port: str) -> str:
        user = parse.quote(given["username"], safe="")
        if given["password"]:
            user += ":" + parse.quote(given["password"], safe="")
        host = given["host"]
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"
        return (f"{user}@" if user else "") + host + (port and f":{port}")

    @staticmethod
    def _port(value: Any) -> str:
        if value is None or value == "":
            return ""
        try:
            port = int(value)
        except (TypeError, ValueError):
            port = 0
        if isinstance(value, bool) or not 0 < port < 65536:
            raise ValueError(
                _('Invalid port "%s", must be between 1 and 65535') % (value,)
            )
        return str(port)


def _query(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return base.to_json(value)
    return "" if value is None else str(value)
