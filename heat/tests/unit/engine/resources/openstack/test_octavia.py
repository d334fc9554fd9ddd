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

"""The types of the load balancing service, at the edge of HTTP."""

from __future__ import annotations

import uuid

from heat.common import exception
from heat.engine.resource import lifecycle
from heat.engine.resources.openstack.octavia import octavia
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

URL = "http://balancer/v2.0"
OWNER = str(uuid.UUID(int=77))
BUSY = {
    "faultcode": "Client",
    "faultstring": f"Load Balancer {OWNER} is immutable and cannot be "
    "updated.",
}
TAKEN = {
    "faultcode": "Client",
    "faultstring": "Another Listener on this Load Balancer is already using "
    "protocol_port 80",
}


class BalancerCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        links = [{"rel": "self", "href": URL}]
        version = {"id": "v2.0", "status": "CURRENT", "links": links}
        self.cloud.mock.get("http://balancer/", json={"versions": [version]})
        self.balancers = self.store("loadbalancer")
        self.listeners = self.store("listener")
        self.balancers.add(id=OWNER, provisioning_status="ACTIVE")

    def store(self, key, plural=None, path=None):
        plural = plural or f"{key}s"
        return self.cloud.objects(
            f"{URL}/lbaas/{path or plural}",
            key,
            plural,
            provisioning_status="ACTIVE",
        )

    def made(self, kind, **given):
        kind = f"OS::Octavia::{kind}"
        return stacks.in_cloud(self.cloud.context, kind, given)

    def listener(self, **more):
        given = {"loadbalancer": OWNER, "protocol": "HTTP"}
        return self.made("Listener", **given, protocol_port=80, **more)

    def changed(self, rsrc, **given):
        """The same resource with a changed target, its object made."""
        rsrc.target = rsrc.t.freeze(properties=given)
        return lifecycle.Operation(rsrc, "UPDATE")


