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

"""Every route: what reaches the engine and what comes back.

The keys of the answers are those of the published examples.
"""

from __future__ import annotations

from heat.api import app, dispatch, routes
from heat.tests.fakes import engine
from heat.tests.unit.api import client

ROOT, S, R, TEMPLATE = client.ROOT, client.S, client.R, client.TEMPLATE
NAME = engine.NAME
IDENTITY = engine.STACK_IDENTITY

STACK_LIST = (
    "creation_time deletion_time description id links parent stack_name "
    "stack_owner stack_status stack_status_reason stack_user_project_id tags "
    "updated_time"
)
STACK = (
    f"{STACK_LIST} capabilities disable_rollback notification_topics outputs "
    "parameters template_description timeout_mins"
)
RESOURCE_LIST = (
    "creation_time links logical_resource_id physical_resource_id "
    "required_by resource_name resource_status resource_status_reason "
    "resource_type updated_time"
)
RESOURCE = f"{RESOURCE_LIST} attributes description"
EVENT_LIST = (
    "event_time id links logical_resource_id physical_resource_id "
    "resource_name resource_status resource_status_reason"
)
EVENT = f"{EVENT_LIST} resource_properties resource_type"
SNAPSHOT = "id name action status status_reason creation_time data"
CONFIG = "creation_time inputs group name outputs options config id"
DEPLOYMENT = (
    "status server_id config_id output_values input_values action "
    "status_reason id creation_time updated_time"
)
ACCEPTED = "code message title"
NEW = {"stack_name": NAME, "template": TEMPLATE}
ARGS = {"explicit_parameters": []}
REST = {
    "params": {},
    "files": {},
    "environment_files": None,
    "files_container": None,
}

