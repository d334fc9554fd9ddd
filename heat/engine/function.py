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
"""What a template function is, and how snippets that hold some are read.

A *snippet* is a piece of a template after parsing: plain values (dict,
list, str, int, float, bool, None) in which some values are
:class:`Function` objects. Everything here walks snippets; snippets without
functions come back from :func:`resolve` as they are, uncopied, so callers
must not change what they get.

This module must not know any function of a template language, nor what a
stack is beyond :class:`Scope`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from heat.common import exception

Attr = tuple[str, ...]


class _Absent:
    """The value of a thing that isn't to be there at all."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False

    def __deepcopy__(self, memo: Any) -> _Absent:
        return self


#: What an ``if`` without a third argument gives when its condition is
#: false: the key or list item that holds it is left out.
ABSENT: Final = _Absent()

#: The attribute key of a reference to all attributes of a resource.
ALL_ATTRIBUTES: Final[Attr] = ("*",)

# Begins the key under which the fault of an attribute is kept: no attribute
# has an empty name.
_FAULT: Final = ""


def fault_key(attribute: Attr) -> Attr:
    """Where, among a resource's attributes, stands why one has no value."""
    return (_FAULT, *attribute)


def renewed(
    known: Mapping[Attr, Any], told: Mapping[Attr, Any]
) -> dict[Attr, Any]:
    """Attributes that were known, with those that are told now.

    Why one had no value then is forgotten.
    """
    values = {
        key: value for key, value in known.items() if not is_fault_key(key)
    }
    return {**values, **told}


def is_fault_key(key: Attr) -> bool:
    """Whether it is one of :func:`fault_key`."""
    return key[:1] == (_FAULT,)


class Unknown(Exception):
    """A value was asked for that isn't known yet, as in a preview.

    :ivar source: where it will come from: the name of a resource, or its
        name and a property's
    """

    def __init__(self, source: str) -> None:
        super().__init__(f"values of {source} are not known yet")
        self.source = source


#: Errors that a function may raise to say that its arguments are wrong;
#: :func:`resolve` and the parser add the place in the template to them.
ARGUMENT_ERRORS: Final = (ValueError, TypeError, KeyError, IndexError)


class Node(Protocol):
    """What is known of a resource that was made already."""

    @property
    def reference_id(self) -> str | None: ...

    @property
    def attributes(self) -> Mapping[Attr, Any]: ...


class Scope(Protocol):
    """What functions may ask of the stack they stand in."""

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    @property
    def files(self) -> Mapping[str, str]: ...

    @property
    def resource_names(self) -> frozenset[str]:
        """All names of the template, disabled ones too."""

    @property
    def facade(self) -> Mapping[str, Any] | None:
        """metadata, deletion_policy, update_policy of the resource whose
        template this is; None for a stack of its own."""

    @property
    def yaql_limits(self) -> tuple[int, int]:
        """Most items of one iterator, most bytes of one expression."""

    def availability_zones(self) -> Sequence[str]: ...

    def is_enabled(self, resource_name: str) -> bool: ...

    def node(self, resource_name: str) -> Node | None: ...

    def condition(self, value: Any, path: str) -> bool: ...


class Function(abc.ABC):
    """A function call in a template.

    :param stack: the definition of the stack that the call stands in
    :param fn_name: the name it was called by
    :param args: its arguments, a snippet
    :raises ValueError, TypeError: when the arguments can't be right
        whatever they resolve to; the parser adds the place

    ``path`` is the place in the template, such as
    ``resources.a.properties.value.list_join``; the parser sets it.
    """

    #: May stand in a condition.
    in_conditions = False

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        self._stack = stack
        self.fn_name = fn_name
        self.args = args
        self.path = ""

    @property
    def stack(self) -> Any:
        """The definition of the stack that the call stands in."""
        return self._stack

    def validate(self) -> None:
        """Check the arguments, without resolving them.

        :raises StackValidationFailed: and other errors of class 400
        """
        validate(self.args, self.path or None)

    @abc.abstractmethod
    def result(self) -> Any:
        """The value: plain, or :data:`ABSENT`.

        A value of a resource that isn't there yet is None, and a function
        of such a value must not fail.

        :raises ValueError, TypeError: the arguments are wrong; through
            :func:`resolve` it names the place
        """

    def dependencies(self, path: str) -> Iterator[str]:
        """Names of the resources that the value depends on.

        :raises InvalidTemplateReference: for a name that isn't there
        """
        return dependencies(self.args, path)

    def dep_attrs(self, resource_name: str) -> Iterator[Attr]:
        """Attributes of one resource that the value depends on."""
        return dep_attrs(self.args, resource_name)

    def all_dep_attrs(self) -> Iterator[tuple[str, Attr]]:
        """(resource name, attribute) pairs that the value depends on."""
        return all_dep_attrs(self.args)

    def render(self) -> dict[str, Any]:
        """The call as it's written in a template."""
        return {self.fn_name: render(self.args)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Function):
            return NotImplemented
        return self is other or (
            type(self) is type(other)
            and self.fn_name == other.fn_name
            and bool(self.args == other.args)
        )

    __hash__ = object.__hash__

    def __deepcopy__(self, memo: Any) -> Function:
        # A call never changes, and the stack must not be copied with it.
        return self

    def __repr__(self) -> str:
        return f"{{{self.fn_name}: {self.args!r}}}"


