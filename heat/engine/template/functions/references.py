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
"""Functions that refer to other parts of the stack: ``get_*``.

The docstrings are shown to users by the list of template functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, function, properties, schema
from heat.engine.template.functions import base


class _ResourceReference(base.HotFunction):
    """A function that depends on one resource."""

    def _resource(self) -> Any:
        """The resource's name; a snippet."""
        raise NotImplementedError

    def resource_name(self, path: str = "") -> str:
        """The name of the resource that is referred to.

        :raises InvalidTemplateReference: when there is none such
        """
        name = function.resolve(self._resource())
        if not isinstance(name, str) or name not in self.stack.resource_names:
            raise exception.InvalidTemplateReference(
                resource=name, key=self.path or path or self.fn_name
            )
        return name

    def validate(self) -> None:
        super().validate()
        name = self.resource_name()
        if not self.stack.is_enabled(name) and not self._may_be_disabled():
            raise exception.InvalidTemplateReference(
                resource=name,
                key=_("%s; its condition is false") % self.path,
            )

    def _may_be_disabled(self) -> bool:
        """Whether it may refer to a resource whose condition is false.

        Nobody would know what was meant; as a rule what refers to it has a
        condition of its own, or stands in an ``if``.
        """
        return False

    def dependencies(self, path: str) -> Iterator[str]:
        yield from super().dependencies(path)
        name = self.resource_name(path)
        if self.stack.is_enabled(name):
            yield name


class GetResource(_ResourceReference):
    """Reference a resource of the template.

    Takes the form::

        get_resource: <resource_name>

    Gives the resource's id, or what else it's known by.
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, (str, function.Function)):
            raise self._wrong("<resource name>")

    def _resource(self) -> Any:
        return self.args

    def _may_be_disabled(self) -> bool:
        # Heat has always told null there.
        return self.path.lower().startswith("outputs.")

    def result(self) -> Any:
        name = self.resource_name()
        if not self.stack.is_enabled(name):
            return None
        node = self.stack.node(name)
        if node is None or node.reference_id is None:
            return schema.Unmade(name)
        return node.reference_id


class GetAttr(_ResourceReference):
    """Reference an attribute of a resource.

    Takes the form::

        get_attr:
          - <resource_name>
          - <attribute_name>
          - <key or index>
          - ...

    Keys and indices lead into a map, list or text; there may be none.
    """

    #: Shortest list of arguments.
    least = 2
    #: The path into the value is part of what the resource is asked.
    path_asked = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "[<resource name>, <attribute name>, <key or index>, ...]"
        self._list_args(usage, self.least, None)
        if not isinstance(args[0], (str, function.Function)):
            raise self._wrong(usage)
        for part in args[1:]:
            if isinstance(part, (list, dict, bool)) or part is None:
                raise self._wrong(usage)

    def _resource(self) -> Any:
        return self.args[0]

    def _attribute(self) -> function.Attr:
        """The attribute and the path into it, as far as they're known."""
        if len(self.args) == 1:
            return function.ALL_ATTRIBUTES
        parts: list[str] = []
        for arg in self.args[1:]:
            part = function.resolve(arg)
            if part is None:
                break
            parts.append(str(part))
        return tuple(parts)

    def _asked(self) -> function.Attr:
        key = self._attribute()
        return key if self.path_asked else key[:1]

    def dep_attrs(self, resource_name: str) -> Iterator[function.Attr]:
        for name, attr in self.all_dep_attrs():
            if name == resource_name:
                yield attr

    def all_dep_attrs(self) -> Iterator[tuple[str, function.Attr]]:
        yield from super().all_dep_attrs()
        name = self.resource_name()
        key = self._asked()
        if key and self.stack.is_enabled(name):
            yield name, key

    def result(self) -> Any:
        name = self.resource_name()
        if not self.stack.is_enabled(name):
            return None
        node = self.stack.node(name)
        if node is None:
            return None
        key = self._attribute()
        if not key:
            return None
        known = node.attributes
        fault = known.get(function.fault_key(self._asked()))
        if fault is not None and self._in_output:
            # An output has an error for a value, whoever else has none.
            raise exception.Error(fault)
        if self.path_asked and key in known:
            return known[key]
        return attributes.select_from_attribute(known.get(key[:1]), key[1:])


