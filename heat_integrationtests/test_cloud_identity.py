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

"""In whose name the service acts: trusts, passwords, roles, and no leaks.

What the stack does is compared with what Keystone says of its trusts.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

import openstack
import requests
import sqlalchemy as sa
from heatclient import client as heat_client
from heatclient import exc as heat_exc

from heat_integrationtests import cloud, test_cloud
from heat_integrationtests.test_cloud import ref, res, server

#: long enough to do something while a stack waits
PAUSE = 8


class IdentityCluster(cloud.CloudCluster):
    """A talkative service that is quick to see that an engine is gone."""

    extra = (
        "[engine]\n"
        "heartbeat_interval = 1\n"
        "dead_after = 5\n"
        "recovery_interval = 2\n"
        "[DEFAULT]\n"
        "debug = true\n"
    )

    def credentials(self) -> list[Any]:
        """The rows of ``user_creds``, as they are stored."""
        engine = sa.create_engine(self.server.set(database=self.name))
        try:
            with engine.connect() as conn:
                return list(conn.execute(sa.text("SELECT * FROM user_creds")))
        finally:
            engine.dispose()

    def whole_log(self) -> str:
        return self.logs(lines=10**9)


class PasswordCluster(IdentityCluster):
    extra = IdentityCluster.extra + "deferred_auth_method = password\n"


class IdentityStory(test_cloud.AloneStory):
    """The user's token can be revoked."""

    cluster: type[IdentityCluster] = IdentityCluster

    @classmethod
    def setUpClass(cls) -> None:
        cls.make_project()
        cls.running = cls.cluster()
        cls.running.cloud = cls.connect()
        cls.running.start()
        cls.addClassCleanup(cls.running.stop)
        cls.addClassCleanup(cls.settle)

    @classmethod
    def settle(cls) -> None:
        """Let the last trusts be deleted while there is an engine."""
        deadline = time.monotonic() + 30
        while cls.running.credentials() and time.monotonic() < deadline:
            time.sleep(0.3)

    def setUp(self) -> None:
        super().setUp()
        self.token = self.connect().auth_token
        self.known = self.trusts()

    def trusts(self) -> set[str]:
        """Ids of the trusts that the user has given."""
        found = self.cloud.session.get(
            "/OS-TRUST/trusts",
            params={"trustor_user_id": self.cloud.current_user_id},
            endpoint_filter={"service_type": "identity", "min_version": "3"},
        )
        return {each["id"] for each in found.json()["trusts"]}

    def new_trusts(self) -> set[str]:
        return self.trusts() - self.known

    def revoke(self) -> None:
        done = requests.delete(
            f"{os.environ['OS_AUTH_URL']}/auth/tokens",
            headers={
                "X-Auth-Token": self.cloud.auth_token,
                "X-Subject-Token": self.token,
            },
            timeout=30,
        )
        self.assertEqual(204, done.status_code, done.text)

    def begin_briefly(self, resources: dict[str, Any], **headers: str) -> str:
        """Begin a stack with the token that will be revoked."""
        made = requests.post(
            f"{self.running.endpoint}/stacks",
            headers={"X-Auth-Token": self.token, **headers},
            json={
                "stack_name": f"ident-{uuid.uuid4().hex[:8]}",
                "template": self.template(resources),
                "disable_rollback": True,
            },
            timeout=60,
        )
        self.assertEqual(201, made.status_code, made.text)
        ident = str(made.json()["stack"]["id"])
        self.addCleanup(self.delete, ident)
        return ident

    def until(self, what: Callable[[], Any], wanted: Any = True) -> None:
        deadline = time.monotonic() + 60
        while (found := what()) != wanted:
            if time.monotonic() > deadline:
                self.assertEqual(wanted, found, self.running.logs(20))
            time.sleep(0.3)

    def status(self, ident: str, name: str) -> str:
        return str(self.heat.resources.get(ident, name).resource_status)

    @staticmethod
    def long() -> dict[str, Any]:
        """Something of the cloud, a pause, and more of the cloud.

        The later services have not seen the token when it is revoked.
        """
        return {
            "first": res("Cinder::Volume", size=1),
            "pause": {
                **res("Heat::TestResource", wait_secs=PAUSE),
                "depends_on": "first",
            },
            "net": {**res("Neutron::Net"), "depends_on": "pause"},
            "subnet": res(
                "Neutron::Subnet", network=ref("net"), cidr="10.8.0.0/24"
            ),
            "second": {
                **res("Cinder::Volume", size=1),
                "depends_on": "subnet",
            },
        }


