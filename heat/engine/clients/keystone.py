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

"""The identity service, by openstacksdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from openstack import exceptions as sdk_exceptions

from heat.engine.clients import sdk

_DESCRIBED = ("domain", "group", "project", "role", "service", "user")


class KeystonePlugin(sdk.SdkPlugin):
    """Projects, users, roles and what belongs to them."""

    exceptions_module: ClassVar[Any] = sdk_exceptions
    service_types: ClassVar[list[str]] = ["identity"]
    service: ClassVar[str] = "keystone"
    proxy_name: ClassVar[str] = "identity"
    update_method: ClassVar[str] = "PATCH"
    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **{kind: {"unheeded": ("description",)} for kind in _DESCRIBED},
        "endpoint": {"unheeded": ("description", "name")},
        "region": {"unheeded": ("description", "id", "name")},
    }
