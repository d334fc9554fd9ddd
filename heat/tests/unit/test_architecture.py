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

"""Runs the rules of architecture.py over the package.

Each rule is also shown a planted breach: a rule that finds nothing in the
package must not be one that can't find anything.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import heat
from heat.tests import base
from heat.tests.unit import architecture as rules

PACKAGE = pathlib.Path(heat.__file__).parent


def tree(**sources: str) -> dict[str, rules.Module]:
    """A package made up of texts; in a name, "__" stands for a dot."""
    names = {key.replace("__", "."): text for key, text in sources.items()}
    return {name: rules.Module(name, text) for name, text in names.items()}


class ArchitectureTest(base.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.tree = rules.read(PACKAGE)

    def check(self, rule: Callable[[rules.Tree], list[str]]) -> None:
        breaches = rule(self.tree)
        self.assertEqual([], breaches, "\n" + "\n".join(breaches))

    def test_package_is_there(self):
        self.assertIn("heat.common.exception", set(self.tree))
        self.assertIn("heat.db.models", set(self.tree))

    def test_every_module_stands_in_a_layer(self):
        self.check(rules.homeless)

    def test_imports_go_down(self):
        self.check(rules.upward)

    def test_no_cycles(self):
        self.check(rules.cycles)

    def test_pure_modules_are_pure(self):
        self.check(rules.impure)

    def test_one_place_chooses_eventlet(self):
        self.check(rules.eventlet)

    def test_sizes(self):
        self.check(rules.too_big)

    def test_complexity(self):
        self.check(rules.too_complex)

    def test_words(self):
        self.check(rules.forbidden_words)

    def test_headers(self):
        self.check(rules.headers)

    def test_exceptions_are_needed(self):
        """An exception whose reason is gone must go as well."""
        for table in (
            rules.TOO_LONG_FUNCTION,
            rules.TOO_COMPLEX,
            rules.TOO_WIDE_CLASS,
        ):
            for (module, name), reason in table.items():
                self.assertTrue(reason)
                self.assertIn(module, set(self.tree))
                self.assertIn(name.split(".")[-1], self.tree[module].source)
        for module, reason in rules.TOO_LONG_FILE.items():
            self.assertTrue(reason)
            self.assertIn(module, set(self.tree))


class PlantedBreachTest(base.TestCase):
    def assert_found(self, rule, *words: str, **sources: str) -> None:
        breaches = rule(tree(**sources))
        self.assertEqual(1, len(breaches), breaches)
        for word in words:
            self.assertIn(word, breaches[0])

    def test_import_against_the_direction(self):
        self.assert_found(
            rules.upward,
            "db may not import stack",
            "heat.db.x:2",
            heat__db__x="def late():\n    from heat.engine.stack import y\n",
            heat__engine__stack__y="",
        )

    def test_relative_import_against_the_direction(self):
        self.assert_found(
            rules.upward,
            "db may not import stack",
            heat__db__x="from ..engine.stack import y\n",
            heat__engine__stack__y="",
        )

    def test_only_rpc_joins_api_and_engine(self):
        self.assert_found(
            rules.upward,
            "API and engine meet",
            heat__api__x="import heat.engine.stack.y\n",
            heat__engine__stack__y="",
        )

    def test_plugins_are_not_imported_by_name(self):
        self.assert_found(
            rules.upward,
            "not imported",
            heat__engine__stack__x="from heat.engine.resources.heat import v",
            heat__engine__resources__heat__v="",
        )

    def test_names_of_the_rpc_may_be_read_by_plugins(self):
        self.assertEqual(
            [],
            rules.upward(
                tree(
                    heat__engine__resources__x="from heat.rpc import api",
                    heat__rpc__api="",
                )
            ),
        )

    def test_type_checking_imports_do_not_count(self):
        source = (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n"
            "    from heat.engine.stack import y\n"
        )
        made = tree(heat__db__x=source, heat__engine__stack__y="")
        self.assertEqual([], rules.upward(made))
        self.assertEqual([], rules.cycles(made))

    def test_cycle(self):
        self.assert_found(
            rules.cycles,
            "heat.db.a <-> heat.db.b <-> heat.db.c",
            heat__db__a="from heat.db import b\n",
            heat__db__b="def f():\n    import heat.db.c\n",
            heat__db__c="from heat.db.a import thing\n",
            heat__db__d="from heat.db import a\n",
        )

    def test_homeless(self):
        self.assert_found(
            rules.homeless, "heat.engine.stray", heat__engine__stray="x = 1"
        )

    def test_impure(self):
        self.assert_found(
            rules.impure,
            "no clock",
            heat__engine__graph__dag="import time\n",
        )

    def test_eventlet(self):
        self.assert_found(
            rules.eventlet,
            "heat.engine.service.x:2",
            heat__engine__service__x="def f():\n    import eventlet.green\n",
            heat__cmd="import eventlet\n",
        )
        self.assert_found(
            rules.eventlet,
            "heat.db.session:1",
            heat__db__session="import greenlet\n",
            heat__db__together="import greenlet\n",
        )

    def test_long_file(self):
        self.assert_found(
            rules.too_big, "501 lines", heat__db__x="x = 1\n" * 501
        )

    def test_long_function(self):
        self.assert_found(
            rules.too_big,
            "heat.db.x.C.f: 61 lines",
            heat__db__x="class C:\n    def f(self):\n"
            + "        x = 1\n" * 60,
        )

    def test_wide_class(self):
        methods = "".join(f"    def m{n}(self): ...\n" for n in range(21))
        self.assert_found(
            rules.too_big, "21 public", heat__db__x="class C:\n" + methods
        )

    def test_complex_function(self):
        branches = "".join(f"    if x == {n}: x = 1\n" for n in range(12))
        self.assert_found(
            rules.too_complex,
            "complexity 13",
            heat__db__x="def f(x):\n" + branches,
        )

    def test_word(self):
        self.assert_found(
            rules.forbidden_words,
            "composed",
            heat__engine__x="# when standalone\n",
            heat__cmd__x="# when standalone\n",
        )

    def test_test_resource_is_no_special_case(self):
        self.assert_found(
            rules.forbidden_words,
            "heat.engine.stack.x:1",
            heat__engine__stack__x="T = 'OS::Heat::TestResource'\n",
            heat__engine__resources__openstack__heat__test_resource=(
                "T = 'OS::Heat::TestResource'\n"
            ),
        )

    def test_licence(self):
        self.assert_found(
            rules.headers, "licence", heat__db__x='"""Doc."""\nx = 1\n'
        )

    def test_docstring(self):
        self.assert_found(
            rules.headers,
            "docstring",
            heat__db__x=rules.LICENCE_LINE + "\nx = 1\n",
        )
