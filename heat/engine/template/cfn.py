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
"""CloudFormation templates, in the two versions that Heat reads.

``AWSTemplateFormatVersion`` and ``HeatTemplateFormatVersion`` are one
language here. A body is brought into the shape of HOT as it's read: the
same definitions, parameters, conditions and outputs come out, so that
nothing behind a template asks which language it was in. What can't be read
is refused in the words of the template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from heat.common import exception, identifier
from heat.common.i18n import _
from heat.engine import constraints, function, parameters, rsrc_defn
from heat.engine.template import hot
from heat.engine.template import parameters as reader
from heat.engine.template.functions import cfn, cfn_logic

AWS_KEY: Final = "AWSTemplateFormatVersion"
HEAT_KEY: Final = "HeatTemplateFormatVersion"

_FUNCTIONS: Final[Mapping[str, type[function.Function]]] = {
    "Fn::Base64": cfn.Base64,
    "Fn::FindInMap": cfn.FindInMap,
    "Fn::GetAZs": cfn.GetAZs,
    "Fn::GetAtt": cfn.GetAtt,
    "Fn::If": cfn_logic.If,
    "Fn::Join": cfn.Join,
    "Fn::MemberListToMap": cfn.MemberListToMap,
    "Fn::Replace": cfn.Replace,
    "Fn::ResourceFacade": cfn.ResourceFacade,
    "Fn::Select": cfn.Select,
    "Fn::Split": cfn.Split,
    "Ref": cfn.RefOrNothing,
}
_CONDITION_FUNCTIONS: Final[Mapping[str, type[function.Function]]] = {
    "Condition": cfn_logic.Condition,
    "Fn::And": cfn_logic.And,
    "Fn::Equals": cfn_logic.Equals,
    "Fn::FindInMap": cfn.FindInMap,
    "Fn::Join": cfn.Join,
    "Fn::Not": cfn_logic.Not,
    "Fn::Or": cfn_logic.Or,
    "Fn::Select": cfn.Select,
    "Fn::Split": cfn.Split,
    "Ref": cfn.ParamRef,
}

#: What each section is called in HOT.
_SECTIONS: Final = {
    "Description": "description",
    "Parameters": "parameters",
    "Mappings": "Mappings",
    "Conditions": "conditions",
    "Resources": "resources",
    "Outputs": "outputs",
}
_RESOURCE_KEYS: Final = {
    "Type": "type",
    "Properties": "properties",
    "Metadata": "metadata",
    "DependsOn": "depends_on",
    "DeletionPolicy": "deletion_policy",
    "UpdatePolicy": "update_policy",
    "Description": "description",
    "Condition": "condition",
}
_OUTPUT_KEYS: Final = {
    "Value": "value",
    "Description": "description",
    "Condition": "condition",
}
_TYPES: Final = {
    parameters.STRING: "string",
    parameters.NUMBER: "number",
    parameters.COMMA_DELIMITED_LIST: "comma_delimited_list",
    parameters.JSON: "json",
    parameters.BOOLEAN: "boolean",
}
_PARAMETER_KEYS: Final = {
    "Type": "type",
    "Description": "description",
    "Default": "default",
    "NoEcho": "hidden",
    "Label": "label",
}
_CONSTRAINT_KEYS: Final = (
    "MinLength",
    "MaxLength",
    "MinValue",
    "MaxValue",
    "AllowedValues",
    "AllowedPattern",
    "ConstraintDescription",
)

#: The pseudo parameters.
PSEUDO: Final = ("AWS::StackName", "AWS::StackId", "AWS::Region")


def _wrong(path: str, message: str) -> exception.StackValidationFailed:
    return exception.StackValidationFailed(path=path, message=message)


class CfnTemplate(hot.HOTemplate):
    """A CloudFormation template, its sections in the shape of HOT.

    ``sections`` has HOT's names, and ``Mappings``.
    """

    version_key = HEAT_KEY
    words: Mapping[str, str] = {
        word: own
        for table in (_SECTIONS, _RESOURCE_KEYS, _OUTPUT_KEYS)
        for own, word in table.items()
    }

    def _read_sections(self) -> dict[str, Any]:
        known = (self.version_key, *_SECTIONS)
        for name in self.raw:
            if name not in known:
                raise exception.InvalidTemplateSection(section=name)
        return {
            self.version_key: self.raw.get(self.version_key),
            "description": self.raw.get("Description"),
            "parameter_groups": None,
            "Mappings": _mappings(self._section_map("Mappings")),
            "conditions": self._section_map("Conditions"),
            "parameters": {
                name: _parameter(name, value)
                for name, value in self._section_map("Parameters").items()
            },
            "resources": {
                name: _renamed(
                    value, _RESOURCE_KEYS, f"Resources.{name}", _("A resource")
                )
                for name, value in self._section_map("Resources").items()
            },
            "outputs": {
                name: _output(name, value)
                for name, value in self._section_map("Outputs").items()
            },
        }

    def _policy(self, value: Any, path: str) -> Any:
        known = rsrc_defn.ResourceDefinition.DELETION_POLICIES
        if value is None or value in known:
            return value
        raise _wrong(
            f"{path}.DeletionPolicy",
            _('Invalid deletion policy "%(value)s", use one of: %(known)s')
            % {"value": function.render(value), "known": ", ".join(known)},
        )

    def pseudo_parameters(
        self, identity: identifier.HeatIdentifier | None, region: str | None
    ) -> dict[str, str | None]:
        if identity is None:
            return dict.fromkeys(PSEUDO)
        arn = identity.arn() if identity.stack_id else None
        return dict(
            zip(PSEUDO, (identity.stack_name, arn, region), strict=True)
        )


def _renamed(
    value: Any, keys: Mapping[str, str], path: str, what: str
) -> dict[str, Any]:
    """A definition with the keys that HOT has for it."""
    reader.check_keys(value, tuple(keys), path, what)
    return {keys[key]: part for key, part in value.items()}


def _output(name: str, value: Any) -> dict[str, Any]:
    path = f"Outputs.{name}"
    made = _renamed(value, _OUTPUT_KEYS, path, _("An output"))
    if "value" not in made:
        raise _wrong(path, _('The key "Value" is missing'))
    return made


def _mappings(value: dict[str, Any]) -> dict[str, Any]:
    for name, mapping in value.items():
        path = f"Mappings.{name}"
        if not isinstance(mapping, dict):
            raise _wrong(path, _("A mapping must be a map of maps"))
        for key, entry in mapping.items():
            if not isinstance(entry, dict):
                raise _wrong(
                    f"{path}.{key}", _("An entry of a mapping must be a map")
                )
    return value


# -- parameters ---------------------------------------------------------------


def _parameter(name: str, value: Any) -> dict[str, Any]:
    """A declaration as HOT writes it."""
    path = f"Parameters.{name}"
    known = (*_PARAMETER_KEYS, *_CONSTRAINT_KEYS)
    reader.check_keys(value, known, path, _("A parameter"))
    kind = value.get("Type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise _wrong(
            f"{path}.Type",
            _('Invalid type "%(kind)s", use one of: %(known)s')
            % {"kind": kind, "known": ", ".join(_TYPES)},
        )
    made = {
        hot_key: value[key]
        for key, hot_key in _PARAMETER_KEYS.items()
        if key in value
    }
    made["type"] = _TYPES[kind]
    made["constraints"] = list(_constraints(value, path))
    return made


def _constraints(
    value: Mapping[str, Any], path: str
) -> Iterator[dict[str, Any]]:
    described = {}
    text = value.get("ConstraintDescription")
    if text is not None:
        described = {"description": str(text)}
    for kind, least, most in (
        ("length", "MinLength", "MaxLength"),
        ("range", "MinValue", "MaxValue"),
    ):
        bounds = {
            word: _number(value[key], f"{path}.{key}")
            for word, key in (("min", least), ("max", most))
            if value.get(key) is not None
        }
        if bounds:
            yield {kind: bounds, **described}
    shapes: tuple[tuple[str, str, type, str], ...] = (
        ("allowed_values", "AllowedValues", list, _("Must be a list")),
        ("allowed_pattern", "AllowedPattern", str, _("Must be a string")),
    )
    for kind, key, shape, complaint in shapes:
        demand = value.get(key)
        if demand is None:
            continue
        if not isinstance(demand, shape):
            raise _wrong(f"{path}.{key}", complaint)
        yield {kind: demand, **described}


def _number(value: Any, path: str) -> int | float:
    """A limit; in these templates numbers often stand in quotes."""
    try:
        return constraints.Schema.str_to_num(value)
    except ValueError as exc:
        raise _wrong(path, str(exc)) from exc


# -- versions -----------------------------------------------------------------


def _version_class(key: str, name: str, prefix: str) -> type[CfnTemplate]:
    version = hot.Version(
        name, (), _FUNCTIONS, _CONDITION_FUNCTIONS, conditions=True
    )
    return type(
        f"{prefix}Template{name.replace('-', '')}",
        (CfnTemplate,),
        {"version_key": key, "spec": version},
    )


#: Template classes by key and version.
CLASSES: Mapping[tuple[str, str], type[CfnTemplate]] = {
    (AWS_KEY, "2010-09-09"): _version_class(AWS_KEY, "2010-09-09", "Cfn"),
    (HEAT_KEY, "2012-12-12"): _version_class(HEAT_KEY, "2012-12-12", "Heat"),
}
