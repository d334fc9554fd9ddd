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

"""The block storage service, by openstacksdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import sdk, settings

#: The first that can extend an attached volume.
MICROVERSION = "3.42"


class CinderPlugin(sdk.SdkPlugin):
    """Volumes and their types."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = [
        "block-storage",
        "volumev3",
        "block-store",
    ]
    service: ClassVar[str] = "cinder"
    proxy_name: ClassVar[str] = "block_storage"
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quotas": {"key": "quota_set", "path": "/os-quota-sets"},
        "volume_type": {"path": "/types"},
        "qos_spec": {
            "key": "qos_specs",
            "path": "/qos-specs",
            "unheeded": ("name",),
        },
        "volumes": {"key": "volume", "plural": "volumes"},
    }

    def microversion(self) -> str | None:
        limit = settings.option("max_cinder_api_microversion")
        if limit and _number(limit) < _number(MICROVERSION):
            return str(limit)
        return MICROVERSION


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