class TurnTest(BalancerCase):
    """One change of a load balancer after the other."""

    def ends(self, operation, outcome):
        for _number in range(40):
            if not isinstance(outcome, lifecycle.Waiting):
                break
            outcome = operation.poll()
        self.assertEqual(lifecycle.Done(), outcome)

    def test_create_is_asked_for_until_it_is_taken(self):
        self.listeners.refuse.extend([("POST", 409, BUSY)] * 30)
        operation = lifecycle.Operation(self.listener(), "CREATE")
        self.ends(operation, operation.start())
        self.assertEqual(1, len(self.listeners.stored))
        self.assertEqual(31, self.listeners.methods().count("POST"))

    def test_then_it_is_waited_for(self):
        self.listeners.defaults["provisioning_status"] = "PENDING_CREATE"
        self.listeners.refuse.append(("POST", 409, BUSY))
        rsrc = self.listener()
        operation = lifecycle.Operation(rsrc, "CREATE")
        for outcome in (operation.start(), operation.poll(), operation.poll()):
            self.assertIsInstance(outcome, lifecycle.Waiting)
        made = self.listeners.stored[rsrc.resource_id]
        made["provisioning_status"] = "ACTIVE"
        self.assertEqual(lifecycle.Done(), operation.poll())

    def test_the_first_looks_come_soon(self):
        rsrc = self.listener()
        pauses = [rsrc.pause().period for _ in range(30)]
        self.assertLess(max(pauses[:3]), 0.6)
        self.assertGreaterEqual(min(pauses[10:]), 0.5)
        self.assertLessEqual(max(pauses), 1.5)

    def test_update_is_asked_for_until_it_is_taken(self):
        rsrc = self.listener()
        stacks.run(rsrc, "CREATE")
        self.listeners.refuse.extend([("PUT", 409, BUSY)] * 30)
        given = {"loadbalancer": OWNER, "protocol": "HTTP"}
        operation = self.changed(
            rsrc, **given, protocol_port=80, connection_limit=9
        )
        self.ends(operation, operation.start())
        made = self.listeners.stored[rsrc.resource_id]
        self.assertEqual(9, made["connection_limit"])

    def test_delete_is_asked_for_until_it_is_taken(self):
        rsrc = self.listener()
        stacks.run(rsrc, "CREATE")
        self.listeners.refuse.extend([("DELETE", 409, BUSY)] * 30)
        operation = lifecycle.Operation(rsrc, "DELETE")
        self.ends(operation, operation.start())
        self.assertEqual({}, self.listeners.stored)

    def test_another_conflict_is_told_at_once(self):
        self.listeners.refuse.append(("POST", 409, TAKEN))
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, self.listener(), "CREATE"
        )
        self.assertIn("already using protocol_port 80", str(error))

    def test_nobody_waits_for_what_is_in_error(self):
        self.balancers.stored[OWNER]["provisioning_status"] = "ERROR"
        for verb, action in (
            ("POST", "CREATE"),
            ("PUT", "UPDATE"),
            ("DELETE", "DELETE"),
        ):
            with self.subTest(action):
                rsrc = self.listener()
                if action != "CREATE":
                    stacks.run(rsrc, "CREATE")
                rsrc.target = rsrc.t.freeze(
                    properties={
                        **{"loadbalancer": OWNER, "protocol": "HTTP"},
                        **{"protocol_port": 80, "name": "other"},
                    }
                )
                self.listeners.refuse.append((verb, 409, BUSY))
                error = self.assertRaises(
                    exception.ResourceFailure, stacks.run, rsrc, action
                )
                self.assertIn("is immutable", str(error))

    def test_what_says_so(self):
        for words, says in (
            (BUSY["faultstring"], True),
            ("Pool p is immutable and cannot be updated.", True),
            ("Invalid state PENDING_UPDATE of loadbalancer resource x", True),
            ("Pool p is in use and cannot be modified.", False),
        ):
            conflict = exception.Error(words)
            conflict.code = 409
            with self.subTest(words):
                self.assertEqual(says, octavia.is_immutable(conflict))
        self.assertFalse(octavia.is_immutable(None))

    def test_a_bad_state_fails(self):
        self.listeners.defaults["provisioning_status"] = "ERROR"
        error = self.assertRaises(
            exception.ResourceFailure, stacks.run, self.listener(), "CREATE"
        )
        self.assertIn("ERROR", str(error))

    def test_found_by_its_mark(self):
        for name in ("mine", None):
            with self.subTest(name):
                rsrc = self.listener(**{"name": name} if name else {})
                stacks.run(rsrc, "CREATE")
                made = self.listeners.stored[rsrc.resource_id]
                marked = made["description"] if name else made["name"]
                wanted = rsrc.mark() if name else rsrc.physical_resource_name()
                self.assertEqual(wanted, marked)
                self.assertEqual(rsrc.resource_id, rsrc.find_made())
                self.assertTrue(rsrc.is_whole_when_found())
        rsrc = self.listener(name="mine", description="own words")
        stacks.run(rsrc, "CREATE")
        made = self.listeners.stored[rsrc.resource_id]
        self.assertEqual("own words", made["description"])