# method, path, body, status, RPC, arguments, where in the answer, keys
CASES = (
    ("POST", "/validate", {"template": TEMPLATE}, 200, "validate_template",
     {"template": TEMPLATE, "params": {}, "files": {},
      "environment_files": None, "files_container": None,
      "show_nested": False, "ignorable_errors": None},
     "", "Description Parameters"),
    ("POST", "/validate?show_nested=True&ignore_errors=99001,99002",
     {"template": "heat_template_version: '2013-05-23'"}, 200,
     "validate_template",
     {"template": TEMPLATE, "params": {}, "files": {},
      "environment_files": None, "files_container": None,
      "show_nested": True, "ignorable_errors": ["99001", "99002"]},
     "", "Description Parameters"),
    ("GET", "/resource_types?name=OS::Heat&version=5&support_status=SUPPORTED"
     "&with_description=true", None, 200, "list_resource_types",
     {"support_status": "SUPPORTED", "type_name": "OS::Heat",
      "heat_version": "5", "with_description": True},
     "", "resource_types"),
    ("GET", "/resource_types/OS::Heat::None?with_description=False", None,
     200, "resource_schema",
     {"type_name": "OS::Heat::None", "with_description": False},
     "", "resource_type"),
    ("GET", "/resource_types/OS::Heat::None/template?template_type=hot",
     None, 200, "generate_template",
     {"type_name": "OS::Heat::None", "template_type": "hot"},
     "", "HeatTemplateFormatVersion"),
    ("GET", "/template_versions", None, 200, "list_template_versions", {},
     "", "template_versions"),
    ("GET", "/template_versions/heat_template_version.2013-05-23/functions"
     "?with_condition_func=true", None, 200, "list_template_functions",
     {"template_version": "heat_template_version.2013-05-23",
      "with_condition": True}, "", "template_functions"),
    ("GET", "/stacks", None, 200, "list_stacks", {"filters": None},
     "stacks.0", STACK_LIST),
    ("GET", "/stacks?limit=2&marker=m&sort_dir=desc&sort_keys=stack_name"
     "&sort_keys=creation_time&show_deleted=True&show_nested=0&tags=a,b"
     "&not_tags_any=c&status=FAILED&status=COMPLETE&name=x&unknown=1",
     None, 200, "list_stacks",
     {"limit": 2, "marker": "m", "sort_dir": "desc",
      "sort_keys": ["stack_name", "creation_time"], "show_deleted": True,
      "show_nested": False, "tags": ["a", "b"], "not_tags_any": ["c"],
      "filters": {"status": ["FAILED", "COMPLETE"], "name": "x"}},
     "stacks.0", STACK_LIST),
    # Nobody has filled these in.
    ("GET", "/stacks?name=&status=&tags=&not_tags_any=&sort_keys=&sort_dir="
     "&marker=", None, 200, "list_stacks", {"filters": None},
     "stacks.0", STACK_LIST),
    ("GET", "/stacks/detail", None, 200, "list_stacks", {"filters": None},
     "stacks.0", STACK),
    ("POST", "/stacks", NEW, 201, "create_stack",
     {"stack_name": NAME, "template": TEMPLATE,
      "args": {**ARGS, "disable_rollback": True}, **REST},
     "stack", "id links"),
    ("POST", "/stacks/preview", {**NEW, "disable_rollback": False}, 200,
     "preview_stack",
     {"stack_name": NAME, "template": TEMPLATE,
      "args": {**ARGS, "disable_rollback": False}, **REST},
     "stack", f"{STACK} resources"),
    ("GET", S, None, 200, "show_stack", {"stack_identity": IDENTITY},
     "stack", STACK),
    ("GET", f"{S}?resolve_outputs=False", None, 200, "show_stack",
     {"stack_identity": IDENTITY, "resolve_outputs": False}, "stack", STACK),
    ("GET", f"{S}/template", None, 200, "get_template",
     {"stack_identity": IDENTITY}, "", "heat_template_version"),
    ("GET", f"{S}/environment", None, 200, "get_environment",
     {"stack_identity": IDENTITY}, "", "parameters"),
    ("GET", f"{S}/files", None, 200, "get_files",
     {"stack_identity": IDENTITY}, "", "a.yaml"),
    ("PUT", S, {"template": TEMPLATE}, 202, "update_stack",
     {"stack_identity": IDENTITY, "template": TEMPLATE, "args": ARGS,
      **REST}, "", ACCEPTED),
    ("PUT", S, {"existing": True}, 202, "update_stack",
     {"stack_identity": IDENTITY, "template": None,
      "args": {**ARGS, "existing": True}, **REST}, "", ACCEPTED),
    ("PATCH", S, {"parameters": {"a": 1}, "clear_parameters": ["b"]}, 202,
     "update_stack",
     {"stack_identity": IDENTITY, "template": None, **REST,
      "params": {"parameters": {"a": 1}},
      "args": {"explicit_parameters": ["a"], "clear_parameters": ["b"],
               "existing": True}}, "", ACCEPTED),
    ("PUT", f"{S}/preview", {"template": TEMPLATE}, 200,
     "preview_update_stack",
     {"stack_identity": IDENTITY, "template": TEMPLATE, "args": ARGS,
      **REST}, "",
     "unchanged updated replaced added deleted resource_changes"),
    ("PATCH", f"{S}/preview?show_nested=True", {}, 200,
     "preview_update_stack",
     {"stack_identity": IDENTITY, "template": None, **REST,
      "args": {**ARGS, "existing": True, "show_nested": True}}, "updated.0",
     "resource_name stack_identity stack_name resource_type"),
    ("DELETE", S, None, 204, "delete_stack", {"stack_identity": IDENTITY},
     "", None),
    ("DELETE", f"{S}/abandon", None, 200, "abandon_stack",
     {"stack_identity": IDENTITY}, "", "id name template resources"),
    ("GET", f"{S}/export", None, 200, "export_stack",
     {"stack_identity": IDENTITY}, "", "id name template resources"),
    ("GET", f"{S}/outputs", None, 200, "list_outputs",
     {"stack_identity": IDENTITY}, "outputs.0", "output_key description"),
    ("GET", f"{S}/outputs/k", None, 200, "show_output",
     {"stack_identity": IDENTITY, "output_key": "k"}, "output",
     "output_key output_value description"),
    ("GET", f"{S}/snapshots", None, 200, "stack_list_snapshots",
     {"stack_identity": IDENTITY}, "snapshots.0", SNAPSHOT),
    ("POST", f"{S}/snapshots", {"name": "n"}, 200, "stack_snapshot",
     {"stack_identity": IDENTITY, "name": "n"}, "", SNAPSHOT),
    ("POST", f"{S}/snapshots", None, 200, "stack_snapshot",
     {"stack_identity": IDENTITY, "name": None}, "", SNAPSHOT),
    ("GET", f"{S}/snapshots/s-1", None, 200, "show_snapshot",
     {"stack_identity": IDENTITY, "snapshot_id": "s-1"}, "snapshot",
     SNAPSHOT),
    ("DELETE", f"{S}/snapshots/s-1", None, 204, "delete_snapshot",
     {"stack_identity": IDENTITY, "snapshot_id": "s-1"}, "", None),
    ("POST", f"{S}/snapshots/s-1/restore", None, 202, "stack_restore",
     {"stack_identity": IDENTITY, "snapshot_id": "s-1"}, "", ACCEPTED),
    ("POST", f"{S}/actions", {"suspend": None}, 200, "stack_suspend",
     {"stack_identity": IDENTITY}, "", None),
    ("POST", f"{S}/actions", {"resume": None}, 200, "stack_resume",
     {"stack_identity": IDENTITY}, "", None),
    ("POST", f"{S}/actions", {"check": {}}, 200, "stack_check",
     {"stack_identity": IDENTITY}, "", None),
    ("POST", f"{S}/actions", {"cancel_update": None}, 200,
     "stack_cancel_update",
     {"stack_identity": IDENTITY, "cancel_with_rollback": True}, "", None),
    ("POST", f"{S}/actions", {"cancel_without_rollback": None}, 200,
     "stack_cancel_update",
     {"stack_identity": IDENTITY, "cancel_with_rollback": False}, "", None),
    ("POST", f"{S}/actions", {"lock": None}, 200, "stack_lock",
     {"stack_identity": IDENTITY, "level": "all", "reason": None,
      "expires_in": None}, "", None),
    ("POST", f"{S}/actions",
     {"lock": {"level": "stacks", "reason": "r", "expires_in": 60}}, 200,
     "stack_lock",
     {"stack_identity": IDENTITY, "level": "stacks", "reason": "r",
      "expires_in": 60}, "", None),
    ("POST", f"{S}/actions", {"unlock": None}, 200, "stack_unlock",
     {"stack_identity": IDENTITY}, "", None),
    ("GET", f"{S}/resources", None, 200, "list_stack_resources",
     {"stack_identity": IDENTITY, "filters": None}, "resources.0",
     RESOURCE_LIST),
    ("GET", f"{S}/resources?nested_depth=2&with_detail=True&status=FAILED"
     "&type=a&type=b", None, 200, "list_stack_resources",
     {"stack_identity": IDENTITY, "nested_depth": 2, "with_detail": True,
      "filters": {"status": "FAILED", "type": ["a", "b"]}}, "resources.0",
     RESOURCE),
    ("GET", f"{R}?with_attr=a&with_attr=b", None, 200,
     "describe_stack_resource",
     {"stack_identity": IDENTITY, "resource_name": "server",
      "with_attr": ["a", "b"]}, "resource", RESOURCE),
    ("PATCH", R,
     {"mark_unhealthy": True, "resource_status_reason": "sick"}, 200,
     "resource_mark_unhealthy",
     {"stack_identity": IDENTITY, "resource_name": "server",
      "mark_unhealthy": True, "resource_status_reason": "sick"}, "", None),
    ("PATCH", R, {"mark_unhealthy": "False"}, 200, "resource_mark_unhealthy",
     {"stack_identity": IDENTITY, "resource_name": "server",
      "mark_unhealthy": False, "resource_status_reason": None}, "", None),
    ("GET", f"{R}/metadata", None, 200, "describe_stack_resource",
     {"stack_identity": IDENTITY, "resource_name": "server"}, "metadata",
     "some_key"),
    ("POST", f"{R}/signal", {"status": "SUCCESS"}, 200, "resource_signal",
     {"stack_identity": IDENTITY, "resource_name": "server",
      "details": {"status": "SUCCESS"}}, "", None),
    ("POST", f"{R}/signal", None, 200, "resource_signal",
     {"stack_identity": IDENTITY, "resource_name": "server",
      "details": None}, "", None),
    ("GET", f"{S}/events?limit=1&marker=x&sort_dir=asc&sort_keys=event_time"
     "&nested_depth=1&resource_name=server", None, 200, "list_events",
     {"stack_identity": IDENTITY, "filters": {"resource_name": "server"},
      "limit": 1, "marker": "x", "sort_dir": "asc",
      "sort_keys": ["event_time"], "nested_depth": 1}, "events.0",
     EVENT_LIST),
    ("GET", f"{R}/events", None, 200, "list_events",
     {"stack_identity": IDENTITY, "filters": {"resource_name": "server"}},
     "events.0", EVENT_LIST),
    ("GET", f"{R}/events/e-1", None, 200, "list_events",
     {"stack_identity": IDENTITY,
      "filters": {"resource_name": "server", "uuid": "e-1"}}, "event", EVENT),
    ("GET", "/build_info", None, 200, "get_revision", {}, "", "api engine"),
    (
        "GET",
        "/released_objects",
        None,
        200,
        "list_released",
        {},
        "",
        "released_objects",
    ),
    ("GET", "/services", None, 200, "list_services", {}, "", "services"),
    ("GET", "/software_configs?limit=3&marker=m", None, 200,
     "list_software_configs", {"limit": 3, "marker": "m"},
     "software_configs.0", CONFIG),
    ("POST", "/software_configs", {"name": "n", "config": "echo"}, 200,
     "create_software_config",
     {"name": "n", "config": "echo", "group": None, "inputs": [],
      "outputs": [], "options": None}, "software_config", CONFIG),
    ("GET", "/software_configs/c-1", None, 200, "show_software_config",
     {"config_id": "c-1"}, "software_config", CONFIG),
    ("DELETE", "/software_configs/c-1", None, 204, "delete_software_config",
     {"config_id": "c-1"}, "", None),
    ("GET", "/software_deployments?server_id=srv", None, 200,
     "list_software_deployments", {"server_id": "srv"},
     "software_deployments.0", DEPLOYMENT),
    ("POST", "/software_deployments",
     {"server_id": "srv", "config_id": "c-1", "status": "IN_PROGRESS",
      "status_reason": None, "extra": 1}, 200, "create_software_deployment",
     {"server_id": "srv", "config_id": "c-1", "status": "IN_PROGRESS"},
     "software_deployment", DEPLOYMENT),
    ("GET", "/software_deployments/d-1", None, 200,
     "show_software_deployment", {"deployment_id": "d-1"},
     "software_deployment", DEPLOYMENT),
    ("PUT", "/software_deployments/d-1",
     {"status": "COMPLETE", "output_values": {"deploy_status_code": 0}}, 200,
     "update_software_deployment",
     {"deployment_id": "d-1", "status": "COMPLETE",
      "output_values": {"deploy_status_code": 0}}, "software_deployment",
     DEPLOYMENT),
    ("DELETE", "/software_deployments/d-1", None, 204,
     "delete_software_deployment", {"deployment_id": "d-1"}, "", None),
    ("GET", "/software_deployments/metadata/srv", None, 200,
     "metadata_software_deployments", {"server_id": "srv"}, "metadata.0",
     f"{CONFIG} updated_time"),
)  # fmt: skip


