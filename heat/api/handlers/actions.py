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

"""Actions on a stack: each is one key of the body, with a rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heat.api.request import Answer, Call

Options = Mapping[str, Any]


def action(call: Call) -> Answer:
    """POST S/actions"""
    ((name, options),) = call.body.items()
    call.require(f"actions:{name}")
    ACTIONS[name](call, options if isinstance(options, dict) else {})
    return Answer(None)


def suspend(call: Call, _options: Options) -> None:
    call.engine.stack_suspend(call.context, call.identity)


def resume(call: Call, _options: Options) -> None:
    call.engine.stack_resume(call.context, call.identity)


def check(call: Call, _options: Options) -> None:
    call.engine.stack_check(call.context, call.identity)


def cancel_update(call: Call, _options: Options) -> None:
    call.engine.stack_cancel_update(
        call.context, call.identity, cancel_with_rollback=True
    )


def cancel_without_rollback(call: Call, _options: Options) -> None:
    call.engine.stack_cancel_update(
        call.context, call.identity, cancel_with_rollback=False
    )


def lock(call: Call, options: Options) -> None:
    expires_in = options.get("expires_in")
    call.engine.stack_lock(
        call.context,
        call.identity,
        level=options.get("level", "all"),
        reason=options.get("reason"),
        expires_in=None if expires_in is None else int(expires_in),
    )


def unlock(call: Call, _options: Options) -> None:
    call.engine.stack_unlock(call.context, call.identity)


# The keys are those of schemas.ACTIONS; a test compares them.
ACTIONS: Mapping[str, Callable[[Call, Options], None]] = {
    "suspend": suspend,
    "resume": resume,
    "check": check,
    "cancel_update": cancel_update,
    "cancel_without_rollback": cancel_without_rollback,
    "lock": lock,
    "unlock": unlock,
}
