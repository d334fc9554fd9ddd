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

"""Translation rules: how old ways of writing a property become the new one.

A plug-in returns rules; :class:`heat.engine.properties.Properties` asks the
:class:`Translation` made of them whenever it reads a value that a rule
names. Paths are lists of property names; list indices are left out, a rule
holds for every element.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.schema import Unmade


class TranslationRule:
    """One rule.

    :param properties: the :class:`heat.engine.properties.Properties` the
        rule was made for
    :param rule: ``ADD`` appends ``value`` to the list at the path;
        ``REPLACE`` puts ``value``, or the value found at ``value_name``
        (beside) or ``value_path`` (from the top), in its place; ``DELETE``
        drops it; ``RESOLVE`` turns a name into an id by a client plug-in
    :param translation_path: where the rule applies
    :param value: literal value for ADD and REPLACE
    :param client_plugin: asked by RESOLVE
    :param finder: name of its method, called with (entity, value), or with
        the value alone when there is no ``entity``
    :param custom_value_path: names to follow from the path of ``value_name``
    :raises ValueError: when the arguments contradict each other
    """

    RULE_KEYS = (ADD, REPLACE, DELETE, RESOLVE) = (
        "Add",
        "Replace",
        "Delete",
        "Resolve",
    )

    def __init__(
        self,
        properties: Any,
        rule: str,
        translation_path: list[str],
        value: Any = None,
        value_name: str | None = None,
        value_path: list[str] | None = None,
        client_plugin: Any = None,
        finder: str | None = None,
        entity: str | None = None,
        custom_value_path: list[str] | None = None,
    ) -> None:
        self.properties = properties
        self.rule = rule
        self.translation_path = translation_path
        self.value = value
        self.value_name = value_name
        self.value_path = value_path
        self.client_plugin = client_plugin
        self.finder = finder
        self.entity = entity
        self.custom_value_path = custom_value_path
        self.validate()

    def validate(self) -> None:
        """Check the arguments against each other.

        :raises ValueError: naming the one that does not belong
        """
        if self.rule not in self.RULE_KEYS:
            raise ValueError(
                _(
                    "There is no rule %(rule)s. List of allowed rules is: "
                    "%(rules)s."
                )
                % {"rule": self.rule, "rules": ", ".join(self.RULE_KEYS)}
            )
        if not isinstance(self.translation_path, list) or not (
            self.translation_path
        ):
            raise ValueError(
                _(
                    "translation_path should be a non-empty list with path to "
                    "translate."
                )
            )
        sources = [
            self.value is not None,
            self.value_name is not None,
            self.value_path is not None,
        ]
        if sum(sources) > 1:
            raise ValueError(
                _(
                    "value_path, value and value_name are mutually exclusive "
                    "and cannot be specified at the same time."
                )
            )
        if self.rule == self.ADD and not isinstance(self.value, list):
            raise ValueError(_("value must be list type when rule is Add."))
        if self.rule == self.RESOLVE and not (
            self.client_plugin and self.finder
        ):
            raise ValueError(
                _(
                    "client_plugin and finder should be specified for Resolve "
                    "rule."
                )
            )

    def get_value_absolute_path(
        self, full_value_name: bool = False
    ) -> list[str]:
        """Where a REPLACE rule takes its value from, from the top.

        :param full_value_name: follow ``custom_value_path`` too
        :returns: the path, empty when there is no source
        """
        if self.value_path:
            path = list(self.value_path)
        elif self.value_name:
            path = [*self.translation_path[:-1], self.value_name]
        else:
            return []
        if full_value_name and self.custom_value_path:
            path.extend(self.custom_value_path)
        return path


class Translation:
    """The rules of one resource, by the path they apply to.

    :param properties: the :class:`heat.engine.properties.Properties` whose
        values other rules may take
    """

    def __init__(self, properties: Any = None) -> None:
        self.properties = properties
        self.ignore_resolve_error = False
        self._rules: dict[str, list[TranslationRule]] = {}
        self._moved: set[str] = set()
        self._found: dict[tuple[int, str], Any] = {}

    def set_rules(
        self,
        rules: Iterable[TranslationRule] | None,
        client_resolve: bool = True,
        ignore_resolve_error: bool = False,
    ) -> None:
        """Take over the rules.

        :param client_resolve: False: RESOLVE rules are left out
        :param ignore_resolve_error: a value that can't be looked up stays
        """
        self._rules = {}
        self._moved = set()
        self.ignore_resolve_error = ignore_resolve_error
        for rule in rules or ():
            if rule.rule == TranslationRule.RESOLVE and not client_resolve:
                continue
            key = ".".join(rule.translation_path)
            self._rules.setdefault(key, []).append(rule)
            source = rule.get_value_absolute_path()
            if rule.rule == TranslationRule.REPLACE and source:
                self._moved.add(".".join(source))

    @staticmethod
    def cast_key_to_rule(key: str) -> str:
        """The dotted path ``key`` without its list indices."""
        return ".".join(p for p in key.split(".") if not p.isdigit())

    def has_translation(self, key: str) -> bool:
        """Tell whether any rule changes what is read at ``key``."""
        cast = self.cast_key_to_rule(key)
        return cast in self._rules or cast in self._moved

    def is_deleted(self, key: str) -> bool:
        """Tell whether a DELETE rule drops the value at ``key``."""
        return self._has(key, TranslationRule.DELETE)

    def is_replaced(self, key: str) -> bool:
        """Tell whether the value at ``key`` was moved somewhere else."""
        return self.cast_key_to_rule(key) in self._moved

    def names(self, key: str) -> list[str]:
        """The last part of ``key``, and what else gives that value.

        :returns: names in the map that ``key`` is in
        """
        above, _dot, last = self.cast_key_to_rule(key).rpartition(".")
        found = [last]
        for rule in self._rules.get(self.cast_key_to_rule(key), ()):
            *parents, name = rule.get_value_absolute_path() or [""]
            if rule.rule == TranslationRule.REPLACE and name:
                if ".".join(parents) == above:
                    found.append(name)
        return found

    def _has(self, key: str, kind: str) -> bool:
        rules = self._rules.get(self.cast_key_to_rule(key), ())
        return any(rule.rule == kind for rule in rules)

    def translate(
        self,
        key: str,
        prop_value: Any = None,
        prop_data: Mapping[str, Any] | None = None,
        validate: bool = False,
    ) -> Any:
        """What is read at ``key`` instead of ``prop_value``.

        :param key: dotted path, with list indices
        :param prop_data: the map that holds the value
        :returns: the value, None for none
        :raises ValueError: when old and new way are used together
        """
        if self.is_deleted(key) or self.is_replaced(key):
            return None
        for rule in self._rules.get(self.cast_key_to_rule(key), ()):
            if rule.rule == TranslationRule.REPLACE:
                prop_value = self.replace(
                    key, rule, prop_value, prop_data, validate
                )
            elif rule.rule == TranslationRule.ADD:
                prop_value = self.add(
                    key, rule, prop_value, prop_data, validate
                )
            elif rule.rule == TranslationRule.RESOLVE:
                prop_value = self._resolve(rule, prop_value)
        return prop_value

    def add(
        self,
        key: str,
        add_rule: TranslationRule,
        prop_value: Any = None,
        prop_data: Mapping[str, Any] | None = None,
        validate: bool = False,
    ) -> Any:
        """The list with the rule's items behind the given ones."""
        if prop_value is None:
            return list(add_rule.value)
        if not isinstance(prop_value, list):
            raise ValueError(
                _("Add rule must be used only for lists, not for %s.") % key
            )
        return prop_value + [v for v in add_rule.value if v is not None]

    def replace(
        self,
        key: str,
        replace_rule: TranslationRule,
        prop_value: Any = None,
        prop_data: Mapping[str, Any] | None = None,
        validate: bool = False,
    ) -> Any:
        """The value that takes the place of the given one.

        :raises ValueError: when both the old and the new one are given
        """
        if replace_rule.value is not None:
            return replace_rule.value
        if replace_rule.value_name and len(replace_rule.translation_path) > 1:
            found = (prop_data or {}).get(replace_rule.value_name)
            found = _follow(found, replace_rule.custom_value_path or ())
        else:
            path = replace_rule.get_value_absolute_path(True)
            found = get_value(path, self.properties, validate)
        if found is None:
            return prop_value
        if prop_value is not None and prop_value != found:
            raise ValueError(
                _(
                    "Cannot define the following properties at the same time: "
                    "%s"
                )
                % ", ".join(
                    (
                        replace_rule.translation_path[-1],
                        replace_rule.get_value_absolute_path()[-1],
                    )
                )
            )
        return found

    def _resolve(self, rule: TranslationRule, value: Any) -> Any:
        if value is None:
            return None
        # A value is looked up once for each set of properties.
        token = (id(rule), repr(value))
        if token not in self._found:
            self._found[token] = resolve_and_find(
                value,
                rule.client_plugin,
                rule.finder,
                rule.entity,
                self.ignore_resolve_error,
            )
        return self._found[token]


