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

"""LOCK and UNLOCK where it counts: servers, images and their owners.

What Heat shows is compared with what the services let their users do.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
from collections.abc import Iterator
from typing import Any

import openstack
from heatclient import client as heat_client
from heatclient import exc as heat_exc
from openstack import exceptions as sdk_exc

from heat.osc import lock
from heat_integrationtests import test_cloud
from heat_integrationtests.test_cloud import ref, res, server

#: Compute shows the reason of a lock since.
REASONS = "2.73"
PASSWORD = "HEAT_TEST_ADMIN_PASSWORD"  # noqa: S105 - name of a variable


class LockStory(test_cloud.CloudStory):
    """What a user does to lock and unlock, and looks at."""

    def lock(
        self,
        ident: str,
        level: str = "all",
        reason: str | None = None,
        status: str = "LOCK_COMPLETE",
    ) -> Any:
        lock.post(self.heat, lock.lock_body(level, reason, None), ident)
        return self.wait(ident, status)

    def unlock(self, ident: str, status: str = "UNLOCK_COMPLETE") -> Any:
        lock.post(self.heat, lock.UNLOCK_BODY, ident)
        return self.wait(ident, status)

    def delete(self, ident: str) -> None:
        """At the end of a test, whatever state that left behind."""
        with contextlib.suppress(heat_exc.HTTPNotFound):
            if self.heat.stacks.get(ident).to_dict().get("lock"):
                self.unlock(ident)
            super().delete(ident)

    def shown(self, server_id: str) -> Any:
        """(is it locked, why), as Nova tells its users."""
        found = self.cloud.compute.get(
            f"/servers/{server_id}", microversion=REASONS
        ).json()["server"]
        return found["locked"], found["locked_reason"]

    def assert_refused(self, ident: str, *words: str, heat: Any = None):
        """Whatever changes the stack is a 409 with the record."""
        heat = heat or self.heat
        template = self.template({})
        for call in (
            lambda: heat.stacks.update(stack_id=ident, template=template),
            lambda: heat.stacks.delete(ident),
            lambda: heat.actions.suspend(ident),
            lambda: heat.actions.check(ident),
            lambda: heat.stacks.snapshot(ident),
        ):
            with self.assertRaises(heat_exc.HTTPConflict) as raised:
                call()
            for each in ("is locked", *words):
                self.assertIn(each, str(raised.exception))

    def reasons(self, ident: str, name: str | None = None) -> list[str]:
        found = self.heat.events.list(ident, resource_name=name)
        return [each.resource_status_reason for each in found]

    @contextlib.contextmanager
    def as_administrator(self) -> Iterator[Any]:
        """A connection of the administrator, into the same project."""
        with openstack.connect(
            auth_url=os.environ["OS_AUTH_URL"],
            username="admin",
            password=os.environ.get(PASSWORD) or os.environ["OS_PASSWORD"],
            project_name=os.environ["OS_PROJECT_NAME"],
            user_domain_name="Default",
            project_domain_name="Default",
            region_name=os.environ.get("OS_REGION_NAME"),
        ) as connection:
            yield connection


class MaintenanceStory(LockStory):
    """Use case 1: nothing scales while somebody works on the servers."""

    def test_a_group_under_maintenance(self) -> None:
        outputs = {"size": {"value": {"get_attr": ["group", "current_size"]}}}
        ident = self.create(
            {
                "group": res(
                    "Heat::AutoScalingGroup",
                    min_size=1,
                    max_size=3,
                    desired_capacity=2,
                    resource=server(networks=[{"network": "private"}]),
                ),
                "up": res(
                    "Heat::ScalingPolicy",
                    auto_scaling_group_id=ref("group"),
                    adjustment_type="change_in_capacity",
                    scaling_adjustment=1,
                ),
            },
            sections={"outputs": outputs},
        )
        before = self.members(ident)
        self.assertEqual(2, len(before))
        self.lock(ident, reason="the database is rebooted")
        for each in before:
            self.assertEqual(
                (True, "the database is rebooted"), self.shown(each)
            )

        # The alarm fires, and is told that all is well.
        self.heat.resources.signal(ident, "up")
        time.sleep(2)
        self.assertEqual(before, self.members(ident))
        self.assertIn(
            "signal ignored: stack is locked", self.reasons(ident, "up")
        )
        self.assert_refused(ident, "level all", "the database is rebooted")
        # Their owner goes to Nova, where they are locked, too.
        for each in before:
            with self.assertRaises(sdk_exc.ConflictException):
                self.cloud.compute.stop_server(each)

        # Whatever reads goes on working.
        [size] = self.heat.stacks.get(ident).outputs
        self.assertEqual(2, size["output_value"])
        self.assertIn("resources", self.heat.stacks.template(ident))
        self.assertTrue(self.heat.events.list(ident))
        blocked = self.heat.stacks.get(ident).lock["blocked"]
        self.assertEqual(1, blocked["signal"]["count"])
        self.assertEqual(1, blocked["update"]["count"])

        self.unlock(ident)
        for each in before:
            self.assertEqual((False, None), self.shown(each))
        self.heat.resources.signal(ident, "up")
        deadline = time.monotonic() + test_cloud.SECONDS
        while len(self.members(ident)) < 3:
            self.assertLess(time.monotonic(), deadline, "no third server")
            time.sleep(0.5)
        for status in self.nested_states(ident):
            self.assertNotIn("FAILED", status)

    def members(self, ident: str) -> set[str]:
        """Ids of the servers that are ready."""
        return {
            each.physical_resource_id
            for each in self.heat.resources.list(ident, nested_depth=2)
            if each.resource_type == "OS::Nova::Server"
            and not each.resource_status.startswith(("INIT", "DELETE"))
            and each.resource_status.endswith("COMPLETE")
        }

    def nested_states(self, ident: str) -> list[str]:
        found = self.heat.resources.list(ident, nested_depth=2)
        return [each.resource_status for each in found]


class ConfigurationStory(LockStory):
    """Use case 2: what the cloud stands on is there to stay."""

    def test_an_administrators_stack(self) -> None:
        member = self.heat
        with self.as_administrator() as admin:
            self.heat = heat_client.Client(
                "1",
                session=admin.session,
                endpoint_override=self.running.endpoint,
            )
            ident = self.make(admin)
            images = {
                name: self.physical(ident, name) for name in ("image", "kept")
            }
            self.lock(ident, reason="the cloud stands on it")
            states = {
                each.resource_name: each.resource_status
                for each in self.heat.resources.list(ident)
            }
            self.assertEqual({"LOCK_COMPLETE"}, set(states.values()))

            self.assert_refused(
                ident, "locked by admin", "the cloud stands on it", heat=member
            )
            for each in images.values():
                self.assertTrue(self.protected(each))
                with self.assertRaises(sdk_exc.HttpException) as raised:
                    self.cloud.image.delete_image(each)
                self.assertEqual(403, raised.exception.status_code)

            self.unlock(ident)
            self.assertFalse(self.protected(images["image"]))
            # It was so before, and who asked for that is the template.
            self.assertTrue(self.protected(images["kept"]))
            # Glance would not let it be deleted.
            self.cloud.image.update_image(images["kept"], is_protected=False)
            self.delete(ident)

    def make(self, admin: Any) -> str:
        """Networks and flavors are made, images are adopted.

        Where an image service fetches images from is its operator's choice;
        what it was given is the same everywhere.
        """
        resources = {
            **test_cloud.network(),
            "flavor": res("Nova::Flavor", ram=64, vcpus=1, disk=1),
        }
        data = self.heat.stacks.abandon(self.create(resources))
        kind = {"disk_format": "raw", "container_format": "bare"}
        for name, protected in (("image", False), ("kept", True)):
            made = admin.image.create_image(
                name=f"story-{name}", data=b"disk", protected=protected, **kind
            )
            data["resources"][name] = {"resource_id": made.id}
            resources[name] = res(
                "Glance::WebImage",
                location="http://nowhere/disk",
                protected=protected,
                **kind,
            )
        ident = self.heat.stacks.create(
            stack_name=f"story-{uuid.uuid4().hex[:8]}",
            template=self.template(resources),
            adopt_stack_data=json.dumps(data),
        )["stack"]["id"]
        self.addCleanup(self.delete, ident)
        self.wait(ident, "ADOPT_COMPLETE")
        return str(ident)

    def protected(self, image_id: str) -> bool:
        return bool(self.cloud.image.get_image(image_id).is_protected)


class RefusalStory(LockStory):
    """Nova doesn't do what it is asked for, or somebody else was faster."""

    def servers(self, *names: str) -> str:
        return self.create(
            {name: server(networks=[{"network": "private"}]) for name in names}
        )

    def delete_server(self, connection: Any, server_id: str) -> None:
        """Behind the back of Heat."""
        connection.compute.delete_server(server_id)
        deadline = time.monotonic() + test_cloud.SECONDS
        while connection.compute.find_server(server_id) is not None:
            self.assertLess(time.monotonic(), deadline, "it is not deleted")
            time.sleep(0.5)

    def test_change_of_level(self) -> None:
        ident = self.servers("a")
        found = self.physical(ident, "a")
        self.lock(ident, "stacks", "one")
        self.assertEqual((False, None), self.shown(found))
        # The stack is locked, its server is not: it can be worked on.
        self.cloud.compute.stop_server(found)
        self.settled(found, "SHUTOFF")
        self.lock(ident, "all", "two")
        self.assertEqual((True, "two"), self.shown(found))
        self.lock(ident, "stacks", "three")
        self.assertEqual((False, None), self.shown(found))
        self.assert_refused(ident, "level stacks", "three")
        self.unlock(ident)

    def settled(self, server_id: str, status: str) -> None:
        deadline = time.monotonic() + test_cloud.SECONDS
        while self.cloud.compute.get_server(server_id).status != status:
            self.assertLess(time.monotonic(), deadline, status)
            time.sleep(0.5)

    def test_locked_before(self) -> None:
        ident = self.servers("a", "b")
        mine = self.physical(ident, "a")
        self.cloud.compute.lock_server(mine)
        self.lock(ident)
        self.unlock(ident)
        self.assertEqual((True, None), self.shown(mine))
        other = self.physical(ident, "b")
        self.assertEqual((False, None), self.shown(other))
        self.cloud.compute.unlock_server(mine)

    def test_deleted_out_of_band(self) -> None:
        ident = self.servers("a", "b")
        gone, other = (self.physical(ident, name) for name in "ab")
        self.delete_server(self.cloud, gone)
        stack = self.lock(ident, status="LOCK_FAILED")
        self.assertIn("resources.a", stack.stack_status_reason)
        # There is no order: the other one is locked all the same.
        self.assertTrue(self.shown(other)[0])
        self.assertEqual("all", stack.lock["level"])
        self.unlock(ident)
        self.assertFalse(self.shown(other)[0])

    def test_gone_while_locked(self) -> None:
        ident = self.servers("a")
        found = self.physical(ident, "a")
        self.lock(ident)
        with self.as_administrator() as admin:
            self.delete_server(admin, found)
        self.unlock(ident)
        self.assertIn("the object is gone", self.reasons(ident, "a"))

    def test_taken_over_by_an_administrator(self) -> None:
        ident = self.servers("a", "b")
        found = self.physical(ident, "a")
        self.lock(ident, reason="repair")
        with self.as_administrator() as admin:
            # From another project, as administrators come.
            elsewhere = admin.connect_as(
                project_name="admin", project_domain_name="Default"
            )
            elsewhere.compute.post(
                f"/servers/{found}/action",
                json={"lock": {"locked_reason": "evidence"}},
                microversion=REASONS,
            )
            self.assertEqual((True, "evidence"), self.shown(found))
            self.unlock(ident)
            self.assertEqual((True, "evidence"), self.shown(found))
            other = self.physical(ident, "b")
            self.assertEqual((False, None), self.shown(other))
            self.assertTrue(
                any("evidence" in each for each in self.reasons(ident, "a"))
            )
            elsewhere.compute.unlock_server(found)

    def test_a_delete_releases_first(self) -> None:
        ident = self.servers("a", "b")
        gone, other = (self.physical(ident, name) for name in "ab")
        self.delete_server(self.cloud, gone)
        self.lock(ident, status="LOCK_FAILED")
        self.heat.stacks.delete(ident)
        self.wait(ident, "DELETE_COMPLETE")
        self.assertIsNone(self.cloud.compute.find_server(other))