class TrustStory(IdentityStory):
    """Trusts of Keystone."""

    def test_life_of_a_trust(self) -> None:
        ident = self.create({"value": res("Heat::RandomString", length=8)})
        self.assertEqual(set(), self.new_trusts())
        template = {
            "value": res("Heat::RandomString", length=8),
            "group": res(
                "Heat::ResourceGroup",
                count=2,
                resource_def=res("Cinder::Volume", size=1),
            ),
        }
        self.update(ident, template)
        self.assertEqual(1, len(self.new_trusts()))
        (trust_id,) = self.new_trusts()
        rows = self.running.credentials()
        self.assertEqual(1, len(rows))
        self.assertNotIn(trust_id, str(rows))
        self.assertEqual(self.cloud.current_user_id, rows[0].trustor_user_id)
        # It stays, however often the stack changes.
        template["group"]["properties"]["count"] = 1
        self.update(ident, template)
        self.assertEqual({trust_id}, self.new_trusts())
        self.delete(ident)
        self.until(self.new_trusts, set())
        self.until(self.running.credentials, [])

    def test_nothing_is_left_of_a_stack_that_was_not_made(self) -> None:
        ident = self.create({"volume": res("Cinder::Volume", size=1)})
        before = self.new_trusts()
        with self.assertRaises(heat_exc.HTTPConflict):
            self.heat.stacks.create(
                stack_name=self.heat.stacks.get(ident).stack_name,
                template=self.template({"v": res("Cinder::Volume", size=1)}),
            )
        self.assertEqual(before, self.new_trusts())
        self.assertEqual(1, len(self.running.credentials()))

    def test_token_revoked(self) -> None:
        ident = self.begin_briefly(self.long())
        self.until(lambda: self.status(ident, "first"), "CREATE_COMPLETE")
        self.revoke()
        self.wait(ident, "CREATE_COMPLETE")
        self.assertIn("is not accepted", self.running.whole_log())

    def test_engine_killed(self) -> None:
        resources = {
            **test_cloud.network(),
            "volume": res("Cinder::Volume", size=1),
            "pause": {
                **res("Heat::TestResource", wait_secs=PAUSE),
                "depends_on": "volume",
            },
            "server": {
                **server(networks=[{"network": ref("net")}]),
                "depends_on": ["pause", "subnet"],
            },
            "attachment": res(
                "Cinder::VolumeAttachment",
                volume_id=ref("volume"),
                instance_uuid=ref("server"),
            ),
        }
        ident = self.begin(resources)
        for done in ("volume", "subnet"):
            self.until(
                lambda done=done: self.status(ident, done), "CREATE_COMPLETE"
            )
        self.running.kill("engine-0")
        self.running.start_engine("engine-0")
        self.wait(ident, "CREATE_COMPLETE")
        volume = self.cloud.block_storage.get_volume(
            self.physical(ident, "volume")
        )
        self.assertEqual("in-use", volume.status)

    def test_no_secret_is_logged(self) -> None:
        password = f"secret-{uuid.uuid4().hex}"
        ident = self.begin_briefly(
            {
                "volume": res("Cinder::Volume", size=1),
                "value": res("Heat::RandomString", length=30),
            },
            **{"X-Auth-Key": password},
        )
        self.wait(ident, "CREATE_COMPLETE")
        (trust_id,) = self.new_trusts()
        log = self.running.whole_log()
        self.assertIn(" DEBUG ", log)
        for secret in (self.token, password, self.password, trust_id):
            found = [line for line in log.splitlines() if secret in line]
            self.assertEqual([], found)
        # Nor the token of anybody else, such as the service user.
        self.assertEqual([], re.findall(r"gAAAA[\w-]{60}", log))


class PasswordStory(IdentityStory):
    """deferred_auth_method = password"""

    cluster = PasswordCluster

    def test_token_revoked(self) -> None:
        given = {"X-Auth-Key": self.password}
        ident = self.begin_briefly(self.long(), **given)
        self.assertEqual(set(), self.new_trusts())
        self.assertNotIn(self.password, str(self.running.credentials()))
        self.until(lambda: self.status(ident, "first"), "CREATE_COMPLETE")
        self.revoke()
        self.wait(ident, "CREATE_COMPLETE")

    def test_without_a_password(self) -> None:
        """The stack is made, and has nothing when its token ends."""
        ident = self.begin_briefly(self.long())
        self.assertEqual([], self.running.credentials())
        self.until(lambda: self.status(ident, "first"), "CREATE_COMPLETE")
        self.revoke()
        stack = self.wait(ident, "CREATE_FAILED")
        # In the words of the first service that is asked without a token.
        self.assertIn("resources.net", stack.stack_status_reason)