class Macro(Function):
    """A function that's gone once the template is parsed.

    The parser puts what :meth:`expand` returns in its place.
    """

    @abc.abstractmethod
    def expand(self, parse: Callable[[Any, str], Any]) -> Any:
        """The snippet that stands for the call.

        ``args`` are not parsed; ``parse(args, path)`` parses a part of
        them.
        """

    def result(self) -> Any:
        raise TypeError(f"{self.fn_name} has no value after parsing")


def resolve(snippet: Any, nullable: bool = False) -> Any:
    """The value of a snippet, functions replaced by their results.

    :param nullable: let :data:`ABSENT` through when the snippet itself is
        a function that gives it, instead of None
    :raises StackValidationFailed: and other errors of class 400, with the
        place of the function that can't be resolved
    """
    value = _resolve(snippet)
    if value is ABSENT and not nullable:
        return None
    return value


def _resolve(snippet: Any) -> Any:
    if isinstance(snippet, dict):
        return _resolve_map(snippet)
    if isinstance(snippet, (list, tuple)):
        return _resolve_list(snippet)
    if isinstance(snippet, Function):
        return _call(snippet)
    return snippet


def _call(func: Function) -> Any:
    try:
        return func.result()
    except exception.HeatException:
        raise
    except ARGUMENT_ERRORS as exc:
        raise exception.StackValidationFailed(
            path=func.path or func.fn_name, message=error_text(exc)
        ) from exc


def _resolve_map(snippet: dict[Any, Any]) -> dict[Any, Any]:
    out: dict[Any, Any] | None = None
    for key, value in snippet.items():
        if not isinstance(value, (dict, list, tuple, Function)):
            continue
        new = _resolve(value)
        if new is not value:
            if out is None:
                out = dict(snippet)
            if new is ABSENT:
                del out[key]
            else:
                out[key] = new
    return snippet if out is None else out


def _resolve_list(snippet: list[Any] | tuple[Any, ...]) -> Any:
    values = [_resolve(value) for value in snippet]
    if all(a is b for a, b in zip(values, snippet, strict=True)):
        return snippet
    return [value for value in values if value is not ABSENT]


def error_text(exc: BaseException) -> str:
    """What an error says; for a KeyError without its quotes."""
    if isinstance(exc, KeyError) and exc.args:
        return str(exc.args[0])
    return str(exc)


def children(snippet: Any) -> Iterable[Any]:
    """The values directly in a plain map or list; else none."""
    if isinstance(snippet, Mapping):
        return snippet.values()
    if isinstance(snippet, (list, tuple)):
        return snippet
    return ()


def calls(snippet: Any) -> Iterator[Function]:
    """The outermost functions in a snippet, in the order they're written."""
    if isinstance(snippet, Function):
        yield snippet
    elif isinstance(snippet, (Mapping, list, tuple)):
        for value in children(snippet):
            if isinstance(value, (Function, dict, list, tuple)):
                yield from calls(value)


def is_static(snippet: Any) -> bool:
    """Whether a snippet holds no function."""
    return next(calls(snippet), None) is None


def validate(snippet: Any, path: str | None = None) -> None:
    """Check all functions in a snippet, without resolving them.

    :param path: the place of the snippet, used for functions that don't
        know their own
    :raises StackValidationFailed: and other errors of class 400
    """
    for func in calls(snippet):
        try:
            func.validate()
        except exception.HeatException:
            raise
        except ARGUMENT_ERRORS as exc:
            raise exception.StackValidationFailed(
                path=func.path or path or func.fn_name,
                message=error_text(exc),
            ) from exc


def dependencies(snippet: Any, path: str = "") -> Iterator[str]:
    """Names of the resources that the value of a snippet depends on.

    A name may come more than once.

    :raises InvalidTemplateReference: for a name that isn't there
    """
    for func in calls(snippet):
        yield from func.dependencies(func.path or path)


def dep_attrs(snippet: Any, resource_name: str) -> Iterator[Attr]:
    """Attributes of one resource that the value of a snippet depends on.

    Each is ``(attribute,)`` or ``(attribute, key, ...)``.
    """
    for func in calls(snippet):
        yield from func.dep_attrs(resource_name)


def all_dep_attrs(snippet: Any) -> Iterator[tuple[str, Attr]]:
    """(resource name, attribute) pairs the value of a snippet depends on."""
    for func in calls(snippet):
        yield from func.all_dep_attrs()


def render(snippet: Any) -> Any:
    """A snippet as it's written in a template, functions as maps."""
    if isinstance(snippet, Function):
        return snippet.render()
    if isinstance(snippet, Mapping):
        return {key: render(value) for key, value in snippet.items()}
    if isinstance(snippet, (list, tuple)):
        return [render(value) for value in snippet]
    return snippet
