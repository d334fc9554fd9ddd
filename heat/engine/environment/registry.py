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
"""What resource types stand for, and what's special for single resources.

The registry answers with names: *type X is the class Y*, or *type X is the
template Z*. It must not know classes, nor fetch templates.

The form of an entry::

    resource_registry:
      My::Server: OS::Nova::Server            # another type
      OS::Network*: OS::Neutron*              # many types
      My::Stack: http://example.com/my.yaml   # a template
      OS::Nova::KeyPair:                      # null: not there
      resources:
        my_server:                            # only for this resource
          OS::Nova::Server: my_server.yaml
          hooks: pre-create                   # or a list
          restricted_actions: [update, replace]
        nested_*:                             # names may end in *
          inner:                              # a resource of its stack
            hooks: [pre-update]
"""

from __future__ import annotations

import copy
import dataclasses
import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from heat.common import exception
from heat.common.i18n import _

HOOKS: Final = (
    "pre-create",
    "pre-update",
    "pre-delete",
    "post-create",
    "post-update",
    "post-delete",
)
RESTRICTED_ACTIONS: Final = ("update", "replace")

_RESOURCES: Final = "resources"
_BASE_URL: Final = "base_url"
_HOOKS: Final = "hooks"
_RESTRICTED: Final = "restricted_actions"
_TEMPLATE_ENDINGS: Final = (".yaml", ".yml", ".template", ".json")
#: Longest chain of types that stand for one another.
_MAX_CHAIN: Final = 100

_Kind = Literal["class", "template"]
_Path = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Target:
    """What a type stands for: a class, or a template, by name."""

    kind: _Kind
    name: str


def is_template(name: str) -> bool:
    """Whether a name is that of a template, not of a type."""
    return name.endswith(_TEMPLATE_ENDINGS) or "://" in name


