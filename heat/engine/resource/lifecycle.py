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

"""How one action runs on one resource, and what an update comes to.

:class:`Operation` calls ``handle_<action>`` once and then
``check_<action>_complete`` as often as it takes; between two calls it holds
nothing, the caller keeps the time. :func:`verdict` weighs a changed
definition. No database, no thread, no sleeping.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import rsrc_defn
from heat.engine.resource import base, drift, outcomes, state

#: seconds between two calls of a check that does not name its own delay
POLL_PERIOD = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """Not done: call ``poll()`` again in ``delay`` seconds."""

    delay: float = POLL_PERIOD


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """The action is complete."""


@dataclasses.dataclass(frozen=True, slots=True)
class Before:
    """How a resource was before an update.

    :ivar properties: what ``stored_properties()`` gave then
    :ivar definition: the definition then, for metadata and policies; None
        when it is not known, which counts as "not changed"
    :ivar tried: what a failed update was about to apply since; a property
        counts as changed when it differs from either
    """

    properties: Mapping[str, Any]
    definition: rsrc_defn.ResourceDefinition | None = None
    tried: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What a changed definition means for a resource.

    :ivar changed: names of the properties that differ
    :ivar because: a sentence for events and previews
    """

    needs_update: bool
    needs_replace: bool
    changed: tuple[str, ...]
    because: str


@dataclasses.dataclass(frozen=True, slots=True)
class _Change:
    """An update, as plug-ins are told of it."""

    before: rsrc_defn.ResourceDefinition
    after: rsrc_defn.ResourceDefinition
    before_props: Any
    after_props: Any
    given: Mapping[str, Any]
    changed: tuple[str, ...]

    def prop_diff(self) -> dict[str, Any]:
        """Changed name -> new value, None for one that was taken away."""
        return {
            key: self.after_props[key] if key in self.given else None
            for key in self.changed
        }

    def tmpl_diff(self) -> Any:
        return rsrc_defn.ResourceDefinition.Diff(self.before, self.after)


def _change(
    rsrc: base.Resource,
    before: Before | None,
    unknown: Collection[str] = (),
) -> _Change:
    after_props = rsrc.properties_of(rsrc.target)
    given = base.properties_given(after_props)
    after = base.with_properties(rsrc.target, given)
    if before is None:
        before = Before(base.properties_given(rsrc.properties))
    old = base.with_properties(
        before.definition or after, dict(before.properties)
    )
    rsrc.adopt_stored(old)
    before_props = rsrc.properties_of(old)
    changed = tuple(
        key
        for key in before_props
        if key in unknown
        or (
            (key in given or key in before.properties)
            and _value(before_props, key) != after_props[key]
        )
    )
    if before.tried is not None:
        changed += _tried(rsrc, before.tried, after_props, changed)
    return _Change(old, after, before_props, after_props, given, changed)


def _tried(
    rsrc: base.Resource,
    tried: Mapping[str, Any],
    after_props: Any,
    changed: tuple[str, ...],
) -> tuple[str, ...]:
    """What a failed update may have applied, and is not wanted now."""
    props = rsrc.properties_of(base.with_properties(rsrc.target, dict(tried)))
    return tuple(
        key
        for key in tried
        if key not in changed
        and key in after_props
        and _value(props, key) != after_props[key]
    )


def _value(props: Any, key: str) -> Any:
    """The old value as it reads today; one that a newer release of the
    plug-in can't read any more differs from every new one."""
    try:
        return props[key]
    except ValueError:
        return props.data.get(key)


@contextlib.contextmanager
def _seen_as(
    rsrc: base.Resource, defn: rsrc_defn.ResourceDefinition
) -> Iterator[None]:
    current, rsrc.t = rsrc.t, defn
    try:
        yield
    finally:
        rsrc.t = current


# -- weighing an update -------------------------------------------------------


def verdict(
    rsrc: base.Resource,
    before: Before | None = None,
    unknown: Collection[str] = (),
) -> Verdict:
    """Tell whether the target definition asks for an update or more.

    No object is touched; a cloud is asked only by a plug-in that does so
    when it is asked itself.

    :param before: None: as loaded into ``rsrc``
    :param unknown: properties whose new values nobody knows yet: they count
        as changed, whatever the target says of them
    :raises heat.common.exception.NotSupported: when an immutable property
        changed
    """
    replace = _replace_failed(rsrc)
    if replace:
        return Verdict(True, True, (), replace)
    change = _change(rsrc, before, unknown)
    _refuse_immutable(rsrc, change.changed)
    with _seen_as(rsrc, change.before):
        replace = _replace_changed(rsrc, change)
    if replace:
        return Verdict(True, True, change.changed, replace)
    if change.changed:
        text = _("properties changed: %s") % ", ".join(change.changed)
        return Verdict(True, False, change.changed, text)
    diff = change.tmpl_diff()
    if diff.metadata_changed() or diff.update_policy_changed():
        return Verdict(True, False, (), _("metadata or policy changed"))
    if rsrc.status == rsrc.FAILED:
        return Verdict(True, False, (), _("the last action failed"))
    beyond = rsrc.changed_beyond()
    if beyond:
        return Verdict(True, False, (), beyond)
    return Verdict(False, False, (), _("nothing changed"))


