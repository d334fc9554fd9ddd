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

"""A vendor's types that are signalled, and that are stacks of their own."""

from heat.common import template_format
from heat.common.i18n import _
from heat.engine import attributes, properties, resource
from heat.engine.resources import signal_responder, stack_resource


class Bell(signal_responder.SignalResponder):
    """Rings when it is signalled."""

    PROPERTIES = (
        LOUDNESS,
        SIGNAL_TRANSPORT,
    ) = (
        "loudness",
        "signal_transport",
    )
    ATTRIBUTES = (RINGS, SIGNAL_ATTR) = ("rings", "signal")

    properties_schema = {
        LOUDNESS: properties.Schema(
            properties.Schema.NUMBER, default=1, update_allowed=True
        ),
        SIGNAL_TRANSPORT: properties.Schema(
            properties.Schema.STRING, default="HEAT_SIGNAL"
        ),
    }
    attributes_schema = {
        RINGS: attributes.Schema(
            _("How often it rang."),
            type=attributes.Schema.INTEGER,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
        SIGNAL_ATTR: attributes.Schema(
            _("How to signal it."),
            type=attributes.Schema.MAP,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name_or_FnGetRefId())
        self.password = "sesame"

    def handle_signal(self, details=None):
        if not details or details.get("state") != "alarm":
            raise resource.NoActionRequired(
                res_name=self.name, reason=_("no alarm")
            )
        self.data_set("rings", str(int(self.data().get("rings", 0)) + 1))
        return "ding"

    def _resolve_attribute(self, name):
        if name == self.RINGS:
            return int(self.data().get("rings", 0))
        if name == self.SIGNAL_ATTR:
            return {"password": self.password}


class Tower(stack_resource.StackResource):
    """Bells, as many as there are words."""

    PROPERTIES = (WORDS,) = ("words",)
    ATTRIBUTES = (COUNT,) = ("count",)

    properties_schema = {
        WORDS: properties.Schema(
            properties.Schema.LIST, required=True, update_allowed=True
        ),
    }
    attributes_schema = {
        COUNT: attributes.Schema(
            _("How many bells there are."), type=attributes.Schema.INTEGER
        ),
    }

    def child_template(self):
        template = template_format.parse("heat_template_version: 2018-08-31")
        template["resources"] = dict(
            (word, {"type": "Vendor::Bells::Bell"})
            for word in self.properties[self.WORDS]
        )
        return template

    def child_params(self):
        return {}

    def handle_create(self):
        return self.create_with_template(
            self.child_template(), self.child_params()
        )

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if prop_diff:
            self.properties = json_snippet.properties(
                self.properties_schema, self.context
            )
            return self.update_with_template(
                self.child_template(), self.child_params()
            )

    def _resolve_attribute(self, name):
        if self.nested() is None:
            return None
        return len(list(self.nested()))


class Silent(resource.Resource):
    """Its service is not there."""

    @classmethod
    def is_service_available(cls, context):
        return False, "nobody rings here"


def available_resource_mapping():
    return {
        "Vendor::Bells::Bell": Bell,
        "Vendor::Bells::Tower": Tower,
        "Vendor::Bells::Silent": Silent,
    }


def resource_mapping():
    raise AssertionError("the other one is asked")
