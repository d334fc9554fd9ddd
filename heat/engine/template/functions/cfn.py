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
"""The functions of CloudFormation that early HOT and CFN templates have.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from heat.common.i18n import _
from heat.engine import function
from heat.engine.template.functions import base, references, texts, transforms

#: What a ``Ref`` names that stands for nothing.
NO_VALUE: Final = "AWS::NoValue"


class Ref(base.HotFunction):
    """Reference a parameter or a resource.

    Takes the form::

        Ref: <param_name or resource_name>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, str):
            raise self._wrong("<name of a parameter or resource>")
        kind = (
            references.GetResource
            if stack is not None and args in stack.resource_names
            else references.GetParam
        )
        self._call: base.HotFunction = kind(stack, fn_name, args)

    def validate(self) -> None:
        self._call.path = self.path
        self._call.validate()

    def dependencies(self, path: str) -> Iterator[str]:
        return self._call.dependencies(path)

    def result(self) -> Any:
        self._call.path = self.path
        return self._call.result()


class RefOrNothing(function.Macro):
    """Reference a parameter or a resource.

    Takes the form::

        Ref: <param_name or resource_name>

    ``Ref: AWS::NoValue`` leaves out the property, key or list item that it
    stands for, most often as one of the values of ``Fn::If``.
    """

    def expand(self, parse: Callable[[Any, str], Any]) -> Any:
        if self.args == NO_VALUE:
            return function.ABSENT
        made = Ref(self.stack, self.fn_name, self.args)
        made.path = self.path
        return made


class ParamRef(references.GetParam):
    """Reference a parameter, in a condition.

    Takes the form::

        Ref: <param_name>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, str):
            raise self._wrong("<parameter name>")


class GetAtt(references.GetAttr):
    """Reference an attribute of a resource.

    Takes the form::

        Fn::GetAtt:
          - <resource_name>
          - <attribute_name>
    """


class FindInMap(base.HotFunction):
    """Look up a value in the section ``Mappings``.

    Takes the form::

        Fn::FindInMap:
          - <mapping>
          - <key>
          - <value>
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<mapping>, <key>, <key below it>]"
        for part in self._list_args(usage, 3, 3):
            if part is None or isinstance(part, (dict, list, bool)):
                raise self._wrong(usage)

    def result(self) -> Any:
        value = self.stack.t.get("Mappings") or {}
        path = function.resolve(self.args)
        for depth, key in enumerate(path):
            if key is None:
                # A parameter without value, while nothing is made yet.
                return None
            if isinstance(key, (dict, list)):
                raise TypeError(
                    _("The names must be strings, not %s") % base.kind(key)
                )
            name = key if isinstance(key, str) else base.to_json(key)
            if name not in value:
                raise ValueError(
                    _('There is no "%(name)s" in %(where)s')
                    % {
                        "name": name,
                        "where": ".".join(
                            ["Mappings", *map(str, path[:depth])]
                        ),
                    }
                )
            value = value[name]
        return value


class Select(base.HotFunction):
    """Pick an item of a list, or a value of a map.

    Takes the form::

        Fn::Select:
          - <index or key>
          - <list or map>

    What isn't there gives an empty string.
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        self._list_args("[<index or key>, <list or map>]", 2, 2)

    def result(self) -> Any:
        key, value = function.resolve(self.args)
        if isinstance(key, (dict, list, bool)):
            raise TypeError(_("The index or key must be a string or a number"))
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise TypeError(
                    _("What is selected from must be a list or a map")
                ) from None
        if value is not None and not isinstance(value, (dict, list)):
            raise TypeError(
                _("What is selected from must be a list or a map, not a %s")
                % base.kind(value)
            )
        if key is None or value is None:
            return ""
        found = base.select(value, [key], missing="")
        return "" if found is None else found


class Join(transforms.ListJoin):
    """Join a list of strings with a delimiter.

    Takes the form::

        Fn::Join:
          - <delimiter>
          - - <string_1>
            - <string_2>
            - ...
    """


class Split(texts.StrSplit):
    """Split a string into a list by a delimiter.

    Takes the form::

        Fn::Split:
          - <delimiter>
          - <string>
    """

    most = 2


class Replace(base.HotFunction):
    """Replace strings in a string.

    Takes the form::

        Fn::Replace:
          - <key_1>: <value_1>
            <key_2>: <value_2>
          - <string>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<map of replacements>, <string>]"
        self._list_args(usage, 2, 2)
        params, template = args
        try:
            self._call = transforms.StrReplace(
                stack, fn_name, {"template": template, "params": params}
            )
        except (ValueError, TypeError):
            raise self._wrong(usage) from None

    def result(self) -> Any:
        return self._call.result()


class Base64(base.HotFunction):
    """A string that is sent as base64 by whoever needs it so.

    Takes the form::

        Fn::Base64: <string>

    The string is given back as it is.
    """

    def result(self) -> str:
        return base.want_text(function.resolve(self.args), _("The argument"))


class MemberListToMap(base.HotFunction):
    """Turn a list of members into a map.

    Takes the form::

        Fn::MemberListToMap:
          - <name>
          - <value>
          - - .member.0.<name>=<key_0>
            - .member.0.<value>=<value_0>
            - ...
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<name>, <value>, <list of members>]"
        name, value, _members = self._list_args(usage, 3, 3)
        if not isinstance(name, str) or not isinstance(value, str):
            raise self._wrong(usage)

    def result(self) -> dict[str, str]:
        name, value, members = function.resolve(self.args)
        keys: dict[str, str] = {}
        values: dict[str, str] = {}
        for member in base.want_list(members, _("The members")):
            left, sep, right = base.want_text(member, _("A member")).partition(
                "="
            )
            parts = left.split(".")
            if not sep or len(parts) < 3 or parts[-3] != "member":
                raise ValueError(
                    _(
                        '"%(member)s" is no member, expected '
                        ".member.<number>.%(name)s=<text>"
                    )
                    % {"member": member, "name": name}
                )
            if parts[-1] == name:
                keys[parts[-2]] = right
            elif parts[-1] == value:
                values[parts[-2]] = right
        return {key: values.get(index, "") for index, key in keys.items()}


class GetAZs(base.HotFunction):
    """The availability zones of a region.

    Takes the form::

        Fn::GetAZs: <region>
    """

    def result(self) -> list[str]:
        return list(self.stack.availability_zones())


class ResourceFacade(references.ResourceFacade):
    """Reference the resource that this template is the implementation of.

    Takes the form::

        Fn::ResourceFacade: <attribute type>

    with one of ``Metadata``, ``DeletionPolicy`` and ``UpdatePolicy``.
    """

    names = ("Metadata", "DeletionPolicy", "UpdatePolicy")
    keys: Mapping[str, str] = {
        "Metadata": "metadata",
        "DeletionPolicy": "deletion_policy",
        "UpdatePolicy": "update_policy",
    }
