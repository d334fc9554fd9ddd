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

"""Checking bodies and queries against JSON Schemas.

An error names the place in the body (or the parameter of the query), what
was expected there and what was found. This module knows no schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema
from jsonschema import exceptions as schema_errors
from oslo_utils import strutils
from werkzeug import datastructures, wsgi
from werkzeug import exceptions as http_errors

from heat.api import faults
from heat.common import exception
from heat.common.i18n import _

# Containers inside containers; templates have a limit of their own, this
# one keeps the interpreter's recursion limit out of reach of a body.
MAX_DEPTH = 200

_CONTAINERS = frozenset((dict, list))

_SHOWN = 80
_TYPE_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


class Body:
    """The schema of a request's body.

    :param schema: JSON Schema of the body
    :param optional: the body may be missing, it is None then
    """

    def __init__(
        self, schema: Mapping[str, Any], optional: bool = False
    ) -> None:
        self.schema = schema
        self.optional = optional
        self._validator = jsonschema.Draft202012Validator(schema)

    def check(self, body: Any) -> Any:
        """Give the body back.

        :raises HTTPError: 400, naming the place and the rule
        """
        if body is None and self.optional:
            return None
        error = schema_errors.best_match(self._validator.iter_errors(body))
        if error is not None:
            raise faults.bad_request(_explain(error, "the request body"))
        return body


class Query:
    """The schema of a request's query: parameter -> schema of its value.

    The schema's type says how the text is read. A value that no schema
    names is ignored, unless the query is ``closed``.
    """

    def __init__(
        self, parameters: Mapping[str, Mapping[str, Any]], closed: bool = False
    ) -> None:
        self.parameters = parameters
        self.closed = closed
        self._validator = jsonschema.Draft202012Validator(
            {"type": "object", "properties": dict(parameters)}
        )

    def read(
        self, query: datastructures.MultiDict[str, str]
    ) -> dict[str, Any]:
        """The values, converted.

        :raises HTTPError: 400, naming the parameter and the rule
        """
        values: dict[str, Any] = {}
        for name, given in query.lists():
            schema = self.parameters.get(name)
            if any("\0" in text for text in given):
                raise faults.bad_request(
                    f"{_shown(name)} in the query holds a NUL character"
                )
            if schema is not None:
                if "".join(given) or not _may_be_left_empty(schema):
                    values[name] = _convert(schema, given)
            elif self.closed:
                raise faults.bad_request(
                    f"Unknown parameter {_shown(name)} in the query; "
                    f"expected: {', '.join(sorted(self.parameters))}"
                )
        error = schema_errors.best_match(self._validator.iter_errors(values))
        if error is not None:
            raise faults.bad_request(_explain(error, "the query"))
        return values


def read_body(environ: dict[str, Any], limit: int) -> bytes | None:
    """The body of a WSGI request; None: the connection broke before its end.

    :param limit: the most bytes it may have
    :raises RequestLimitExceeded: it is longer
    """
    try:
        return wsgi.get_input_stream(environ, max_content_length=limit).read()
    except http_errors.RequestEntityTooLarge:
        raise exception.RequestLimitExceeded(
            message=_("the body is longer than %s bytes") % limit
        ) from None
    except http_errors.HTTPException:
        return None


def parse_json(raw: bytes) -> Any:
    """Read a body; None when it is empty.

    :raises HTTPError: 400: not JSON (naming line and column), not Unicode,
        or nested too deeply
    """
    if not raw.strip():
        return None
    try:
        text = raw.decode("utf-8-sig")
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite
        )
    except json.JSONDecodeError as exc:
        raise faults.bad_request(
            f"The request body is not JSON: line {exc.lineno}, column "
            f"{exc.colno}: {exc.msg}"
        ) from None
    except UnicodeDecodeError as exc:
        raise faults.bad_request(
            f"The request body is not UTF-8: byte {exc.start}"
        ) from None
    except ValueError as exc:
        raise faults.bad_request(
            f"The request body is not JSON: {exc}"
        ) from None
    except RecursionError:
        raise faults.bad_request(_too_deep()) from None
    _check_depth(value)
    if "\\u" in text:
        _check_unicode(value)
    return value


def is_true(value: bool | str) -> bool:
    """A boolean that may be given as a word; the schema has checked it."""
    return value if isinstance(value, bool) else value.lower() == "true"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:_SHOWN]} is too large a number")
    return number


def _too_deep() -> str:
    return f"The request body is nested more than {MAX_DEPTH} levels deep"


def _check_depth(value: Any) -> None:
    # What json makes is of these types, not of any derived from them.
    level = [value] if type(value) in _CONTAINERS else []
    for _depth in range(MAX_DEPTH + 1):
        level = [
            item
            for each in level
            for item in (each.values() if type(each) is dict else each)
            if type(item) in _CONTAINERS
        ]
        if not level:
            return
    raise faults.bad_request(_too_deep())


def _check_unicode(value: Any) -> None:
    # Half a surrogate pair is valid JSON, but no text that can be stored.
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise faults.bad_request(
            "The request body holds half of a surrogate pair (\\ud800 to "
            "\\udfff), which is not a character"
        ) from None


def _convert(schema: Mapping[str, Any], given: list[str]) -> Any:
    """The text of a parameter as its type; unreadable text stays text."""
    kind = schema.get("type")
    if kind == "array":
        return list(_split(given, schema.get("x-split", "")))
    if kind == ["string", "array"]:
        return given[0] if len(given) == 1 else given
    text = given[-1]
    if kind == "integer":
        digits = text.strip()
        # ASCII digits only, and not so many that reading them takes long.
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            return int(digits)
    elif kind == "boolean":
        try:
            return strutils.bool_from_string(text, strict=True)
        except ValueError:
            return text
    return text


def _may_be_left_empty(schema: Mapping[str, Any]) -> bool:
    """Whether ``name=`` says no more than if it were not there.

    A client that fills in a form sends fields that nobody has filled.
    """
    return schema.get("type") not in ("integer", "boolean")


def _split(given: list[str], separators: str) -> Iterable[str]:
    for text in given:
        if not separators:
            yield text
            continue
        for mark in separators[1:]:
            text = text.replace(mark, separators[0])
        for part in text.split(separators[0]):
            yield part.strip()


def _explain(error: jsonschema.ValidationError, whole: str) -> str:
    place = _place(error.absolute_path) or whole
    return f"{place}: {_rule(error)}"


def _place(path: Iterable[str | int]) -> str:
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        else:
            name = part if len(part) <= _SHOWN else part[:_SHOWN] + "..."
            out += f".{name}" if out else name
    return out


def _rule(error: jsonschema.ValidationError) -> str:
    """What was expected and what was found."""
    rule: Any = error.validator
    value: Any = error.validator_value
    schema: Any = error.schema
    instance: Any = error.instance
    if rule == "required":
        missing = [name for name in value if name not in instance]
        return f"{', '.join(missing)} is missing"
    if rule == "additionalProperties":
        known = schema["properties"]
        extra = [name for name in instance if name not in known]
        return (
            f"unexpected {', '.join(map(_shown, extra[:5]))}; "
            f"expected: {', '.join(known)}"
        )
    if rule in ("minProperties", "maxProperties"):
        known = ", ".join(schema["properties"])
        return f"expected exactly one of {known}; got {len(instance)} keys"
    found = f"got {_shown(instance)}"
    if rule == "enum":
        return f"expected one of {', '.join(map(str, value))}; {found}"
    if isinstance(schema, dict) and "description" in schema:
        if rule in ("pattern", "minimum", "maximum", "type"):
            return f"expected {schema['description']}; {found}"
    if rule == "type":
        kinds = [value] if isinstance(value, str) else value
        words = " or ".join(_TYPE_WORDS.get(kind, kind) for kind in kinds)
        return f"expected {words}; {found}"
    if rule == "maxLength":
        return f"expected at most {value} characters; {found}"
    if rule == "minLength":
        return "expected text that is not empty"
    return f"does not satisfy {rule}: {value}; {found}"


def _shown(value: Any) -> str:
    """A value as JSON, cut when it is long; secrets are not our business."""
    if isinstance(value, (dict, list)):
        words = "an object" if isinstance(value, dict) else "a list"
        return f"{words} of {len(value)}"
    if isinstance(value, str) and len(value) > _SHOWN:
        value = value[:_SHOWN] + "..."
    text = json.dumps(value)
    return text if len(text) <= 8 * _SHOWN else text[: 8 * _SHOWN] + "..."
