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

"""Swift's configuration, and what it asks of the folder it keeps objects in.

Everything that is not here has the value the service ships with.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from heat_integrationtests.openstack.settings import (
    ADDRESS,
    CloudError,
    Settings,
)

Sections = Mapping[str, Mapping[str, Any]]

#: In the order that a request takes; the server puts in what must be there.
_PROXY_FILTERS = (
    *("catch_errors", "gatekeeper", "healthcheck", "listing_formats"),
    *("bulk", "tempurl", "authtoken", "keystoneauth", "copy"),
    *("container_quotas", "account_quotas", "slo", "dlo"),
    *("versioned_writes", "symlink"),
)
#: Seconds for an answer of a server in the same process: with one replica
#: there is nobody else to ask, so who gives up only makes it worse.
_PATIENCE = 60


def files(
    settings: Settings, authtoken: Mapping[str, Any]
) -> dict[str, Sections]:
    """The configuration files of Swift, by name.

    :param authtoken: how its user logs in
    """
    found: dict[str, Sections] = {
        "swift/swift.conf": {
            "swift-hash": {"swift_hash_path_suffix": settings.name}
        },
        "swift/proxy-server.conf": _proxy(settings, authtoken),
    }
    for kind in ("account", "container", "object"):
        found[f"swift/{kind}-server.conf"] = _server(settings, kind)
    return found


def _common(settings: Settings, listener: str) -> dict[str, Any]:
    return {
        "bind_ip": ADDRESS,
        "bind_port": settings.port(listener),
        "bind_timeout": 5,
        "swift_dir": settings.etc / "swift",
        "devices": devices(settings),
        "mount_check": "false",
        "disable_fallocate": "true",
        "log_level": "WARNING",
        "conn_timeout": _PATIENCE,
        "node_timeout": _PATIENCE,
        # A list that is behind stays so: no daemon brings it up to date.
        "container_update_timeout": _PATIENCE,
    }


def _server(settings: Settings, kind: str) -> Sections:
    """One of the servers behind the proxy."""
    name = f"{kind}-server"
    return {
        "DEFAULT": _common(settings, f"swift-{kind}"),
        "pipeline:main": {"pipeline": name},
        f"app:{name}": {"use": f"egg:swift#{kind}"},
    }


def _proxy(settings: Settings, authtoken: Mapping[str, Any]) -> Sections:
    filters: dict[str, dict[str, Any]] = {
        f"filter:{name}": {"use": f"egg:swift#{name}"}
        for name in _PROXY_FILTERS
    }
    filters["filter:authtoken"] = {
        **authtoken,
        "paste.filter_factory": "keystonemiddleware.auth_token:filter_factory",
        # A temporary URL comes without a token.
        "delay_auth_decision": "true",
    }
    filters["filter:keystoneauth"]["operator_roles"] = "admin, member"
    filters["filter:versioned_writes"].update(
        allow_versioned_writes="true", allow_object_versioning="true"
    )
    return {
        "DEFAULT": _common(settings, "swift"),
        "pipeline:main": {"pipeline": " ".join((*_PROXY_FILTERS, _PROXY))},
        f"app:{_PROXY}": {
            "use": "egg:swift#proxy",
            "account_autocreate": "true",
        },
        **filters,
    }


_PROXY = "proxy-server"


def devices(settings: Settings) -> pathlib.Path:
    """The folder with the folder of the one device."""
    return settings.data / "swift"


def make_device(settings: Settings) -> None:
    """Make the folder of the device that the rings name.

    :raises CloudError: its file system is none for objects
    """
    folder = devices(settings) / "device"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as probe:
        try:
            os.setxattr(probe.fileno(), "user.heat_cloud", b"probe")
        except OSError as exc:
            raise CloudError(
                f"the file system of {folder} takes no extended attributes"
                f" ({exc.strerror}), which Swift needs; HEAT_CLOUD_DIR"
                " chooses another folder"
            ) from exc
