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

"""Templates: validation, versions, functions, and resource types."""

from __future__ import annotations

from heat.api import faults, stack_request
from heat.api.request import Answer, Call
from heat.common import exception, urlfetch


def validate_template(call: Call) -> Answer:
    """POST /validate"""
    limits = call.settings
    fetcher = urlfetch.Fetcher(limits.max_template, limits.fetch_timeout)
    asked = stack_request.read(call.body, fetcher.fetch, limits.max_template)
    told = {}
    if asked.environment_files:
        # Only then it matters; otherwise an older engine will do.
        told["explicit_parameters"] = asked.args["explicit_parameters"]
    try:
        row = call.engine.validate_template(
            call.context,
            stack_request.need_template(asked),
            asked.params,
            files=asked.files,
            environment_files=asked.environment_files,
            files_container=asked.files_container,
            show_nested=call.query.get("show_nested", False),
            ignorable_errors=call.query.get("ignore_errors"),
            **told,
        )
    except exception.StackValidationFailed as exc:
        raise faults.NotValid(exc) from exc
    if "Error" in row:
        # How engines of another make say that the template is wrong.
        raise faults.bad_request(str(row["Error"]))
    return Answer(row)


def list_template_versions(call: Call) -> Answer:
    """GET /template_versions"""
    rows = call.engine.list_template_versions(call.context)
    return Answer({"template_versions": rows})


def list_template_functions(call: Call) -> Answer:
    """GET /template_versions/{template_version}/functions"""
    rows = call.engine.list_template_functions(
        call.context,
        call.path["template_version"],
        with_condition=call.query.get("with_condition_func", False),
    )
    return Answer({"template_functions": rows})


def list_resource_types(call: Call) -> Answer:
    """GET /resource_types"""
    rows = call.engine.list_resource_types(
        call.context,
        support_status=call.query.get("support_status"),
        type_name=call.query.get("name"),
        heat_version=call.query.get("version"),
        with_description=call.query.get("with_description", False),
    )
    return Answer({"resource_types": rows})


def resource_schema(call: Call) -> Answer:
    """GET /resource_types/{type_name}"""
    row = call.engine.resource_schema(
        call.context,
        call.path["type_name"],
        with_description=call.query.get("with_description", False),
    )
    return Answer(row)


def generate_template(call: Call) -> Answer:
    """GET /resource_types/{type_name}/template"""
    row = call.engine.generate_template(
        call.context,
        call.path["type_name"],
        template_type=call.query.get("template_type", "cfn"),
    )
    return Answer(row)