def _follow(value: Any, path: Iterable[str]) -> Any:
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def get_value(path: list[str], props: Any, validate: bool = False) -> Any:
    """The value the user gave at ``path``, or None.

    :param props: :class:`heat.engine.properties.Properties` or a mapping
    """
    if not path or props is None:
        return None
    reader = getattr(props, "get_user_value", None)
    value = reader(path[0]) if reader else props.get(path[0])
    return _follow(value, path[1:])


def resolve_and_find(
    value: Any,
    cplugin: Any,
    finder: Any,
    entity: str | None = None,
    ignore_resolve_error: bool = False,
) -> Any:
    """Turn a name, or a list of names, into ids.

    :param cplugin: a client plug-in
    :param finder: name of the method to ask
    :param ignore_resolve_error: give ``value`` back when it is not found
    """
    if isinstance(value, list):
        return [
            resolve_and_find(
                item, cplugin, finder, entity, ignore_resolve_error
            )
            for item in value
        ]
    if value is None or isinstance(value, Unmade):
        return value
    find = getattr(cplugin, finder)
    try:
        return find(entity, value) if entity else find(value)
    except exception.HeatException:
        if ignore_resolve_error:
            return value
        raise
    except Exception as exc:
        # Errors of the cloud's own client are as good as ours.
        if ignore_resolve_error and cplugin.is_client_exception(exc):
            return value
        raise
