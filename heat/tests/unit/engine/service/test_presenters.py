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

"""The keys of what travels, against the contract."""

from __future__ import annotations

import dataclasses
import datetime

from heat.db.events import EventRecord
from heat.db.resources import ResourceRecord
from heat.db.services import ServiceRecord
from heat.db.stacks import StackRecord
from heat.engine.service import presenters
from heat.rpc import api
from heat.tests import base

WHEN = datetime.datetime(2024, 2, 29, 13, 14, 15, 999999)
TEXT = "2024-02-29T13:14:15Z"

# Words for word the lists of the contract.
STACK = (
    "stack_name stack_identity creation_time updated_time deletion_time "
    "notification_topics description template_description parameters outputs "
    "stack_action stack_status stack_status_reason capabilities "
    "disable_rollback timeout_mins stack_owner parent stack_user_project_id "
    "tags"
)
RESOURCE = (
    "description creation_time updated_time resource_name "
    "physical_resource_id metadata resource_action resource_status "
    "resource_status_reason resource_type resource_identity stack_identity "
    "stack_name required_by nested_stack_id nested_resources parent_resource "
    "properties attributes"
)
EVENT = (
    "event_identity stack_identity stack_name event_time resource_name "
    "physical_resource_id resource_action resource_status "
    "resource_status_reason resource_type resource_properties root_stack_id"
)
SERVICE = (
    "binary created_at deleted_at engine_id host hostname id report_interval "
    "status topic updated_at"
)
IDENTITY = "tenant stack_name stack_id path"
CONFIG = "id name group config inputs outputs options creation_time project"
DEPLOYMENT = (
    "id config_id server_id input_values output_values action status "
    "status_reason creation_time updated_time"
)
SNAPSHOT = "id name stack_id data action status status_reason creation_time"
NOTIFICATION = (
    "tenant_id user_id user_identity username stack_identity stack_name state "
    "state_reason create_at description updated_at tags"
)
VALIDATE = (
    "Type Default NoEcho AllowedValues AllowedPattern MaxLength MinLength "
    "MaxValue MinValue Step Offset Description ConstraintDescription Label "
    "CustomConstraint Value Tags"
)
ARGS = (
    "timeout_mins disable_rollback adopt_stack_data show_deleted show_nested "
    "existing clear_parameters global_tenant limit nested_depth tags "
    "show_hidden tags_any not_tags not_tags_any template_type with_detail "
    "resolve_outputs ignore_errors converge"
)


def stack(**changes):
    values = {
        "id": "stack-1",
        "name": "one",
        "tenant": "p1",
        "username": "bob",
        "user_creds_id": None,
        "owner_id": None,
        "raw_template_id": 5,
        "prev_raw_template_id": None,
        "last_complete_template_id": None,
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": "done",
        "created_at": WHEN,
        "updated_at": None,
        "deleted_at": None,
        "timeout": 60,
        "disable_rollback": True,
        "stack_user_project_id": None,
        "nested_depth": 0,
        "parent_resource_name": None,
        "current_traversal": "t1",
        **changes,
    }
    return StackRecord(**values)


def resource(row_id, name, **changes):
    values = dict.fromkeys(f.name for f in dataclasses.fields(ResourceRecord))
    values |= {
        "id": row_id,
        "uuid": f"uuid-{row_id}",
        "name": name,
        "stack_id": "stack-1",
        "root_stack_id": "stack-1",
        "resource_type": "OS::Heat::None",
        "physical_id": None,
        "reference_id": None,
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": None,
        "metadata": {},
        "engine_id": None,
        "claim_id": None,
        "atomic_key": 1,
        "requires": (),
        "replaces": None,
        "replaced_by": None,
        "current_template_id": 5,
        "rsrc_prop_data_id": None,
        "attr_data_id": None,
        "external": False,
        "stray": False,
        "created_at": WHEN,
        "updated_at": None,
        **changes,
    }
    return ResourceRecord(**values)