def _replace_failed(rsrc: base.Resource) -> str:
    if rsrc.status != rsrc.FAILED:
        return ""
    if rsrc.action == rsrc.CHECK and rsrc.always_replace_on_check_failed:
        return _("it was found or marked unhealthy")
    if rsrc.needs_replace_failed():
        return _("%s failed before") % rsrc.action
    return ""


def _refuse_immutable(rsrc: base.Resource, changed: tuple[str, ...]) -> None:
    schema = rsrc.properties.schema
    refused = [key for key in changed if schema[key].immutable]
    if refused:
        raise exception.NotSupported(
            feature=_("Update to properties %(props)s of %(name)s (%(type)s)")
            % {
                "props": ", ".join(sorted(refused)),
                "name": rsrc.name,
                "type": rsrc.type(),
            }
        )


def _replace_changed(rsrc: base.Resource, change: _Change) -> str:
    diff = change.tmpl_diff()
    if change.changed:
        schema = change.before_props.schema
        fixed = [k for k in change.changed if not schema[k].update_allowed]
        if fixed:
            return _("can't be changed in place: %s") % ", ".join(fixed)
        if rsrc.needs_replace_with_prop_diff(
            set(change.changed), change.after_props, change.before_props
        ):
            return _("this change of %s needs it") % ", ".join(change.changed)
        if rsrc.needs_replace(change.after_props):
            return _("the new properties need it")
    if diff and rsrc.needs_replace_with_tmpl_diff(diff):
        return _("this change of the definition needs it")
    return ""


# -- running an action --------------------------------------------------------


#: A nested stack deletes what it has kept of an update.
CLEAN_UP = "CLEAN_UP"


