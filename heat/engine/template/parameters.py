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
"""The ``parameters`` and ``parameter_groups`` sections of HOT.

Reads declarations into :class:`heat.engine.parameters.ParameterSchema`, and
turns those into the answer of a validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from heat.common import exception, kept
from heat.common.i18n import _
from heat.engine import constraints, parameters

TYPES = {
    "string": parameters.STRING,
    "number": parameters.NUMBER,
    "comma_delimited_list": parameters.COMMA_DELIMITED_LIST,
    "json": parameters.JSON,
    "boolean": parameters.BOOLEAN,
}

KEYS = (
    "type",
    "description",
    "default",
    "schema",
    "constraints",
    "hidden",
    "label",
    "immutable",
)
_KNOWN = {False: KEYS, True: (*KEYS, "tags")}
_KNOWN_SETS = {tags: frozenset(keys) for tags, keys in _KNOWN.items()}
#: Most declarations say no more than this.
_SHORT = frozenset(("type", "default"))
#: What is told apart by its JSON.
_PLAIN_ONLY: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
GROUP_KEYS = ("label", "description", "parameters")


def _wrong(path: str, message: str) -> exception.StackValidationFailed:
    return exception.StackValidationFailed(path=path, message=message)


def _known(keys: Any) -> str:
    return ", ".join(keys)


def check_keys(
    value: Any, known: tuple[str, ...], path: str, what: str
) -> Mapping[str, Any]:
    """The value, a map of known keys.

    :raises StackValidationFailed: naming the place, and what is known
    """
    if not isinstance(value, dict):
        raise _wrong(
            path,
            _("%(what)s must be a map with the keys %(known)s")
            % {"what": what, "known": _known(known)},
        )
    for key in value:
        if key not in known:
            raise _wrong(
                f"{path}.{key}",
                _('"%(key)s" is no key of %(what)s, known are: %(known)s')
                % {"key": key, "what": what.lower(), "known": _known(known)},
            )
    return value


def _length(value: Any, description: str | None) -> constraints.Constraint:
    return constraints.Length(value.get("min"), value.get("max"), description)


def _range(value: Any, description: str | None) -> constraints.Constraint:
    return constraints.Range(value.get("min"), value.get("max"), description)


def _modulo(value: Any, description: str | None) -> constraints.Constraint:
    return constraints.Modulo(
        value.get("step"), value.get("offset"), description
    )


#: kind -> (keys of a map, or the wanted type, maker)
_Maker = Callable[[Any, str | None], constraints.Constraint]
_CONSTRAINTS: dict[str, tuple[tuple[str, ...] | type, _Maker]] = {
    "length": (("min", "max"), _length),
    "range": (("min", "max"), _range),
    "modulo": (("step", "offset"), _modulo),
    "allowed_values": (list, constraints.AllowedValues),
    "allowed_pattern": (str, constraints.AllowedPattern),
    "custom_constraint": (str, constraints.CustomConstraint),
}


#: The kinds of versions that do not have ``modulo`` yet.
_EARLY_CONSTRAINTS: Final = tuple(
    kind for kind in _CONSTRAINTS if kind != "modulo"
)


def _read_constraints(
    holder: Mapping[str, Any], place: str, modulo: bool
) -> Iterator[constraints.Constraint]:
    value = holder.get("constraints")
    if value is None:
        return
    path = f"{place}.constraints"
    kinds = tuple(_CONSTRAINTS) if modulo else _EARLY_CONSTRAINTS
    if not isinstance(value, list):
        raise _wrong(path, _("The constraints must be a list"))
    for index, one in enumerate(value):
        yield _read_constraint(one, f"{path}[{index}]", kinds)


def _read_constraint(
    value: Any, path: str, kinds: tuple[str, ...]
) -> constraints.Constraint:
    check_keys(value, ("description", *kinds), path, _("A constraint"))
    found = [kind for kind in kinds if kind in value]
    if len(found) != 1:
        raise _wrong(
            path,
            _("A constraint needs exactly one of the keys %s") % _known(kinds),
        )
    [kind] = found
    demand = value[kind]
    shape, maker = _CONSTRAINTS[kind]
    place = f"{path}.{kind}"
    if isinstance(shape, tuple):
        check_keys(demand, shape, place, kind)
    elif not isinstance(demand, shape):
        raise _wrong(
            place,
            _("Must be a %s") % ("list" if shape is list else "string"),
        )
    description = value.get("description")
    if description is not None and not isinstance(description, str):
        description = str(description)
    try:
        return maker(demand, description)
    except (exception.InvalidSchemaError, ValueError, TypeError) as exc:
        raise _wrong(place, str(exc)) from exc


# Most keys of most declarations are not there: their places are put into
# words only for an error.


def _read_flag(holder: Mapping[str, Any], key: str, place: str) -> bool:
    value = holder.get(key)
    if value is None:
        return False
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in ("true", "false"):
        return word == "true"
    raise _wrong(f"{place}.{key}", _("Must be true or false"))


def _read_text(holder: Mapping[str, Any], key: str, place: str) -> str | None:
    value = holder.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        raise _wrong(f"{place}.{key}", _("Must be a string"))
    return str(value)


def _read_tags(holder: Mapping[str, Any], place: str) -> list[str]:
    value = holder.get("tags")
    if value is None:
        return []
    if isinstance(value, str):
        return [tag.strip() for tag in value.split(",") if tag.strip()]
    if not isinstance(value, list) or not all(
        isinstance(tag, str) for tag in value
    ):
        raise _wrong(f"{place}.tags", _("The tags must be a list of strings"))
    return value


# Declarations by their texts: they are a hundred bytes each, what is made of
# them ten times that. A template comes with every request on its stack.
_kept: kept.Kept[dict[str, parameters.ParameterSchema]] = kept.Kept(
    2 * 2**20, 1 / 2
)


def read_schemata(
    section: Mapping[str, Any], *, modulo: bool, tags: bool
) -> Mapping[str, parameters.ParameterSchema]:
    """All declarations of a template, read once as long as they are used.

    :param section: plain values
    :param modulo: the version has the ``modulo`` constraint
    :param tags: the version has the key ``tags``
    :returns: by name; neither they nor their defaults may be changed
    :raises StackValidationFailed: naming the place
    """

    def read() -> dict[str, parameters.ParameterSchema]:
        return {
            name: read_schema(name, value, modulo=modulo, tags=tags)
            for name, value in section.items()
        }

    try:
        text = orjson.dumps((modulo, tags, section), option=_PLAIN_ONLY)
    except TypeError:
        # No plain values, which a plug-in may have put there.
        return read()
    return _kept.get(text, read)


def read_schema(
    name: str, value: Any, *, modulo: bool, tags: bool
) -> parameters.ParameterSchema:
    """One declaration.

    :param modulo: the version has the ``modulo`` constraint
    :param tags: the version has the key ``tags``
    :raises StackValidationFailed: naming the place
    """
    path = f"parameters.{name}"
    keys = value.keys() if isinstance(value, dict) else None
    is_short = keys is not None and keys <= _SHORT
    if not is_short and (keys is None or not keys <= _KNOWN_SETS[tags]):
        # There may be thousands: words are looked up for a wrong one only.
        check_keys(value, _KNOWN[tags], path, _("A parameter"))
    if value.get("type") is None:
        raise _wrong(
            path,
            _('The key "type" is missing, use one of: %s') % _known(TYPES),
        )
    kind = value["type"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise _wrong(
            f"{path}.type",
            _('Invalid type "%(kind)s", use one of: %(known)s')
            % {"kind": kind, "known": _known(TYPES)},
        )
    if name in parameters.PSEUDO:
        raise _wrong(path, _("The name is that of a pseudo parameter"))
    default = value.get("default")
    if is_short:
        return parameters.ParameterSchema(name, TYPES[kind], default=default)
    made = parameters.ParameterSchema(
        name,
        TYPES[kind],
        default=default,
        description=_read_text(value, "description", path),
        label=_read_text(value, "label", path),
        hidden=_read_flag(value, "hidden", path),
        immutable=_read_flag(value, "immutable", path),
        constraints=_read_constraints(value, path, modulo),
        tags=_read_tags(value, path),
    )
    if value.get("schema") is not None:
        _read_inside(made, value["schema"], path, modulo, tags)
    return made


def _read_inside(
    made: parameters.ParameterSchema,
    given: Any,
    path: str,
    modulo: bool,
    tags: bool,
) -> None:
    """The key ``schema``: declarations of what is in a map or list.

    Of a json parameter a map of keys to declarations, in which ``required``
    may stand as well; of a list one declaration, or ``{"*": declaration}``.
    Keys that are not declared may hold anything.
    """
    place = f"{path}.schema"
    if made.type not in (parameters.JSON, parameters.COMMA_DELIMITED_LIST):
        raise _wrong(
            place,
            _("Only types json and comma_delimited_list can have a schema"),
        )
    if not isinstance(given, dict) or not given:
        raise _wrong(place, _("Must be a map of declarations"))

    def read(key: str, value: Any) -> parameters.ParameterSchema:
        name = f"{made.name}.{key}"
        if isinstance(value, dict):
            # Whose parts are secret is a secret in all its parts.
            value = {k: v for k, v in value.items() if k != "required"} | {
                "hidden": made.hidden
            }
        return read_schema(name, value, modulo=modulo, tags=tags)

    if made.type == parameters.COMMA_DELIMITED_LIST:
        made.items_schema = read("*", given.get("*", given))
        return
    made.fields = {key: read(key, value) for key, value in given.items()}
    made.required_fields = frozenset(
        key
        for key, value in given.items()
        if _read_flag(value, "required", f"{place}.{key}")
    )


def check_tags(section: Mapping[str, Any]) -> None:
    """Check that tags are lists, where a template is new.

    Reading is no place for it: stacks are stored whose tags are a text.

    :param section: plain values, which could be read
    :raises StackValidationFailed: naming the place
    """
    for name, value in section.items():
        if isinstance(value.get("tags"), str):
            raise _wrong(
                f"parameters.{name}.tags",
                _("Tags property should be a list for parameter: %s") % name,
            )


def read_groups(value: Any, declared: Any) -> list[dict[str, Any]]:
    """The parameter groups.

    :param declared: names of the declared parameters
    :raises StackValidationFailed: for a wrong group, an unknown parameter,
        or one that is in two groups
    """
    if value is None:
        return []
    try:
        return _read_groups(value, declared)
    except exception.StackValidationFailed as exc:
        raise exception.StackValidationFailed(
            _("Parameter Groups error"), exc.path, exc.error_message
        ) from exc


def _read_groups(value: Any, declared: Any) -> list[dict[str, Any]]:
    section = "parameter_groups"
    if not isinstance(value, list):
        raise _wrong(section, _("Must be a list of groups"))
    seen: set[str] = set()
    for index, group in enumerate(value):
        path = f"{section}[{index}]"
        check_keys(group, GROUP_KEYS, path, _("A parameter group"))
        names = group.get("parameters")
        if not isinstance(names, list) or not all(
            isinstance(name, str) for name in names
        ):
            raise _wrong(
                f"{path}.parameters",
                _("The parameters must be given as a list of names"),
            )
        for name in names:
            if name not in declared:
                raise _wrong(
                    f"{path}.parameters",
                    _('The parameter "%s" is not declared') % name,
                )
            if name in seen:
                raise _wrong(
                    f"{path}.parameters",
                    _('The parameter "%s" must be in one group only') % name,
                )
            seen.add(name)
    return value


def _answer_length(constraint: Any) -> Iterator[tuple[str, Any]]:
    yield "MinLength", constraint.min
    yield "MaxLength", constraint.max


def _answer_range(constraint: Any) -> Iterator[tuple[str, Any]]:
    yield "MinValue", constraint.min
    yield "MaxValue", constraint.max


_ANSWERS: dict[str, Callable[[Any], Iterator[tuple[str, Any]]]] = {
    "length": _answer_length,
    "range": _answer_range,
    "modulo": lambda c: iter((("Step", c.step), ("Offset", c.offset))),
    "allowed_values": lambda c: iter((("AllowedValues", list(c.allowed)),)),
    "allowed_pattern": lambda c: iter((("AllowedPattern", c.pattern),)),
    "custom_constraint": lambda c: iter((("CustomConstraint", c.name),)),
}


def validate_answer(
    schema: parameters.ParameterSchema, value: Any = None, default: Any = None
) -> dict[str, Any]:
    """A parameter in the answer of a validation.

    :param value: what somebody gave for it, None for nothing
    :param default: what stands in place of the template's default, None for
        nothing
    :returns: the keys of the RPC contract: Type, Default, NoEcho, ...
    """
    answer: dict[str, Any] = {
        "Type": schema.type,
        "Description": schema.description or "",
        "NoEcho": "true" if schema.hidden else "false",
        "Label": schema.label or schema.name,
    }
    if default is not None:
        answer["Default"] = parameters.MASK if schema.hidden else default
    elif schema.has_default:
        answer["Default"] = schema.default
    if value is not None:
        answer["Value"] = parameters.MASK if schema.hidden else value
    if schema.constraints:
        _answer_constraints(schema, answer)
    if schema.tags:
        answer["Tags"] = list(schema.tags)
    return answer


def _answer_constraints(
    schema: parameters.ParameterSchema, answer: dict[str, Any]
) -> None:
    descriptions = []
    for constraint in schema.constraints:
        for key, demand in _ANSWERS[constraint.kind](constraint):
            if demand is not None:
                answer[key] = demand
        if constraint.description:
            descriptions.append(constraint.description)
    if descriptions:
        answer["ConstraintDescription"] = " ".join(dict.fromkeys(descriptions))
