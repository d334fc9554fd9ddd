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

"""Stories of groups that a launch configuration makes the members of."""

from __future__ import annotations

import json

from heat.common import exception
from heat.engine.resources import declared
from heat.engine.software import deployments
from heat.engine.stack import signals
from heat.tests import base
from heat.tests.unit.engine import stacks
from heat.tests.unit.engine.stack import test_groups as groups

TYPES = (
    "OS::Heat::InstanceGroup",
    "OS::Heat::ScalingPolicy",
    "OS::Heat::AutoScalingGroup",
    "OS::Heat::ResourceGroup",
    "OS::Heat::DeployedServer",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::StructuredDeploymentGroup",
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::AutoScaling::LaunchConfiguration",
    "AWS::AutoScaling::ScalingPolicy",
    "AWS::EC2::Instance",
)

#: What users map the type of the members to, where there are no servers.
INSTANCE = """
heat_template_version: 2018-08-31
parameters:
  ImageId: {type: string}
  InstanceType: {type: string}
  KeyName: {type: string, default: ""}
  SubnetId: {type: string, default: ""}
  UserData: {type: string, default: ""}
  SecurityGroups: {type: comma_delimited_list, default: []}
  Tags: {type: comma_delimited_list, default: []}
resources:
  it:
    type: OS::Heat::TestResource
    properties:
      wait_secs: 1
      value:
        list_join: ["/", [
          {get_param: ImageId}, {get_param: InstanceType},
          {get_param: UserData}, {get_param: SubnetId}]]
outputs:
  OS::stack_id: {value: {get_attr: [it, output]}}
  PublicIp: {value: {get_attr: [it, output]}}
  Tags: {value: {get_param: Tags}}
"""
ENVIRONMENT = {"resource_registry": {"AWS::EC2::Instance": "instance.yaml"}}
FILES = {"instance.yaml": INSTANCE}


def cfn(resources, **outputs):
    return {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Resources": resources,
        "Outputs": {
            key: {"Value": {"Fn::GetAtt": ["n", name]}}
            for key, name in outputs.items()
        },
    }


def launch(image="i", **properties):
    return {
        "Type": "AWS::AutoScaling::LaunchConfiguration",
        "Properties": {
            "ImageId": image,
            "InstanceType": "t",
            **properties,
        },
    }


def fixed(size=2, policy=None, **properties):
    made = {
        "Type": "OS::Heat::InstanceGroup",
        "Properties": {
            "AvailabilityZones": ["nova"],
            "LaunchConfigurationName": {"Ref": "launch"},
            "Size": size,
            **properties,
        },
    }
    if policy:
        made["UpdatePolicy"] = {"RollingUpdate": policy}
    return made


def scaled(policy=None, **properties):
    made = {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "Properties": {
            "AvailabilityZones": ["nova"],
            "LaunchConfigurationName": {"Ref": "launch"},
            "MinSize": 1,
            "MaxSize": 5,
            **properties,
        },
    }
    if policy:
        made["UpdatePolicy"] = {"AutoScalingRollingUpdate": policy}
    return made


def policy(adjustment=1, kind="ChangeInCapacity", **properties):
    return {
        "Type": "AWS::AutoScaling::ScalingPolicy",
        "Properties": {
            "AutoScalingGroupName": {"Ref": "n"},
            "AdjustmentType": kind,
            "ScalingAdjustment": adjustment,
            **properties,
        },
    }


class SchemaTest(base.TestCase):
    def test_as_published(self):
        registry = stacks.registry()
        published = declared.fallback_resource_mapping()
        for name in TYPES:
            cls, known = registry.get(name), published[name]
            with self.subTest(name):
                self.assertEqual(
                    _table(known.properties_schema),
                    _table(cls.properties_schema),
                )
                self.assertEqual(
                    set(known.attributes_schema), set(cls.attributes_schema)
                )
                self.assertEqual(
                    set(known.update_policy_schema),
                    set(cls.update_policy_schema),
                )


