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

"""OS::Zaqar::SignedQueueURL."""

from __future__ import annotations

import datetime
import json
from typing import Any
from urllib import parse

from heat.common.i18n import _
from heat.engine import support
from heat.engine.resource import notation
from heat.engine.resources.openstack.zaqar import zaqar

#: What the service answers with.
_SIGNED = ("expires", "methods", "paths", "project", "signature")


class SignedQueueURL(zaqar.ZaqarResource):
    """Leave to use a queue without logging in, for whoever knows it.

    Nothing is kept by the service: it can't be taken back, only expire.
    """

    support_status = support.SupportStatus(version="8.0.0")

    entity = "signed_queue_url"
    looked_up = False
    properties_schema = notation.properties("""
        methods list{* string (in ["GET", "DELETE", "PATCH", "POST", "PUT"])}
            -- What may be done; the service's default is GET.
        paths list -- What of the queue may be used: messages, subscriptions,
            -- claims; the service's default is messages.
        queue string (required) -- Name of the queue.
        ttl integer -- Seconds until it expires; the service's default is a
            -- day.
    """)
    attributes_schema = notation.attributes("""
        expires string -- When it expires.
        methods list -- What may be done.
        paths list -- What may be used.
        project string -- The project of the queue.
        query_str string -- All of it, as the query of a URI.
        signature string -- The signature.
    """)
    irrecoverable = {
        "signature": _("the signature, which the service showed only once")
    }

    def handle_create(self) -> Any:
        wanted: dict[str, Any] = {
            key: list(self.properties[key])
            for key in ("methods", "paths")
            if self.properties[key]
        }
        if self.properties["ttl"] is not None:
            until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(
                seconds=self.properties["ttl"]
            )
            wanted["expires"] = until.strftime("%Y-%m-%dT%H:%M:%S")
        queue = parse.quote(self.properties["queue"])
        made = self.ask("POST", f"/queues/{queue}/share", body=wanted)
        for key in _SIGNED:
            value = made[key]
            text = value if isinstance(value, str) else json.dumps(value)
            self.data_set(key, text, redact=key == "signature")
        self.resource_id_set(self.physical_resource_name())

    def resume_create(self, found: bool) -> Any:
        return None

    def handle_delete(self) -> Any:
        return None

    def handle_check(self) -> None:
        """There is nothing that could be gone."""

    def get_live_resource_data(self) -> Any:
        return None

    def _show_resource(self) -> dict[str, Any] | None:
        if self.resource_id is None:
            return None
        return {key: self._resolve_attribute(key) for key in _SIGNED}

    def _resolve_attribute(self, name: str) -> Any:
        found = self.data()
        if "signature" not in found:
            return None
        if name == "query_str":
            return parse.urlencode(
                {
                    key: ",".join(_listed(found[key]))
                    for key in _SIGNED
                    if found[key]
                }
            )
        if name in ("methods", "paths"):
            return _listed(found[name])
        return found[name]


def _listed(text: str) -> list[str]:
    """The values of a list that was kept as JSON; a plain text is one."""
    return (
        [str(each) for each in json.loads(text)] if text[:1] == "[" else [text]
    )


def resource_mapping() -> dict[str, Any]:
    return {"OS::Zaqar::SignedQueueURL": SignedQueueURL}
