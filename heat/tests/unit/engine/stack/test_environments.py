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
"""The environment of a request: what is read, how often, what is stored."""

from __future__ import annotations

from typing import Any
from unittest import mock

import fixtures

from heat.common import exception, template_format
from heat.common.identifier import HeatIdentifier
from heat.db import templates
from heat.engine.stack import environments, prepare
from heat.engine.stack.request import Request
from heat.tests import base

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "parameters": {
        "p": {"type": "string", "default": ""},
        "q": {"type": "string", "default": "", "hidden": True},
    },
}
NESTED = """\
heat_template_version: '2021-04-16'
parameters:
  deep: {type: string, hidden: true}
  open: {type: string}
"""


class Requests(base.TestCase):
    def prepare(
        self,
        params: dict[str, Any] | None = None,
        files: dict[str, str] | None = None,
        listed: list[str] | None = None,
        stored: prepare.Prepared | None = None,
        **args: Any,
    ) -> prepare.Prepared:
        record, rows = None, []
        if stored is not None:
            args["existing"] = True
            record = templates.TemplateRecord(
                1, stored.template, stored.files, stored.environment
            )
            rows = environments.rows(stored.layers, stored.environment)
        return prepare.prepare(
            HeatIdentifier("project", "name", None),
            Request(TEMPLATE, params or {}, files or {}, args, listed or []),
            record,
            layers=rows,
        )


class RequestTest(Requests):
    def counted(self) -> mock.Mock:
        environments._kept.clear()
        patcher = mock.patch.object(
            environments.template_format, "load", wraps=template_format.load
        )
        counter = patcher.start()
        self.addCleanup(patcher.stop)
        return counter

    def test_each_text_is_read_once(self):
        files = {str(n): f"parameters: {{p: p{n % 3}}}" for n in range(9)}
        counter = self.counted()
        made = self.prepare(None, files, list(files))
        self.assertEqual(3, counter.call_count)
        counter.reset_mock()
        new = {"4": "parameters: {q: x}"}
        changed = self.prepare(None, {**files, **new}, stored=made)
        self.assertEqual(1, counter.call_count)
        self.assertEqual("x", changed.environment["parameters"]["q"])
        counter.reset_mock()
        self.prepare(None, files, list(files), stored=made)
        self.assertEqual(0, counter.call_count)

    def test_the_next_request_reads_only_what_is_new(self):
        files = {str(n): f"parameters: {{p: again{n}}}" for n in range(9)}
        counter = self.counted()
        first = self.prepare(None, files, list(files))
        self.assertEqual(9, counter.call_count)
        counter.reset_mock()
        changed = {**files, "4": "parameters: {p: other, q: x}"}
        second = self.prepare(None, changed, list(changed))
        self.assertEqual(1, counter.call_count)
        self.assertEqual({"p": "again8"}, first.environment["parameters"])
        self.assertEqual("x", second.environment["parameters"]["q"])

    def test_what_cannot_be_read_is_told_each_time(self):
        for name in ("first", "second"):
            error = self.assertRaises(
                ValueError, self.prepare, None, {name: "[]"}, [name]
            )
            self.assertIn(name, str(error))

    def test_another_make_of_api(self):
        """It does not tell which parameters are explicit."""
        files = {"f": "parameters: {p: file}"}
        inline = {"parameters": {"p": "sent"}}
        for params, args, value in (
            (inline, {}, "sent"),
            (inline, {"explicit_parameters": []}, "file"),
            (inline, {"explicit_parameters": ["p"]}, "sent"),
        ):
            with self.subTest(args=args):
                made = self.prepare(params, files, ["f"], **args)
                self.assertEqual(value, made.environment["parameters"]["p"])
        made = self.prepare(inline)
        made = self.prepare({}, files, ["f"], stored=made)
        self.assertEqual("file", made.environment["parameters"]["p"])

    def test_rows_only_when_there_is_something_to_tell(self):
        for params, args, count in (
            ({}, {}, 0),
            ({"parameters": {"p": 1}}, {}, 0),
            ({"parameters": {"p": 1}}, {"explicit_parameters": ["p"]}, 1),
        ):
            with self.subTest(params=params, args=args):
                made = self.prepare(params, **args)
                rows = environments.rows(made.layers, made.environment)
                self.assertEqual(count, len(rows))

    def test_unknown_names(self):
        bad = {"parameters": {"x": 1}}
        made = self.prepare({}, {"f": "parameters: {x: 1}"}, ["f"])
        self.assertEqual({}, made.environment["parameters"])
        for stored in (None, made):
            for args in ({}, {"explicit_parameters": ["x"]}):
                with self.subTest(stored=stored is not None, args=args):
                    self.assertRaises(
                        exception.UnknownUserParameter,
                        self.prepare,
                        bad,
                        stored=stored,
                        **args,
                    )

    def test_secret_names(self):
        data = "parameter_defaults: {deep: 1, open: 1, none: 1}"
        made = self.prepare({}, {"f": data, "n.yaml": NESTED}, ["f"])
        self.assertEqual({"q", "deep"}, made.secret)

    def test_a_removed_file_is_gone(self):
        made = self.prepare({}, {"f": "parameters: {q: 1}", "g": "x"}, ["f"])
        made = self.prepare(stored=made, environment_files_remove=["f"])
        self.assertEqual({"g": "x"}, made.files)
        self.assertEqual((), made.layers)

    def test_wrong_arguments(self):
        for args in (
            {"environment_files_remove": "f"},
            {"clear_parameters": [1]},
            {"explicit_parameters": "p"},
        ):
            with self.subTest(args=args):
                stored = self.prepare()
                self.assertRaises(
                    ValueError, self.prepare, stored=stored, **args
                )