def _table(schemas):
    return {
        name: (
            each.type,
            each.default,
            each.required,
            each.update_allowed,
            [dict(rule) for rule in each.constraints],
            None if each.schema is None else _table(each.schema),
        )
        for name, each in schemas.items()
    }


class InstancesTest(groups.GroupTest):
    def begin(self, template, files=None, params=None, **args):
        return super().begin(template, FILES, params or ENVIRONMENT, **args)

    def start_update(self, stack, template, files=None, params=None, **args):
        super().start_update(
            stack, template, FILES, params or ENVIRONMENT, **args
        )

    def signal(self, stack, name="p", details=None):
        record = self.world.stack(stack)
        signals.signal(self.engine, self.context, record, name, details)
        self.world.run()

    def values(self, stack):
        """What the address of each member says."""
        told = self.world.outputs(stack)["all"]
        return told.split(",") if told else []


class InstanceGroupTest(InstancesTest):
    def template(self, size=2, image="i", how=None, **properties):
        return cfn(
            {"launch": launch(image), "n": fixed(size, how, **properties)},
            all="InstanceList",
        )

    def test_a_life(self):
        stack = self.make(self.template())
        self.assertEqual(["i/t//", "i/t//"], self.values(stack))
        self.update(stack, self.template(3))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(3, len(self.values(stack)))
        self.update(stack, self.template(0))
        self.assertEqual([], self.values(stack))
        self.delete(stack)
        self.world.run()
        self.assertState("DELETE_COMPLETE", stack)

    def test_values_of_others_come_through(self):
        """The launch configuration refers to what the group does not."""
        template = self.template()
        template["Resources"]["word"] = {
            "Type": "OS::Heat::TestResource",
            "Properties": {"value": "said"},
        }
        properties = template["Resources"]["launch"]["Properties"]
        properties["UserData"] = {"Fn::GetAtt": ["word", "output"]}
        stack = self.make(template)
        self.assertEqual(["i/t/said/"] * 2, self.values(stack))

    def test_another_launch_configuration(self):
        how = {"MaxBatchSize": 2, "PauseTime": "PT1M"}
        stack = self.make(self.template(4, how=how))
        began = self.world.now
        self.update(stack, self.template(4, "j", how=how))
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(["j/t//"] * 4, self.values(stack))
        self.assertGreaterEqual(self.world.now - began, 60)

    def test_the_tags_name_the_group(self):
        template = self.template(Tags=[{"Key": "a", "Value": "b"}])
        template["Outputs"]["tags"] = {"Value": {"Fn::GetAtt": ["n", "Tags"]}}
        template["Outputs"]["ref"] = {"Value": {"Ref": "n"}}
        told = self.world.outputs(self.make(template))
        self.assertEqual(
            [
                json.dumps({"Key": "a", "Value": "b"}),
                json.dumps(
                    {"Key": "metering.groupname", "Value": told["ref"]}
                ),
            ],
            told["tags"][0],
        )

    def test_what_is_wrong(self):
        for template, word in (
            (self.template(-1), "Size"),
            (self.template(how={"PauseTime": "soon"}), "PauseTime"),
            (self.template(how={"MaxBatchSize": 0}), "MaxBatchSize"),
            (cfn({"launch": launch(UserDate="x")}), "UserDate"),
            (
                cfn(
                    {
                        "launch": {
                            "Type": "AWS::AutoScaling::LaunchConfiguration",
                            "Properties": {"ImageId": "i"},
                        }
                    }
                ),
                "InstanceType",
            ),
        ):
            with self.subTest(word=word), self.assertRefused(word):
                self.begin(template)

    def fails(self, template):
        stack = self.begin(template)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        return self.world.stack(stack).status_reason

    def test_what_is_not_there(self):
        template = self.template(LaunchConfigurationName="nobody")
        self.assertIn("nobody", self.fails(template))

    def test_load_balancers(self):
        template = self.template(LoadBalancerNames=["lb"])
        self.assertIn("LoadBalancerNames", self.fails(template))