class GetAttrThenSelect(GetAttr):
    """Reference an attribute of a resource.

    Takes the form::

        get_attr:
          - <resource_name>
          - <attribute_name>
          - <key or index>
          - ...

    The keys and indices are looked up in the attribute's value.
    """

    path_asked = False


class GetAttrOrAll(GetAttr):
    """Reference an attribute, or all attributes, of a resource.

    Takes the form::

        get_attr:
          - <resource_name>
          - <attribute_name>
          - <key or index>
          - ...

    With the resource's name alone it gives the map of all attributes.
    """

    least = 1


class GetParam(base.HotFunction):
    """Reference a parameter of the template.

    Takes one of the forms::

        get_param: <param_name>

        get_param:
          - <param_name>
          - <key or index>
          - ...

    Keys and indices lead into the value of a json or list parameter; a
    path that leads nowhere gives an empty string.
    """

    in_conditions = True

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        usage = "<parameter name>, or [<parameter name>, <key or index>, ...]"
        if isinstance(args, (str, function.Function)):
            self._name: Any = args
            self._path: list[Any] = []
        elif isinstance(args, list) and args:
            self._name, *self._path = args
        else:
            raise self._wrong(usage)
        if not isinstance(self._name, (str, function.Function)):
            raise self._wrong(usage)

    def validate(self) -> None:
        super().validate()
        # An output that asks for what is not there has an error for a value,
        # and harms nobody else.
        if isinstance(self._name, str) and not self._in_output:
            self._check(self._name)

    def _check(self, name: Any) -> None:
        if isinstance(name, str) and name in self.stack.parameters:
            return
        missing = exception.UserParameterMissing(key=name)
        if self._in_output or not self.path:
            raise missing
        if self.path.split(".")[2:3] != ["properties"]:
            raise exception.StackValidationFailed(None, self.path, missing)
        raise exception.StackValidationFailed(
            properties.Properties.ERROR,
            self.path.removesuffix(f".{self.fn_name}"),
            missing,
        )

    def result(self) -> Any:
        name = function.resolve(self._name)
        self._check(name)
        value = self.stack.parameters[name]
        if not self._path:
            return value
        path = function.resolve(self._path)
        if any(isinstance(part, (dict, list)) for part in path):
            raise TypeError(_("A key or index must be a string or a number"))
        if value is None:
            return None
        return base.select(value, path, missing="")


class GetFile(base.HotFunction):
    """A function for including a file inline.

    Takes the form::

        get_file: <file key>
    """

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, (str, function.Function)):
            raise self._wrong("<name or URL of a file>")

    def validate(self) -> None:
        super().validate()
        if isinstance(self.args, str):
            self.result()

    def result(self) -> Any:
        name = function.resolve(self.args)
        if name is None:
            return None
        if not isinstance(name, str):
            raise TypeError(_("The name of a file must be a string"))
        content = self.stack.files.get(name)
        if content is None:
            raise ValueError(
                _(
                    'No content found in the "files" section for %(fn)s '
                    "path: %(name)s"
                )
                % {"fn": self.fn_name, "name": name}
            )
        return content


class ResourceFacade(base.HotFunction):
    """Reference the resource that this template is the implementation of.

    Takes the form::

        resource_facade: <attribute type>

    with one of ``metadata``, ``deletion_policy`` and ``update_policy``.
    """

    names: tuple[str, ...] = ("metadata", "deletion_policy", "update_policy")
    #: What the names are called inside, where that differs.
    keys: Mapping[str, str] = {}

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, str) or args not in self.names:
            raise self._wrong(" | ".join(self.names))

    def result(self) -> Any:
        facade = self.stack.facade
        if facade is None:
            # The template may be checked, or created, on its own too.
            return None
        return facade.get(self.keys.get(self.args, self.args))
