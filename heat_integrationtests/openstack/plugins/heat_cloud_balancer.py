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

"""A provider of Octavia's whose load balancers forward nothing.

What it is asked for is so a moment later: until then the objects are PENDING
and the load balancer is immutable, as with a provider that builds something.
All else (checks, quotas, flavors, the port of the address) is Octavia's own.
An object whose name begins with :data:`BROKEN` ends in ERROR.
"""

import threading
import time

from octavia.api.drivers.driver_agent import driver_updater
from octavia.common import data_models
from octavia.db import api as database
from octavia.db import repositories
from octavia_lib.api.drivers import provider_base
from oslo_log import log

LOG = log.getLogger(__name__)

BROKEN = "broken"
#: Seconds that an object is PENDING at least, and less than twice as long.
MOMENT = 0.2
#: Looks that find nothing before it sleeps until it is called: who calls
#: may not have stored yet what it calls for.
LOOKS = 50

_wanted = threading.Event()
_starting = threading.Lock()


def _settle_all():
    """Settle for ever what is PENDING for two looks."""
    updater = driver_updater.DriverUpdater()
    balancers = repositories.LoadBalancerRepository()
    before, left = set(), 0
    while True:
        if not left:
            _wanted.wait()
        if _wanted.is_set():
            _wanted.clear()
            left = LOOKS
        time.sleep(MOMENT)
        try:
            now = _pending()
            for ident in before & now:
                _settle(updater, balancers, ident)
            before = now - before
            left = LOOKS if now else left - 1
        except Exception:
            LOG.exception("a load balancer can't be settled")


def _pending():
    session = database.get_session()
    with session.begin():
        model = repositories.LoadBalancerRepository.model_class
        found = session.query(model.id).filter(
            model.provisioning_status.like("PENDING_%")
        )
        return {ident for (ident,) in found}


def _settle(updater, balancers, ident):
    session = database.get_session()
    with session.begin():
        balancer = balancers.get(session, id=ident)
    if balancer is None:
        return
    status = {}
    goes = _note(status, "loadbalancers", balancer, False)
    for listener in balancer.listeners:
        gone = _note(status, "listeners", listener, goes)
        for policy in listener.l7policies:
            gone_too = _note(status, "l7policies", policy, gone)
            for rule in policy.l7rules:
                _note(status, "l7rules", rule, gone_too)
    for pool in balancer.pools:
        gone = _note(status, "pools", pool, goes)
        if pool.health_monitor:
            _note(status, "healthmonitors", pool.health_monitor, gone)
        for member in pool.members:
            _note(status, "members", member, gone)
    told = updater.update_loadbalancer_status(status)
    if told["status_code"] != 200:
        LOG.error("%s can't be settled: %s", ident, told)


def _note(status, kind, found, goes):
    """Add what becomes of an object; tells whether that is its end."""
    was = found.provisioning_status
    ends = goes or was == "PENDING_DELETE"
    entry = {"id": found.id}
    if ends:
        entry["provisioning_status"] = "DELETED"
    elif was.startswith("PENDING_"):
        fails = (getattr(found, "name", None) or "").startswith(BROKEN)
        entry["provisioning_status"] = "ERROR" if fails else "ACTIVE"
        if not isinstance(found, data_models.L7Rule):
            entry["operating_status"] = "OFFLINE" if fails else "ONLINE"
    if len(entry) > 1:
        status.setdefault(kind, []).append(entry)
    return ends


class InstantDriver(provider_base.ProviderDriver):
    """Hands everything to one thread, which the first call starts."""

    _thread = None

    @classmethod
    def _call(cls, *_args, **_kwargs):
        with _starting:
            if InstantDriver._thread is None:
                InstantDriver._thread = threading.Thread(
                    target=_settle_all, daemon=True
                )
                InstantDriver._thread.start()
        _wanted.set()

    def get_supported_flavor_metadata(self):
        return {"loadbalancer_topology": "SINGLE or ACTIVE_STANDBY"}

    def validate_flavor(self, flavor_metadata):
        pass

    def get_supported_availability_zone_metadata(self):
        return {"compute_zone": "any"}

    def validate_availability_zone(self, availability_zone_metadata):
        pass


for _kind in (
    *("loadbalancer", "listener", "pool", "member"),
    *("health_monitor", "l7policy", "l7rule"),
):
    for _verb in ("create", "update", "delete"):
        setattr(InstantDriver, f"{_kind}_{_verb}", InstantDriver._call)
InstantDriver.loadbalancer_failover = InstantDriver._call
InstantDriver.member_batch_update = InstantDriver._call
