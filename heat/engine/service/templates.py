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

"""RPC methods on templates, environments, outputs and resource types."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.context import RequestContext
from heat.common.i18n import _
from heat.db import templates
from heat.db.stacks import StackRecord
from heat.db.templates import TemplateRecord
from heat.engine.service import base, containers
from heat.engine.stack import (
    environment_views,
    environments,
    outputs,
    validate,
)
from heat.engine.template import base as template_base
from heat.rpc import api, transport

Dict = dict[str, Any]


class TemplateEndpoint(base.Endpoint):
    """Templates, and what stacks were made of."""

    @base.request
    def validate_template(
        self,
        context: RequestContext,
        template: Any,
        params: Dict | None = None,
        files: dict[str, str] | None = None,
        environment_files: list[str] | None = None,
        files_container: str | None = None,
        show_nested: bool = False,
        ignorable_errors: list[str] | None = None,
        explicit_parameters: list[str] | None = None,
    ) -> Dict:
        """Check a template; what its parameters are.

        :param explicit_parameters: names given beside the environment

        :raises StackValidationFailed: and others of class 400
        """
        return transport.Plain(
            validate.validate_template(
                self._engine,
                context,
                template,
                params or {},
                containers.files_of(context, files, files_container),
                environment_files=environment_files,
                show_nested=show_nested,
                ignorable_errors=ignorable_errors,
                explicit_parameters=explicit_parameters,
            )
        )

    @base.request
    def get_template(
        self, context: RequestContext, stack_identity: Dict
    ) -> Dict:
        """The template of a stack, as it was given."""
        stack = self._stack(context, stack_identity, show_deleted=True)
        return self._template(stack).template

    @base.request
    def get_environment(
        self,
        context: RequestContext,
        stack_identity: Dict,
        with_sources: bool = False,
    ) -> Dict:
        """The environment of a stack; hidden parameters are masked.

        :param with_sources: tell where each value comes from as well
        """
        stack = self._stack(context, stack_identity, show_deleted=True)
        shown = self._shown(stack)
        answer = shown.environment()
        if with_sources:
            answer[api.ENVIRONMENT_FILES] = shown.file_names()
            answer[api.ENVIRONMENT_SOURCES] = shown.sources()
        return answer

    @base.request
    def get_files(
        self, context: RequestContext, stack_identity: Dict
    ) -> dict[str, str]:
        """The files of a stack, by name; hidden parameters are masked."""
        stack = self._stack(context, stack_identity, show_deleted=True)
        return self._shown(stack).files()

    @base.request
    def list_outputs(
        self, context: RequestContext, stack_identity: Dict
    ) -> list[Dict]:
        """Keys and descriptions of a stack's outputs."""
        stack = self._stack(context, stack_identity)
        return list(outputs.list_outputs(self._engine, context, stack))

    @base.request
    def show_output(
        self, context: RequestContext, stack_identity: Dict, output_key: str
    ) -> Dict:
        """One output of a stack, with its value.

        :raises NotFound: the stack has none of this name
        """
        stack = self._stack(context, stack_identity)
        return outputs.show(self._engine, context, stack, output_key)

    @base.request
    def list_template_versions(self, context: RequestContext) -> list[Dict]:
        """The template versions that this engine knows, by name."""
        return [
            {
                "version": name,
                "type": "hot" if name.startswith("heat") else "cfn",
                "aliases": [
                    f"{name.partition('.')[0]}.{alias}" for alias in aliases
                ],
            }
            for name, aliases in sorted(template_base.known_versions().items())
        ]

    @base.request
    def list_template_functions(
        self,
        context: RequestContext,
        template_version: str,
        with_condition: bool = False,
    ) -> list[Dict]:
        """The functions of a template version, by name.

        :param template_version: such as ``heat_template_version.rocky``
        :param with_condition: also those that only conditions know
        :raises NotFound: an unknown version
        """
        key, _dot, version = template_version.partition(".")
        try:
            template = template_base.load({key: version})
        except (exception.Invalid, ValueError):
            raise exception.NotFound(
                _("Template with version %s not found") % template_version
            ) from None
        table: dict[str, Any] = dict(template.functions)
        if with_condition:
            table.update(template.condition_functions)
        return [
            {"functions": name, "description": _first_paragraph(table[name])}
            for name in sorted(table)
        ]

    @base.request
    def list_resource_types(
        self,
        context: RequestContext,
        support_status: str | None = None,
        type_name: str | None = None,
        heat_version: str | None = None,
        with_description: bool = False,
    ) -> list[Any]:
        """The resource types that the user can use, by name: the service is
        within reach, and no policy forbids them.

        :param type_name: a regular expression, found at the beginning
        :raises Invalid: it is none, or the status is none
        """
        plugins = self._engine.plugins
        known = plugins.types(support_status, type_name, heat_version)
        allowed = self._engine.type_rules.may_use_resource_type
        known = [each for each in known if allowed(context, each)]
        found = plugins.usable(known, context)
        if not with_description:
            return found
        return [
            {
                api.RES_SCHEMA_RES_TYPE: name,
                api.RES_SCHEMA_DESCRIPTION: plugins.description(name),
            }
            for name in found
        ]

    @base.request
    def resource_schema(
        self,
        context: RequestContext,
        type_name: str,
        with_description: bool = False,
    ) -> Dict:
        """Properties and attributes of a resource type.

        :raises EntityNotFound: there is no such type
        :raises Forbidden: the caller may not use it
        """
        self._allows(context)(type_name)
        return self._engine.plugins.schema(type_name, with_description)

    @base.request
    def generate_template(
        self,
        context: RequestContext,
        type_name: str,
        template_type: str = "cfn",
    ) -> Dict:
        """A template with one resource of the type.

        :param template_type: ``cfn`` or ``hot``
        :raises EntityNotFound: there is no such type
        :raises ValueError: another kind of template
        :raises Forbidden: the caller may not use the type
        """
        self._allows(context)(type_name)
        if template_type not in ("cfn", "hot"):
            raise ValueError(
                _("template_type must be cfn or hot, not %s") % template_type
            )
        return self._engine.plugins.template(type_name, template_type)

    def _shown(self, stack: StackRecord) -> environment_views.Shown:
        record = self._template(stack)
        rows = self._engine.db.read(
            lambda conn: templates.get_layers(conn, record.id)
        )
        declared = template_base.load(record.template, record.files)
        return environment_views.Shown(
            record.files,
            record.environment,
            environments.stored_layers(record, rows),
            declared.parameter_schemata(),
        )

    def _template(self, stack: StackRecord) -> TemplateRecord:
        found = self._engine.db.read(
            lambda conn: templates.get(conn, stack.raw_template_id)
        )
        if found is None:
            raise exception.EntityNotFound(
                entity="Template of stack", name=stack.name
            )
        return found


def _first_paragraph(documented: Mapping[str, Any] | Any) -> str:
    text = inspect.getdoc(documented) or ""
    return " ".join(text.split("\n\n", 1)[0].split())
