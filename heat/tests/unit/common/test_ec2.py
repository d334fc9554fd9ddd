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

"""Signed URLs: what one end signs, the other one accepts."""

from __future__ import annotations

from urllib import parse

from hypothesis import given
from hypothesis import strategies as st
from keystoneclient.contrib.ec2 import utils as other

from heat.common import ec2, identifier
from heat.tests import base

BASE = "http://cfn.test:8000/v1/waitcondition"


def signs(url: str, verb: str, secret: str) -> str:
    """What Keystone finds to be the signature of a URL."""
    parts = parse.urlsplit(url)
    query = dict(parse.parse_qsl(parts.query))
    del query[ec2.SIGNATURE]
    made: str = other.Ec2Signer(secret).generate(
        {
            "verb": verb,
            "host": parts.netloc,
            # As a server gives it to an application.
            "path": parse.unquote(parts.path),
            "params": query,
        }
    )
    return made


class SignedUrlTest(base.TestCase):
    @given(
        name=st.text(min_size=1).filter(lambda text: "/" not in text),
        secret=st.text(min_size=1),
        verb=st.sampled_from(["PUT", "POST"]),
    )
    def test_round_trip(self, name, secret, verb):
        name = name.encode("utf-8", "ignore").decode() or "x"
        secret = secret.encode("utf-8", "ignore").decode() or "x"
        identity = identifier.HeatIdentifier("t", "stack", "id")
        arn = identity.resource(name).arn()
        url = ec2.signed_url(BASE, arn, verb, "ak", secret)
        told = dict(parse.parse_qsl(parse.urlsplit(url).query))
        self.assertEqual(signs(url, verb, secret), told[ec2.SIGNATURE])
        self.assertEqual("ak", ec2.access_key_of(url))
        self.assertEqual(arn, ec2.arn_of(url))
        found = identifier.HeatIdentifier.from_arn(ec2.arn_of(url))
        self.assertEqual(f"/resources/{name}", found.path)

    def test_each_part_counts(self):
        given_ = ("s", "PUT", "h", "/p", {"a": "1", "b": "2"})
        right = ec2.signature(*given_)
        for place, value in (
            (0, "S"),
            (1, "POST"),
            (2, "h:80"),
            (3, "/q"),
            (4, {"a": "1"}),
            (4, {"a": "2", "b": "1"}),
        ):
            changed = list(given_)
            changed[place] = value
            self.assertNotEqual(right, ec2.signature(*changed), value)

    def test_port_that_goes_without_saying(self):
        for url, host in (
            ("http://h:80/x", "h"),
            ("https://h:443/x", "h"),
            ("http://h:443/x", "h:443"),
            ("http://[::1]:8000/x", "[::1]:8000"),
        ):
            made = ec2.signed_url(url, "arn:x", "PUT", "a", "s")
            self.assertEqual(host, parse.urlsplit(made).netloc, url)

    def test_no_time_in_it(self):
        made = ec2.signed_url(BASE, "arn:x", "PUT", "a", "s")
        self.assertNotIn("Timestamp", made)
        self.assertEqual(made, ec2.signed_url(BASE, "arn:x", "PUT", "a", "s"))

    def test_other_references(self):
        for text in ("arn:openstack:heat::t:stacks/a/b/c", "http://h/", ""):
            self.assertIsNone(ec2.access_key_of(text), text)
        self.assertEqual("", ec2.arn_of("http://h/x?AWSAccessKeyId=a"))
