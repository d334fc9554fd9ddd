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
"""HOT: its versions, and how its sections are read.

:data:`VERSIONS` is the table of what each version has; documentation and
the API's lists of versions and functions are made from it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import function, output, parameters, rsrc_defn
from heat.engine.template import core
from heat.engine.template import parameters as reader
from heat.engine.template.functions import (
    cfn,
    collections,
    logic,
    queries,
    references,
    texts,
    transforms,
)

VERSION_KEY = "heat_template_version"

_Functions = dict[str, type[function.Function]]

_GIVE_TRUTH = frozenset({"and", "equals", "not", "or"})


@dataclasses.dataclass(frozen=True)
class Version:
    """What a version has.

    :param name: the date
    :param aliases: other words for it
    :param functions: by the name they're called by
    :param condition_functions: those that may stand in a condition
    :param conditions: the section ``conditions``, and what came with it:
        the resource keys ``external_id`` and ``condition``, the output key
        ``condition``, deletion policies in lower case
    :param modulo: the parameter constraint
    :param tags: the parameter key
    """

    name: str
    aliases: tuple[str, ...]
    functions: Mapping[str, type[function.Function]]
    condition_functions: Mapping[str, type[function.Function]]
    conditions: bool = False
    modulo: bool = False
    tags: bool = False

    @functools.cached_property
    def value_functions(self) -> Mapping[str, type[function.Function]]:
        """Those that may stand in a value.

        What compares and combines in conditions may, too: it gives true or
        false there. No list of the version's functions tells of that.
        """
        more = {
            name: cls
            for name, cls in self.condition_functions.items()
            if name.removeprefix("Fn::").lower() in _GIVE_TRUTH
        }
        return {**more, **self.functions}


#: What each version adds or changes; None takes away.
_Changes = Mapping[str, type[function.Function] | None]

_2013_05_23: _Changes = {
    "Fn::Base64": cfn.Base64,
    "Fn::GetAZs": cfn.GetAZs,
    "Fn::Join": cfn.Join,
    "Fn::MemberListToMap": cfn.MemberListToMap,
    "Fn::Replace": cfn.Replace,
    "Fn::ResourceFacade": cfn.ResourceFacade,
    "Fn::Select": cfn.Select,
    "Fn::Split": cfn.Split,
    "Ref": cfn.Ref,
    "get_attr": references.GetAttrThenSelect,
    "get_file": references.GetFile,
    "get_param": references.GetParam,
    "get_resource": references.GetResource,
    "list_join": transforms.ListJoin,
    "resource_facade": references.ResourceFacade,
    "str_replace": transforms.StrReplace,
}
_2014_10_16: _Changes = {
    **dict.fromkeys(
        name
        for name in _2013_05_23
        if name == "Ref" or name.startswith("Fn::")
    ),
    "Fn::Select": cfn.Select,
    "get_attr": references.GetAttr,
}
_2015_04_30: _Changes = {
    "digest": texts.Digest,
    "repeat": collections.Repeat,
}
_2015_10_15: _Changes = {
    "Fn::Select": None,
    "get_attr": references.GetAttrOrAll,
    "list_join": transforms.ListJoinMany,
    "str_replace": transforms.StrReplaceAny,
    "str_split": texts.StrSplit,
}
_2016_04_08: _Changes = {"map_merge": collections.MapMerge}
_2016_10_14: _Changes = {
    "if": logic.If,
    "map_replace": collections.MapReplace,
    "repeat": collections.RepeatMaps,
    "yaql": queries.Yaql,
}
_2017_02_24: _Changes = {
    "filter": collections.Filter,
    "str_replace_strict": transforms.StrReplaceStrict,
}
_2017_09_01: _Changes = {
    "contains": collections.Contains,
    "list_concat": collections.ListConcat,
    "list_concat_unique": collections.ListConcatUnique,
    "make_url": texts.MakeUrl,
    "repeat": collections.RepeatPermutations,
    "str_replace_vstrict": transforms.StrReplaceVeryStrict,
}
_2021_04_16: _Changes = {"if": logic.IfOrNothing}

_CONDITIONS_2016_10_14: _Changes = {
    "and": logic.And,
    "equals": logic.Equals,
    "get_param": references.GetParam,
    "not": logic.Not,
    "or": logic.Or,
}
_CONDITIONS_2017_09_01: _Changes = {
    "contains": collections.Contains,
    "yaql": queries.Yaql,
}

#: (date, alias, functions, condition functions, what else is new)
_HISTORY: tuple[tuple[str, str, _Changes, _Changes, dict[str, bool]], ...] = (
    ("2013-05-23", "", _2013_05_23, {}, {}),
    ("2014-10-16", "", _2014_10_16, {}, {}),
    ("2015-04-30", "", _2015_04_30, {}, {}),
    ("2015-10-15", "", _2015_10_15, {}, {}),
    ("2016-04-08", "", _2016_04_08, {}, {}),
    (
        "2016-10-14",
        "newton",
        _2016_10_14,
        _CONDITIONS_2016_10_14,
        {"conditions": True},
    ),
    ("2017-02-24", "ocata", _2017_02_24, {}, {"modulo": True}),
    ("2017-09-01", "pike", _2017_09_01, _CONDITIONS_2017_09_01, {}),
    ("2018-03-02", "queens", {}, {}, {"tags": True}),
    ("2018-08-31", "rocky", {}, {}, {}),
    ("2021-04-16", "wallaby", _2021_04_16, {}, {}),
)


def _table() -> Iterator[Version]:
    functions: _Functions = {}
    conditions: _Functions = {}
    features: dict[str, bool] = {}
    for name, alias, changes, condition_changes, more in _HISTORY:
        functions = _changed(functions, changes)
        conditions = _changed(conditions, condition_changes)
        features = {**features, **more}
        aliases = (alias,) if alias else ()
        yield Version(name, aliases, functions, conditions, **features)


def _changed(old: _Functions, changes: _Changes) -> _Functions:
    made: dict[str, type[function.Function] | None] = {**old, **changes}
    return {name: cls for name, cls in sorted(made.items()) if cls is not None}


VERSIONS: Mapping[str, Version] = {v.name: v for v in _table()}

ALIASES: Mapping[str, str] = {
    alias: v.name for v in VERSIONS.values() for alias in v.aliases
}

_SECTIONS: tuple[str, ...] = (
    VERSION_KEY,
    "description",
    "parameter_groups",
    "parameters",
    "resources",
    "outputs",
)
_RESOURCE_KEYS: tuple[str, ...] = (
    "type",
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "description",
)
_OUTPUT_KEYS: tuple[str, ...] = ("value", "description")

_POLICIES = {
    policy.lower(): policy
    for policy in rsrc_defn.ResourceDefinition.DELETION_POLICIES
}

#: Longest name of a resource; it's a column of the database.
_MAX_NAME = 255


def _wrong(path: str, message: str) -> exception.StackValidationFailed:
    return exception.StackValidationFailed(path=path, message=message)


class HOTemplate(core.Template):
    """A template in HOT. Sub-classes have their version as ``spec``."""

    version_key = VERSION_KEY
    spec: Version = VERSIONS["2013-05-23"]

    @property
    def version(self) -> str:
        return self.spec.name

    @property
    def functions(self) -> core.FunctionTable:
        return self.spec.functions

    @property
    def condition_functions(self) -> core.FunctionTable:
        return self.spec.condition_functions

    @property
    def _value_functions(self) -> core.FunctionTable:
        return self.spec.value_functions

    # -- sections -------------------------------------------------------------

    def _read_sections(self) -> dict[str, Any]:
        known: tuple[str, ...] = _SECTIONS
        if self.spec.conditions:
            known = (*known, "conditions")
        for name in self.raw:
            if name not in known:
                raise exception.InvalidTemplateSection(section=name)
        sections = {name: self.raw.get(name) for name in known}
        for name in ("parameters", "resources", "outputs", "conditions"):
            if name in sections:
                sections[name] = self._section_map(name)
        groups = sections["parameter_groups"]
        if groups is not None and not isinstance(groups, list):
            raise _wrong("parameter_groups", _("Must be a list of groups"))
        return sections

    def _section_map(self, name: str) -> dict[str, Any]:
        value = self.raw.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _wrong(
                name,
                _("The section must be a map of names to definitions"),
            )
        return value

    @property
    def description(self) -> str:
        text = self.sections["description"]
        return "No description" if text is None else str(text)

    @functools.cached_property
    def _schemata(self) -> Mapping[str, parameters.ParameterSchema]:
        return reader.read_schemata(
            self.sections["parameters"],
            modulo=self.spec.modulo,
            tags=self.spec.tags,
        )

    def parameter_schemata(self) -> dict[str, parameters.ParameterSchema]:
        return dict(self._schemata)

    def parameter_groups(self) -> list[dict[str, Any]]:
        return reader.read_groups(
            self.sections["parameter_groups"], self.sections["parameters"]
        )

    def check_declarations(self) -> None:
        super().check_declarations()
        if self.spec.tags:
            reader.check_tags(self.sections["parameters"])

    def condition_definitions(self) -> Mapping[str, Any]:
        conditions: Mapping[str, Any] = self.sections.get("conditions", {})
        return conditions

    # -- resources ------------------------------------------------------------

    def resource_names(self) -> Iterator[str]:
        return iter(self.sections["resources"])

    def sure_resources(self) -> int:
        return sum(
            "condition" not in value
            for value in self.sections["resources"].values()
            if isinstance(value, Mapping)
        )

    def resource_definitions(
        self, stack: function.Scope
    ) -> dict[str, rsrc_defn.ResourceDefinition]:
        made: dict[str, rsrc_defn.ResourceDefinition] = {}
        for name, value in self.sections["resources"].items():
            defn = self._resource(stack, name, value)
            if defn is not None:
                made[name] = defn
        return made

    def resource_definition(
        self, stack: function.Scope, name: str
    ) -> rsrc_defn.ResourceDefinition | None:
        found = self.sections["resources"]
        if name not in found:
            return None
        return self._resource(stack, name, found[name])

    def is_enabled(self, stack: function.Scope, name: str) -> bool:
        value = self.sections["resources"].get(name)
        # Most have none, and then nothing need be parsed.
        if isinstance(value, Mapping) and value.get("condition") is None:
            return True
        return super().is_enabled(stack, name)

    def _resource(
        self, stack: function.Scope, name: str, value: Any
    ) -> rsrc_defn.ResourceDefinition | None:
        path = f"resources.{name}"
        _check_name(name, path)
        keys = _RESOURCE_KEYS
        if self.spec.conditions:
            keys = (*keys, "external_id", "condition")
        reader.check_keys(value, keys, path, _("A resource"))
        condition = None
        if value.get("condition") is not None:
            place = f"{path}.condition"
            condition = self.parse_condition(stack, value["condition"], place)
            if not stack.condition(condition, place):
                return None

        def parse(key: str, *kinds: type) -> Any:
            return self._parse_key(stack, value, path, key, kinds)

        return rsrc_defn.ResourceDefinition(
            name,
            _type_of(value, path),
            parse("properties", dict),
            parse("metadata", dict),
            parse("depends_on", str, list),
            self._policy(parse("deletion_policy", str), path),
            parse("update_policy", dict),
            parse("description", str),
            parse("external_id", str),
            condition,
        )

    def _parse_key(
        self,
        stack: function.Scope,
        value: Mapping[str, Any],
        path: str,
        key: str,
        kinds: tuple[type, ...],
    ) -> Any:
        snippet = value.get(key)
        if snippet is None:
            return None
        place = f"{path}.{key}"
        if isinstance(snippet, (dict, list)):
            snippet = self.parse(stack, snippet, place)
        if snippet is None or isinstance(snippet, (*kinds, function.Function)):
            return snippet
        raise _wrong(
            place,
            _("Must be a %s") % _(" or a ").join(_KINDS[k] for k in kinds),
        )

    def _policy(self, value: Any, path: str) -> Any:
        if not isinstance(value, str):
            return value
        if value in _POLICIES.values():
            return value
        if self.spec.conditions and value in _POLICIES:
            return _POLICIES[value]
        known = list(_POLICIES.values())
        if self.spec.conditions:
            known += list(_POLICIES)
        raise _wrong(
            f"{path}.deletion_policy",
            _('Invalid deletion policy "%(value)s", use one of: %(known)s')
            % {"value": value, "known": ", ".join(known)},
        )

    # -- outputs --------------------------------------------------------------

    def output_definitions(
        self, stack: function.Scope
    ) -> dict[str, output.OutputDefinition]:
        return {
            name: self._output(stack, name, value)
            for name, value in self.sections["outputs"].items()
        }

    def _output(
        self, stack: function.Scope, name: str, value: Any
    ) -> output.OutputDefinition:
        path = f"outputs.{name}"
        keys = _OUTPUT_KEYS
        if self.spec.conditions:
            keys = (*keys, "condition")
        reader.check_keys(value, keys, path, _("An output"))
        if "value" not in value:
            raise _wrong(path, _('The key "value" is missing'))
        description = value.get("description")
        if isinstance(description, (dict, list)):
            raise _wrong(f"{path}.description", _("Must be a string"))
        if description is not None:
            description = str(description)
        snippet = self.parse(stack, value["value"], f"{path}.value")
        if value.get("condition") is not None:
            place = f"{path}.condition"
            condition = self.parse_condition(stack, value["condition"], place)
            if not stack.condition(condition, place):
                snippet = None
        return output.OutputDefinition(name, snippet, description)


_KINDS: Mapping[type, str] = {dict: "map", list: "list", str: "string"}


def _check_name(name: str, path: str) -> None:
    if not name or len(name) > _MAX_NAME or "/" in name:
        raise _wrong(
            path,
            _("A resource's name must have 1 to %d characters, none of them /")
            % _MAX_NAME,
        )
    if not name.isprintable():
        raise _wrong(
            f"resources.{name!r}",
            _("A resource's name must consist of printable characters"),
        )


def _type_of(value: Mapping[str, Any], path: str) -> str:
    kind = value.get("type")
    if kind is None:
        raise _wrong(
            path,
            _('The key "type" is missing: name the type of the resource'),
        )
    if not isinstance(kind, str) or not kind:
        raise _wrong(
            f"{path}.type", _("The type of a resource must be a string")
        )
    return kind


def _version_class(version: Version) -> type[HOTemplate]:
    name = "HOTemplate" + version.name.replace("-", "")
    return type(name, (HOTemplate,), {"spec": version})


#: Template classes by version.
CLASSES: Mapping[str, type[HOTemplate]] = {
    name: _version_class(version) for name, version in VERSIONS.items()
}
