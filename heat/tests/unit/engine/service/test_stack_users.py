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

"""Users of stacks: who makes them, what they may do, and where they end.

A real engine, and an identity service in memory.
"""

from __future__ import annotations

import json
import time

import sqlalchemy as sa

from heat.common import context, ec2, exception
from heat.db import models, resource_data, resources, stacks
from heat.engine.clients import settings
from heat.tests.fakes import keystone
from heat.tests.unit.engine.service import test_endpoints

AWS_HANDLE = "AWS::CloudFormation::WaitConditionHandle"
HANDLE = {
    "type": "OS::Heat::WaitConditionHandle",
    "properties": {"signal_transport": "HEAT_SIGNAL"},
}


def hot(**named):
    return {"heat_template_version": "2016-10-14", "resources": named}


class StackUserTest(test_endpoints.EngineTest):
    def setUp(self):
        self.keystone = self.useFixture(keystone.Keystone())
        before = settings.conf()
        super().setUp()
        self.keystone.configure(self.conf)
        self.addCleanup(settings.configure, before)
        settings.configure(self.conf)

    def user_of(self, identity, name):
        """The context of a resource's user, as its token gives it."""
        data = self.data(identity, name)
        stack = self.db.read(lambda c: stacks.get(c, identity["stack_id"]))
        return context.RequestContext(
            project_id=stack.stack_user_project_id,
            user_id=data["user_id"],
            roles=["heat_stack_user"],
        )

    def data(self, identity, name):
        def read(conn):
            rows = resources.list_for_stack(conn, identity["stack_id"])
            [row] = [each for each in rows if each.name == name]
            return resource_data.get_many(conn, [row.id])[row.id]

        return self.db.read(read)

    def until_gone(self, identity):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if not self.client.list_stacks(self.ctx):
                return
            time.sleep(0.02)
        self.fail("it is still there")

    def metadata(self, ctx, identity, name):
        found = self.client.describe_stack_resource(ctx, identity, name)
        return found["metadata"]


class LifeTest(StackUserTest):
    def test_made_with_the_resource_and_gone_with_the_stack(self):
        identity = self.create(template=hot(one=HANDLE, two=HANDLE))
        [project] = self.keystone.projects
        self.assertEqual(2, len(self.keystone.users))
        stack = self.db.read(lambda c: stacks.get(c, identity["stack_id"]))
        self.assertEqual(project, stack.stack_user_project_id)

        self.client.update_stack(
            self.ctx, identity, hot(one=HANDLE), {}, {}, {}
        )
        self.wait(identity, "UPDATE")
        self.assertEqual(1, len(self.keystone.users))

        self.client.delete_stack(self.ctx, identity)
        self.until_gone(identity)
        self.assertEqual({}, self.keystone.users)
        self.assertEqual({}, self.keystone.projects)

    def test_beside_an_object_that_is_external(self):
        """It stays while the resource is there, and goes with it."""
        identity = self.create(template=hot(one=HANDLE))
        shown = self.client.describe_stack_resource(self.ctx, identity, "one")
        theirs = {**HANDLE, "external_id": shown["physical_resource_id"]}
        for template, users in ((hot(one=theirs), 1), (hot(), 0)):
            self.client.update_stack(self.ctx, identity, template, {}, {}, {})
            self.wait(identity, "UPDATE")
            self.assertEqual(users, len(self.keystone.users))

    def test_a_user_that_is_external(self):
        """It is the object itself."""
        user = {"type": "AWS::IAM::User"}
        identity = self.create(template=hot(one=user))
        shown = self.client.describe_stack_resource(self.ctx, identity, "one")
        theirs = {**user, "external_id": shown["physical_resource_id"]}
        for template in (hot(one=theirs), hot()):
            self.client.update_stack(self.ctx, identity, template, {}, {}, {})
            self.wait(identity, "UPDATE")
            self.assertEqual(1, len(self.keystone.users))

    def test_stack_without_users_has_no_project(self):
        identity = self.create()
        self.assertEqual({}, self.keystone.projects)
        self.client.delete_stack(self.ctx, identity)
        self.until_gone(identity)

    def test_identity_service_is_away_at_the_end(self):
        identity = self.create(template=hot(one=HANDLE))
        self.keystone.refuse.add(("GET", "role_assignments"))
        self.client.delete_stack(self.ctx, identity)
        self.until_gone(identity)
        self.assertEqual(1, len(self.keystone.projects))

    def test_nested_stacks_share_the_project(self):
        inner = json.dumps(hot(handle=HANDLE))
        template = hot(
            handle=HANDLE, inner={"type": "inner.yaml", "properties": {}}
        )
        identity = self.client.create_stack(
            self.ctx, "n", template, {}, {"inner.yaml": inner}, {}
        )
        self.wait(identity, "CREATE")
        self.assertEqual(1, len(self.keystone.projects))
        self.assertEqual(2, len(self.keystone.users))

    def test_suspended_users_are_kept_out(self):
        identity = self.create(template=hot(one=HANDLE))
        [user] = self.keystone.users.values()
        for action, enabled in (("SUSPEND", False), ("RESUME", True)):
            act = getattr(self.client, f"stack_{action.lower()}")
            act(self.ctx, identity)
            self.wait(identity, action)
            self.assertEqual(enabled, user["enabled"])

    def test_secrets_are_sealed(self):
        identity = self.create(template=hot(one={"type": AWS_HANDLE}))
        data = self.data(identity, "one")
        [credential] = self.keystone.credentials.values()
        secret = json.loads(credential["blob"])["secret"]
        self.assertEqual(secret, data["secret_key"])
        table = models.resource_data
        with self.db.engine.connect() as conn:
            sealed = conn.execute(
                sa.select(table.c.key).where(table.c.redact.is_(True))
            ).scalars()
            self.assertEqual(
                {"password", "credential_id", "secret_key"}, set(sealed)
            )


