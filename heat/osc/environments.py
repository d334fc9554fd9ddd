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
"""Options for commands of the public client, about environment files.

They are hooks of the command-line framework: the commands stay those of the
public client, and take their options beside ours.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib import parse

import yaml
from cliff import hooks
from heatclient import exc
from osc_lib import exceptions

from heat.common.i18n import _


class _Hook(hooks.CommandHook):
    """A hook that does nothing."""

    def get_parser(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        return parser

    def get_epilog(self) -> str | None:
        return None

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        return parsed_args

    def after(self, parsed_args: argparse.Namespace, return_code: int) -> int:
        return return_code


# -- --environment-list -------------------------------------------------------


class _ListPath(str):
    """The path of a list, among paths of environments."""


class _Append(argparse.Action):
    """Puts the list where ``-e`` puts its files, so that the order stays."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        paths = list(getattr(namespace, self.dest, None) or ())
        paths.append(_ListPath(values))
        setattr(namespace, self.dest, paths)


class EnvironmentList(_Hook):
    """``--environment-list FILE``, a file that names environments."""

    def get_parser(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        parser.add_argument(
            "--environment-list",
            metavar="<file>",
            dest="environment",
            action=_Append,
            help=_(
                "File that lists environments, a YAML list or one path a "
                "line, relative to the file. Can be specified multiple "
                "times, and beside --environment: the order counts"
            ),
        )
        return parser

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        """Put the files in the place of the lists.

        :raises CommandError: a list can't be read
        """
        given = getattr(parsed_args, "environment", None)
        if not given:
            return parsed_args
        # Names in a container are not relative to anything here.
        local = not getattr(parsed_args, "files_container", None)
        paths: list[str] = []
        for path in given:
            if isinstance(path, _ListPath):
                paths.extend(read_list(path, local))
            else:
                paths.append(path)
        parsed_args.environment = paths
        return parsed_args


def read_list(path: str, relative: bool = True) -> list[str]:
    """The environments that a file lists.

    :param relative: make relative paths relative to the file
    :raises CommandError: it can't be read, or is no list of names
    """
    try:
        text = pathlib.Path(path).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise exceptions.CommandError(
            _("The environment list %(path)s can't be read: %(error)s")
            % {"path": path, "error": error}
        ) from error
    names = list(_names(text, path))
    if not relative:
        return names
    folder = pathlib.Path(path).parent
    return [name if "://" in name else str(folder / name) for name in names]


def _names(text: str, path: str) -> Iterator[str]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, list):
        found = [line.strip() for line in text.splitlines()]
        found = [line for line in found if line and line[0] != "#"]
    for name in found:
        if not isinstance(name, str) or not name:
            raise exceptions.CommandError(
                _(
                    "The environment list %(path)s: %(name)r is no path; "
                    "write a YAML list of paths, or one path a line"
                )
                % {"path": path, "name": name}
            )
        yield name


# -- --sources ----------------------------------------------------------------


class EnvironmentSources(_Hook):
    """``--sources``, to show where values of an environment come from."""

    def get_parser(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        parser.add_argument(
            "--sources",
            action="store_true",
            help=_(
                "Show for each value the file, the key and the line that it "
                "comes from, and what it overrides"
            ),
        )
        return parser

    def before(self, parsed_args: argparse.Namespace) -> argparse.Namespace:
        if getattr(parsed_args, "sources", False):
            # The framework asks the command for what to show through this.
            show = functools.partial(show_sources, self.cmd)
            self.cmd.take_action = show  # type: ignore[method-assign]
        return parsed_args


def show_sources(
    command: Any, parsed_args: argparse.Namespace
) -> tuple[list[str], list[Any]]:
    """Names and values of what is shown: files, then sources by section.

    :raises CommandError: there is no such stack, or the service can't tell
    """
    client = command.app.client_manager.orchestration
    # The name or "name/id", as everywhere in the client.
    stack = parse.quote(parsed_args.stack)
    try:
        answer = client.http_client.get(
            f"/stacks/{stack}/environment?with_sources=true"
        )
    except exc.HTTPNotFound as error:
        raise exceptions.CommandError(
            _("Stack not found: %s") % parsed_args.stack
        ) from error
    shown: Mapping[str, Any] = answer.json()
    sources = shown.get("sources")
    if sources is None:
        raise exceptions.CommandError(
            _("This service can't tell the sources of an environment.")
        )
    told = {"environment_files": shown.get("environment_files"), **sources}
    return list(told), list(told.values())