class RoomTest(BalancerCase):
    """What there is room for once only."""

    def setUp(self):
        super().setUp()
        self.pools = self.store("pool")
        self.monitors = self.store("healthmonitor")
        self.pool = self.pools.add()["id"]

    def monitor(self):
        taken = {"faultstring": "This pool already has a health monitor"}
        self.monitors.refuse.append(("POST", 409, taken))
        times = {"delay": 5, "timeout": 3, "max_retries": 2}
        rsrc = self.made("HealthMonitor", pool=self.pool, type="TCP", **times)
        return rsrc, lifecycle.Operation(rsrc, "CREATE")

    def other(self, name):
        found = self.monitors.add(name=name)["id"]
        self.pools.stored[self.pool]["healthmonitor_id"] = found
        return found

    def test_what_is_replaced_goes(self):
        rsrc, operation = self.monitor()
        old = self.other("st-r-abcdefghijkl")
        self.assertEqual(lifecycle.Done(), operation.start())
        self.assertNotIn(old, self.monitors.stored)
        self.assertEqual([rsrc.resource_id], [*self.monitors.stored])

    def test_somebody_elses_stays(self):
        for name in ("mine", "st-other-abcdefghijkl", "st-r-short", ""):
            _rsrc, operation = self.monitor()
            other = self.other(name)
            with self.subTest(name):
                error = self.assertRaises(
                    exception.ResourceFailure, operation.start
                )
                self.assertIn("already has a health monitor", str(error))
                self.assertIn(other, self.monitors.stored)

    def test_made_again_when_it_is_wanted_after_all(self):
        rsrc, operation = self.monitor()
        self.monitors.refuse.clear()
        operation.start()
        made = rsrc.resource_id
        rsrc.prepare_for_replace()
        self.assertIn("way for a replacement", rsrc.changed_beyond())
        # It is there still: nothing to be done.
        stacks.run(rsrc, "UPDATE")
        self.assertEqual(made, rsrc.resource_id)
        self.assertEqual({}, rsrc.data())
        rsrc.prepare_for_replace()
        self.monitors.stored.clear()
        stacks.run(rsrc, "UPDATE")
        self.assertNotEqual(made, rsrc.resource_id)
        self.assertEqual([rsrc.resource_id], [*self.monitors.stored])

    def test_a_pool_gives_up_its_listener(self):
        taken = {"faultstring": "This listener already has a default pool"}
        for name, mark, goes in (
            ("st-r-abcdefghijkl", "", True),
            ("mine", "Made by Heat (resource x)", True),
            ("mine", "", False),
            ("theirs", "Made by Heat (resource x)", False),
        ):
            old = self.pools.add(name=name, description=mark)["id"]
            listener = self.listeners.add(default_pool_id=old)
            self.pools.refuse.append(("POST", 409, taken))
            rsrc = self.made(
                "Pool",
                listener=listener["id"],
                protocol="HTTP",
                lb_algorithm="SOURCE_IP",
                name="mine",
            )
            operation = lifecycle.Operation(rsrc, "CREATE")
            with self.subTest(name, mark=mark):
                if not goes:
                    self.assertRaises(
                        exception.ResourceFailure, operation.start
                    )
                    self.assertEqual(old, listener["default_pool_id"])
                    continue
                self.assertEqual(lifecycle.Done(), operation.start())
                self.assertIsNone(listener["default_pool_id"])
                rsrc.prepare_for_replace()
                stacks.run(rsrc, "UPDATE")
                self.assertEqual(rsrc.resource_id, listener["default_pool_id"])


