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

"""Plug-ins that are asked before, and told after, each action on a stack.

They come from the group ``heat.stack_lifecycle_plugins`` of installed
distributions. A plug-in has any of these methods::

    do_pre_op(cnxt, stack, current_stack=None, action=None)
    do_post_op(cnxt, stack, current_stack=None, action=None,
               is_stack_failure=False)
    get_ordinal()

Those with a lower ordinal (100 when it says none) are called first. What
``do_pre_op`` raises refuses the action, and those that were asked already
are told that it failed. What ``do_post_op`` raises is logged.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from heat.common import exception
from heat.common.context import RequestContext
from heat.db import stacks
from heat.engine.definition import StackDefinition
from heat.engine.ports import Engine
from heat.engine.stack import load
from heat.engine.traversal import gather

LOG = logging.getLogger(__name__)


def _name(plugin: Any) -> str:
    return type(plugin).__qualname__


@contextlib.contextmanager
def asked(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    action: str,
    definition: StackDefinition | None = None,
) -> Iterator[None]:
    """Ask before an action; its beginning is the block.

    No transaction may be open. When the block raises, the plug-ins are told
    that the action failed; when it does not, they are told at its end.

    :param definition: what the stack is to be; None: what it is
    :raises StackValidationFailed: a plug-in refused
    """
    plugins = engine.plugins.lifecycle
    if not plugins:
        yield
        return
    view = _view(engine, context, stack, definition)
    passed: list[Any] = []
    try:
        for plugin in plugins:
            _ask(plugin, context, view, action)
            passed.append(plugin)
        yield
    except Exception:
        _tell(passed, context, view, action, failed=True)
        raise


def _ask(plugin: Any, context: RequestContext, view: Any, action: str) -> None:
    ask = getattr(plugin, "do_pre_op", None)
    if not callable(ask):
        return
    try:
        ask(context, view, None, action)
    except exception.HeatException:
        raise
    except Exception as exc:
        LOG.warning("%s refuses %s: %s", _name(plugin), action, exc)
        raise exception.StackValidationFailed(message=exc) from exc


def tell(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    action: str,
    *,
    failed: bool,
) -> None:
    """Tell of the end of an action."""
    if engine.plugins.lifecycle:
        view = _view(engine, context, stack, None)
        plugins = engine.plugins.lifecycle
        _tell(plugins, context, view, action, failed=failed)


def _tell(
    plugins: Iterable[Any],
    context: RequestContext,
    view: Any,
    action: str,
    *,
    failed: bool,
) -> None:
    for plugin in plugins:
        hear = getattr(plugin, "do_post_op", None)
        if not callable(hear):
            continue
        try:
            hear(context, view, None, action, failed)
        except Exception:
            LOG.exception("%s failed after %s", _name(plugin), action)


def _view(
    engine: Engine,
    context: RequestContext,
    stack: stacks.StackRecord,
    definition: StackDefinition | None,
) -> Any:
    if definition is None:
        definition = load.template(engine, stack)
    return gather.stack_view(engine, stack, definition, context)
