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

"""Finding what an interrupted creation left, and nothing of anybody else's."""

from __future__ import annotations

import dataclasses
import uuid

from heat.engine import resource
from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

NETWORK = "http://network/v2.0"


class FindMadeTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud())
        self.groups = self.cloud.objects(
            f"{NETWORK}/security-groups", "security_group", "security_groups"
        )
        self.addresses = self.cloud.objects(
            f"{NETWORK}/floatingips", "floatingip", "floatingips"
        )
        self.public = self.cloud.networks.add(name="public")["id"]

    def made(self, kind, **properties):
        given = {"type": kind, "properties": properties}
        view = stacks.view({"r": given})
        values = dataclasses.replace(view.values, context=self.cloud.context)
        stack = resource.StackView(view.definition, values=values)
        definition = view.definition.resource_definitions["r"]
        rsrc = stacks.registry().get(kind)("r", definition, stack)
        rsrc.load_state(uuid=str(uuid.uuid4()))
        return rsrc

    def again(self, rsrc, knows=True):
        """The same row, as an engine finds it that knows no object.

        :param knows: its properties were recorded
        """
        definition = (
            rsrc.target if knows else rsrc.target.freeze(properties={})
        )
        other = type(rsrc)("r", definition, rsrc.stack)
        other.load_state(
            uuid=rsrc.uuid,
            action="CREATE",
            status="FAILED",
            stored_properties=rsrc.stored_properties() if knows else None,
        )
        return other

    def crashed(self, kind, store, **properties):
        """Make an object, forget its id; somebody has a similar one."""
        rsrc = self.made(kind, **properties)
        stacks.run(rsrc, "CREATE")
        body = dict(store.stored[rsrc.resource_id])
        for knows in (True, False):
            found = self.again(rsrc, knows).find_made()
            self.assertEqual(rsrc.resource_id, found)
        for key in ("id", "description"):
            body.pop(key, None)
        other = store.add(**body)
        stacks.run(self.again(rsrc), "DELETE")
        self.assertNotIn(rsrc.resource_id, store.stored)
        self.assertIn(other["id"], store.stored)

    def test_by_the_mark_where_a_user_chose_the_name(self):
        self.crashed(
            "OS::Neutron::Net", self.cloud.networks, name="everybody's"
        )

    def test_by_the_mark_where_a_user_chose_all_words(self):
        url = f"{cloud.SERVICES['block-storage']}/volumes"
        volumes = self.cloud.objects(url, "volume", "volumes")
        # The plain list has no metadata.
        details = self.cloud.objects(f"{url}/detail", "volume", "volumes")
        details.stored = volumes.stored
        rsrc = self.made(
            "OS::Cinder::Volume",
            name="disk",
            description="mine",
            size=1,
            metadata={"a": "1"},
        )
        made = volumes.add(**rsrc.create_body(rsrc.properties))
        self.assertEqual(("disk", "mine"), (made["name"], made["description"]))
        volumes.add(**{**made, "id": None, "metadata": {"a": "1"}})
        self.assertEqual(made["id"], self.again(rsrc).find_made())
        live = rsrc.parse_live_resource_data(rsrc.properties, made)
        self.assertEqual({"a": "1"}, live["metadata"])

    def test_by_the_mark_where_there_are_no_names(self):
        self.crashed(
            "OS::Neutron::FloatingIP",
            self.addresses,
            floating_network="public",
        )

    def test_no_mark_on_what_has_a_name_of_ours(self):
        rsrc = self.made("OS::Neutron::Net")
        stacks.run(rsrc, "CREATE")
        made = self.cloud.networks.stored[rsrc.resource_id]
        self.assertNotIn("description", made)
        self.assertEqual(rsrc.resource_id, self.again(rsrc).find_made())

    def test_the_users_words_stay(self):
        rsrc = self.made(
            "OS::Neutron::SecurityGroup", name="web", description="mine"
        )
        self.assertEqual(
            "mine", rsrc.create_body(rsrc.properties)["description"]
        )
        self.groups.add(name="web", description="mine")
        self.assertIsNone(self.again(rsrc).find_made())

    def test_types_without_objects_of_their_own_find_none(self):
        rsrc = self.made(
            "OS::Neutron::FloatingIPAssociation",
            floatingip_id="f",
            port_id="p",
        )
        self.assertIsNone(rsrc.find_made())
        self.assertEqual([], self.addresses.calls)
