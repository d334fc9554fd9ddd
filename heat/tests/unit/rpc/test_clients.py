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

"""Calls of the clients against the table of the contract.

Names, arguments, their defaults and the version that is asked for are what
engines of another make expect.
"""

from __future__ import annotations

import inspect

import oslo_messaging

from heat.engine.service import server
from heat.rpc import api, clients
from heat.tests import base

_LISTS = (
    "show_deleted=False show_nested=False show_hidden=False tags tags_any "
    "not_tags not_tags_any"
)
_NEW = "template params files args environment_files=None files_container=None"

# method, version asked for (None: 1.0), arguments after the context.
CALLS = f"""
identify_stack - stack_name
list_stacks 1.33 limit marker sort_keys sort_dir filters {_LISTS}
count_stacks 1.33 filters {_LISTS}
show_stack 1.20 stack_identity resolve_outputs=True
preview_stack 1.36 stack_name {_NEW}
create_stack 1.36 stack_name {_NEW} owner_id nested_depth=0 user_creds_id \
stack_user_project_id parent_resource_name template_id
update_stack 1.36 stack_identity {_NEW} template_id
preview_update_stack 1.36 stack_identity {_NEW}
stack_cancel_update 1.14 stack_identity cancel_with_rollback=True
delete_stack - stack_identity
export_stack 1.22 stack_identity
abandon_stack - stack_identity
migrate_convergence_1 1.34 stack_id
stack_suspend - stack_identity
stack_resume - stack_identity
stack_check - stack_identity
stack_snapshot - stack_identity name
show_snapshot - stack_identity snapshot_id
delete_snapshot - stack_identity snapshot_id
stack_restore - stack_identity snapshot_id
stack_list_snapshots - stack_identity
stack_lock 1.38 stack_identity level='all' reason=None expires_in=None
stack_unlock 1.38 stack_identity
validate_template 1.38 template params files environment_files \
files_container show_nested=False ignorable_errors explicit_parameters
get_template - stack_identity
get_environment 1.38 stack_identity with_sources=False
get_files 1.32 stack_identity
list_template_versions 1.11
list_template_functions 1.35 template_version with_condition=False
list_resource_types 1.30 support_status type_name heat_version \
with_description
resource_schema 1.30 type_name with_description
generate_template 1.9 type_name template_type='cfn'
list_outputs 1.19 stack_identity
show_output 1.19 stack_identity output_key
describe_stack_resource 1.2 stack_identity resource_name with_attr
describe_stack_resources - stack_identity resource_name
list_stack_resources 1.25 stack_identity nested_depth=0 with_detail=False \
filters
find_physical_resource - physical_resource_id
resource_signal 1.3 stack_identity resource_name details sync_call=False
resource_mark_unhealthy 1.26 stack_identity resource_name mark_unhealthy \
resource_status_reason
list_events 1.31 stack_identity filters limit marker sort_keys sort_dir \
nested_depth
show_software_config - config_id
delete_software_config - config_id
list_software_configs 1.33 limit marker
create_software_config - group name config inputs outputs options
list_software_deployments - server_id
metadata_software_deployments - server_id
show_software_deployment - deployment_id
delete_software_deployment - deployment_id
check_software_deployment 1.27 deployment_id timeout
create_software_deployment - server_id config_id input_values action='INIT' \
status='COMPLETE' status_reason stack_user_project_id deployment_id
update_software_deployment 1.5 deployment_id config_id input_values \
output_values action status status_reason updated_at
signal_software_deployment 1.6 deployment_id details updated_at
get_revision -
authenticated_to_backend -
list_services 1.4
list_released 1.38
"""


def calls():
    for line in CALLS.strip().splitlines():
        method, version, *args = line.split()
        named = [word.partition("=")[::2] for word in args]
        yield method, None if version == "-" else version, dict(named)


class Recorder:
    """A bus that remembers what was sent."""

    def __init__(self):
        self.sent = []

    def client(self, topic, version="1.0", server=None):
        self.address = (topic, version, server)
        return self

    def call(self, context, method, args, *, version=None, timeout=None):
        self.sent.append(("call", method, dict(args), version))

    def cast(self, context, method, args, *, version=None):
        self.sent.append(("cast", method, dict(args), version))


class EngineClientTest(base.TestCase):
    def test_calls(self):
        bus = Recorder()
        client = clients.EngineClient(bus)
        self.assertEqual(("engine", "1.0", None), bus.address)
        for method, version, args in calls():
            with self.subTest(method=method):
                values = {name: object() for name in args}
                if "args" in values:
                    # Looked into, for the version that they need.
                    values["args"] = {}
                getattr(client, method)("context", **values)
                self.assertEqual(
                    ("call", method, values, version), bus.sent.pop()
                )

    def test_defaults(self):
        for method, _version, args in calls():
            for name, default in args.items():
                if not default:
                    continue
                with self.subTest(method=method, argument=name):
                    found = inspect.signature(
                        getattr(clients.EngineClient, method)
                    ).parameters[name]
                    self.assertEqual(default, repr(found.default))

    def test_every_method_is_in_the_table(self):
        known = {method for method, _version, _args in calls()}
        offered = {
            name for name in dir(clients.EngineClient) if name[0] != "_"
        }
        self.assertEqual(known, offered)

    def test_delete_as_a_cast(self):
        bus = Recorder()
        clients.EngineClient(bus).delete_stack("context", {"x": 1}, cast=True)
        self.assertEqual(
            ("cast", "delete_stack", {"stack_identity": {"x": 1}}, None),
            bus.sent.pop(),
        )


