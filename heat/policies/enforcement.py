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

"""Enforces the rules, an operator's too.

Knows neither HTTP nor the engine: it raises
:class:`heat.common.exception.Forbidden` and nothing else.
"""

from __future__ import annotations

import fnmatch
import math
import time
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from oslo_policy import policy

from heat.common import context as heat_context
from heat.common import exception
from heat.policies import rules

# Seconds after which a changed policy file counts at the latest.
_LOOK_INTERVAL = 1.0


class Enforcer:
    """The rules with an operator's overrides; safe to share by threads.

    Files are looked at once in a second at most: each look asks for a dozen
    paths, and there are two rules or more in every request.

    :param conf: a loaded configuration; [oslo_policy] names the file
    :param monotonic: a clock, in seconds
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._enforcer = policy.Enforcer(conf)
        # The fall-backs above are told in the documentation; a page of
        # warnings at each start would only bury what matters.
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.suppress_deprecation_warnings = True
        self._enforcer.register_defaults(rules.list_rules())
        self._monotonic = monotonic
        self._next_look = -math.inf
        self._of_types: tuple[str, ...] = ()

    def _look(self) -> None:
        """Read the operator's files if it is time to."""
        now = self._monotonic()
        if now < self._next_look:
            return
        self._enforcer.use_conf = True
        self._enforcer.load_rules()
        self._of_types = tuple(
            name
            for name in self._enforcer.rules or ()
            if name.startswith(rules.TYPE_PREFIX)
        )
        # Only now that there are rules may another thread go without.
        self._enforcer.use_conf = False
        self._next_look = now + _LOOK_INTERVAL

    def check(
        self,
        context: heat_context.RequestContext,
        rule: str,
        project_id: str | None = None,
    ) -> bool:
        """Whether ``rule`` holds.

        :param project_id: owner of what is asked for; None: the caller's
        :raises oslo_policy.policy.PolicyNotRegistered: no such rule
        """
        if rule not in self._enforcer.registered_rules:
            raise policy.PolicyNotRegistered(rule)
        return self._holds(context, rule, project_id)

    def _holds(
        self,
        context: heat_context.RequestContext,
        rule: str,
        project_id: str | None = None,
    ) -> bool:
        self._look()
        owner = context.project_id if project_id is None else project_id
        try:
            return bool(
                self._enforcer.enforce(rule, {"project_id": owner}, context)
            )
        except policy.InvalidScope:
            return False

    def require(
        self,
        context: heat_context.RequestContext,
        rule: str,
        project_id: str | None = None,
    ) -> None:
        """Like :meth:`check`.

        :raises Forbidden: the rule does not hold
        """
        if not self.check(context, rule, project_id):
            raise exception.Forbidden(action=rule)

    def is_admin(self, context: heat_context.RequestContext) -> bool:
        """Whether the caller is an administrator of the cloud."""
        return self.check(context, "context_is_admin")

    def require_resource_type(
        self, context: heat_context.RequestContext, resource_type: str
    ) -> None:
        """Refuse a type that the caller may not use.

        :raises Forbidden: naming the type
        """
        if not self.may_use_resource_type(context, resource_type):
            raise exception.Forbidden(
                action=f"resources of type {resource_type}"
            )

    def may_use_resource_type(
        self, context: heat_context.RequestContext, resource_type: str
    ) -> bool:
        """Whether the caller may use a type.

        Rules speak of it that are registered, or an operator's own.
        """
        self._look()
        return all(
            self._holds(context, name)
            for name in self._of_types
            if fnmatch.fnmatchcase(
                resource_type, name.removeprefix(rules.TYPE_PREFIX)
            )
        )


def get_enforcer() -> Any:
    """The bare enforcer (entry point ``oslo.policy.enforcer``)."""
    conf = cfg.CONF
    conf([], project="heat")
    return Enforcer(conf)._enforcer