class KeysTest(base.TestCase):
    def test_constants(self):
        for keys, words in (
            (api.STACK_KEYS, STACK),
            (api.RES_KEYS, RESOURCE),
            (api.EVENT_KEYS, EVENT),
            (api.SERVICE_KEYS, SERVICE),
            (api.IDENTITY_KEYS, IDENTITY),
            (api.SOFTWARE_CONFIG_KEYS, CONFIG),
            (api.SOFTWARE_DEPLOYMENT_KEYS, DEPLOYMENT),
            (api.SNAPSHOT_KEYS, SNAPSHOT),
            (api.NOTIFY_KEYS, NOTIFICATION),
            (api.VALIDATE_PARAM_KEYS, VALIDATE),
            (api.PARAM_KEYS, ARGS),
        ):
            with self.subTest(words=words):
                self.assertEqual(sorted(words.split()), sorted(keys))

    def test_stack(self):
        shown = presenters.stack_details(stack(), "text", {}, [])
        self.assertEqual({*STACK.split(), "lock"}, set(shown))
        unresolved = presenters.stack_details(stack(), "text", {}, None)
        self.assertEqual({"outputs"}, set(shown) - set(unresolved))

    def test_stack_in_a_list(self):
        shown = presenters.stack_summary(stack(), None)
        self.assertEqual(
            {"parameters", "outputs"},
            {*STACK.split(), "lock"} - set(shown),
        )
        self.assertEqual("No description", shown["description"])

    def test_resource(self):
        nested = stack(id="stack-2", name="one-r-x", owner_id="stack-1")
        shown = presenters.resource(
            stack(parent_resource_name="outer"),
            resource(1, "r"),
            [],
            nested=nested,
        )
        details = {"description", "metadata", "properties", "attributes"}
        self.assertEqual(
            set(RESOURCE.split()) - details - {"nested_resources"},
            set(shown),
        )
        self.assertEqual("stack-2", shown["nested_stack_id"]["stack_id"])

    def test_event(self):
        record = EventRecord(
            1, "e1", "stack-1", WHEN, "CREATE", "COMPLETE", "r", "phys",
            "state changed", "OS::Heat::None", None, {"a": 1},
        )  # fmt: skip
        shown = presenters.event(stack(), record, stack(id="top", name="t"))
        self.assertEqual(set(EVENT.split()), set(shown))
        self.assertEqual(
            {
                "tenant": "p1",
                "stack_name": "t",
                "stack_id": "top",
                "path": "",
            },
            shown["root_stack_id"],
        )
        plain = presenters.event(stack(), record, None)
        self.assertIsNone(plain["root_stack_id"])
        self.assertEqual(
            {
                "tenant": "p1",
                "stack_name": "one",
                "stack_id": "stack-1",
                "path": "/resources/r/events/e1",
            },
            shown["event_identity"],
        )

    def test_service(self):
        for silent, deleted, status in (
            (1.0, None, "up"),
            (20.0, None, "up"),
            (20.1, None, "down"),
            (1.0, WHEN, "down"),
        ):
            with self.subTest(silent=silent, deleted=deleted):
                record = ServiceRecord(
                    "i", "e", "h", "hn", "heat-engine", "engine", 5,
                    WHEN, WHEN, deleted, silent,
                )  # fmt: skip
                shown = presenters.service(record, dead_after=20)
                self.assertEqual(set(SERVICE.split()), set(shown))
                self.assertEqual(status, shown["status"])


class ValuesTest(base.TestCase):
    def test_times(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        for given, shown in (
            (None, None),
            (WHEN, TEXT),
            (WHEN.replace(microsecond=0), TEXT),
            (WHEN.replace(tzinfo=zone), "2024-02-29T11:14:15Z"),
        ):
            with self.subTest(given=given):
                self.assertEqual(shown, presenters.time(given))

    def test_tags(self):
        self.assertIsNone(presenters.stack_summary(stack(), "")["tags"])
        shown = presenters.stack_summary(stack(tags=("b", "a")), "")
        self.assertEqual(["b", "a"], shown["tags"])

    def test_lock(self):
        shown = presenters.lock(
            stack(lock_level="all", locked_by="bob", locked_at=WHEN)
        )
        self.assertEqual(
            {
                "level": "all",
                "reason": None,
                "locked_by": "bob",
                "locked_at": TEXT,
                "expires_at": None,
                "request_id": None,
                "blocked": {},
            },
            shown,
        )

    def test_required_by(self):
        rows = [
            resource(1, "a", replaced_by=4),
            resource(2, "b", requires=(1,)),
            resource(3, "c", requires=(4, 2)),
            resource(4, "a", replaces=1),
            resource(5, "gone", requires=(4,)),
        ]
        found = presenters.required_by(rows, rows[1:4])
        self.assertEqual({"a": ["b", "c"], "b": ["c"]}, found)

    def test_update_time_of_a_new_resource_is_its_creation(self):
        shown = presenters.resource(stack(), resource(1, "r"), ["x"])
        self.assertEqual(TEXT, shown["updated_time"])
        self.assertEqual("", shown["physical_resource_id"])
        self.assertEqual(["x"], shown["required_by"])