class LimitsTest(Requests):
    """Each file is within the limits; what they make need not be."""

    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MockPatchObject(template_format, "MAX_NODES", 100)
        )
        environments._kept.clear()
        self.addCleanup(environments._kept.clear)

    def files(self, *texts: str) -> dict[str, str]:
        return {f"{number}.yaml": text for number, text in enumerate(texts)}

    def defaults(self, name: str, count: int) -> str:
        return f"parameter_defaults: {{{name}: {[1] * count}}}"

    def check_refused(self, *texts: str, **kwargs: Any) -> None:
        files = self.files(*texts)
        for _again in range(2):
            error = self.assertRaises(
                ValueError,
                self.prepare,
                files=files,
                listed=[*files],
                **kwargs,
            )
            self.assertIn("more than 100 values", str(error))

    def test_what_is_surely_within_is_not_looked_at_again(self):
        files = self.files(self.defaults("a", 40), self.defaults("b", 40))
        self.prepare(None, files, [*files])
        with mock.patch.object(
            template_format, "check_bounds", wraps=template_format.check_bounds
        ) as counter:
            self.prepare(None, files, [*files])
        # The template and what is inline.
        self.assertEqual(2, counter.call_count)

    def test_together(self):
        self.check_refused(self.defaults("a", 60), self.defaults("b", 60))

    def test_what_is_replaced_does_not_count(self):
        files = self.files(self.defaults("a", 60), self.defaults("a", 61))
        made = self.prepare(None, files, [*files])
        self.assertEqual(61, len(made.environment["parameter_defaults"]["a"]))

    def test_with_what_is_inline(self):
        params = {"parameter_defaults": {"b": [1] * 60}}
        self.check_refused(self.defaults("a", 60), params=params)

    def test_with_what_is_stored(self):
        made = self.prepare(None, {"f": self.defaults("a", 60)}, ["f"])
        self.check_refused(self.defaults("b", 60), stored=made)

    def test_a_text_that_stands_for_many(self):
        """Two texts of a json parameter become maps when they are merged."""
        template = {
            **TEMPLATE,
            "parameters": {"j": {"type": "json", "default": {}}},
        }
        texts = [
            f"parameters: {{j: '{[1] * 70}'}}\n"
            "parameter_merge_strategies: {j: merge}"
        ] * 2
        files = self.files(*texts)
        request = Request(template, {}, files, {}, [*files])
        identity = HeatIdentifier("project", "name", None)
        error = self.assertRaises(
            ValueError, prepare.prepare, identity, request
        )
        self.assertIn("more than 100 values", str(error))
