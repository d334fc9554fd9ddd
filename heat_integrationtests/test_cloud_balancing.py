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

"""Stories of load balancers in a real load balancing service.

Its provider forwards nothing, but takes its time and its turns as others do:
a load balancer is immutable while something of it is changed.
"""

from __future__ import annotations

import contextlib
import uuid
from typing import Any

from heatclient import exc as heat_exc
from openstack import exceptions as sdk_exc

from heat_integrationtests.test_cloud import CloudStory, network, ref, res

TAG = uuid.uuid4().hex[:6]
NOWHERE = "00000000-0000-0000-0000-00000000dead"
#: What the provider brings into the state ERROR.
BROKEN = f"broken-{TAG}"
PARTS = (
    *("lb", "listener", "pool", "monitor", "policy", "spare", "single"),
    "rule",
)


def members(count: int, weight: int = 1) -> dict[str, Any]:
    """Members that are made at the same time."""
    return res(
        "Heat::ResourceGroup",
        count=count,
        resource_def=res(
            "Octavia::PoolMember",
            pool=ref("pool"),
            address="10.9.0.1%index%",
            protocol_port=80,
            subnet=ref("subnet"),
            weight=weight,
        ),
    )


class BalancerStory(CloudStory):
    """What the stories look at."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.cloud.load_balancer

    def shown(self, path: str) -> dict[str, Any]:
        answer = self.service.get(f"/lbaas/{path}")
        answer.raise_for_status()
        [found] = answer.json().values()
        return dict(found)

    def is_there(self, path: str) -> bool:
        return bool(self.service.get(f"/lbaas/{path}").status_code == 200)

    def by_hand(self, method: str, path: str, json: Any = None) -> Any:
        """A change that Heat knows nothing of, and its end."""
        ask = getattr(self.service, method)
        answer = ask(f"/lbaas/{path}", **({"json": json} if json else {}))
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def settled(self, balancer: str) -> None:
        self.service.wait_for_load_balancer(balancer, interval=0.3, wait=60)

    def ids(self, ident: str) -> dict[str, str]:
        return {
            each.resource_name: each.physical_resource_id
            for each in self.heat.resources.list(ident)
        }

    def paths(self, ids: dict[str, str]) -> dict[str, str]:
        """Where the service shows each part."""
        return {
            "lb": f"loadbalancers/{ids['lb']}",
            "listener": f"listeners/{ids['listener']}",
            "pool": f"pools/{ids['pool']}",
            "spare": f"pools/{ids['spare']}",
            "monitor": f"healthmonitors/{ids['monitor']}",
            "policy": f"l7policies/{ids['policy']}",
            "rule": f"l7policies/{ids['policy']}/rules/{ids['rule']}",
            "single": f"pools/{ids['spare']}/members/{ids['single']}",
        }

    @staticmethod
    def tree(**more: dict[str, Any]) -> dict[str, Any]:
        """A load balancer with all that belongs to it.

        :param more: properties that are other ones, by resource; None: left
            out
        """
        listener = {"protocol": "HTTP", "protocol_port": 80}
        pool = {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
        times = {"delay": 5, "timeout": 3, "max_retries": 2}
        of = {"loadbalancer": ref("lb")}
        given: dict[str, tuple[str, dict[str, Any]]] = {
            "lb": ("LoadBalancer", {"vip_subnet": ref("subnet")}),
            "listener": ("Listener", {**of, **listener}),
            "pool": ("Pool", {"listener": ref("listener"), **pool}),
            "spare": ("Pool", {**of, **pool}),
            "monitor": (
                "HealthMonitor",
                {**{"pool": ref("pool"), "type": "HTTP"}, **times},
            ),
            "policy": (
                "L7Policy",
                {
                    "listener": ref("listener"),
                    "action": "REDIRECT_TO_POOL",
                    "redirect_pool": ref("spare"),
                },
            ),
            "rule": (
                "L7Rule",
                {
                    "l7policy": ref("policy"),
                    "type": "PATH",
                    "compare_type": "STARTS_WITH",
                    "value": "/spare",
                },
            ),
            "single": (
                "PoolMember",
                {
                    "pool": ref("spare"),
                    "address": "10.9.0.9",
                    "protocol_port": 80,
                },
            ),
        }
        made = network()
        for name, (kind, properties) in given.items():
            properties = {**properties, **more.pop(name, {})}
            known = {k: v for k, v in properties.items() if v is not None}
            made[name] = res(f"Octavia::{kind}", **known)
        return {**made, **more}

    def some(self, *names: str, **more: dict[str, Any]) -> dict[str, Any]:
        """A part of the tree, in its network."""
        whole = self.tree(**more)
        return {name: whole[name] for name in (*network(), *names)}


class TreeStory(BalancerStory):
    """A load balancer with all that belongs to it, from begin to end."""

    def test_life(self) -> None:
        ident = self.create(self.tree(members=members(3)))
        ids = self.ids(ident)
        paths = self.paths(ids)
        for path in paths.values():
            self.assertEqual("ACTIVE", self.shown(path)["provisioning_status"])
        self.look(ident, ids, paths)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)

        changed = {
            "lb": {"description": "two", "admin_state_up": False},
            "listener": {
                "name": f"story-{TAG}",
                "connection_limit": 7,
                "allowed_cidrs": ["10.0.0.0/8"],
            },
            "pool": {
                "lb_algorithm": "SOURCE_IP",
                "session_persistence": {
                    "type": "APP_COOKIE",
                    "cookie_name": "c",
                },
            },
            "monitor": {"delay": 9, "url_path": "/well"},
            "policy": {
                "action": "REDIRECT_TO_URL",
                "redirect_pool": None,
                "redirect_url": "http://elsewhere.example/",
                "description": "two",
            },
            "rule": {"value": "/other", "invert": True},
            "single": {"weight": 9, "tags": ["a"]},
        }
        self.update(ident, self.tree(**changed, members=members(5, 3)))
        self.assertEqual(ids, self.ids(ident))
        for name, each in changed.items():
            found = self.shown(paths[name])
            with self.subTest(name):
                kept = each.pop("session_persistence", {})
                each.pop("redirect_pool", None)
                self.assertEqual(each, {key: found[key] for key in each})
                for key in kept:
                    self.assertEqual(
                        kept[key], found["session_persistence"][key]
                    )
        weights = [
            each["weight"]
            for each in self.service.get(
                f"/lbaas/pools/{ids['pool']}/members"
            ).json()["members"]
        ]
        self.assertEqual([3] * 5, weights)
        self.act(ident, "check", "CHECK_COMPLETE")
        self.no_drift(ident)

        # Back, and what was said is said no more.
        self.update(ident, self.tree(members=members(1)))
        self.assertEqual(ids, self.ids(ident))
        for name, key, value in (
            ("pool", "session_persistence", None),
            ("listener", "allowed_cidrs", None),
            ("policy", "redirect_pool_id", ids["spare"]),
            ("single", "weight", 1),
            ("single", "tags", []),
            ("rule", "invert", False),
        ):
            with self.subTest(name, key=key):
                self.assertEqual(value, self.shown(paths[name])[key])
        self.no_drift(ident)

        port = self.shown(paths["lb"])["vip_port_id"]
        self.delete(ident)
        for name, path in paths.items():
            with self.subTest(name):
                self.assertFalse(self.is_there(path))
        self.assertIsNone(self.cloud.network.find_port(port))

    def look(
        self, ident: str, ids: dict[str, str], paths: dict[str, str]
    ) -> None:
        """What the stack tells of it, and the port of its address."""
        for each in self.heat.resources.list(ident):
            if "Octavia" not in each.resource_type:
                continue
            kind = self.heat.resource_types.get(each.resource_type)
            found = self.heat.resources.get(ident, each.resource_name)
            with self.subTest(each.resource_type):
                names = {*kind["attributes"]} - {"show"}
                self.assertLessEqual(names, {*found.attributes})
                shown = self.shown(paths[each.resource_name])
                self.assertEqual(
                    {name: shown.get(name) for name in names},
                    {name: found.attributes[name] for name in names},
                )
        balancer = self.shown(paths["lb"])
        port = self.cloud.network.get_port(balancer["vip_port_id"])
        self.assertEqual(
            [(ids["subnet"], balancer["vip_address"])],
            [(ip["subnet_id"], ip["ip_address"]) for ip in port.fixed_ips],
        )
        self.assertEqual(3, len(self.shown(paths["pool"])["members"]))

    def no_drift(self, ident: str) -> None:
        for each in self.heat.resources.list(ident, nested_depth=2):
            with self.subTest(each.resource_type):
                self.assertNotIn("differs", each.resource_status_reason or "")

    def test_replaced(self) -> None:
        """What has its place for itself as well."""
        ident = self.create(self.tree())
        ids = self.ids(ident)
        other = {
            "pool": {"protocol": "PROXY"},
            "single": {"monitor_port": 81},
        }
        self.update(ident, self.tree(**other))
        after = self.ids(ident)
        for name in ("pool", "monitor", "single"):
            with self.subTest(name):
                self.assertNotEqual(ids[name], after[name])
                self.assertFalse(self.is_there(self.paths(ids)[name]))
        paths = self.paths(after)
        self.assertEqual(
            after["pool"], self.shown(paths["listener"])["default_pool_id"]
        )
        self.assertEqual(81, self.shown(paths["single"])["monitor_port"])
        self.update(ident, self.tree(**other, monitor={"type": "TCP"}))
        last = self.ids(ident)
        self.assertNotEqual(after["monitor"], last["monitor"])
        self.assertEqual(
            "TCP", self.shown(self.paths(last)["monitor"])["type"]
        )
        self.act(ident, "check", "CHECK_COMPLETE")
        # All of it at another address.
        subnet = {"vip_address": "10.9.0.77"}
        self.update(ident, self.tree(**other, lb=subnet))
        final = self.ids(ident)
        for name in PARTS:
            self.assertNotEqual(last[name], final[name])
            with self.subTest(name):
                self.assertFalse(self.is_there(self.paths(last)[name]))
        self.act(ident, "check", "CHECK_COMPLETE")

    def test_rolled_back(self) -> None:
        ident = self.create(self.tree())
        before = self.ids(ident)
        paths = self.paths(before)
        wish = self.tree(
            pool={"protocol": "PROXY"},
            monitor={"type": "TCP"},
            single={"monitor_port": 81},
            listener={"connection_limit": 5},
        )
        wish["last"] = {
            **res(
                "Octavia::Pool",
                loadbalancer=ref("lb"),
                protocol="HTTP",
                lb_algorithm="ROUND_ROBIN",
                name=BROKEN,
            ),
            "depends_on": ["monitor", "single", "rule"],
        }
        self.update(ident, wish, "ROLLBACK_COMPLETE", disable_rollback=False)
        after = self.ids(ident)
        # These had no place beside their replacements: they are made again.
        again = {"monitor", "single"}
        for name in before.keys() - again:
            with self.subTest(name):
                self.assertEqual(before[name], after[name])
        self.assertEqual(
            before["pool"], self.shown(paths["listener"])["default_pool_id"]
        )
        now = self.paths(after)
        self.assertEqual("HTTP", self.shown(now["monitor"])["type"])
        self.assertIsNone(self.shown(now["single"])["monitor_port"])
        self.assertEqual(-1, self.shown(now["listener"])["connection_limit"])
        self.act(ident, "check", "CHECK_COMPLETE")

    def test_an_error_fails(self) -> None:
        ident = self.begin(self.some("lb", "listener", lb={"name": BROKEN}))
        stack = self.wait(ident, "CREATE_FAILED")
        self.assertIn("ERROR", stack.stack_status_reason)
        made = self.physical(ident, "lb")
        self.update(
            ident, self.some("lb", "listener", lb={"name": f"story-{TAG}"})
        )
        self.assertNotEqual(made, self.physical(ident, "lb"))
        self.assertFalse(self.is_there(f"loadbalancers/{made}"))

    def test_a_broken_part(self) -> None:
        """Who waits for a load balancer that comes to nothing."""
        ident = self.create(self.some("lb", "listener"))
        ids = self.ids(ident)
        self.by_hand(
            "put",
            f"loadbalancers/{ids['lb']}",
            {"loadbalancer": {"name": BROKEN}},
        )
        with contextlib.suppress(sdk_exc.SDKException):
            self.settled(ids["lb"])
        stack = self.update(
            ident,
            self.some("lb", "listener", listener={"connection_limit": 5}),
            "UPDATE_FAILED",
        )
        self.assertIn("is immutable", stack.stack_status_reason)
        self.act(ident, "check", "CHECK_FAILED")
        # As an operator would, who has seen to it.
        self.service.delete_load_balancer(ids["lb"], cascade=True)
        self.service.wait_for_delete(
            self.service.get_load_balancer(ids["lb"]), interval=0.3, wait=60
        )
        self.update(ident, self.some("lb", "listener"))
        after = self.ids(ident)
        self.assertNotEqual(ids["lb"], after["lb"])
        self.act(ident, "check", "CHECK_COMPLETE")


class ByHandStory(BalancerStory):
    """What others delete and change."""

    def test_deleted(self) -> None:
        ident = self.create(self.tree())
        ids = self.ids(ident)
        paths = self.paths(ids)
        for name in ("single", "monitor", "rule"):
            self.by_hand("delete", paths[name])
            self.settled(ids["lb"])
        self.act(ident, "check", "CHECK_FAILED")
        self.update(ident, self.tree())
        after = self.ids(ident)
        for name in ("single", "monitor", "rule"):
            self.assertNotEqual(ids[name], after[name])
            self.assertTrue(self.is_there(self.paths(after)[name]))
        self.assertEqual(ids["pool"], after["pool"])
        self.act(ident, "check", "CHECK_COMPLETE")

    def test_changed(self) -> None:
        ident = self.create(self.some("lb", "spare", "single"))
        ids = self.ids(ident)
        path = f"pools/{ids['spare']}/members/{ids['single']}"
        self.by_hand("put", path, {"member": {"weight": 200}})
        self.settled(ids["lb"])
        self.act(ident, "check", "CHECK_COMPLETE")
        self.update(ident, self.some("lb", "spare", "single"), converge=True)
        # The template says nothing of it, but the type does: one is usual.
        self.assertEqual(1, self.shown(path)["weight"])
        self.assertEqual(ids, self.ids(ident))

    def test_gone_when_it_is_to_be_deleted(self) -> None:
        ident = self.create(self.some("lb", "spare", "single"))
        made = self.physical(ident, "lb")
        self.service.delete_load_balancer(made, cascade=True)
        self.service.wait_for_delete(
            self.service.get_load_balancer(made), interval=0.3, wait=60
        )
        self.delete(ident)

    def test_refused_before_anything_is_made(self) -> None:
        wish = self.tree()
        for name, key in (
            ("listener", "loadbalancer"),
            ("lb", "vip_subnet"),
            ("lb", "flavor"),
        ):
            properties = {**wish[name]["properties"], key: NOWHERE}
            one = {**network(), name: {**wish[name], "properties": properties}}
            with self.subTest(name, key=key):
                with self.assertRaises(heat_exc.HTTPBadRequest) as raised:
                    self.begin(one)
                self.assertIn(NOWHERE, str(raised.exception))
