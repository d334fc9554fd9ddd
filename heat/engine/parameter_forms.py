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

"""Property schemas in the words of template parameters, and back.

Used to generate a template from a type, to let a template act as a type,
and to read the dictionaries by which old plug-ins declared properties.
Pure tables and functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import constraints as constr

#: property type -> parameter type, in the words of CFN templates
PARAMETER_TYPES: dict[str, str] = {
    constr.Schema.STRING: "String",
    constr.Schema.INTEGER: "Number",
    constr.Schema.NUMBER: "Number",
    constr.Schema.BOOLEAN: "Boolean",
    constr.Schema.MAP: "Json",
    constr.Schema.LIST: "CommaDelimitedList",
    constr.Schema.ANY: "String",
}

_HOT_WORDS = {
    "String": "string",
    "Number": "number",
    "Boolean": "boolean",
    "Json": "json",
    "CommaDelimitedList": "comma_delimited_list",
}

_PROPERTY_TYPES = {
    "String": constr.Schema.STRING,
    "Number": constr.Schema.NUMBER,
    "Boolean": constr.Schema.BOOLEAN,
    "Json": constr.Schema.MAP,
    "CommaDelimitedList": constr.Schema.LIST,
}
_PROPERTY_TYPES.update(
    {hot: _PROPERTY_TYPES[cfn] for cfn, hot in _HOT_WORDS.items()}
)


def property_type(parameter_type: str) -> str:
    """The property type that takes a parameter's values."""
    return _PROPERTY_TYPES.get(parameter_type, constr.Schema.STRING)


def generate(
    schema: Mapping[str, Any], template_type: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters for each property, and the properties that use them.

    Hidden properties are left out.

    :param schema: name -> property schema
    :param template_type: ``cfn`` or ``hot``
    """
    parameters: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for name, entry in schema.items():
        if not entry.implemented or entry.support_status.status == "HIDDEN":
            continue
        if template_type == "hot":
            parameters[name] = _hot_parameter(entry)
            properties[name] = {"get_param": name}
        else:
            parameters[name] = _cfn_parameter(entry)
            reference: dict[str, Any] = {"Ref": name}
            if entry.type == constr.Schema.LIST:
                reference = {"Fn::Split": [",", reference]}
            properties[name] = reference
    return parameters, properties


def _default(entry: Any) -> Any:
    if entry.default is not None:
        return entry.default
    if entry.required:
        return None
    # A parameter without a default must be given; an optional property
    # need not be.
    empty: dict[str, Any] = {constr.Schema.MAP: {}, constr.Schema.LIST: []}
    return empty.get(entry.type)


def _hot_parameter(entry: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"type": _HOT_WORDS[PARAMETER_TYPES[entry.type]]}
    if entry.description is not None:
        out["description"] = entry.description
    default = _default(entry)
    if default is not None:
        out["default"] = default
    if entry.constraints:
        out["constraints"] = [dict(c) for c in entry.constraints]
    return out


def _cfn_parameter(entry: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"Type": PARAMETER_TYPES[entry.type]}
    if entry.description is not None:
        out["Description"] = entry.description
    default = _default(entry)
    if default is not None:
        if isinstance(default, list) and not any(
            isinstance(item, dict | list) for item in default
        ):
            default = ",".join(str(item) for item in default)
        out["Default"] = default
    if entry.type == constr.Schema.BOOLEAN:
        out["AllowedValues"] = ["True", "true", "False", "false"]
    for constraint in entry.constraints:
        out.update(_cfn_constraint(constraint))
    return out


def _cfn_constraint(constraint: constr.Constraint) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if isinstance(constraint, constr.Length):
        out = {"MinLength": constraint.min, "MaxLength": constraint.max}
    elif isinstance(constraint, constr.Range):
        out = {"MinValue": constraint.min, "MaxValue": constraint.max}
    elif isinstance(constraint, constr.AllowedValues):
        out = {"AllowedValues": list(constraint.allowed)}
    elif isinstance(constraint, constr.AllowedPattern):
        out = {"AllowedPattern": constraint.pattern}
    return {key: value for key, value in out.items() if value is not None}


_LEGACY = {
    "Type": "data_type",
    "Description": "description",
    "Default": "default",
    "Required": "required",
    "Implemented": "implemented",
    "UpdateAllowed": "update_allowed",
    "Schema": "schema",
}
_LEGACY_CONSTRAINTS = (
    "MinLength",
    "MaxLength",
    "MinValue",
    "MaxValue",
    "AllowedValues",
    "AllowedPattern",
)


def legacy_arguments(entry: Mapping[str, Any], made: Any) -> dict[str, Any]:
    """Constructor arguments for a schema written as a dictionary.

    :param made: the schema class, for nested entries
    :raises heat.common.exception.InvalidSchemaError: for unknown keys
    """
    unknown = set(entry) - set(_LEGACY) - set(_LEGACY_CONSTRAINTS)
    if unknown or "Type" not in entry:
        raise exception.InvalidSchemaError(
            message=_("Unknown key(s) %s in property schema, or no Type")
            % sorted(unknown)
        )
    args = {_LEGACY[k]: v for k, v in entry.items() if k in _LEGACY}
    nested = args.get("schema")
    if nested is not None:
        if args["data_type"] == constr.Schema.LIST:
            args["schema"] = made.from_legacy(nested)
        else:
            args["schema"] = {
                key: made.from_legacy(value) for key, value in nested.items()
            }
    args["constraints"] = _legacy_constraints(entry)
    return args


def _legacy_constraints(entry: Mapping[str, Any]) -> list[constr.Constraint]:
    def number(key: str) -> int | float | None:
        value = entry.get(key)
        return None if value is None else constr.Schema.str_to_num(value)

    out: list[constr.Constraint] = []
    if "MinValue" in entry or "MaxValue" in entry:
        out.append(constr.Range(number("MinValue"), number("MaxValue")))
    if "MinLength" in entry or "MaxLength" in entry:
        out.append(constr.Length(number("MinLength"), number("MaxLength")))
    if "AllowedValues" in entry:
        out.append(constr.AllowedValues(entry["AllowedValues"]))
    if "AllowedPattern" in entry:
        out.append(constr.AllowedPattern(entry["AllowedPattern"]))
    return out