class Operation:
    """One action on one resource.

    :param action: one of ``state.ACTIONS``, ``DELETE_SNAPSHOT``, or
        :data:`CLEAN_UP`
    :param before: for UPDATE: how it was; None: as loaded
    :param timeout_at: ``monotonic()`` time at which to give up, None for
        never
    :param arguments: for ADOPT, RESTORE, LOCK ...: what ``handle_`` takes
    :param monotonic: the clock, in seconds
    :param is_free: tells whether it may have an object of this id that is
        found for it; None: any
    :param snapshot_first: for DELETE: have the plug-in make a snapshot, and
        delete the object when there is one
    """

    def __init__(
        self,
        rsrc: base.Resource,
        action: str,
        *,
        before: Before | None = None,
        timeout_at: float | None = None,
        arguments: tuple[Any, ...] = (),
        monotonic: Callable[[], float] = time.monotonic,
        is_free: Callable[[str], bool] | None = None,
        snapshot_first: bool = False,
    ) -> None:
        self.rsrc = rsrc
        self.action = action
        self.timeout_at = timeout_at
        self.token: Any = None
        #: what its event says beside that it ended well; "" for nothing
        self.remark = ""
        self._before = before
        self._arguments = arguments
        self._monotonic = monotonic
        self._is_free = is_free
        #: the snapshot is there
        self.has_snapshot = False
        # What is asked of the plug-in now.
        self._doing = state.SNAPSHOT if snapshot_first else action
        self._started = monotonic()
        self._change: _Change | None = None
        self._steps: Iterator[Any] | None = None

    def start(self) -> Done | Waiting:
        """Begin, and check once whether it is done already.

        :raises heat.common.exception.ResourceFailure: when it fails; the
            message names the resource
        :raises heat.common.exception.UpdateReplace: from UPDATE, before
            anything was changed: a new object is needed
        """
        with self._wrapped(starting=True):
            self._set_state(state.IN_PROGRESS)
            self._call(*self._prepare())
        return self.poll()

    def poll(self) -> Done | Waiting:
        """Check whether it is done. Errors as :meth:`start`."""
        with self._wrapped():
            self._check_time()
            try:
                ready = self._step() and self._go_on()
            except outcomes.PollDelay as delay:
                return self._waiting(delay.period)
            if not ready:
                return self._waiting(POLL_PERIOD)
            self._complete()
        return Done()

    def cancel(self) -> None:
        """Tell the plug-in that nobody waits any more, as a time-out does.

        Its errors count as those of the action.
        """
        with self._wrapped():
            cancel = self._method("handle_%s_cancel")
            if self._steps is not None:
                self._steps.close()  # type: ignore[attr-defined]
                self._steps = None
            if cancel is not None:
                cancel(self.token)

    # -- parts ----------------------------------------------------------------

    def _method(self, pattern: str) -> Callable[..., Any] | None:
        return getattr(self.rsrc, pattern % self._doing.lower(), None)

    def _call(self, *arguments: Any) -> None:
        handle = self._method("handle_%s")
        try:
            self.token = None if handle is None else handle(*arguments)
        except Exception as exc:
            if self._doing == self.action or not self.rsrc.says_gone(exc):
                raise
            # There is nothing to make a snapshot of.
            self._doing = self.action
            return self._call()
        if inspect.isgenerator(self.token):
            self._steps, self.token = self.token, None

    def _go_on(self) -> bool:
        """Do what comes after a snapshot; tell whether all is done."""
        if self._doing == self.action:
            return True
        self.has_snapshot = True
        self.remark = _("a snapshot was made first")
        self._doing = self.action
        self._call()
        return self._step()

    def _set_state(self, status: str, reason: str = "") -> None:
        if self.action in state.ACTIONS:
            self.rsrc.state_set(self.action, status, reason)

    def _prepare(self) -> tuple[Any, ...]:
        """Check the properties; give what ``handle_`` takes."""
        rsrc = self.rsrc
        if self.action == state.CREATE:
            if not rsrc.accepts_anything:
                rsrc.properties.validate()
        if self.action == state.DELETE and rsrc.resource_id is None:
            rsrc.resource_id_set(self._find_made())
        if self.action != state.UPDATE:
            return self._arguments
        change = self._change = _change(rsrc, self._before)
        if not rsrc.accepts_anything:
            change.after_props.validate()
        # Plug-ins read the old values from ``properties`` and the new ones
        # from the arguments, until the update is complete.
        rsrc.t = change.before
        return change.after, change.tmpl_diff(), change.prop_diff()

    def _find_made(self) -> str | None:
        """The object that a create made whose end nobody saw, unless it is
        somebody else's by now."""
        made = self.rsrc.find_made()
        if made is not None and self._is_free and not self._is_free(made):
            return None
        return made

    def _step(self) -> bool:
        if self._steps is not None:
            try:
                next(self._steps)
                return False
            except StopIteration as stop:
                self._steps, self.token = None, stop.value
        check = self._method("check_%s_complete")
        if check is None:
            return True
        return bool(check(self.token))

    def _waiting(self, delay: float) -> Waiting:
        if self.timeout_at is not None:
            delay = min(delay, max(0.0, self.timeout_at - self._monotonic()))
        return Waiting(delay)

    def _check_time(self) -> None:
        if self.timeout_at is None or self._monotonic() < self.timeout_at:
            return
        # Why it ends is more than what the plug-in has to say of it.
        with contextlib.suppress(exception.ResourceFailure):
            self.cancel()
        cls = type(self.rsrc)
        raise exception.Error(
            _(
                "%(action)s of %(type)s (plug-in %(plugin)s) timed out "
                "after %(secs)d seconds"
            )
            % {
                "action": self.action,
                "type": self.rsrc.type(),
                "plugin": f"{cls.__module__}.{cls.__name__}",
                "secs": max(0, round(self.timeout_at - self._started)),
            }
        )

    def _complete(self) -> None:
        rsrc = self.rsrc
        if self._change is not None:
            diff = self._change.tmpl_diff()
            if diff.metadata_changed() and not rsrc.metadata_is_changed():
                wanted = self._change.after.metadata()
                rsrc.metadata_set(rsrc.updated_metadata(wanted))
            rsrc.adopt_stored(self._change.after)
        if self.action == state.CHECK and not rsrc.external:
            self.remark = drift.told(rsrc)
        rsrc.attributes.reset_resolved_values()
        self._set_state(state.COMPLETE, self.remark)

    @contextlib.contextmanager
    def _wrapped(self, starting: bool = False) -> Iterator[None]:
        """Turn what a plug-in raises into what this class promises."""
        try:
            yield
        except outcomes.UpdateReplace:
            if starting and self.action == state.UPDATE:
                raise
            failure = self._failure(
                exception.Error(_("it asked to be replaced too late"))
            )
            raise failure from None
        except exception.ResourceFailure as exc:
            if exc.resource is self.rsrc:
                self._set_state(state.FAILED, str(exc))
                raise
            raise self._failure(exc) from exc
        except Exception as exc:
            raise self._failure(exc) from exc

    def _failure(self, exc: Exception) -> exception.ResourceFailure:
        failure = exception.ResourceFailure(
            self._local(exc), self.rsrc, self.action
        )
        failure.exc = exc
        self._set_state(state.FAILED, str(failure))
        return failure

    def _local(self, exc: Exception) -> Exception:
        """The error with its path below the resource, as the failure puts
        the resource's own path in front."""
        if not isinstance(exc, exception.HeatExceptionWithPath):
            return exc
        if isinstance(exc, exception.ResourceFailure):
            return exc
        dotted = exc.path_text()
        own = f"resources.{self.rsrc.name}"
        if dotted != own and not dotted.startswith(own + "."):
            return exc
        local = exception.StackValidationFailed(
            exc.error or type(exc).__name__,
            dotted[len(own) + 1 :],
            exc.error_message,
        )
        return local
