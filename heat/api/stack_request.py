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

"""What the body of a create, update, preview or validate asks for.

Texts are read, defaults are filled in, and what has no name of its own
becomes an argument for the engine. Nothing is fetched here: a template's URL
is read by a function that is handed in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from oslo_serialization import jsonutils

from heat.api import faults, validation
from heat.common import template_format
from heat.common.i18n import _

# Keys that have an RPC argument of their own; the others become ``args``.
_OWN_KEYS = frozenset(
    (
        "stack_name",
        "template",
        "template_url",
        "parameters",
        "environment",
        "files",
        "environment_files",
        "files_container",
        # Ours to tell, see environment files: never taken from a body.
        "explicit_parameters",
    )
)
_FLAGS = ("disable_rollback", "converge", "existing")
# In the data of an exported stack: what its environment was made of.
_LAYERS = ("environment_layers",)
MAX_TAG = 80

# The sections of an environment, empty.
_SECTIONS: Mapping[str, Any] = {
    "parameters": {},
    "parameter_defaults": {},
    "resource_registry": {},
    "encrypted_param_names": [],
    "event_sinks": [],
}

Fetch = Callable[[str], str]


@dataclasses.dataclass(frozen=True, slots=True)
class StackRequest:
    """A request on a stack, in the form that travels over RPC.

    :param template: None where the request has none
    :param params: the environment, with explicit parameters laid over its
    :param args: arguments of the operation, among them
        ``explicit_parameters``, the names given beside the environment
    """

    template: dict[str, Any] | None
    params: dict[str, Any]
    files: dict[str, str]
    args: dict[str, Any]
    environment_files: list[str] | None
    files_container: str | None


def read(
    body: Mapping[str, Any], fetch: Fetch, max_template: int
) -> StackRequest:
    """Unpack a body that satisfies its schema.

    :param fetch: reads a URL; called only for ``template_url``
    :param max_template: longest template or environment, bytes
    :raises HTTPError: 400
    :raises ValueError: a text can't be read, or the URL
    """
    args = _args(body)
    adopted = _adopted(body.get("adopt_stack_data"), max_template)
    if adopted is not None:
        if body.get("environment") or body.get("environment_files"):
            # What the request says replaces what the stack was made with.
            adopted = {k: v for k, v in adopted.items() if k not in _LAYERS}
        # As text, which is what engines of every make read.
        args["adopt_stack_data"] = jsonutils.dumps(adopted)
    explicit = body.get("parameters") or {}
    args["explicit_parameters"] = sorted(explicit)
    return StackRequest(
        template=_template(body, adopted, fetch, max_template),
        params=_environment(body, adopted, explicit, max_template),
        files=_files(body, adopted),
        args=args,
        environment_files=body.get("environment_files"),
        files_container=body.get("files_container"),
    )


def need_template(request: StackRequest) -> dict[str, Any]:
    """The template of a request that can't do without.

    :raises HTTPError: 400
    """
    if request.template is None:
        raise faults.bad_request(
            _(
                "No template specified: give template, template_url or "
                "adopt_stack_data"
            )
        )
    return request.template


def _args(body: Mapping[str, Any]) -> dict[str, Any]:
    args = {
        key: value
        for key, value in body.items()
        if key not in _OWN_KEYS and value is not None
    }
    for name in _FLAGS:
        if name in args:
            args[name] = validation.is_true(args[name])
    if "timeout_mins" in args:
        args["timeout_mins"] = int(args["timeout_mins"])
        if not args["timeout_mins"]:
            # A client that rounds seconds down means nothing by it.
            del args["timeout_mins"]
    if "tags" in args:
        args["tags"] = tags(args["tags"])
    return args


def tags(given: str | list[str]) -> list[str]:
    """Tags as a list, each once, in the order given; of no text, none.

    :raises HTTPError: 400: a tag is empty, too long or holds a comma
    """
    if isinstance(given, str) and not given.strip():
        return []
    names = given.split(",") if isinstance(given, str) else given
    clean = [name.strip() for name in names]
    for name in clean:
        if not name:
            raise faults.bad_request(_("tags: a tag may not be empty"))
        if len(name) > MAX_TAG:
            raise faults.bad_request(
                _("tags: %(tag)s... is longer than %(max)s characters")
                % {"tag": name[:20], "max": MAX_TAG}
            )
        if "," in name:
            raise faults.bad_request(
                _("tags: %s holds a comma, which parts tags") % name
            )
    return list(dict.fromkeys(clean))


def _adopted(data: Any, max_bytes: int) -> dict[str, Any] | None:
    """The data of an abandoned stack, which clients send as text."""
    if isinstance(data, str):
        return _mapping(data, "adopt_stack_data", max_bytes)
    return data  # type: ignore[no-any-return]


def _files(
    body: Mapping[str, Any], adopted: Mapping[str, Any] | None
) -> dict[str, str]:
    """The files of the request; an exported stack brings its own.

    :raises HTTPError: 400
    """
    kept = (adopted or {}).get("files") or {}
    if not isinstance(kept, dict) or not all(
        isinstance(text, str) for text in kept.values()
    ):
        raise faults.bad_request(
            _("adopt_stack_data: files must be an object of texts")
        )
    return {**kept, **(body.get("files") or {})}


def _template(
    body: Mapping[str, Any],
    adopted: Mapping[str, Any] | None,
    fetch: Fetch,
    max_bytes: int,
) -> dict[str, Any] | None:
    template = body.get("template")
    if template is None and body.get("template_url"):
        template = fetch(body["template_url"])
    if template is None and adopted is not None:
        template = adopted.get("template")
        if not isinstance(template, dict):
            raise faults.bad_request(
                _("adopt_stack_data: template must be an object")
            )
    if isinstance(template, str):
        return _mapping(template, "template", max_bytes)
    return template


def _environment(
    body: Mapping[str, Any],
    adopted: Mapping[str, Any] | None,
    explicit: Mapping[str, Any],
    max_bytes: int,
) -> dict[str, Any]:
    environment = body.get("environment")
    if isinstance(environment, str):
        environment = _mapping(
            environment, "environment", max_bytes, empty=True
        )
    if not environment and adopted is not None:
        environment = adopted.get("environment")
        if environment is not None and not isinstance(environment, dict):
            raise faults.bad_request(
                _("adopt_stack_data: environment must be an object")
            )
    merged = dict(environment or {})
    if explicit:
        below = merged.get("parameters", {})
        if not isinstance(below, dict):
            raise faults.bad_request(
                _("environment: the section parameters must be an object")
            )
        merged["parameters"] = {**below, **explicit}
    if body.get("environment_files"):
        # Other makes merge the files into sections, which must be there.
        merged = {**_SECTIONS, **merged}
    return merged


def _mapping(
    text: str, what: str, max_bytes: int, empty: bool = False
) -> dict[str, Any]:
    """Text in YAML or JSON that must be a map."""
    value = template_format.load(text, what, max_bytes)
    if value is None and empty:
        return {}
    if not isinstance(value, dict):
        raise faults.bad_request(
            _("%s: expected a map of keys to values") % what
        )
    return value