class AWSAutoScalingTest(InstancesTest):
    def template(self, p=None, image="i", how=None, **properties):
        return cfn(
            {
                "launch": launch(image),
                "n": scaled(how, **properties),
                "p": p or policy(),
            },
            all="InstanceList",
        )

    def test_up_and_down(self):
        template = self.template(policy(2))
        template["Resources"]["down"] = policy(-3)
        template["Resources"]["exact"] = policy(4, "ExactCapacity")
        stack = self.make(template)
        self.assertEqual(1, len(self.values(stack)))
        for name, size in (("p", 3), ("p", 5), ("down", 2), ("exact", 4)):
            self.signal(stack, name)
            self.assertState("UPDATE_COMPLETE", stack)
            self.assertEqual(size, len(self.values(stack)))

    def test_percentages(self):
        template = self.template(
            policy(10, "PercentChangeInCapacity", MinAdjustmentStep=2)
        )
        template["Resources"]["few"] = policy(-1, "PercentChangeInCapacity")
        stack = self.make(template)
        self.signal(stack)
        self.assertEqual(3, len(self.values(stack)))
        self.signal(stack, "few")
        self.assertEqual(2, len(self.values(stack)))

    def test_cooldowns(self):
        template = self.template(policy(Cooldown=600))
        template["Resources"]["q"] = policy()
        stack = self.make(template)
        for name in ("p", "p", "q", "p"):
            self.signal(stack, name)
        self.assertEqual(3, len(self.values(stack)))
        self.assertIn(("p", "SIGNAL_COMPLETE"), self.world.events(stack))

    def test_the_size_stays(self):
        how = {"MinInstancesInService": 1, "MaxBatchSize": 1}
        stack = self.make(self.template(DesiredCapacity=2, how=how))
        self.signal(stack)
        self.update(
            stack, self.template(image="j", DesiredCapacity=2, how=how)
        )
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual(["j/t//"] * 3, self.values(stack))

    def test_the_subnet(self):
        stack = self.make(self.template(VPCZoneIdentifier=["s1"]))
        self.assertEqual(["i/t//s1"], self.values(stack))

    def test_what_is_wrong(self):
        both = {"InstanceId": "x"}
        for properties, word in (
            ({"MinSize": 6}, "MinSize"),
            ({"MinSize": -1}, "MinSize"),
            ({"DesiredCapacity": 9}, "DesiredCapacity"),
            ({"VPCZoneIdentifier": ["a", "b"]}, "VPCZoneIdentifier"),
            (both, "LaunchConfigurationName"),
            ({"p": policy(MinAdjustmentStep=1)}, "MinAdjustmentStep"),
        ):
            with self.subTest(word=word), self.assertRefused(word):
                self.begin(self.template(**properties))

    def test_a_policy_of_what_is_no_group(self):
        template = self.template()
        template["Resources"]["p"]["Properties"]["AutoScalingGroupName"] = {
            "Ref": "launch"
        }
        stack = self.make(template)
        with self.assertRefused("group", error=exception.NotFound):
            self.signal(stack)


