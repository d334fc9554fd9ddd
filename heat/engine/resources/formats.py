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

"""Named constraints that a value's form decides: no service is asked."""

from __future__ import annotations

import datetime
import ipaddress
import json
import re
import zoneinfo
from collections.abc import Callable
from typing import Any

from heat.common.i18n import _
from heat.engine import constraints

_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-])([0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}")
_CRON_PART = re.compile(r"(\*|[A-Za-z0-9]+(-[A-Za-z0-9]+)?)(/\d+)?")
_CRON_FIELDS = (5, 6)
_NAME_LENGTH = 255


def _ip_addr(value: str) -> None:
    ipaddress.ip_address(value)


def _net_cidr(value: str) -> None:
    if "/" not in value:
        raise ValueError(_("a network is written ADDRESS/LENGTH"))
    ipaddress.ip_network(value, strict=False)


def _ip_or_cidr(value: str) -> None:
    ipaddress.ip_network(value, strict=False)


def _mac_addr(value: str) -> None:
    if not _MAC.fullmatch(value):
        raise ValueError(_("a MAC address is six pairs of hex digits"))


def _labels(value: str) -> None:
    if len(value) > _NAME_LENGTH:
        raise ValueError(_("it has more than 255 characters"))
    for label in value.removesuffix(".").split("."):
        if not _LABEL.fullmatch(label):
            raise ValueError(
                _(
                    "a part of a DNS name has 1 to 63 letters, digits and "
                    "inner hyphens"
                )
            )


def _dns_name(value: str) -> None:
    if value:
        _labels(value)


def _rel_dns_name(value: str) -> None:
    if value.endswith("."):
        raise ValueError(_("a relative name has no dot at its end"))
    _dns_name(value)


def _dns_domain(value: str) -> None:
    if not value:
        return
    if not value.endswith("."):
        raise ValueError(_("a domain ends with a dot"))
    _labels(value)


def _timezone(value: str) -> None:
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, OSError) as exc:
        raise ValueError(_("there is no such time zone")) from exc


def _cron_expression(value: str) -> None:
    fields = value.split()
    if len(fields) not in _CRON_FIELDS or not all(
        _CRON_PART.fullmatch(part)
        for field in fields
        for part in field.split(",")
    ):
        raise ValueError(
            _("five fields are needed: minute hour day month weekday")
        )


def _expiration(value: str) -> None:
    moment = datetime.datetime.fromisoformat(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    if moment <= datetime.datetime.now(datetime.UTC):
        raise ValueError(_("that moment is over"))


def _json_string(value: str) -> None:
    json.loads(value)


class _Format(constraints.BaseCustomConstraint):
    """A constraint by a function that raises ValueError."""

    check: Callable[[str], None]

    def validate(self, value: Any, context: Any) -> bool:
        try:
            type(self).check(str(value))
        except ValueError as exc:
            self._error_message = str(exc)
            return False
        return True


_CHECKS = {
    "cron_expression": _cron_expression,
    "dns_domain": _dns_domain,
    "dns_name": _dns_name,
    "expiration": _expiration,
    "ip_addr": _ip_addr,
    "ip_or_cidr": _ip_or_cidr,
    "json_string": _json_string,
    "mac_addr": _mac_addr,
    "net_cidr": _net_cidr,
    "rel_dns_name": _rel_dns_name,
    "timezone": _timezone,
}


def constraint_mapping() -> dict[str, Any]:
    return {
        name: type(name, (_Format,), {"check": staticmethod(check)})
        for name, check in _CHECKS.items()
    }
