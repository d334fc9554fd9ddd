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

"""Notifications by oslo.messaging, for whoever meters or watches stacks.

Where they go is said in ``[oslo_messaging_notifications]``: without a
driver there, nowhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging
from oslo_config import cfg

from heat.rpc import api

LOG = logging.getLogger(__name__)

_GROUP = "oslo_messaging_notifications"


def make(
    conf: cfg.ConfigOpts,
) -> Callable[[str, Mapping[str, Any], bool], None] | None:
    """What sends a notification: type, payload, whether it's an error.

    :returns: None when no driver is configured
    """
    oslo_messaging.set_transport_defaults(api.EXCHANGE)
    transport = oslo_messaging.get_notification_transport(conf)
    if not any(conf[_GROUP].driver):
        return None
    publisher = conf.default_publisher_id or conf.host
    notifier = oslo_messaging.Notifier(transport, publisher_id=publisher)
    usual = getattr(notifier, conf.default_notification_level.lower(), None)
    if usual is None:
        LOG.error(
            "default_notification_level is %s, which is none: INFO is used",
            conf.default_notification_level,
        )
        usual = notifier.info

    def send(name: str, payload: Mapping[str, Any], error: bool) -> None:
        tell = notifier.error if error else usual
        tell({}, name, dict(payload))

    return send
