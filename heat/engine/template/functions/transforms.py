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
"""Functions that make values out of values: texts, lists, maps.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

from typing import Any

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base


class ListJoin(base.HotFunction):
    """Join a list of strings with a delimiter.

    Takes the form::

        list_join:
          - <delimiter>
          - - <string_1>
            - <string_2>
            - ...
    """

    #: Most lists.
    most: int | None = 1
    #: Maps and lists among the items become JSON text.
    any_item = False

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<delimiter>, <list of strings>]"
        self._list_args(usage, 2, None if self.most is None else 1 + self.most)
        for part in args:
            if isinstance(part, dict):
                raise self._wrong(usage)

    def result(self) -> Any:
        delimiter = function.resolve(self.args[0])
        if delimiter is None:
            delimiter = ""
        if not isinstance(delimiter, str):
            raise TypeError(
                _("The delimiter must be a string, not a %s")
                % base.kind(delimiter)
            )
        items: list[str] = []
        for part in self.args[1:]:
            values = base.want_list(
                function.resolve(part), _("What is joined")
            )
            items.extend(self._text(value) for value in values)
        base.check_text(
            sum(map(len, items)) + len(delimiter) * max(0, len(items) - 1)
        )
        return delimiter.join(items)

    def _text(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if self.any_item and isinstance(value, (dict, list)):
            return base.to_json(value)
        raise TypeError(
            _("Items to join must be strings, not a %s") % base.kind(value)
        )


class ListJoinMany(ListJoin):
    """Join the strings of one or more lists with a delimiter.

    Takes the form::

        list_join:
          - <delimiter>
          - - <string_1>
            - <string_2>
          - - <string_3>
            - ...

    Maps and lists among the items become JSON text.
    """

    most = None
    any_item = True


class StrReplace(base.HotFunction):
    """Replace strings in a template string.

    Takes the form::

        str_replace:
          template: <template string>
          params:
            <string to replace>: <value>
            ...

    Longer strings are replaced first; what was put in is not searched
    again.
    """

    #: Maps and lists among the values become JSON text.
    any_value = False
    #: Every string to replace must be there; every value must be given.
    strict = False
    very_strict = False

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "{template: <string>, params: <map>}"
        self._map_args(usage, ("template", "params"))
        if isinstance(args["template"], (dict, list)):
            raise self._wrong(usage)
        if not isinstance(args["params"], (dict, function.Function)):
            raise self._wrong(usage)

    def result(self) -> Any:
        template = function.resolve(self.args["template"])
        if template is None:
            return ""
        if isinstance(template, (int, float)) and not isinstance(
            template, bool
        ):
            template = str(template)
        if not isinstance(template, str):
            raise TypeError(
                _('The "template" must be a string, not a %s')
                % base.kind(template)
            )
        params = base.want_map(
            function.resolve(self.args["params"]), _('The "params"')
        )
        pairs = []
        for key, value in params.items():
            if not key:
                raise ValueError(_("An empty string can't be replaced"))
            pairs.append((key, self._text(key, value)))
        if self.strict:
            self._check_used(template, params)
        return base.replace_all(template, pairs)

    def _text(self, key: str, value: Any) -> str:
        if self.very_strict and (value is None or value == ""):
            snippet = self.args["params"]
            if isinstance(snippet, dict):
                snippet = snippet.get(key)
            if not self._pending(snippet):
                raise ValueError(
                    _('The value of the param "%s" is empty') % key
                )
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, (bool, int, float)):
            return str(value)
        if self.any_value:
            return base.to_json(value)
        raise TypeError(
            _(
                'The value of the param "%(key)s" must be a string or a '
                "number, not a %(kind)s"
            )
            % {"key": key, "kind": base.kind(value)}
        )

    def _check_used(self, template: str, params: dict[str, Any]) -> None:
        missing = [key for key in params if key not in template]
        if missing and not self._pending(self.args["template"]):
            raise ValueError(
                _("The following params were not found in the template: %s")
                % ", ".join(sorted(missing))
            )


class StrReplaceAny(StrReplace):
    """Replace strings in a template string.

    Takes the form::

        str_replace:
          template: <template string>
          params:
            <string to replace>: <value>
            ...

    Longer strings are replaced first; what was put in is not searched
    again. Values that are maps or lists become JSON text.
    """

    any_value = True


class StrReplaceStrict(StrReplaceAny):
    """Replace strings in a template string, all of which must be there.

    Takes the form::

        str_replace_strict:
          template: <template string>
          params:
            <string to replace>: <value>
            ...

    As ``str_replace``, but a string that isn't in the template is an error.
    """

    strict = True


class StrReplaceVeryStrict(StrReplaceStrict):
    """Replace strings in a template string, by values that are not empty.

    Takes the form::

        str_replace_vstrict:
          template: <template string>
          params:
            <string to replace>: <value>
            ...

    As ``str_replace_strict``, and an empty value is an error, too.
    """

    very_strict = True