class ReachTest(StackUserTest):
    def test_own_stack(self):
        identity = self.create(template=hot(one=HANDLE, two=HANDLE))
        user = self.user_of(identity, "one")
        # In the URLs of the catalogue it finds its own project.
        for tenant in ("p1", user.project_id):
            asked = {**identity, "tenant": tenant}
            self.client.resource_signal(user, asked, "one", {"id": tenant})
            for name in ("one", "two"):
                self.metadata(user, asked, name)
        self.assertEqual(
            {"p1", user.project_id},
            set(self.metadata(self.ctx, identity, "one")),
        )
        found = self.client.identify_stack(user, identity["stack_name"])
        self.assertEqual(identity, found)

    def test_nothing_else(self):
        identity = self.create(template=hot(one=HANDLE))
        user = self.user_of(identity, "one")
        self.assertEqual([], self.client.list_stacks(user))
        for call, args in (
            (self.client.show_stack, ()),
            (self.client.delete_stack, ()),
            (self.client.list_stack_resources, ()),
            (self.client.get_template, ()),
            (self.client.resource_mark_unhealthy, ("one", True)),
        ):
            self.assertRaises(
                exception.EntityNotFound, call, user, identity, *args
            )

    def test_other_users(self):
        identity = self.create(template=hot(one=HANDLE))
        other = self.create("two", template=hot(one=HANDLE))
        mine = self.user_of(other, "one")
        own = self.user_of(identity, "one")
        strangers = (
            mine,
            # The project is right, the user is nobody's of this stack.
            context.RequestContext(
                project_id=own.project_id, user_id=mine.user_id
            ),
            context.RequestContext(project_id=own.project_id),
            context.RequestContext(user_id=own.user_id),
        )
        for user in strangers:
            for call, args in (
                (self.client.resource_signal, ({},)),
                (self.client.describe_stack_resource, ()),
            ):
                self.assertRaises(
                    exception.EntityNotFound,
                    call,
                    user,
                    identity,
                    "one",
                    *args,
                )

    def test_policy(self):
        identity = self.create(
            template=hot(
                one={"type": "OS::Heat::RandomString"},
                two={"type": "OS::Heat::RandomString"},
                policy={
                    "type": "OS::Heat::AccessPolicy",
                    "properties": {"AllowedResources": ["one"]},
                },
                user={
                    "type": "AWS::IAM::User",
                    "properties": {"Policies": [{"get_resource": "policy"}]},
                },
                key={
                    "type": "AWS::IAM::AccessKey",
                    "properties": {"UserName": {"get_resource": "user"}},
                },
            )
        )
        user = self.user_of(identity, "user")
        self.metadata(user, identity, "one")
        self.assertRaises(
            exception.Forbidden, self.metadata, user, identity, "two"
        )
        [credential] = self.keystone.credentials.values()
        self.assertEqual(user.user_id, credential["user_id"])

    def test_policy_that_is_none(self):
        self.assertRaises(
            exception.StackValidationFailed,
            self.client.create_stack,
            self.ctx,
            "x",
            hot(
                user={
                    "type": "AWS::IAM::User",
                    "properties": {"Policies": ["nothing"]},
                }
            ),
            {},
            {},
            {},
        )


