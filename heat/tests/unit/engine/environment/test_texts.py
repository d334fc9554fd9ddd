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
"""Lines and masks in the text of environment files."""

from __future__ import annotations

import json

import hypothesis
import yaml

from heat.common import template_format
from heat.engine.environment import texts
from heat.tests import base
from heat.tests.unit.engine.environment import samples

SECRET = "s3cr3t"
TEXT = """\
# é a comment
parameters:
  open: 1
  key: s3cr3t
  block: |
    s3cr3t
    s3cr3t
  map:
    deep: {x: s3cr3t}
  last: "é"

parameter_defaults:
  <<: &more
    merged: 1
  key:
  - s3cr3t
"""


class TextsTest(base.TestCase):
    def test_lines(self):
        text = texts.Text(TEXT)
        for path, line in (
            (("parameters",), 2),
            (("parameters", "key"), 4),
            (("parameters", "map", "deep", "x"), 9),
            (("parameter_defaults", "merged"), 14),
            (("parameters", "not there"), 2),
            (("nothing",), None),
        ):
            with self.subTest(path=path):
                self.assertEqual(line, text.line(path))

    def test_no_lines(self):
        for text in ("", "{}", json.dumps({"parameters": {"a": 1}}), "a: [\n"):
            with self.subTest(text=text):
                self.assertIsNone(texts.Text(text).line(("parameters", "a")))

    def test_masks(self):
        data = template_format.load(TEXT)
        masked = texts.Text(TEXT).masked(data, {"key", "block", "map"})
        self.assertNotIn(SECRET, masked)
        self.assertEqual(
            texts.mask(data, {"key", "block", "map"}),
            template_format.load(masked),
        )
        only = {"key", "map"}
        text = TEXT.partition("parameter_defaults")[0].replace(
            "block: |", "x: |"
        )
        masked = texts.Text(text).masked(template_format.load(text), only)
        # All else is as it was.
        self.assertIn("# é a comment\nparameters:\n  open: 1\n  key:", masked)
        self.assertEqual(
            TEXT, texts.Text(TEXT).masked(data, {"another", "none"})
        )

    def test_hiding_places(self):
        for text in (
            "parameters: {key: s3cr3t, key: s3cr3t}",
            "parameter_defaults: &a {key: s3cr3t}\nparameters: {<<: *a}\n",
            "parameters:\n  key: &a s3cr3t\n",
            '{"parameters": {"key": "s3cr3t"}}',
            '{\n\t"parameters": {"key": "s3cr3t"}}',
            "parameters:\r\n  é: 1\r\n  key: s3cr3t\r\n  b: 2\r\n",
            "parameters:\n  key: >-\n    s3cr3t\n\n    s3cr3t\n",
            "parameters:\n  ? key\n  : s3cr3t\n",
        ):
            with self.subTest(text=text):
                data = template_format.load(text)
                masked = texts.Text(text).masked(data, {"key"})
                self.assertNotIn(SECRET, masked)
                self.assertEqual(
                    texts.MASK,
                    template_format.load(masked)["parameters"]["key"],
                )

    @hypothesis.settings(max_examples=150)
    @hypothesis.given(samples.data)
    def test_any_text(self, data):
        for text in (
            json.dumps(data),
            json.dumps(data, indent=1),
            yaml.safe_dump(data),
        ):
            masked = texts.Text(text).masked(data, {"a"})
            self.assertEqual(
                texts.mask(data, {"a"}), template_format.load(masked)
            )
