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

"""The options that clients are made with.

Plug-ins get a context and nothing else, so a process says once which
configuration its clients read. Knows no service.
"""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

_conf: list[Any] = [None]


def configure(conf: Any) -> None:
    """Say which configuration holds; None: defaults only."""
    _conf[0] = conf


def conf() -> Any:
    """The configuration, None when there is none."""
    return _conf[0]


def option(name: str, default: Any = None, group: str | None = None) -> Any:
    """The value of an option, ``default`` when it is not registered."""
    try:
        place = _conf[0][group] if group else _conf[0]
        value = place[name]
    except (cfg.Error, KeyError, TypeError):
        return default
    return default if value is None else value


def client_option(service: str, name: str, default: Any = None) -> Any:
    """The value in [clients_<service>], else in [clients].

    :param service: such as ``nova``
    """
    value = option(name, None, f"clients_{service}")
    if value is not None:
        return value
    return option(name, default, "clients")
