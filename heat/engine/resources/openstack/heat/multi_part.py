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

"""OS::Heat::MultipartMime: several configs in one document."""

from __future__ import annotations

import email
from email.mime import base as mime_base
from email.mime import multipart, text
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints, properties, resource, support
from heat.engine.resources import software_config
from heat.engine.software import configs
from heat.rpc import api


class MultipartMime(software_config.ConfigResource):
    """Configs put together as the parts of a MIME document.

    cloud-init takes such a document for user data.
    """

    entity = "software_configs"
    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (PARTS, GROUP) = ("parts", "group")
    PART_KEYS = (CONFIG, FILENAME, TYPE, SUBTYPE) = (
        "config",
        "filename",
        "type",
        "subtype",
    )
    TYPES = (TEXT, MULTIPART) = ("text", "multipart")

    properties_schema = {
        PARTS: properties.Schema(
            properties.Schema.LIST,
            _("The parts, in their order."),
            default=[],
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CONFIG: properties.Schema(
                        properties.Schema.STRING,
                        _("A text, or the id of a software config."),
                        required=True,
                    ),
                    FILENAME: properties.Schema(
                        properties.Schema.STRING,
                        _("The name of the part."),
                    ),
                    TYPE: properties.Schema(
                        properties.Schema.STRING,
                        _("Whether it is one part, or many in one."),
                        default=TEXT,
                        constraints=[constraints.AllowedValues(TYPES)],
                    ),
                    SUBTYPE: properties.Schema(
                        properties.Schema.STRING,
                        _("The MIME type after the slash."),
                    ),
                },
            ),
        ),
        GROUP: software_config.group_schema(),
    }

    def content(self) -> dict[str, Any]:
        return {
            "group": self.properties[self.GROUP],
            "config": self._document(),
        }

    def _document(self) -> str:
        whole = multipart.MIMEMultipart()
        for part in self.properties[self.PARTS] or ():
            content = self._text(part[self.CONFIG])
            if part[self.TYPE] == self.MULTIPART:
                self._add_many(whole, content)
                continue
            subtype = part[self.SUBTYPE] or "plain"
            _add(whole, content, subtype, part[self.FILENAME])
        return whole.as_string()

    def _add_many(self, whole: multipart.MIMEMultipart, content: str) -> None:
        message = email.message_from_string(content)
        for each in message.walk():
            if not each.is_multipart():
                whole.attach(each)

    def _text(self, config: str) -> str:
        """The config of this id; a text that is none as it is."""
        try:
            found = configs.show(self.stack.db, self.context, config)
        except exception.EntityNotFound:
            return config
        return str(found[api.SOFTWARE_CONFIG_CONFIG] or "")


def _add(
    whole: multipart.MIMEMultipart,
    content: str,
    subtype: str,
    filename: str | None,
) -> None:
    made: mime_base.MIMEBase
    try:
        made = text.MIMEText(content, subtype, "us-ascii")
    except UnicodeEncodeError:
        made = text.MIMEText(content, subtype, "utf-8")
    if filename:
        made.add_header("Content-Disposition", "attachment", filename=filename)
    whole.attach(made)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::MultipartMime": MultipartMime}