class Registry:
    """The ``resource_registry`` section.

    :param data: the section; None for an empty one
    :param base: entries that count when this one has none
    :raises ValueError: for an entry of the wrong type, naming it
    :raises InvalidBreakPointHook: for an unknown hook
    :raises InvalidRestrictedAction: for an unknown restricted action
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        base: Registry | None = None,
    ) -> None:
        self._data: dict[str, Any] = copy.deepcopy(dict(data or {}))
        self._base = base
        self._resources: dict[str, Any] = self._data.get(_RESOURCES) or {}
        _check_entries(self._data, "resource_registry", top=True)
        self._types = _types(self._data)

    def as_dict(self) -> dict[str, Any]:
        """The section as it was given, with ``resources``; a copy."""
        made = copy.deepcopy(self._data)
        made[_RESOURCES] = made.get(_RESOURCES) or {}
        return made

    # -- types ----------------------------------------------------------------

    def resolve(
        self, resource_type: str, resource_name: str | None = None
    ) -> Target:
        """What a type stands for.

        :param resource_name: the resource that has it, None when it's asked
            in general
        :raises EntityNotFound: when it's unregistered
        :raises StackValidationFailed: for types that stand for one another
        """
        seen = [resource_type]
        name = resource_type
        while not is_template(name):
            found, target = self._entry(name, resource_name)
            if not found or target == name:
                return Target("class", name)
            if target is None:
                raise exception.EntityNotFound(
                    entity="Resource Type", name=resource_type
                )
            name = target
            if name in seen or len(seen) > _MAX_CHAIN:
                raise exception.StackValidationFailed(
                    path="resource_registry",
                    message=_("Types stand for one another: %s")
                    % " -> ".join([*seen[:10], name]),
                )
            seen.append(name)
        return Target("template", name)

    def _entry(
        self, name: str, resource_name: str | None
    ) -> tuple[bool, str | None]:
        if resource_name is not None:
            for entry in self._own(resource_name):
                found, target = _look_up(_types(entry), name)
                if found:
                    return found, target
        found, target = _look_up(self._types, name)
        if not found and self._base is not None:
            return self._base._entry(name, resource_name)
        return found, target

    def templates(self) -> Iterator[str]:
        """Names of all templates that types stand for."""
        seen: set[str] = set()
        for target in _all_targets(self._data):
            if is_template(target) and target not in seen:
                seen.add(target)
                yield target

    # -- single resources -----------------------------------------------------

    def _own(self, resource_name: str) -> Iterator[dict[str, Any]]:
        """The entries for a resource, the most special first."""
        for pattern in _matching(self._resources, resource_name):
            yield self._resources[pattern]

    def _of(self, resource_name: str) -> Iterator[dict[str, Any]]:
        """The same, those of the base behind them."""
        yield from self._own(resource_name)
        if self._base is not None:
            yield from self._base._of(resource_name)

    def matches_hook(self, resource_name: str, hook: str) -> bool:
        """Whether a resource stops at a hook."""
        return any(
            hook in _words(entry.get(_HOOKS))
            for entry in self._of(resource_name)
        )

    def hooks(self, resource_name: str) -> set[str]:
        """The hooks that a resource stops at."""
        return {
            word
            for entry in self._of(resource_name)
            for word in _words(entry.get(_HOOKS))
        }

    def stops_at(self, hook: str) -> bool:
        """Whether any resource stops at a hook, here or in stacks below."""
        own = any(_stops(entry, hook) for entry in self._resources.values())
        return own or (self._base is not None and self._base.stops_at(hook))

    def restricted_actions(self, resource_name: str) -> set[str]:
        """What may not be done to a resource: ``update``, ``replace``."""
        return {
            word
            for entry in self._of(resource_name)
            for word in _words(entry.get(_RESTRICTED))
        }

    def remove_hook(self, hook: str, resource_name: str) -> None:
        """Take out a hook from the entry of exactly this resource."""
        entry = self._resources.get(resource_name)
        if entry is None or hook not in _words(entry.get(_HOOKS)):
            return
        entry[_HOOKS] = [w for w in _words(entry[_HOOKS]) if w != hook]

    def child(self, resource_name: str) -> Registry:
        """The registry of the stack nested in a resource.

        Types go down, those that count for this resource too; of
        ``resources`` the maps that stand under its name.
        """
        data = {k: v for k, v in self._data.items() if k != _RESOURCES}
        inner: dict[str, Any] = {}
        for entry in reversed(list(self._own(resource_name))):
            data.update(_types(entry))
            below = {k: v for k, v in entry.items() if isinstance(v, dict)}
            inner = _merged(inner, below) if inner else below
        if inner:
            data[_RESOURCES] = inner
        return Registry(data, self._base)


def _types(entry: Mapping[str, Any]) -> dict[str, str | None]:
    """The types in an entry, with a ``base_url`` put before templates."""
    special = (_RESOURCES, _BASE_URL, _HOOKS, _RESTRICTED)
    base_url = entry.get(_BASE_URL)
    made: dict[str, str | None] = {}
    for name, target in entry.items():
        if name in special or isinstance(target, dict):
            continue
        if base_url and target and is_template(target) and "://" not in target:
            target = f"{base_url.rstrip('/')}/{target}"
        made[name] = target
    return made


def _stops(entry: Any, hook: str) -> bool:
    return isinstance(entry, dict) and (
        hook in _words(entry.get(_HOOKS))
        or any(_stops(value, hook) for value in entry.values())
    )


def _merged(
    general: dict[str, Any], special: dict[str, Any]
) -> dict[str, Any]:
    """What two entries for one resource say of it together.

    Of types the special one's count; hooks and restrictions add up, as they
    do where a resource is matched by several entries.
    """
    made: dict[str, Any] = {**_types(general), **_types(special)}
    for key in (_HOOKS, _RESTRICTED):
        words = [*_words(general.get(key)), *_words(special.get(key))]
        if words:
            made[key] = list(dict.fromkeys(words))
    for key, value in (*general.items(), *special.items()):
        if isinstance(value, dict):
            known = made.get(key)
            made[key] = _merged(known, value) if known else value
    return made


def _look_up(
    types: Mapping[str, str | None], name: str
) -> tuple[bool, str | None]:
    if name in types:
        return True, types[name]
    for pattern in _globs(types, name):
        target = types[pattern]
        if target is not None and target.endswith("*"):
            target = target[:-1] + name[len(pattern) - 1 :]
        return True, target
    return False, None


def _globs(names: Mapping[str, Any], name: str) -> list[str]:
    """The patterns that match a name, the longest first."""
    found = [
        pattern
        for pattern in names
        if pattern.endswith("*") and name.startswith(pattern[:-1])
    ]
    return sorted(found, key=len, reverse=True)


def _matching(entries: Mapping[str, Any], name: str) -> list[str]:
    found = [name] if isinstance(entries.get(name), dict) else []
    patterns = [
        pattern
        for pattern, entry in entries.items()
        if pattern != name
        and isinstance(entry, dict)
        and "*" in pattern
        and fnmatch.fnmatchcase(name, pattern)
    ]
    return found + sorted(patterns, key=len, reverse=True)


def _words(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _all_targets(entry: Mapping[str, Any]) -> Iterator[str]:
    for target in _types(entry).values():
        if target is not None:
            yield target
    for value in entry.values():
        if isinstance(value, dict):
            yield from _all_targets(value)


def check(data: Any, path: str = "resource_registry") -> None:
    """Check the form of a whole section.

    :param path: where it is, for errors
    :raises ValueError, InvalidBreakPointHook, InvalidRestrictedAction:
        naming the place
    """
    _check_entries(data, path, top=True)


def _check_entries(entry: Any, path: str, top: bool = False) -> None:
    if not isinstance(entry, dict):
        raise ValueError(_("%s must be a map") % path)
    for key, value in entry.items():
        place = f"{path}.{key}"
        if key == _HOOKS and not top:
            _check_words(value, place, HOOKS, exception.InvalidBreakPointHook)
        elif key == _RESTRICTED and not top:
            _check_words(
                value,
                place,
                RESTRICTED_ACTIONS,
                exception.InvalidRestrictedAction,
            )
        elif key == _RESOURCES and top:
            if not isinstance(value or {}, dict):
                raise ValueError(_("%s must be a map") % place)
            for name, inner in (value or {}).items():
                _check_entries(inner, f"{place}.{name}")
        elif isinstance(value, dict) and not top:
            _check_entries(value, place)
        elif value is not None and not isinstance(value, str):
            raise ValueError(
                _(
                    "%s must be the name of a type or template, or null "
                    "for none"
                )
                % place
            )


def _check_words(
    value: Any,
    path: str,
    known: tuple[str, ...],
    error: type[exception.HeatException],
) -> None:
    words = [value] if isinstance(value, str) else value
    if words is None:
        return
    for word in words if isinstance(words, list) else [words]:
        if word not in known:
            raise error(
                message=_('%(path)s: "%(word)s" is not one of %(known)s')
                % {"path": path, "word": word, "known": ", ".join(known)}
            )
