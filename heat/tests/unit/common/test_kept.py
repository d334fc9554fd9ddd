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
"""What was made of texts is made once as long as it is used."""

from heat.common import kept
from heat.tests import base


class KeptTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.made = []

    def get(self, store: kept.Kept, text: bytes) -> object:
        def make() -> bytes:
            self.made.append(text)
            return text.upper()

        return store.get(text, make)

    def test_once(self):
        store = kept.Kept(100)
        for _again in range(2):
            for text in (b"a", b"b"):
                self.assertEqual(text.upper(), self.get(store, text))
        self.assertEqual([b"a", b"b"], self.made)
        store.clear()
        self.get(store, b"a")
        self.assertEqual([b"a", b"b", b"a"], self.made)

    def test_what_is_not_used_goes(self):
        store = kept.Kept(40)
        texts = [letter.encode() * 4 for letter in "abcdefghijk"]
        for text in texts:
            self.get(store, texts[0])
            self.get(store, text)
        self.assertEqual(texts, self.made)
        self.get(store, texts[1])
        self.assertEqual([*texts, texts[1]], self.made)

    def test_one_text_does_not_take_all(self):
        store = kept.Kept(100, 1 / 2)
        for text in (b"a" * 49, b"b" * 50):
            self.get(store, text)
            self.get(store, text)
        self.assertEqual([b"a" * 49, b"b" * 50, b"b" * 50], self.made)

    def test_errors_are_not_kept(self):
        def fail() -> None:
            raise ValueError("no")

        store = kept.Kept(100)
        for _again in range(2):
            self.assertRaises(ValueError, store.get, b"a", fail)
        self.assertEqual(b"A", self.get(store, b"a"))