#: what is asked for -> who may, of PERSONAS
READ, WRITE, OWN = "read", "write", "own"
PERSONAS = {
    "reader": {READ},
    "member": {READ, WRITE, OWN},
    "heat_stack_user": {OWN},
    "admin": {READ, WRITE, OWN},
}


class PersonaStory(IdentityStory):
    """What the roles of Keystone let their users do."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.users = {role: cls.client(role) for role in PERSONAS}

    @classmethod
    def client(cls, role: str) -> Any:
        """A client with one role in the project."""
        password = uuid.uuid4().hex
        user = cls.make_user(role, password)
        return heat_client.Client(
            "1",
            session=cloud.connect(user, cls.project.name, password).session,
            endpoint_override=cls.running.endpoint,
        )

    def test_roles(self) -> None:
        resources = {"it": res("Heat::WaitConditionHandle")}
        template = self.template(resources)
        self.heat = self.users["member"]
        ident = self.create(resources)
        named = f"{self.heat.stacks.get(ident).stack_name}/{ident}"
        asked: dict[str, tuple[str, Callable[[Any], Any]]] = {
            "list": (READ, lambda heat: list(heat.stacks.list())),
            "show": (READ, lambda heat: heat.stacks.get(named)),
            "resources": (READ, lambda heat: heat.resources.list(named)),
            "events": (READ, lambda heat: heat.events.list(named)),
            "template": (READ, lambda heat: heat.stacks.template(named)),
            "metadata": (
                OWN,
                lambda heat: heat.resources.metadata(named, "it"),
            ),
            "signal": (
                OWN,
                lambda heat: heat.resources.signal(
                    named, "it", data={"status": "SUCCESS"}
                ),
            ),
            "update": (
                WRITE,
                lambda heat: heat.stacks.update(
                    stack_id=named, template=template
                ),
            ),
            "suspend": (WRITE, lambda heat: heat.actions.suspend(named)),
            "delete": (WRITE, lambda heat: heat.stacks.delete(named)),
        }
        for role in ("reader", "heat_stack_user", "admin", "member"):
            for what, (kind, ask) in asked.items():
                with self.subTest(role=role, what=what):
                    allowed = kind in PERSONAS[role]
                    if allowed and kind == WRITE and role == "admin":
                        continue  # would be in the member's way
                    self.assertEqual(allowed, self.may(role, ask))
                    if allowed and kind == WRITE:
                        self.rest(ident)

    def may(self, role: str, ask: Callable[[Any], Any]) -> bool:
        try:
            ask(self.users[role])
        except heat_exc.HTTPForbidden:
            return False
        return True

    def rest(self, ident: str) -> None:
        """Wait until a stack does nothing, or is gone."""

        def busy() -> bool:
            try:
                stack = self.heat.stacks.get(ident)
            except heat_exc.HTTPNotFound:
                return False
            return str(stack.stack_status).endswith("_IN_PROGRESS")

        self.until(busy, wanted=False)

    def test_an_administrator_sees_all_engines(self) -> None:
        everywhere = cloud.administrator()
        project = everywhere.current_project_id
        heat = heat_client.Client(
            "1",
            session=everywhere.session,
            endpoint_override=f"{self.running.url}/v1/{project}",
        )
        self.assertEqual(1, len(heat.services.list()))
        with self.assertRaises(heat_exc.HTTPForbidden):
            self.users["member"].services.list()

    def test_projects_are_apart(self) -> None:
        ident = self.create({"value": res("Heat::RandomString", length=8)})
        others = openstack.connect(cloud="envvars")
        for project in (self.project.id, others.current_project_id):
            with self.subTest(project=project):
                heat = heat_client.Client(
                    "1",
                    session=others.session,
                    endpoint_override=f"{self.running.url}/v1/{project}",
                )
                with self.assertRaises(
                    (heat_exc.HTTPForbidden, heat_exc.HTTPNotFound)
                ):
                    heat.stacks.get(ident)
