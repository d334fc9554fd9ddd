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
"""What a user sent, as the operations on stacks take it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Request:
    """What a create, update, preview or validate brings.

    :param template: the template as a map or text; None: the stored one
    :param params: the environment: parameters, resource_registry, ...
    :param args: the arguments of contract (timeout_mins, tags, ...)
    :param settled: the environment is the one that a parent gives its nested
        stack: checked and merged before
    """

    template: Mapping[str, Any] | str | None
    params: Mapping[str, Any]
    files: Mapping[str, str]
    args: Mapping[str, Any]
    environment_files: Sequence[str] = ()
    settled: bool = False

    @classmethod
    def of(
        cls,
        template: Mapping[str, Any] | str | None,
        params: Mapping[str, Any] | None,
        files: Mapping[str, str] | None,
        args: Mapping[str, Any] | None,
        environment_files: Sequence[str] | None,
        *,
        settled: bool = False,
    ) -> Request:
        """What was left out is empty."""
        return cls(
            template,
            params or {},
            files or {},
            args or {},
            environment_files or (),
            settled,
        )
