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

import re

from heat.tests import base
from heat.tests.fakes import cloud
from heat.tests.unit.engine import stacks

NETWORK = "http://network/v2.0"


class Deaf(cloud.Objects):
    """Objects of a service that filters by few keys, or by none."""

    def __init__(self, mock, url, key, *heeds):
        super().__init__(mock, url, key, f"{key}s")
        self.heeds = set(heeds)

    def _serve(self, request, path, body):
        if request.method == "GET" and request.qs.keys() - self.heeds:
            return 400, {"error": {"message": "Additional properties"}}
        return super()._serve(request, path, body)


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
        return stacks.in_cloud(self.cloud.context, kind, properties)

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

    def test_by_what_the_service_does_not_filter_by(self):
        """It refuses the filter, or finds nothing by it: nobody asks so."""
        keystone = cloud.SERVICES["identity"]
        cinder = cloud.SERVICES["block-storage"]
        regions = Deaf(self.cloud.mock, f"{keystone}/regions", "region")
        roles = Deaf(self.cloud.mock, f"{keystone}/roles", "role", "name")
        specs = Deaf(self.cloud.mock, f"{cinder}/qos-specs", "qos_spec")
        specs.key = specs.plural
        for kind, store, given in (
            ("Keystone::Region", regions, {}),
            ("Keystone::Region", regions, {"id": "chosen"}),
            ("Keystone::Role", roles, {}),
            ("Keystone::Role", roles, {"name": "chosen"}),
            ("Cinder::QoSSpecs", specs, {"specs": {"a": "1"}}),
        ):
            with self.subTest(kind, **given):
                store.stored.clear()
                store.add(name=given.get("name"), description="")
                rsrc = self.made(f"OS::{kind}", **given)
                made = store.add(**rsrc.create_body(rsrc.properties))
                self.assertEqual(made["id"], self.again(rsrc).find_made())

    def test_a_mark_is_no_drift(self):
        rsrc = self.made("OS::Cinder::VolumeType", name="chosen")
        body = rsrc.create_body(rsrc.properties)
        self.assertEqual(rsrc.mark(), body["description"])
        live = rsrc.parse_live_resource_data(rsrc.properties, body)
        self.assertNotIn("description", live)
        self.assertEqual("chosen", live["name"])

    def test_what_was_found_is_finished(self):
        """What takes further calls is done again; it is not replaced."""
        tags = re.compile(f"{NETWORK}/networks/.*/tags")
        self.cloud.mock.put(tags, json={})
        rsrc = self.made("OS::Neutron::Net", tags=["a"])
        stacks.run(rsrc, "CREATE")
        again = self.again(rsrc)
        again.resource_id = again.find_made()
        self.assertIsNone(again.resume_create(True))
        told = [r.method for r in self.cloud.mock.request_history]
        self.assertEqual(2, told.count("PUT"))
        self.assertEqual(
            {self.public, again.resource_id}, {*self.cloud.networks.stored}
        )

    def test_types_without_objects_of_their_own_find_none(self):
        rsrc = self.made(
            "OS::Neutron::FloatingIPAssociation",
            floatingip_id="f",
            port_id="p",
        )
        self.assertIsNone(rsrc.find_made())
        self.assertEqual([], self.addresses.calls)
