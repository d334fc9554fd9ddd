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

"""What is common to wait conditions and their handles.

A handle keeps the signals it got in its metadata, by the id that each names.
A wait condition looks there until there are enough, or one has failed. It
finds its handle by what ``get_resource`` gives for it, in any stack of the
project.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Mapping
from typing import Any

from oslo_utils import timeutils

from heat.common import ec2, exception, identifier
from heat.common.i18n import _
from heat.db import events, resource_data, resource_rows, signals
from heat.engine import resource
from heat.engine.resources import signal_box, signal_responder

SUCCESS = "SUCCESS"
FAILURE = "FAILURE"
STATUSES = (SUCCESS, FAILURE)

# Key of the data of a wait condition: when it began to wait, in seconds.
BEGAN = "began"

Signals = dict[str, dict[str, Any]]


class WaitConditionFailure(exception.Error):
    """A signal said that something went wrong."""


class WaitConditionTimeout(exception.Error):
    """Too few signals came in time."""


class BaseWaitConditionHandle(signal_responder.SignalResponder):
    """What is signalled.

    Sub-classes name the keys of a signal: ``KEYS`` is (data, reason,
    status, unique id).
    """

    KEYS = (DATA, REASON, STATUS, UNIQUE_ID) = (
        "data",
        "reason",
        "status",
        "id",
    )

    def handle_create(self) -> None:
        self.check_transport()
        self.make_credentials()
        # What get_resource gives where there is no signed URL, and by which
        # a wait condition finds it.
        self.resource_id_set(f"{self.identifier().arn()}/{self.uuid}")

    # -- signals -----------------------------------------------------------

    def handle_signal(self, details: Any = None) -> str:
        """Keep a signal; one with a known id takes the other's place.

        :raises ValueError: there is something in it that can't be
        """
        known, said = self.kept(self.metadata_get(), details)
        self.metadata_set(known)
        return said

    @classmethod
    def kept(
        cls, known: Mapping[str, Any], details: Any
    ) -> tuple[dict[str, Any], str]:
        """The metadata of a handle, with one more signal.

        :returns: these, and a sentence for the event
        :raises ValueError: there is something in it that can't be
        """
        made = cls.normalise(details)
        unique = made.pop(cls.UNIQUE_ID, None)
        if unique is None:
            unique = _next_number(known)
        given = {
            cls.DATA: made.get(cls.DATA),
            cls.REASON: made.get(cls.REASON)
            or _("Signal %s received") % unique,
            cls.STATUS: made[cls.STATUS],
        }
        return {**known, str(unique): given}, _(
            "status:%(status)s reason:%(reason)s"
        ) % {"status": given[cls.STATUS], "reason": given[cls.REASON]}

    @classmethod
    def normalise(cls, details: Any) -> dict[str, Any]:
        """A signal with its status; whatever is missing has a default."""
        if details is None:
            details = {}
        if not isinstance(details, Mapping):
            raise ValueError(_("A signal is a map, not %r.") % (details,))
        unknown = sorted(str(key) for key in details if key not in cls.KEYS)
        if unknown:
            raise ValueError(
                _("A signal has no %(unknown)s; it may have %(known)s.")
                % {
                    "unknown": ", ".join(unknown),
                    "known": ", ".join(cls.KEYS),
                }
            )
        made = dict(details)
        status = made.setdefault(cls.STATUS, SUCCESS)
        if status not in STATUSES:
            raise ValueError(
                _("The status of a signal is %(known)s, not %(given)r.")
                % {"known": _(" or ").join(STATUSES), "given": status}
            )
        return made


class BaseWaitCondition(resource.Resource):
    """What waits.

    Sub-classes give the properties as :meth:`wanted`.
    """

    DATA_KEY, REASON_KEY, STATUS_KEY = "data", "reason", "status"

    resumes_create = True

    def wanted(self, props: Any) -> tuple[str, int, float]:
        """Reference of the handle, number of signals, seconds."""
        raise NotImplementedError

    def handle_create(self) -> dict[str, Any]:
        self.resource_id_set(self.physical_resource_name())
        # For an engine that has to go on with the wait.
        self.data_set(BEGAN, str(int(timeutils.utcnow_ts())))
        return self._token(self.properties)

    def resume_create(self, found: bool) -> dict[str, Any]:
        """The signals are with the handle; the time runs on."""
        token = self._token(self.properties)
        began = self.data().get(BEGAN)
        if began is not None:
            token["until"] -= max(0.0, timeutils.utcnow_ts() - int(began))
        return token

    def check_create_complete(self, token: dict[str, Any]) -> bool:
        return self._look(token)

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any
    ) -> dict[str, Any]:
        """Another number of signals: wait until they are there."""
        return self._token(self.properties_of(json_snippet))

    def check_update_complete(self, token: dict[str, Any]) -> bool:
        return self._look(token)

    def handle_delete(self) -> None:
        """There is nothing but the row."""

    def _token(self, props: Any) -> dict[str, Any]:
        handle, count, seconds = self.wanted(props)
        return {
            "handle": handle,
            "count": count,
            "until": self._clock() + seconds,
        }

    def _clock(self) -> float:
        ports = self.stack.values.ports
        return float(ports.monotonic() if ports else time.monotonic())

    def _look(self, token: Mapping[str, Any]) -> bool:
        self.fetch(token["handle"])
        found = self.received(token["handle"])
        failed = [
            str(each.get(self.REASON_KEY))
            for each in found.values()
            if each.get(self.STATUS_KEY) == FAILURE
        ]
        if failed:
            raise WaitConditionFailure("; ".join(failed))
        if len(found) >= token["count"]:
            return True
        if self._clock() < token["until"]:
            return False
        message = _("%(got)d of %(count)d signals received") % {
            "got": len(found),
            "count": token["count"],
        }
        reasons = [str(each.get(self.REASON_KEY)) for each in found.values()]
        raise WaitConditionTimeout(" - ".join([message, *reasons]))

    def received(self, handle: str) -> Signals:
        """The signals that a handle has got, by their ids.

        :raises EntityNotFound: there is no such handle
        """
        return {
            key: value
            for key, value in self._handle(handle).metadata.items()
            if isinstance(value, dict) and self.STATUS_KEY in value
        }

    def _handle(self, handle: str) -> resource_rows.ResourceRecord:
        access = ec2.access_key_of(handle)

        def find(conn: Any) -> resource_rows.ResourceRecord | None:
            tenant = self.stack.tenant_id
            if access is None:
                return signals.find_handle(conn, handle, tenant)
            arn = identifier.HeatIdentifier.from_arn(ec2.arn_of(handle))
            return signals.find_handle_of_key(
                conn, arn.stack_id or "", access, tenant
            )

        found: resource_rows.ResourceRecord | None = self.stack.db.read(find)
        if found is None:
            raise exception.EntityNotFound(
                entity="Wait condition handle", name=handle
            )
        return found

    def fetch(self, handle: str) -> None:
        """Keep the signals that lie outside, each once."""
        row = self._handle(handle)
        data = self.stack.db.read(
            lambda conn: resource_data.get_many(conn, [row.id])
        )[row.id]
        box = signal_box.of(self, data)
        if box is None:
            return
        for each in box.posted(signal_box.taken(data)):
            self.stack.db.run(functools.partial(_keep, row=row, posted=each))
            box.remove(each)

    def received_data(self) -> str:
        """The data of all signals by id, as JSON text."""
        handle, _count, _seconds = self.wanted(self.properties)
        return json.dumps(
            {
                key: value.get(self.DATA_KEY)
                for key, value in self.received(handle).items()
            }
        )


def _next_number(known: Mapping[str, Any]) -> int:
    number = len(known) + 1
    while str(number) in known:
        number += 1
    return number


def _keep(
    conn: Any, row: resource_rows.ResourceRecord, posted: signal_box.Posted
) -> None:
    """Keep a signal that was put into the box of a handle, unless somebody
    has done so."""
    now = signals.hold(conn, row.id)
    taken = signal_box.taken(
        resource_data.get_many(conn, [row.id]).get(row.id, {})
    )
    if now is None or posted.mark in taken:
        return
    columns: dict[str, Any] = {}
    status = "COMPLETE"
    try:
        known, said = BaseWaitConditionHandle.kept(
            now.metadata, posted.details()
        )
        columns["metadata"] = known
    except ValueError as exc:
        # Who sent it can't be told any more, so the owner is.
        status, said = "FAILED", str(exc)
    marks = resource_data.DataRecord(json.dumps([*taken, posted.mark]))
    change = signals.Change(columns, {signal_box.TAKEN: marks})
    signals.write(conn, row.id, change)
    events.insert_many(conn, [events.of_resource(now, "SIGNAL", status, said)])
