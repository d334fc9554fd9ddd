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
"""A stack whose template is at a URL."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

from heat.common import config, exception, urlfetch
from heat.common.i18n import _
from heat.engine import resource
from heat.engine.resource import notation
from heat.engine.resources import stack_resource
from heat.engine.template import source

_OUTPUTS = "Outputs."


class NestedStack(stack_resource.StackResource):
    """A stack inside of this one, whose template is read from a URL.

    It is read when the stack is checked, made and updated; when it says
    something else by then, the stack inside is updated. ``Outputs.<name>``
    are its attributes; its reference is its identity.
    """

    PROPERTIES = (TEMPLATE_URL, TIMEOUT, PARAMETERS) = (
        "TemplateURL",
        "TimeoutInMinutes",
        "Parameters",
    )

    properties_schema = notation.properties("""
        TemplateURL string (required, update) -- Where the template is, http
        -- or https.
        TimeoutInMinutes integer (update) -- How long the stack inside may
        -- take; as long as this one, if it is not given.
        Parameters map (update) -- Values of the template's parameters.
    """)

    #: the URL is read when it is decided whether something has changed
    may_block = True

    def watched_stack(self) -> str | None:
        return self.child_id

    # -- what the child is ---------------------------------------------------

    @property
    def template_url(self) -> str | None:
        found: str | None = self.properties[self.TEMPLATE_URL]
        return found

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    def _text(self) -> str:
        """What is at the URL: read once by this object.

        :raises StackValidationFailed: it can't be read
        """
        url = self.properties[self.TEMPLATE_URL]
        if url not in self._texts:
            conf = self.stack.conf
            fetcher = urlfetch.Fetcher(
                config.limit(conf, "max_template_size"),
                float(conf.template_fetch_timeout),
            )
            try:
                self._texts[url] = fetcher.fetch(url)
            except (exception.HeatException, ValueError) as exc:
                raise exception.StackValidationFailed(
                    path=["properties", self.TEMPLATE_URL],
                    message=_("Could not fetch remote template: %s") % exc,
                ) from exc
        return self._texts[url]

    def child_template(self) -> Mapping[str, Any]:
        return source.parse(
            self._text(), _('The template at "%s"') % self.template_url
        )

    def child_params(self) -> dict[str, Any]:
        return dict(self.properties[self.PARAMETERS] or {})

    def _template_digest(self) -> str:
        return hashlib.sha256(self._text().encode()).hexdigest()

    # -- life ----------------------------------------------------------------

    def handle_create(self) -> None:
        self.create_with_template(
            self.child_template(),
            self.child_params(),
            self.properties[self.TIMEOUT],
        )

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        self.properties = json_snippet.properties(
            self.properties_schema, self.context
        )
        self.update_with_template(
            self.child_template(),
            self.child_params(),
            self.properties[self.TIMEOUT],
        )

    # -- attributes ----------------------------------------------------------

    @classmethod
    def offers(cls, attribute: str) -> bool:
        return attribute.startswith(_OUTPUTS) or super().offers(attribute)

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An output of the stack inside, ``Outputs.<name>``.

        :raises InvalidTemplateAttribute: it is none
        """
        if not key.startswith(_OUTPUTS):
            return super().FnGetAtt(key, *path)
        return self.get_output(key.removeprefix(_OUTPUTS))


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"AWS::CloudFormation::Stack": NestedStack}