class DeploymentGroupTest(groups.GroupTest):
    def template(self, servers, kind="Software", **properties):
        config = {
            "type": f"OS::Heat::{kind}Config",
            "properties": {"config": "x" if kind == "Software" else {"a": 1}},
        }
        return groups.hot(
            {
                "config": config,
                "s": {"type": "OS::Heat::DeployedServer"},
                "n": {
                    "type": f"OS::Heat::{kind}DeploymentGroup",
                    "properties": {
                        "config": {"get_resource": "config"},
                        "servers": servers,
                        "signal_transport": "HEAT_SIGNAL",
                        **properties,
                    },
                },
            },
            groups.outs(out=["deploy_stdouts"], codes=["deploy_status_codes"]),
        )

    def metadata(self, stack, name):
        return self.world.living(stack)[name].metadata

    def report(self, stack, *names):
        child = self.world.stack(self.child(stack))
        for name in names:
            said = {"deploy_stdout": f"by {name}", "deploy_status_code": 0}
            signals.signal(self.engine, self.context, child, name, said)

    def test_a_life(self):
        servers = {"a": {"get_resource": "s"}, "b": "server-b"}
        for kind in ("Software", "Structured"):
            with self.subTest(kind):
                self.a_life(kind, servers)

    def a_life(self, kind, servers):
        stack = self.begin(self.template(servers, kind))
        self.world.run_until(lambda: self.asked(stack) == {"a", "b"})
        # The machine finds its deployment in the metadata of its resource.
        [config] = self.metadata(stack, "s")["deployments"]
        self.assertTrue(config["config"])
        self.report(stack, "a", "b")
        self.world.run()
        self.assertState("CREATE_COMPLETE", stack)
        self.assertEqual(
            {"a": "by a", "b": "by b"}, self.world.outputs(stack)["out"]
        )
        self.start_update(stack, self.template({"b": "server-b"}, kind))
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        self.assertEqual({"b"}, set(self.members(stack)))
        self.assertEqual(["b"], list(self.world.outputs(stack)["codes"]))
        self.delete(stack)
        self.world.run()

    def test_several_configs_on_several_servers(self):
        template = self.template({"a": {"get_resource": "s"}})
        resources = template["resources"]
        group = resources["n"]
        group["type"] = "OS::Heat::SoftwareDeployments"
        group["properties"]["signal_transport"] = "NO_SIGNAL"
        resources["t"] = {
            "type": "OS::Heat::DeployedServer",
            "metadata": {"mine": 1},
        }
        group["properties"]["servers"]["b"] = {"get_resource": "t"}
        resources["m"] = group
        stack = self.make(template)
        for name in "st":
            self.assertEqual(2, len(self.metadata(stack, name)["deployments"]))
        resources["t"]["metadata"] = {"mine": 2}
        del resources["m"]
        self.start_update(stack, template)
        self.world.run()
        self.assertState("UPDATE_COMPLETE", stack)
        found = self.metadata(stack, "t")
        self.assertEqual(2, found["mine"])
        self.assertEqual(1, len(found["deployments"]))

    def test_a_server_without_deployments_says_so(self):
        stack = self.make(
            groups.hot({"s": {"type": "OS::Heat::DeployedServer"}})
        )
        self.assertEqual({"deployments": []}, self.metadata(stack, "s"))

    def asked(self, stack):
        """Members that wait for their server."""
        try:
            child = self.child(stack)
        except KeyError:
            return set()
        if child is None:
            return set()
        return {
            row.name
            for row in self.world.rows(child)
            if (row.action, row.status) == ("CREATE", "IN_PROGRESS")
            and row.physical_id
        }

    def test_one_that_fails(self):
        stack = self.begin(self.template({"a": "server-a"}))
        self.world.run_until(lambda: self.asked(stack) == {"a"})
        child = self.world.stack(self.child(stack))
        said = {"deploy_status_code": 2}
        signals.signal(self.engine, self.context, child, "a", said)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)

    def test_one_that_nobody_waits_for_any_more(self):
        """Whoever looks at the deployments sees that it is over."""
        template = self.template({"a": "server-a"})
        stack = self.begin(template, timeout_mins=1)
        self.world.run()
        self.assertState("CREATE_FAILED", stack)
        [found] = deployments.list_(
            self.world.engines[0].db, self.context, "server-a"
        )
        self.assertEqual("FAILED", found["status"])
        self.assertIn("no longer waited for", found["status_reason"])

    def test_nobody(self):
        stack = self.make(self.template({}))
        self.assertEqual({}, self.world.outputs(stack)["out"])

    def test_what_is_wrong(self):
        wrong = self.template({"a": "b"}, signal_transport="PIGEON")
        with self.assertRefused("PIGEON"):
            self.begin(wrong)
