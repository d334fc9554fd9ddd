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
"""Claims: of several stacks that take one object over, one is the first."""

from __future__ import annotations

import datetime
import threading
import uuid

import sqlalchemy as sa
import testscenarios

from heat.db import claims, models, resources, stacks
from heat.engine.traversal import wanted
from heat.tests.unit.db import backends

load_tests = testscenarios.load_tests_apply_scenarios

NOW = datetime.datetime(2030, 1, 1)


class ClaimsTest(backends.DatabaseTestCase):
    def row(self, stack_name, tenant="t", **values):
        """A stack with one resource, which is external; its claim."""

        def work(conn):
            stack_id = str(uuid.uuid4())
            given = {
                "name": stack_name,
                "tenant": tenant,
                "raw_template_id": 1,
            }
            stacks.insert(conn, {"id": stack_id, **given})
            made = wanted.new_row(
                stack_id, "r", "Some::Type", 1, NOW, root_stack_id=stack_id
            )
            made.update(external=True, physical_id="x", action="CHECK")
            made.update(values)
            [row_id] = resources.insert_many(conn, [made])
            return claims.Claim("one", tenant, "kind", "x", stack_id, row_id)

        return self.db.run(work)

    def take(self, claim, *, kinds=True):
        """As an engine does: the row is in hand when the object is taken."""

        def work(conn):
            resources.set_values(
                conn, [claim.resource_id], {"claim_id": str(uuid.uuid4())}
            )
            return claims.take(conn, claim, lambda _type: kinds)

        return self.db.run(work)

    def test_one_of_many(self):
        rows = [self.row(f"s{number}") for number in range(6)]
        answers = {}

        def work(number):
            answers[number] = self.take(rows[number])

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        [winner] = [n for n, answer in answers.items() if answer is None]
        self.assertEqual(
            {f"s{winner}"}, {a for a in answers.values() if a is not None}
        )

    def test_who_manages(self):
        claim = self.row("mine")
        for name, change, refused in (
            ("owner", {"external": False}, "owner"),
            ("reader", {"external": True}, None),
            ("busy reader", {"external": True, "claim_id": "c"}, None),
            ("stranger", {"external": False, "tenant": "another"}, None),
            ("other", {"external": False, "physical_id": "y"}, None),
        ):
            with self.subTest(name):
                self.row(name, **change)
                self.assertEqual(refused, self.take(claim))
                self.db.run(
                    lambda conn: conn.execute(
                        sa.delete(models.resource).where(
                            models.resource.c.id != claim.resource_id
                        )
                    )
                )

    def test_another_kind_of_object(self):
        claim = self.row("mine")
        self.row("other", external=False)
        self.assertIsNone(self.take(claim, kinds=False))

    def test_it_ends_with_the_operation(self):
        first, second = self.row("first"), self.row("second")
        self.assertIsNone(self.take(first))
        self.assertEqual("first", self.take(second))
        self.db.run(
            lambda conn: resources.set_values(
                conn, [first.resource_id], {"claim_id": None}
            )
        )
        self.assertIsNone(self.take(second))
        self.assertEqual("second", self.take(first))

    def test_readers(self):
        self.row("a")
        self.row("b", tenant="another")
        self.row("c", physical_id="y")
        self.row("d", external=False)
        found = self.db.read(
            lambda conn: resources.held_external(conn, "t", {"x", "z"})
        )
        self.assertEqual({"x": ["r of stack a"]}, found)

    def test_being_deleted(self):
        self.row("a", action="DELETE", claim_id="c")
        self.row("b", action="DELETE", physical_id="y")
        self.row("c", claim_id="c", physical_id="z")
        self.row("d", "u", action="DELETE", claim_id="c", physical_id="w")
        found = self.db.read(
            lambda conn: resources.being_deleted(
                conn, "t", {"w", "x", "y", "z"}
            )
        )
        self.assertEqual({"x"}, found)
