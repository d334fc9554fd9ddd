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
"""What all stacks of a tree have in common is stored and read once."""

from __future__ import annotations

import sqlalchemy as sa
import testscenarios

from heat.db import models, templates
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

FILES = {"a.yaml": "text"}
DEFAULTS = {"size": 5, "word": "large"}


class SharedFilesTest(backends.DatabaseTestCase):
    def insert(self, parameters=None, defaults=DEFAULTS, **kwargs):
        environment = {
            "parameters": parameters or {},
            "parameter_defaults": defaults,
        }
        return self.db.run(
            lambda conn: templates.insert(
                conn, {}, environment, FILES, **kwargs
            )
        )

    def get(self, key):
        return self.db.read(lambda conn: templates.get(conn, key))

    def stored(self, key):
        """The environment as its row has it."""
        column = models.raw_template.c.environment
        query = sa.select(column).where(models.raw_template.c.id == key)
        return self.db.read(lambda conn: conn.execute(query).scalar())

    def test_stored_and_read_once(self):
        parent = self.insert({"p": 1})
        child = self.insert({"q": 2}, files_of=parent, same_defaults=True)
        grandchild = self.insert({}, files_of=child, same_defaults=True)
        for key, parameters in ((parent, {"p": 1}), (child, {"q": 2})):
            self.assertEqual({"parameters": parameters}, self.stored(key))
            self.assertEqual(
                {"parameters": parameters, "parameter_defaults": DEFAULTS},
                self.get(key).environment,
            )
        first, last = self.get(parent), self.get(grandchild)
        self.assertIs(first.files, last.files)
        self.assertIs(
            first.environment["parameter_defaults"],
            last.environment["parameter_defaults"],
        )

    def test_defaults_of_its_own(self):
        parent = self.insert()
        own = {"size": 6}
        child = self.insert(defaults=own, files_of=parent)
        self.assertEqual(
            own, self.get(child).environment["parameter_defaults"]
        )
        below = self.insert(defaults=own, files_of=child, same_defaults=True)
        self.assertEqual(
            own, self.get(below).environment["parameter_defaults"]
        )

    def test_a_number_that_is_used_again(self):
        key = self.insert()
        self.assertEqual(FILES, self.get(key).files)
        self.db.run(
            lambda conn: templates.delete_unreferenced(conn, "stack", [key])
        )
        other = self.insert(defaults={"size": 7})
        self.assertEqual(
            {"size": 7}, self.get(other).environment["parameter_defaults"]
        )

    def test_the_parent_goes_first(self):
        parent = self.insert()
        child = self.insert(files_of=parent, same_defaults=True)
        self.db.run(
            lambda conn: templates.delete_unreferenced(conn, "s", [parent])
        )
        self.assertIsNone(self.get(parent))
        self.assertEqual(
            DEFAULTS, self.get(child).environment["parameter_defaults"]
        )