class OlderEngineTest(base.TestCase):
    """What is ours is asked for only when it must be."""

    def test_environment(self):
        bus = Recorder()
        clients.EngineClient(bus).get_environment("context", {"x": 1})
        self.assertEqual(
            ("call", "get_environment", {"stack_identity": {"x": 1}}, "1.28"),
            bus.sent.pop(),
        )

    def test_validate(self):
        told = {"template": {}, "params": {}, "files": None,
                "environment_files": ["a"], "files_container": None,
                "show_nested": False, "ignorable_errors": None}  # fmt: skip
        for names, versions in ((None, ["1.36"]), ([], ["1.38", "1.36"])):
            with self.subTest(names=names):
                bus = OldEngine()
                clients.EngineClient(bus).validate_template(
                    "context", {}, {}, environment_files=["a"],
                    explicit_parameters=names,
                )  # fmt: skip
                self.assertEqual(versions, [row[3] for row in bus.sent])
                self.assertEqual(told, bus.sent[-1][2])

    def test_updates_without_some_of_their_files(self):
        """An older engine would pass over the names without a word."""
        for name in ("update_stack", "preview_update_stack"):
            for args, version in (
                ({"timeout_mins": 3}, "1.36"),
                ({"environment_files_remove": []}, "1.36"),
                ({"environment_files_remove": ["a"]}, "1.38"),
            ):
                with self.subTest(name=name, args=args):
                    bus = Recorder()
                    call = getattr(clients.EngineClient(bus), name)
                    call("context", {}, None, {}, None, args)
                    _call, _method, told, asked = bus.sent.pop()
                    self.assertEqual((args, version), (told["args"], asked))

    def test_other_errors_are_raised(self):
        bus = OldEngine("Timeout")
        client = clients.EngineClient(bus)
        self.assertRaises(
            oslo_messaging.RemoteError,
            client.validate_template, "context", {}, {},
            explicit_parameters=["a"],
        )  # fmt: skip


class OldEngine(Recorder):
    """A bus to an engine of version 1.36."""

    def __init__(self, error="UnsupportedVersion"):
        super().__init__()
        self.error = error

    def call(self, context, method, args, *, version=None, timeout=None):
        super().call(context, method, args, version=version)
        if version == "1.38":
            raise oslo_messaging.RemoteError(self.error, "1.38")
        return {}


class EngineEndpointTest(base.TestCase):
    """The other end takes the same arguments."""

    def test_arguments(self):
        for method, _version, args in calls():
            with self.subTest(method=method):
                owners = [
                    endpoint
                    for endpoint in server.ENDPOINTS
                    if hasattr(endpoint, method)
                ]
                self.assertEqual(1, len(owners), owners)
                taken = list(
                    inspect.signature(getattr(owners[0], method)).parameters
                )
                self.assertEqual(["self", "context"], taken[:2])
                rest = [name for name in taken[2:] if name != "tenant_safe"]
                self.assertEqual(list(args), rest)

    def test_tenant_safe_is_tolerated(self):
        for method in ("list_stacks", "count_stacks", "list_software_configs"):
            with self.subTest(method=method):
                [owner] = [e for e in server.ENDPOINTS if hasattr(e, method)]
                self.assertIn(
                    "tenant_safe",
                    inspect.signature(getattr(owner, method)).parameters,
                )

    def test_no_endpoint_offers_more(self):
        known = {method for method, _version, _args in calls()} | {"target"}
        for endpoint in server.ENDPOINTS:
            with self.subTest(endpoint=endpoint.__name__):
                offered = {name for name in dir(endpoint) if name[0] != "_"}
                self.assertEqual(set(), offered - known)
                self.assertEqual(api.ENGINE_VERSION, endpoint.target.version)


class WorkerClientTest(base.TestCase):
    def test_send(self):
        bus = Recorder()
        client = clients.WorkerClient(bus)
        self.assertEqual(("heat-worker", "1.0", None), bus.address)
        client.send("context", "s", "t", [(1, True), (2, False)])
        self.assertEqual(
            (
                "cast",
                "check_nodes",
                {
                    "stack_id": "s",
                    "traversal_id": "t",
                    "nodes": [[1, True], [2, False]],
                },
                None,
            ),
            bus.sent.pop(),
        )

    def test_wake_goes_to_one_engine(self):
        bus = Recorder()
        clients.WorkerClient(bus).wake("context", "engine-1", "s")
        self.assertEqual(("heat-worker", "1.0", "engine-1"), bus.address)
        self.assertEqual(
            ("cast", "wake", {"stack_id": "s"}, None), bus.sent.pop()
        )

    def test_cancel_goes_to_one_engine(self):
        bus = Recorder()
        clients.WorkerClient(bus).cancel("context", "engine-1", "s")
        self.assertEqual(("heat-worker", "1.0", "engine-1"), bus.address)
        self.assertEqual(
            ("cast", "cancel_checks", {"stack_id": "s"}, None), bus.sent.pop()
        )
