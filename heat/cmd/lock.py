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
"""heat-lock: the ``heat`` command with the words action-lock, action-unlock.

heat-lock action-lock STACK --level=stacks
heat-lock action-unlock STACK

The old command-line shell of the public client takes no plug-ins. This
script shows it two more words and hands everything to it; a script named
``heat`` is the public client's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from heatclient import exc, shell
from heatclient.common import utils
from heatclient.v1 import shell as words

from heat.common.i18n import _
from heat.osc import lock

Command = Callable[[Any, Any], None]


def _stack_argument(command: Command, text: str) -> None:
    utils.add_arg(command, "id", metavar="<NAME or ID>", help=text)


def do_action_lock(hc: Any, args: Any) -> None:
    """Lock the stack: refuse whatever would change it."""
    body = lock.lock_body(args.level, args.reason, args.expires_in)
    _act(hc, args, body)


def do_action_unlock(hc: Any, args: Any) -> None:
    """Unlock the stack."""
    _act(hc, args, lock.UNLOCK_BODY)


def _act(hc: Any, args: Any, body: Any) -> None:
    try:
        lock.post(hc, body, args.id)
    except exc.HTTPNotFound as error:
        raise exc.CommandError(_("Stack not found: %s") % args.id) from error
    words.do_stack_list(hc)


def install() -> None:
    """Show the shell the two words."""
    if hasattr(words, "do_action_lock"):
        return
    _stack_argument(do_action_lock, _("Name or ID of stack to lock."))
    for name, options in lock.LOCK_OPTIONS:
        utils.add_arg(do_action_lock, name, **options)
    _stack_argument(do_action_unlock, _("Name or ID of stack to unlock."))
    words.do_action_lock = do_action_lock
    words.do_action_unlock = do_action_unlock


def main(argv: Sequence[str] | None = None) -> int:
    """Run the shell of the public client with two words more."""
    install()
    shell.main(list(sys.argv[1:] if argv is None else argv))
    return 0


if __name__ == "__main__":
    sys.exit(main())