class SignedUrlTest(StackUserTest):
    def test_reference_finds_the_handle(self):
        """A wait condition knows its handle by the signed URL."""
        template = hot(
            handle={"type": AWS_HANDLE},
            wait={
                "type": "AWS::CloudFormation::WaitCondition",
                "properties": {
                    "Handle": {"get_resource": "handle"},
                    "Timeout": "20",
                },
            },
        )
        template["outputs"] = {"url": {"value": {"get_resource": "handle"}}}
        identity = self.client.create_stack(
            self.ctx, "w", template, {}, {}, {}
        )
        until = time.monotonic() + 20
        url = ""
        while not url.startswith("http") and time.monotonic() < until:
            [shown] = self.client.show_stack(self.ctx, identity)
            url = str(shown["outputs"][0].get("output_value"))
        keys = self.data(identity, "handle")
        self.assertEqual(
            ec2.signed_url(
                "http://cfn.test:8000/v1/waitcondition",
                ec2.arn_of(url),
                "PUT",
                keys["access_key"],
                keys["secret_key"],
            ),
            url,
        )
        user = self.user_of(identity, "handle")
        self.client.resource_signal(
            user, identity, "handle", {"Status": "SUCCESS", "Data": "x"}
        )
        self.wait(identity, "CREATE")

    def test_policies_are_signalled_by_users_of_the_project(self):
        """By the native address; the signed one is for anybody."""
        group = {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {
                "min_size": 0,
                "max_size": 1,
                "resource": {"type": "OS::Heat::RandomString"},
            },
        }
        policy = {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        }
        identity = self.create(template=hot(group=group, policy=policy))
        self.assertEqual(1, len(self.keystone.users))
        shown = self.client.describe_stack_resource(
            self.ctx, identity, "policy", with_attr=["signal_url"]
        )
        path = f"/v1/{self.ctx.project_id}/stacks/"
        self.assertIn(path, shown["attributes"]["signal_url"])
        self.assertIn("Signature=", shown["attributes"]["alarm_url"])

    def test_no_domain(self):
        self.conf.set_override("stack_domain_admin", None)
        identity = self.client.create_stack(
            self.ctx,
            "x",
            hot(
                handle={
                    "type": "OS::Heat::WaitConditionHandle",
                    "properties": {"signal_transport": "CFN_SIGNAL"},
                }
            ),
            {},
            {},
            {},
        )
        until = time.monotonic() + 20
        while self.state(identity)[1] == "IN_PROGRESS":
            self.assertLess(time.monotonic(), until)
        [shown] = self.client.show_stack(self.ctx, identity)
        self.assertIn("stack_domain_admin", shown["stack_status_reason"])


class AgentTest(StackUserTest):
    """What the agent of a server is told."""

    def machine(self, **properties):
        return {"type": "OS::Heat::DeployedServer", "properties": properties}

    def test_by_signed_requests(self):
        identity = self.create(template=hot(machine=self.machine()))
        told = self.metadata(self.ctx, identity, "machine")
        agent = told["os-collect-config"]
        self.assertEqual(["ec2", "cfn", "local"], agent["collectors"])
        keys = self.data(identity, "machine")
        self.assertEqual(
            {
                "metadata_url": "http://cfn.test:8000/v1/",
                "access_key_id": keys["access_key"],
                "secret_access_key": keys["secret_key"],
                "stack_name": identity["stack_name"],
                "path": "machine.Metadata",
            },
            agent["cfn"],
        )
        user = self.user_of(identity, "machine")
        self.assertEqual(told, self.metadata(user, identity, "machine"))

    def test_by_the_native_api(self):
        machine = self.machine(software_config_transport="POLL_SERVER_HEAT")
        identity = self.create(template=hot(machine=machine))
        agent = self.metadata(self.ctx, identity, "machine")[
            "os-collect-config"
        ]
        [user_id] = self.keystone.users
        [project_id] = self.keystone.projects
        own = agent["heat"]
        self.assertEqual(
            (user_id, project_id), (own["user_id"], own["project_id"])
        )
        self.assertEqual(keystone.URL, own["auth_url"])
        self.assertEqual(
            self.keystone.users[user_id]["password"], own["password"]
        )

    def test_without_a_domain(self):
        self.conf.set_override("stack_domain_admin", None)
        identity = self.create(template=hot(machine=self.machine()))
        self.assertEqual(
            {"deployments": []}, self.metadata(self.ctx, identity, "machine")
        )
