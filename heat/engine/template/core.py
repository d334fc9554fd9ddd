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
"""A template, whatever its language version.

A template is a body (plain values, read by :mod:`.source`) and the files
that came with it. The sub-class of its language knows the names of its
sections; :class:`Template` knows how to turn snippets into function calls.

It must not know the environment, nor anything that exists in a cloud.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from heat.common import exception, identifier
from heat.common.i18n import _
from heat.engine import function, parameters

if TYPE_CHECKING:
    from heat.engine import output, rsrc_defn

#: Functions by the name they're called by.
FunctionTable = Mapping[str, type[function.Function]]


class Template(abc.ABC):
    """A template of one language version.

    :param body: the template as plain values; not changed, not copied
    :param files: contents of the files that came with it, by name
    :raises InvalidTemplateSection: for a section that isn't known
    :raises StackValidationFailed: for a section of the wrong type
    """

    #: The key that says which version it is.
    version_key: str
    #: Words of HOT in places of errors -> those of the language.
    words: Mapping[str, str] = {}

    def __init__(
        self,
        body: Mapping[str, Any],
        files: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = dict(body)
        self.files: Mapping[str, str] = files or {}
        self.sections = self._read_sections()

    @property
    @abc.abstractmethod
    def version(self) -> str:
        """The version, not an alias."""

    @property
    @abc.abstractmethod
    def functions(self) -> FunctionTable:
        """The functions of this version."""

    @property
    @abc.abstractmethod
    def condition_functions(self) -> FunctionTable:
        """Those that may stand in a condition."""

    @property
    def _value_functions(self) -> FunctionTable:
        """Those that may stand in a value: more than are told of."""
        return self.functions

    @abc.abstractmethod
    def _read_sections(self) -> dict[str, Any]:
        """All sections of the language, empty ones as empty values."""

    @property
    @abc.abstractmethod
    def description(self) -> str: ...

    @abc.abstractmethod
    def parameter_schemata(self) -> dict[str, parameters.ParameterSchema]:
        """The declared parameters, in template order.

        :raises StackValidationFailed: for a wrong declaration
        """

    def pseudo_parameters(
        self, identity: identifier.HeatIdentifier | None, region: str | None
    ) -> dict[str, str | None]:
        """Values of the parameters that every template of the language has.

        :param identity: of the stack; None when there is none
        """
        return parameters.pseudo(identity, region)

    @abc.abstractmethod
    def parameter_groups(self) -> list[dict[str, Any]]:
        """The groups: ``{label, description, parameters}``.

        :raises StackValidationFailed: for a wrong group
        """

    def check_declarations(self) -> None:
        """Check of the parameters what nothing but users and clients read.

        For templates that are new: of a stored one it must not matter.

        :raises StackValidationFailed: naming the place
        """
        self.parameter_groups()

    @abc.abstractmethod
    def condition_definitions(self) -> Mapping[str, Any]:
        """Conditions by name, not parsed."""

    @abc.abstractmethod
    def resource_names(self) -> Iterator[str]:
        """All resources, in template order, disabled ones too."""

    def sure_resources(self) -> int:
        """How many resources there are at least, whatever conditions say.

        Nothing is parsed for it.
        """
        return 0

    @abc.abstractmethod
    def resource_definitions(
        self, stack: function.Scope
    ) -> dict[str, rsrc_defn.ResourceDefinition]:
        """The resources whose condition holds, in template order.

        :raises StackValidationFailed: for a wrong definition
        """

    def resource_definition(
        self, stack: function.Scope, name: str
    ) -> rsrc_defn.ResourceDefinition | None:
        """One of them; None: there is none such, or its condition fails.

        :raises StackValidationFailed: for a wrong definition
        """
        return self.resource_definitions(stack).get(name)

    def is_enabled(self, stack: function.Scope, name: str) -> bool:
        """Whether there is such a resource and its condition holds.

        :raises StackValidationFailed: for a wrong condition
        """
        return self.resource_definition(stack, name) is not None

    @abc.abstractmethod
    def output_definitions(
        self, stack: function.Scope
    ) -> dict[str, output.OutputDefinition]:
        """All outputs, in template order; None for a disabled one's value.

        :raises StackValidationFailed: for a wrong definition
        """

    @functools.cached_property
    def files_digest(self) -> str:
        """Stands for the files: it is equal when they are."""
        made = hashlib.sha256()
        for name in sorted(self.files):
            for text in (name, str(self.files[name])):
                data = text.encode("utf-8", "surrogatepass")
                made.update(b"%d:" % len(data))
                made.update(data)
        return made.hexdigest()

    @contextlib.contextmanager
    def own_words(self) -> Iterator[None]:
        """Let errors in the block name places in the language's words."""
        try:
            yield
        except exception.StackValidationFailed as exc:
            if type(exc) is not exception.StackValidationFailed or (
                not self.words
            ):
                raise
            raise exception.StackValidationFailed(
                exc.error, self._in_own_words(exc.path), exc.error_message
            ) from exc

    def _in_own_words(self, path: list[str]) -> list[str]:
        # A place is a list of parts, or ready text as its only part.
        parts = path[0].split(".") if len(path) == 1 else list(path)
        for number in (0, 2):
            if number < len(parts):
                word, bracket, rest = parts[number].partition("[")
                word = self.words.get(word, word)
                parts[number] = f"{word}{bracket}{rest}"
        return [".".join(parts)] if len(path) == 1 else parts

    def __getitem__(self, section: str) -> Any:
        return self.sections[section]

    def __contains__(self, section: str) -> bool:
        return section in self.sections

    def __iter__(self) -> Iterator[str]:
        return iter(self.sections)

    def get(self, section: str, default: Any = None) -> Any:
        """A section, or the default when the language has none such."""
        return self.sections.get(section, default)

    def parse(
        self, stack: function.Scope | None, snippet: Any, path: str = ""
    ) -> Any:
        """Turn a snippet's calls into functions.

        What holds none comes back as it is, uncopied.

        :param path: its place in the template, dotted
        :raises StackValidationFailed: for a call that can't be right,
            naming the place
        """
        parsed = _Parser(self._value_functions, self, stack).parse(
            snippet, path
        )
        return None if parsed is function.ABSENT else parsed

    def parse_condition(
        self, stack: function.Scope | None, snippet: Any, path: str = ""
    ) -> Any:
        """Turn a condition's calls into functions.

        :raises StackValidationFailed: for a function that may not stand
            in a condition
        """
        return _ConditionParser(self.condition_functions, self, stack).parse(
            snippet, path
        )


