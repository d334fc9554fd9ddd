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

"""Containers of the object store, compared with what Swift shows."""

from __future__ import annotations

import json
import uuid
from typing import Any
from urllib import parse

import requests
from heatclient import exc as heat_exc

from heat_integrationtests import cloud
from heat_integrationtests.test_cloud import CloudStory, res

EVERYBODY = ".r:*,.rlistings"


def name() -> str:
    return f"story-{uuid.uuid4().hex[:8]}"


class ContainerStory(CloudStory):
    """OS::Swift::Container."""

    def setUp(self) -> None:
        super().setUp()
        self.store = self.cloud.object_store

    def head(self, container: str) -> dict[str, str] | None:
        """Its headers as Swift tells them, None: there is none."""
        answer = self.store.head(f"/{parse.quote(container)}", raise_exc=False)
        if answer.status_code == 404:
            return None
        answer.raise_for_status()
        return dict(answer.headers)

    def put(self, container: str, *objects: str) -> None:
        for each in objects:
            self.store.put(
                f"/{parse.quote(container)}/{parse.quote(each)}",
                data=b"content",
            ).raise_for_status()

    def by_hand(self, container: str) -> str:
        """A container that Heat knows nothing of."""
        path = f"/{parse.quote(container)}"
        self.store.put(path).raise_for_status()
        self.addCleanup(self.store.delete, path, raise_exc=False)
        return container

    def attributes(self, ident: str, *names: str) -> dict[str, Any]:
        found = self.heat.resources.get(ident, "r", with_attr=[*names])
        return {each: found.attributes[each] for each in names}

    def one(self, **properties: Any) -> dict[str, Any]:
        return {"r": res("Swift::Container", **properties)}

    def test_whole_life(self) -> None:
        account = self.store.get_endpoint()
        first: dict[str, Any] = {
            "X-Container-Meta": {"Colour": "grün", "Count": 3},
            "X-Account-Meta": {"Story": "told"},
            "X-Container-Read": EVERYBODY,
        }
        ident = self.create(self.one(**first))
        made = self.physical(ident, "r")
        found = self.head(made)
        assert found is not None
        self.assertEqual(EVERYBODY, found["X-Container-Read"])
        self.assertEqual("3", found["X-Container-Meta-Count"])
        self.assertEqual(
            "grün",
            found["X-Container-Meta-Colour"].encode("latin-1").decode(),
        )
        told = self.store.head("").headers
        self.assertEqual("told", told["X-Account-Meta-Story"])
        # Anybody may read, as the template says.
        self.put(made, "a", "b/c")
        url = f"{account}/{made}"
        self.assertEqual(b"content", requests.get(f"{url}/a").content)
        self.assertEqual(
            {
                "BytesUsed": 14,
                "ObjectCount": 2,
                "DomainName": parse.urlsplit(account).hostname,
                "RootURL": account,
                "WebsiteURL": url,
            },
            self.attributes(
                *(ident, "BytesUsed", "ObjectCount"),
                *("DomainName", "RootURL", "WebsiteURL"),
            ),
        )
        head = self.attributes(ident, "HeadContainer")["HeadContainer"]
        self.assertEqual("2", head["X-Container-Object-Count"])
        self.act(ident, "check", "CHECK_COMPLETE")
        for each in ("a", "b/c"):
            self.store.delete(f"/{made}/{each}").raise_for_status()
        # Nothing of it can be changed in place.
        self.update(ident, self.one(**{"X-Container-Write": "demo:demo"}))
        after = self.physical(ident, "r")
        self.assertNotEqual(made, after)
        self.assertIsNone(self.head(made))
        found = self.head(after)
        assert found is not None
        self.assertEqual("demo:demo", found["X-Container-Write"])
        self.assertNotIn("X-Container-Read", found)
        self.delete(ident)
        self.assertIsNone(self.head(after))

    def test_what_is_not_empty_stays(self) -> None:
        ident = self.create(self.one())
        made = self.physical(ident, "r")
        self.put(made, "precious")
        self.heat.stacks.delete(ident)
        stack = self.wait(ident, "DELETE_FAILED")
        self.assertIn("is not empty", stack.stack_status_reason)
        self.assertEqual(
            b"content", self.store.get(f"/{made}/precious").content
        )
        self.store.delete(f"/{made}/precious").raise_for_status()
        self.delete(ident)
        self.assertIsNone(self.head(made))

    def test_purge(self) -> None:
        ident = self.create(self.one(PurgeOnDelete=True))
        made = self.physical(ident, "r")
        # With older versions of objects, which don't show in the list.
        self.store.post(
            f"/{made}", headers={"X-Versions-Enabled": "true"}
        ).raise_for_status()
        odd = ("a/b/c", "ü ?#%", "twice", "twice", "gone")
        self.put(made, *odd, *(f"many-{n}" for n in range(60)))
        self.store.delete(f"/{made}/gone").raise_for_status()
        self.delete(ident)
        self.assertIsNone(self.head(made))

    def test_a_replacement_of_the_same_name(self) -> None:
        mine = name()
        ident = self.create(
            self.one(**{"name": mine, "X-Container-Read": EVERYBODY})
        )
        self.put(mine, "precious")
        self.addCleanup(self.store.delete, f"/{mine}/precious")
        changed = self.one(
            **{"name": mine, "X-Container-Meta": {"Colour": "red"}}
        )
        self.update(ident, changed)
        found = self.head(mine)
        assert found is not None
        self.assertEqual("1", found["X-Container-Object-Count"])
        self.assertEqual("red", found["X-Container-Meta-Colour"])
        self.assertNotIn("X-Container-Read", found)
        # The next one fails, and what was before is back.
        worse = self.one(
            **{"name": mine, "X-Container-Meta": {"Colour": "blue"}}
        )
        worse["bad"] = {
            **res("Heat::TestResource", fail=True),
            "depends_on": "r",
        }
        self.update(ident, worse, "ROLLBACK_COMPLETE", disable_rollback=False)
        found = self.head(mine)
        assert found is not None
        self.assertEqual("red", found["X-Container-Meta-Colour"])
        self.act(ident, "check", "CHECK_COMPLETE")
        self.store.delete(f"/{mine}/precious").raise_for_status()
        self.delete(ident)
        self.assertIsNone(self.head(mine))

    def test_names(self) -> None:
        for mine in ("ä b?c%", name()):
            with self.subTest(mine):
                ident = self.create(self.one(name=mine))
                self.assertEqual(mine, self.physical(ident, "r"))
                self.assertIsNotNone(self.head(mine))
                self.delete(ident)
                self.assertIsNone(self.head(mine))
        with self.assertRaisesRegex(heat_exc.HTTPBadRequest, "no slash"):
            self.begin(self.one(name="a/b"))

    def test_deleted_by_hand(self) -> None:
        for properties in ({}, {"name": name()}):
            with self.subTest(properties):
                ident = self.create(self.one(**properties))
                made = self.physical(ident, "r")
                self.store.delete(f"/{made}").raise_for_status()
                self.act(ident, "check", "CHECK_FAILED")
                self.update(ident, self.one(**properties))
                self.assertEqual(made, self.physical(ident, "r"))
                self.assertIsNotNone(self.head(made))
                # Gone again, it is no trouble.
                self.store.delete(f"/{made}").raise_for_status()
                self.delete(ident)

    def test_a_users_own(self) -> None:
        mine = self.by_hand(name())
        resources = {
            "r": {"type": "OS::Swift::Container", "external_id": mine}
        }
        ident = self.create(resources)
        self.put(mine, "a")
        self.assertEqual(
            {"ObjectCount": 1}, self.attributes(ident, "ObjectCount")
        )
        self.delete(ident)
        self.assertIsNotNone(self.head(mine))
        # Handed to Heat, it ends with the stack, and what is in it too.
        ident = self.create(resources)
        self.update(ident, self.one(name=mine, PurgeOnDelete=True))
        self.assertEqual(mine, self.physical(ident, "r"))
        self.delete(ident)
        self.assertIsNone(self.head(mine))

    def test_abandoned_and_adopted(self) -> None:
        mine = name()
        ident = self.create(self.one(name=mine))
        left = self.heat.stacks.abandon(ident)
        self.assertIsNotNone(self.head(mine))
        made = self.heat.stacks.create(
            stack_name=name(), adopt_stack_data=json.dumps(left)
        )
        ident = made["stack"]["id"]
        self.addCleanup(self.delete, ident)
        self.wait(ident, "ADOPT_COMPLETE")
        self.assertEqual(mine, self.physical(ident, "r"))
        self.delete(ident)
        self.assertIsNone(self.head(mine))

    def test_others_may_not(self) -> None:
        mine = name()
        self.create(self.one(name=mine))
        other = cloud.connect("other", "other")
        account = self.store.get_endpoint()
        answer = other.session.get(f"{account}/{mine}", raise_exc=False)
        self.assertEqual(403, answer.status_code)
