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

from __future__ import annotations

import sqlalchemy as sa
import testscenarios

from heat.db import models, stacks, templates
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios


class TemplateTest(backends.DatabaseTestCase):
    def call(self, function, *args, **kwargs):
        return self.db.run(lambda conn: function(conn, *args, **kwargs))

    def rows(self, table):
        return self.call(
            lambda conn: conn.execute(
                sa.select(sa.func.count()).select_from(table)
            ).scalar()
        )

    def test_insert_and_get(self):
        body = {"heat_template_version": "2021-04-16", "outputs": {}}
        files = {"a.yaml": "text \u00e9 \U0001f600", "b": ""}
        first = self.call(
            templates.insert, body, {"parameters": {"p": 1}}, files
        )
        second = self.call(templates.insert, body, None, None)
        self.assertEqual(
            templates.TemplateRecord(
                first, body, files, {"parameters": {"p": 1}}
            ),
            self.call(templates.get, first),
        )
        found = self.call(templates.get_many, [second, None, 99999])
        self.assertEqual(
            {second: templates.TemplateRecord(second, body, {}, {})}, found
        )
        self.assertIsNone(self.call(templates.get, 99999))

    def test_descriptions(self):
        said = {"description": "hot \u00e9" + "x" * 70000}
        ours = [
            self.call(templates.insert, body, None, None)
            for body in (said, {"Description": "cfn"}, {}, {"description": 1})
        ]
        theirs = {"id": 70, "template": {"description": "taken over"}}
        self.call(
            lambda conn: conn.execute(
                sa.insert(models.raw_template).values(**theirs)
            )
        )
        found = self.call(templates.descriptions, [*ours, 70, None, 999])
        self.assertEqual(
            {
                **dict(
                    zip(
                        ours, (said["description"], "cfn", "", ""), strict=True
                    )
                ),
                70: "taken over",
            },
            found,
        )

    def test_files_of_another_make(self):
        self.call(
            lambda conn: conn.execute(
                sa.insert(models.raw_template).values(
                    id=7, template={}, files={"f": "x"}
                )
            )
        )
        self.assertEqual({"f": "x"}, self.call(templates.get, 7).files)

    def test_layers(self):
        layers = [
            templates.LayerRecord(0, "inline", None, {"parameters": {}}),
            templates.LayerRecord(1, "file", "e.yaml", "text", ["p"]),
            templates.LayerRecord(2, "explicit", None, {"p": 1}),
        ]
        key = self.call(templates.insert, {}, {}, {}, layers)
        self.assertEqual(layers, self.call(templates.get_layers, key))

    def test_update(self):
        key = self.call(templates.insert, {"a": 1}, {"b": 1}, {"f": "x"})
        self.assertTrue(self.call(templates.update, key, environment={"b": 2}))
        found = self.call(templates.get, key)
        self.assertEqual(
            ({"a": 1}, {"b": 2}, {"f": "x"}),
            (found.template, found.environment, found.files),
        )
        self.assertFalse(self.call(templates.update, 99999, template={}))

    def test_delete_unreferenced(self):
        layer = [templates.LayerRecord(0, "inline", None, {})]
        keys = [
            self.call(templates.insert, {}, {}, {"f": str(n)}, layer)
            for n in range(6)
        ]
        self.call(
            stacks.insert,
            {
                "id": "s",
                "name": "a",
                "tenant": "t",
                "raw_template_id": keys[0],
                "prev_raw_template_id": keys[1],
                "last_complete_template_id": keys[2],
            },
        )
        self.call(
            lambda conn: conn.execute(
                sa.insert(models.resource).values(
                    stack_id="s", current_template_id=keys[3]
                )
            )
        )
        gone = self.call(
            templates.delete_unreferenced, "s", [None, *keys, 99999]
        )
        self.assertEqual({keys[4], keys[5]}, gone)
        self.assertEqual(keys[:4], sorted(self.call(templates.get_many, keys)))
        self.assertEqual(4, self.rows(models.raw_template_files))
        self.assertEqual(4, self.rows(models.environment_layer))

    def test_shared_files_stay(self):
        key = self.call(templates.insert, {}, {}, {"f": "x"})

        def share(conn):
            files_id = conn.scalar(sa.select(models.raw_template.c.files_id))
            conn.execute(
                sa.insert(models.raw_template).values(
                    id=key + 1, template={}, files_id=files_id
                )
            )

        self.call(share)
        self.call(templates.delete_unreferenced, "s", [key])
        self.assertEqual({"f": "x"}, self.call(templates.get, key + 1).files)
        self.call(templates.delete_unreferenced, "s", [key + 1])
        self.assertEqual(0, self.rows(models.raw_template_files))
