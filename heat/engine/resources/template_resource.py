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

"""A template as a resource type.

Its parameters are the properties, its outputs the attributes. Every template
makes a class of its own; the same text makes the same class, so a template
that a request uses 400 times is read once.
"""

from __future__ import annotations

import collections
import hashlib
import threading
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from heat.common.i18n import _
from heat.engine import attributes, function, properties
from heat.engine.resource import child
from heat.engine.resources import stack_resource
from heat.engine.template import base as template_base
from heat.engine.template import source

#: Classes kept, the one used last longest.
_KEPT = 256


class TemplateResource(stack_resource.StackResource):
    """A resource that a template defines."""

    #: whatever the template, its children are changed in place
    family = "template"

    template_name: ClassVar[str] = ""
    template_body: ClassVar[Mapping[str, Any]] = {}
    template_digest: ClassVar[str] = ""

    @property
    def template_url(self) -> str | None:
        return self.template_name

    def child_template(self) -> Mapping[str, Any]:
        return self.template_body

    def child_params(self) -> dict[str, Any]:
        """The properties that are given; the child knows the defaults."""
        props = self.properties
        return {
            name: value
            for name in props
            if props.data.get(name) is not None
            and (value := props[name]) is not None
        }

    def params_to_validate(self) -> dict[str, Any]:
        """Without what depends on resources: nobody knows that yet."""
        props = self.properties
        return {
            name: value
            for name in props
            if props.data.get(name) is not None
            and not any(True for _n in function.dependencies(props.data[name]))
            # A parameter without a value stands for what nobody knows yet
            # in the members of a group: given, so it is not missing.
            and (value := props.get_user_value(name)) is not None
        }

    def watched_stack(self) -> str | None:
        return self.child_id

    def _template_digest(self) -> str:
        return self.template_digest

    def validate_policies(self) -> None:
        """Any will do: they are what ``resource_facade`` gives inside."""

    def handle_create(self) -> None:
        self.create_with_template(self.child_template(), self.child_params())

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> None:
        self.properties = json_snippet.properties(
            self.properties_schema, self.context
        )
        self.update_with_template(self.child_template(), self.child_params())

    # -- attributes --------------------------------------------------------

    @classmethod
    def offers(cls, attribute: str) -> bool:
        """Outputs, ``resource.<name>`` of what is inside, and what
        ``get_resource`` gives."""
        return (
            attribute.startswith(child.INNER)
            or attribute == stack_resource.REFERENCE_OUTPUT
            or super().offers(attribute)
        )

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An output, or an attribute of a resource inside: its id when
        ``resource.<name>`` is all that is asked."""
        if key in self.attributes:
            return super().FnGetAtt(key, *path)
        if key == stack_resource.REFERENCE_OUTPUT:
            return self.FnGetRefId()
        if not key.startswith(child.INNER):
            return super().FnGetAtt(key, *path)
        view = self.nested()
        if view is None:
            return None
        name, _dot, rest = key.removeprefix(child.INNER).partition(".")
        inner = self._children().resource(view, name)
        # What is further inside is asked of the one that has it.
        words = [rest] if rest.startswith(child.INNER) else rest.split(".")
        asked = (*words, *path) if rest else path
        return inner.FnGetAtt(*asked) if asked else inner.FnGetRefId()


_lock = threading.Lock()
_classes: collections.OrderedDict[
    tuple[str, str, frozenset[str]], type[TemplateResource]
] = collections.OrderedDict()


def class_of_template(
    name: str, text: str, defaults: Collection[str] = ()
) -> type[TemplateResource]:
    """The resource class that a template makes.

    :param name: of its file, as the type or the registry has it
    :param text: its content
    :param defaults: parameters that have a value whoever uses the template,
        so that the property need not be given
    :raises HeatException, ValueError: of class 400: it is no template
    """
    key = (name, text, frozenset(defaults))
    with _lock:
        found = _classes.get(key)
        if found is not None:
            _classes.move_to_end(key)
            return found
    made = _make(name, text, key[2])
    with _lock:
        _classes[key] = made
        while len(_classes) > _KEPT:
            _classes.popitem(last=False)
    return made


def _make(
    name: str, text: str, defaults: frozenset[str]
) -> type[TemplateResource]:
    body = source.parse(text, _('template "%s"') % name)
    template = template_base.load(body)
    schema = properties.Properties.schema_from_params(
        template.parameter_schemata()
    )
    for param in defaults & schema.keys():
        schema[param].required = False
    outputs = attributes.Attributes.schema_from_outputs(
        template.get("outputs")
    )
    for entry in outputs.values():
        # The child may change without its parent.
        entry.cache_mode = attributes.Schema.CACHE_NONE
    return type(
        "TemplateResource",
        (TemplateResource,),
        {
            "__doc__": template.description,
            "__module__": __name__,
            "template_name": name,
            "template_body": body,
            "template_digest": hashlib.sha256(text.encode()).hexdigest(),
            "properties_schema": schema,
            "attributes_schema": outputs,
        },
    )
