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

"""What the API reads from the configuration, once, when it is made.

Handlers and middleware get this value and never the configuration itself.
"""

from __future__ import annotations

import dataclasses

from oslo_config import cfg

from heat.common import config


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """Limits and facts the API needs.

    :param auth_strategy: ``keystone`` or ``noauth``
    :param max_body: largest request body, bytes
    :param max_template: largest template read from a URL, bytes
    :param fetch_timeout: longest time to read a template from a URL, seconds
    :param revision: what ``GET /build_info`` says of the API
    :param auth_url: URL of the identity service for the engine, or None
    :param region: region of this service, or None
    """

    auth_strategy: str = "keystone"
    max_body: int = config.RAISED_LIMITS["max_json_body_size"]
    max_template: int = config.RAISED_LIMITS["max_template_size"]
    fetch_timeout: float = 60.0
    revision: str = "unknown"
    auth_url: str | None = None
    region: str | None = None

    @classmethod
    def read(cls, conf: cfg.ConfigOpts) -> Settings:
        """Take the values from a loaded configuration."""
        return cls(
            auth_strategy=str(conf.auth_strategy),
            max_body=config.limit(conf, "max_json_body_size"),
            max_template=config.limit(conf, "max_template_size"),
            fetch_timeout=float(conf.template_fetch_timeout),
            revision=str(conf.revision.heat_revision),
            auth_url=conf.clients_keystone.auth_uri,
            region=conf.region_name_for_services,
        )