class _Parser:
    def __init__(
        self,
        table: FunctionTable,
        template: Template,
        stack: function.Scope | None,
    ) -> None:
        self.table = table
        self.template = template
        self.stack = stack

    def parse(self, snippet: Any, path: str) -> Any:
        if isinstance(snippet, dict):
            return self._parse_map(snippet, path)
        if isinstance(snippet, list):
            return self._parse_list(snippet, path)
        return snippet

    def _parse_map(self, snippet: dict[str, Any], path: str) -> Any:
        if len(snippet) == 1:
            [(name, args)] = snippet.items()
            cls = self._function(name)
            if cls is not None:
                return self._call(cls, name, args, f"{path}.{name}")
        out: dict[str, Any] | None = None
        for key, value in snippet.items():
            if not isinstance(value, (dict, list)):
                continue
            new = self.parse(value, f"{path}.{key}")
            if new is not value:
                if out is None:
                    out = dict(snippet)
                if new is function.ABSENT:
                    del out[key]
                else:
                    out[key] = new
        return snippet if out is None else out

    def _parse_list(self, snippet: list[Any], path: str) -> Any:
        changed = False
        out: list[Any] = []
        for index, value in enumerate(snippet):
            new = value
            if isinstance(value, (dict, list)):
                new = self.parse(value, f"{path}[{index}]")
                changed = changed or new is not value
            if new is not function.ABSENT:
                out.append(new)
        return out if changed else snippet

    def _function(self, name: str) -> type[function.Function] | None:
        return self.table.get(name)

    def _call(
        self, cls: type[function.Function], name: str, args: Any, path: str
    ) -> Any:
        try:
            if issubclass(cls, function.Macro):
                macro = cls(self.stack, name, args)
                macro.path = path
                return macro.expand(self._parse_part)
            call = cls(self.stack, name, self.parse(args, path))
        except exception.HeatException:
            raise
        except function.ARGUMENT_ERRORS as exc:
            raise exception.StackValidationFailed(
                path=path, message=function.error_text(exc)
            ) from exc
        call.path = path
        return call

    def _parse_part(
        self, snippet: Any, path: str, condition: bool = False
    ) -> Any:
        if condition:
            return self.template.parse_condition(self.stack, snippet, path)
        return self.parse(snippet, path)


class _ConditionParser(_Parser):
    """Only condition functions are calls; others are an error."""

    def _function(self, name: str) -> type[function.Function] | None:
        cls = self.table.get(name)
        if cls is None and name in self.template.functions:
            raise exception.StackValidationFailed(
                message=_('The function is not supported in condition: "%s"')
                % name
            )
        return cls


class Conditions:
    """The conditions of a stack, each evaluated once, when it's asked for.

    :param stack: the stack whose parameters they read
    """

    def __init__(self, template: Template, stack: function.Scope) -> None:
        self._template = template
        self._stack = stack
        self._definitions = template.condition_definitions()
        self._known: dict[str, bool | None] = {}

    def check_all(self) -> None:
        """Evaluate every condition of the template.

        :raises StackValidationFailed: one is wrong
        """
        for name in self._definitions:
            self.named(name, f"conditions.{name}")

    def holds(self, value: Any, path: str) -> bool:
        """Whether a parsed condition holds.

        :param value: true or false, the name of a condition, or a
            function of those
        :param path: where it stands
        :raises StackValidationFailed: it is no condition, or its name is
            unknown
        """
        if isinstance(value, function.Function):
            result = function.resolve(value)
            if result is None:
                # A parameter without value, while nothing is made yet.
                return False
        elif isinstance(value, str):
            return self.named(value, path)
        else:
            result = value
        if not isinstance(result, bool):
            raise exception.StackValidationFailed(
                path=[path],
                message=_(
                    "a condition must be true, false, the name of a "
                    "condition or a condition function, not %s"
                )
                % function.render(result),
            )
        return result

    def named(self, name: str, path: str) -> bool:
        """Whether the condition of that name holds."""
        if name not in self._definitions:
            raise exception.StackValidationFailed(
                path=[path], message=_('Invalid condition "%s"') % name
            )
        if name in self._known:
            known = self._known[name]
            if known is None:
                raise exception.StackValidationFailed(
                    path=[path],
                    message=_("conditions.%s refers to itself") % name,
                )
            return known
        self._known[name] = None
        place = f"conditions.{name}"
        try:
            parsed = self._template.parse_condition(
                self._stack, self._definitions[name], place
            )
            known = self.holds(parsed, place)
        except BaseException:
            del self._known[name]
            raise
        self._known[name] = known
        return known