def dig(body, place):
    for part in filter(None, place.split(".")):
        body = body[int(part) if part.isdigit() else part]
    return body


class HandlersTest(client.ApiTestCase):
    def test_every_route(self):
        for method, path, body, status, rpc, arguments, place, keys in CASES:
            with self.subTest(f"{method} {path}"):
                url = path if path.startswith("/v1/") else ROOT + path
                kwargs = {} if body is None else {"json": body}
                response = self.request(method, url, **kwargs)
                self.assertEqual(status, response.status_code, response.text)
                self.assertEqual((rpc, arguments), self.call)
                if status == 204:
                    self.assertEqual("", response.text)
                    self.assertNotIn("Content-Type", response.headers)
                    continue
                self.assertEqual("application/json", response.content_type)
                shown = dig(response.get_json(), place)
                if keys is None:
                    self.assertIsNone(shown)
                else:
                    self.assertEqual(sorted(keys.split()), sorted(shown))

    def test_the_cases_cover_the_table(self):
        matcher = dispatch.url_map(routes.ROUTES).bind("")
        covered = set()
        for method, path, *_rest in CASES:
            url = path if path.startswith("/v1/") else ROOT + path
            route, _arguments = matcher.match(url.partition("?")[0])
            covered.add((route, method))
        wanted = {
            (path, method)
            for path, methods in routes.ROUTES.items()
            for method, entry in methods.items()
            if entry.policy != "stacks:lookup"
        }
        self.assertEqual(set(), wanted - covered)

    def test_create_tells_where_the_stack_is(self):
        response = self.request(
            "POST", f"{ROOT}/stacks", json=NEW, base_url="http://heat:8004"
        )
        href = f"http://heat:8004{S}"
        self.assertEqual(href, response.headers["Location"])
        self.assertEqual(
            {
                "stack": {
                    "id": engine.STACK_ID,
                    "links": [{"href": href, "rel": "self"}],
                }
            },
            response.get_json(),
        )

    def test_status_is_joined(self):
        stack = self.get(S).get_json()["stack"]
        self.assertEqual("CREATE_COMPLETE", stack["stack_status"])
        event = self.get(f"{S}/events").get_json()["events"][0]
        self.assertEqual("CREATE_IN_PROGRESS", event["resource_status"])

    def test_outputs_are_absent_when_not_resolved(self):
        del self.engine.answers["show_stack"][0]["outputs"]
        stack = self.get(f"{S}?resolve_outputs=no").get_json()["stack"]
        self.assertNotIn("outputs", stack)

    def test_lock_is_passed_through(self):
        lock = {"level": "all", "reason": None}
        self.engine.answers["show_stack"][0]["lock"] = lock
        self.engine.answers["list_stacks"][0]["lock"] = None
        self.assertEqual(lock, self.get(S).get_json()["stack"]["lock"])
        listed = self.get(f"{ROOT}/stacks").get_json()["stacks"][0]
        self.assertIsNone(listed["lock"])

    def test_links(self):
        row = self.engine.answers["describe_stack_resource"]
        row["nested_stack_id"] = engine.NESTED_IDENTITY
        resource = self.get(R).get_json()["resource"]
        base = "http://localhost"
        self.assertEqual(
            [
                {"href": f"{base}{R}", "rel": "self"},
                {"href": f"{base}{S}", "rel": "stack"},
                {"href": f"{base}{ROOT}/stacks/n/n-id", "rel": "nested"},
            ],
            resource["links"],
        )
        event = self.get(f"{R}/events/e-1").get_json()["event"]
        self.assertEqual(
            [
                {"href": f"{base}{R}/events/e-1", "rel": "self"},
                {"href": f"{base}{R}", "rel": "resource"},
                {"href": f"{base}{S}", "rel": "stack"},
                {"href": f"{base}{S}", "rel": "root_stack"},
            ],
            event["links"],
        )

    def test_count(self):
        body = self.get(f"{ROOT}/stacks?with_count=True&tags=a").get_json()
        self.assertEqual({"stacks", "count"}, set(body))
        self.assertEqual(
            ("count_stacks", {"tags": ["a"], "filters": None}), self.call
        )

    def test_global_index_is_nobodys_by_default(self):
        for path, rule in (
            ("/stacks", "stacks:global_index"),
            ("/software_configs", "software_configs:global_index"),
        ):
            response = self.get(f"{ROOT}{path}?global_tenant=True")
            self.assert_fault(response, 403, "Forbidden", rule)
        self.assertEqual([], self.engine.calls)

    def test_events_of_a_resource_that_is_not_there(self):
        self.engine.answers["list_events"] = []
        self.assertEqual({"events": []}, self.get(f"{R}/events").get_json())
        response = self.get(f"{S}/resources/other/events")
        self.assert_fault(response, 404, "ResourceNotFound", "other")

    def test_an_event_that_is_not_there(self):
        response = self.get(f"{R}/events/other")
        self.assert_fault(response, 404, "EntityNotFound", "Event (other)")

    def test_build_info(self):
        self.assertEqual(
            {
                "api": {"revision": "unknown"},
                "engine": {"revision": "engine-revision"},
            },
            self.get(f"{ROOT}/build_info").get_json(),
        )

    def test_sources_are_asked_for(self):
        self.get(f"{S}/environment?with_sources=true")
        method, args = self.engine.calls[-1][0], self.engine.calls[-1][-1]
        self.assertEqual("get_environment", method)
        self.assertEqual(
            {"stack_identity": IDENTITY, "with_sources": True}, args
        )

    def test_a_method_the_client_lacks(self):
        del self.engine.answers["stack_lock"]
        response = self.request("POST", f"{S}/actions", json={"lock": None})
        self.assert_fault(response, 501, "NotImplementedYet", "stack_lock")

    def test_name_and_id_that_do_not_belong_together(self):
        response = self.get(f"{ROOT}/stacks/other/{engine.STACK_ID}")
        self.assert_fault(response, 404, "EntityNotFound", "other")


class GlobalIndexTest(client.ApiTestCase):
    """An operator who allows it gets the stacks of all projects."""

    def setUp(self):
        super().setUp()
        path = self.create_tempfiles(
            [("policy", '"stacks:global_index": "role:admin"\n')], ext=".yaml"
        )[0]
        self.conf.set_override("policy_file", path, group="oslo_policy")
        self.client = client.test.Client(app.make_app(self.conf, self.engine))

    def test_context_without_a_project(self):
        response = self.get(f"{ROOT}/stacks?global_tenant=1")
        self.assertEqual(200, response.status_code, response.text)
        context = self.engine.contexts[-1]
        self.assertIsNone(context.project_id)
        self.assertIsNone(context.to_dict()["tenant_id"])
        self.assertTrue(context.is_admin)
        self.assertEqual("noauth", context.user_id)
        stack = response.get_json()["stacks"][0]
        self.assertEqual(engine.TENANT, stack["project"])