class BodyTest(BalancerCase):
    def body(self, kind, **given):
        return self.made(kind, **given).create_body(
            self.made(kind, **given).properties
        )

    def test_rules_and_members_are_below_what_they_belong_to(self):
        pools = self.store("pool")
        policies = self.store("l7policy", "l7policies")
        pool = pools.add(name="p")["id"]
        policy = policies.add(name="l")["id"]
        members = self.store("member", path=f"pools/{pool}/members")
        rules = self.store("rule", path=f"l7policies/{policy}/rules")
        # The more particular path answers.
        pools._answer = policies._answer = None
        for kind, store, given in (
            (
                "PoolMember",
                members,
                {"pool": "p", "address": "10.0.0.9", "protocol_port": 80},
            ),
            (
                "L7Rule",
                rules,
                {
                    "l7policy": "l",
                    "type": "PATH",
                    "compare_type": "EQUAL_TO",
                    "value": "/",
                },
            ),
        ):
            with self.subTest(kind):
                rsrc = self.made(kind, **given)
                stacks.run(rsrc, "CREATE")
                self.assertEqual([rsrc.resource_id], [*store.stored])
                self.assertEqual(rsrc.resource_id, rsrc.find_made())
                stacks.run(rsrc, "CHECK")
                stacks.run(rsrc, "DELETE")
                self.assertEqual({}, store.stored)

    def test_an_action_is_told_with_what_it_leads_to(self):
        given = {"listener": "l", "action": "REJECT", "position": 2}
        rsrc = self.made("L7Policy", **given)
        for changed, after, body in (
            (
                ["action", "redirect_url"],
                {"action": "REDIRECT_TO_URL", "redirect_url": "http://a"},
                {"action": "REDIRECT_TO_URL", "redirect_url": "http://a"},
            ),
            (
                ["action", "redirect_pool"],
                {"action": "REJECT", "redirect_pool": None},
                {"action": "REJECT"},
            ),
            (
                ["action", "redirect_pool", "redirect_url"],
                {
                    "action": "REDIRECT_TO_POOL",
                    "redirect_pool": "p",
                    "redirect_url": None,
                },
                {"action": "REDIRECT_TO_POOL", "redirect_pool_id": "p"},
            ),
            (["position"], {"position": 3.0}, {"position": 3}),
            (["position"], {"position": None}, {}),
        ):
            after.setdefault("position", 2)
            with self.subTest(after=after):
                self.assertEqual(body, rsrc.update_body(changed, after))

    def test_what_it_belongs_to_is_shown_as_it_was_given(self):
        self.listeners.add(id=OWNER, loadbalancers=[{"id": "b"}])
        rsrc = self.listener()
        rsrc.resource_id_set(OWNER)
        self.assertEqual("b", rsrc.shown()["loadbalancer_id"])

    def test_json_is_compared_by_its_meaning(self):
        wanted = {"flavor_data": '{"a":  1}'}
        rsrc = self.made("FlavorProfile", **wanted)
        for live, same in (('{"a": 1}', True), ('{"a": 2}', False)):
            found = rsrc.parse_live_resource_data(
                rsrc.properties, {"flavor_data": live}
            )
            with self.subTest(live):
                self.assertEqual(same, found == wanted)

    def test_a_zone_is_called_by_its_name(self):
        profiles = self.store(
            "availability_zone_profile", path="availabilityzoneprofiles"
        )
        profile = profiles.add(name="p")["id"]
        zones = self.store("availability_zone", path="availabilityzones")
        add = zones.add
        zones.add = lambda **body: add(**body, id=body["name"])
        rsrc = self.made("AvailabilityZone", availability_zone_profile="p")
        stacks.run(rsrc, "CREATE")
        name = rsrc.physical_resource_name()
        self.assertEqual(name, rsrc.resource_id)
        made = zones.stored[name]
        self.assertEqual(profile, made["availability_zone_profile_id"])
        after = {"availability_zone_profile": "p", "name": "other"}
        rsrc.target = rsrc.t.freeze(properties=after)
        self.assertTrue(lifecycle.verdict(rsrc).needs_replace)

    def test_refused(self):
        projects = self.cloud.objects(
            "http://keystone/v3/projects", "project", "projects"
        )
        project = projects.add(name="p")["id"]
        pool = {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
        policy = {"listener": OWNER}
        self.listeners.add(id=OWNER)
        self.store("pool").add(id=OWNER)
        rule = {"l7policy": OWNER, "compare_type": "REGEX", "value": "v"}
        self.store("l7policy", "l7policies").add(id=OWNER)
        monitor = {"pool": OWNER, "delay": 1, "timeout": 1, "max_retries": 1}
        for kind, given, words in (
            ("Pool", pool, "listener, loadbalancer"),
            (
                "Pool",
                {
                    **pool,
                    "loadbalancer": OWNER,
                    "session_persistence": {"type": "APP_COOKIE"},
                },
                "needs a cookie_name",
            ),
            (
                "Pool",
                {
                    **pool,
                    "loadbalancer": OWNER,
                    "session_persistence": {
                        "type": "SOURCE_IP",
                        "cookie_name": "c",
                    },
                },
                "Only the type APP_COOKIE",
            ),
            (
                "Listener",
                {
                    "loadbalancer": OWNER,
                    "protocol": "TERMINATED_HTTPS",
                    "protocol_port": 443,
                },
                "default_tls_container_ref",
            ),
            (
                "HealthMonitor",
                {**monitor, "type": "TCP", "url_path": "/"},
                "url_path",
            ),
            (
                "L7Policy",
                {**policy, "action": "REDIRECT_TO_URL"},
                "redirect_url",
            ),
            (
                "L7Policy",
                {**policy, "action": "REJECT", "redirect_url": "http://a"},
                "redirect_url",
            ),
            ("L7Rule", {**rule, "type": "HEADER"}, "needs it"),
            ("L7Rule", {**rule, "type": "PATH", "key": "k"}, "has none"),
            ("Quota", {"project": project}, "at least one limit"),
        ):
            with self.subTest(kind, given=given):
                error = self.assertRaises(
                    exception.HeatException, self.made(kind, **given).validate
                )
                self.assertIn(words, str(error))
