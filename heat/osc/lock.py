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
"""``openstack stack lock`` and ``openstack stack unlock``.

The public client has no words for these two actions of the API: the commands
are found through its entry points, and act and wait as those of its own.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from heatclient.osc.v1 import stack as stack_commands

from heat.common.i18n import _

#: What a lock may cover.
LEVELS = ("all", "stacks")


def lock_body(
    level: str | None, reason: str | None, expires_in: int | None
) -> dict[str, Any]:
    """The body of the request; what was not given is left to the service."""
    given = {"level": level, "reason": reason, "expires_in": expires_in}
    return {"lock": {k: v for k, v in given.items() if v is not None}}


UNLOCK_BODY: Mapping[str, Any] = {"unlock": None}


def post(client: Any, body: Mapping[str, Any], stack: str) -> None:
    """Ask for an action.

    :param client: of :mod:`heatclient.v1.client`
    :param stack: its name or id
    :raises heatclient.exc.HTTPException: the service refuses it
    """
    client.actions.client.post(f"/stacks/{stack}/actions", data=dict(body))


def add_lock_options(parser: Any) -> None:
    """The options of a lock, for any kind of parser."""
    for name, options in LOCK_OPTIONS:
        parser.add_argument(name, **options)


def _seconds(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(
            _("%s is no number of seconds greater than 0") % text
        )
    return number


LOCK_OPTIONS: Sequence[tuple[str, dict[str, Any]]] = (
    (
        "--level",
        {
            "metavar": "<level>",
            "choices": LEVELS,
            "help": _(
                "all: the stack, those nested in it, and every resource "
                "that can be locked (the default); stacks: the stacks "
                "alone, their resources can still be used directly"
            ),
        },
    ),
    (
        "--reason",
        {
            "metavar": "<text>",
            "help": _("Why, for everybody who is refused meanwhile"),
        },
    ),
    (
        "--expires-in",
        {
            "metavar": "<seconds>",
            "type": _seconds,
            "help": _("Unlock it again after so many seconds"),
        },
    ),
)


class LockStack(stack_commands.StackActionBase):  # type: ignore[misc]
    """Lock a stack: refuse whatever would change it, until it is unlocked.

    Locking a locked stack changes the level or the record of its lock.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._get_parser(
            prog_name,
            _("Stack(s) to lock (name or ID)"),
            _("Wait for lock to complete"),
        )
        add_lock_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        body = lock_body(
            parsed_args.level, parsed_args.reason, parsed_args.expires_in
        )
        client = self.app.client_manager.orchestration
        return self._take_action(
            parsed_args, functools.partial(post, client, body), "LOCK"
        )


class UnlockStack(stack_commands.StackActionBase):  # type: ignore[misc]
    """Unlock a stack and all that was locked with it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._get_parser(
            prog_name,
            _("Stack(s) to unlock (name or ID)"),
            _("Wait for unlock to complete"),
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        client = self.app.client_manager.orchestration
        return self._take_action(
            parsed_args, functools.partial(post, client, UNLOCK_BODY), "UNLOCK"
        )
