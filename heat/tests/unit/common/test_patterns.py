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
"""Regular expressions of strangers."""

from __future__ import annotations

import re
import time

import hypothesis
from hypothesis import strategies as st

from heat.common import patterns
from heat.tests import base


class PatternsTest(base.TestCase):
    def test_as_re(self):
        for pattern, text in (
            ("a.c", "abc"),
            ("^a|b$", "ab"),
            ("[a-z]+", "ABC"),
            (r"(\d+)-(\d+)", "x 1-2 y"),
            (r"\A\w+\Z", "word\n"),
            ("(?i)abc", "ABC"),
            ("", ""),
        ):
            with self.subTest(pattern=pattern):
                ours, theirs = patterns.compile(pattern), re.compile(pattern)
                for name in ("match", "fullmatch", "search"):
                    one = getattr(ours, name)(text)
                    two = getattr(theirs, name)(text)
                    self.assertEqual(
                        two and (two.span(), two.groups()),
                        one and (one.span(), one.groups()),
                    )
                self.assertEqual(theirs.split(text), ours.split(text))
                self.assertEqual(theirs.sub("-", text), ours.sub("-", text))
                self.assertEqual(
                    [found.span() for found in theirs.finditer(text)],
                    [found.span() for found in ours.finditer(text)],
                )

    @hypothesis.settings(max_examples=200)
    @hypothesis.given(
        st.text("ab[](){}|*+?.^$\\1,-", max_size=12),
        st.text("ab1,", max_size=9),
    )
    def test_refuses_what_re_refuses(self, pattern, text):
        try:
            theirs = re.compile(pattern)
        except re.error:
            self.assertRaises(re.error, patterns.compile, pattern)
            return
        try:
            ours = patterns.compile(pattern)
        except re.error:
            # A few that re takes are more than the library reads.
            return
        self.assertEqual(
            theirs.fullmatch(text) is None, ours.fullmatch(text) is None
        )

    def test_flags(self):
        compiled = patterns.compile(
            "^a.b$",
            patterns.IGNORECASE | patterns.MULTILINE | patterns.DOTALL,
        )
        self.assertIsNotNone(compiled.search("x\nA\nB\ny"))

    def test_ends_in_time(self):
        began = time.process_time()
        for pattern, text in (
            ("(a|a)*$", "a" * 60 + "b"),
            ("(a|b|ab)*c", "ab" * 500),
            ("(x+x+)+y", "x" * 100),
        ):
            compiled = patterns.compile(pattern)
            try:
                self.assertIsNone(compiled.fullmatch(text))
            except patterns.TooSlow as error:
                self.assertIn(pattern, str(error))
        self.assertLess(time.process_time() - began, 4)

    def test_several_calls_share_a_budget(self):
        compiled = patterns.compile("(a|a)*$")
        began = time.monotonic()
        with patterns.within(0.2):
            for _again in range(20):
                self.assertRaises(
                    patterns.TooSlow, compiled.fullmatch, "a" * 60 + "b"
                )
        self.assertLess(time.monotonic() - began, 5)

    def test_bounds(self):
        self.assertRaises(
            patterns.error, patterns.compile, "a" * (patterns.MAX_PATTERN + 1)
        )
        self.assertRaises(patterns.error, patterns.compile, "(" * 2000)
        self.assertRaises(
            patterns.error, patterns.compile, "a{99999999999999999999}"
        )
        compiled = patterns.compile("a")
        self.assertRaises(
            ValueError, compiled.search, "b" * (patterns.MAX_TEXT + 1)
        )
