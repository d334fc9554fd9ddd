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

"""Reading a template from a URL, for ``template_url``.

The server reads on a user's behalf, so it is careful: http and https only,
a bounded number of bytes and of seconds, no addresses that only this
machine's link knows (cloud metadata services), and a redirect never leads
to a private address of another host.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable
from urllib import parse

import requests

from heat.common import exception

_SCHEMES = ("http", "https")
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MAX_REDIRECTS = 5
_CHUNK = 65536

Addresses = Callable[[str], list[str]]


def resolve(host: str) -> list[str]:
    """Addresses of a host.

    :raises OSError: it has none
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class Fetcher:
    """Reads texts from URLs.

    :param max_bytes: longest text
    :param timeout: longest time for the whole of it, seconds
    :param addresses: resolves a host's name
    """

    def __init__(
        self,
        max_bytes: int,
        timeout: float,
        addresses: Addresses = resolve,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._addresses = addresses
        self._monotonic = monotonic

    def fetch(self, url: str) -> str:
        """The text at a URL, UTF-8.

        :raises DownloadLimitExceeded: it is too long, or takes too long
        :raises ValueError: anything else is wrong with it
        """
        deadline = self._monotonic() + self._timeout
        self._check(url, came_from=None)
        with requests.Session() as session:
            # Proxies of the environment are used, passwords of a .netrc are
            # not: they are the operator's.
            session.auth = _no_auth
            for _hop in range(_MAX_REDIRECTS + 1):
                with self._get(session, url, deadline) as response:
                    target = response.headers.get("Location")
                    if response.status_code not in _REDIRECTS or not target:
                        return self._read(response, url, deadline)
                target = parse.urljoin(url, target)
                self._check(target, came_from=url)
                url = target
        raise _failed(url, f"more than {_MAX_REDIRECTS} redirects")

    def _check(self, url: str, came_from: str | None) -> None:
        """Refuse what the server should not read."""
        try:
            parts = parse.urlsplit(url)
            host = parts.hostname
        except ValueError as exc:
            raise _failed(url, str(exc)) from None
        if parts.scheme not in _SCHEMES or not host:
            raise _failed(url, "only http and https URLs can be read")
        same = came_from and parse.urlsplit(came_from).hostname == host
        try:
            addresses = self._addresses(host)
        except (OSError, UnicodeError) as exc:
            raise _failed(url, f"unknown host ({exc})") from None
        for text in addresses:
            address = _plain(ipaddress.ip_address(text.partition("%")[0]))
            if address.is_link_local or address.is_multicast:
                raise _failed(url, "its address is not reachable for users")
            if came_from and not same and not address.is_global:
                raise _failed(
                    url, "a redirect may not lead to a private address"
                )

    def _get(
        self, session: requests.Session, url: str, deadline: float
    ) -> requests.Response:
        left = deadline - self._monotonic()
        if left <= 0:
            raise self._too_slow(url)
        try:
            return session.get(
                url,
                stream=True,
                timeout=left,
                allow_redirects=False,
                # A packed body could be of any size when unpacked.
                headers={"Accept-Encoding": "identity"},
            )
        except requests.Timeout:
            raise self._too_slow(url) from None
        except (requests.RequestException, ValueError) as exc:
            raise _failed(url, f"could not connect ({_short(exc)})") from None

    def _read(
        self, response: requests.Response, url: str, deadline: float
    ) -> str:
        if response.status_code != 200:
            raise _failed(url, f"the server answered {response.status_code}")
        packed = response.headers.get("Content-Encoding", "identity")
        if packed.strip().lower() != "identity":
            raise _failed(url, f"content encoding {packed} is not read")
        parts: list[bytes] = []
        size = 0
        try:
            # read1 returns what is there, so a slow server can't hold us
            # longer than one read beyond the deadline.
            while chunk := response.raw.read1(_CHUNK):
                size += len(chunk)
                if size > self._max_bytes:
                    raise exception.DownloadLimitExceeded(
                        message=f"the template at {_public(url)} is longer "
                        f"than {self._max_bytes} bytes"
                    )
                parts.append(chunk)
                if self._monotonic() > deadline:
                    raise self._too_slow(url)
        except exception.HeatException:
            raise
        except Exception as exc:
            raise _failed(url, f"the connection broke ({_short(exc)})") from (
                None
            )
        try:
            return b"".join(parts).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise _failed(url, "it is not UTF-8") from None

    def _too_slow(self, url: str) -> Exception:
        return exception.DownloadLimitExceeded(
            message=f"the template at {_public(url)} could not be read "
            f"within {self._timeout:g} seconds"
        )


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _plain(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address inside of an IPv6 one, if it is such a one."""
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address


def _public(url: str) -> str:
    """The URL without a password."""
    head, at, tail = url.rpartition("@")
    return url if not at else f"{head.partition('://')[0]}://***@{tail}"


def _short(error: Exception) -> str:
    return type(error).__name__


def _failed(url: str, why: str) -> ValueError:
    return ValueError(
        f"Could not read the template at {_public(url)[:200]}: {why}"
    )
