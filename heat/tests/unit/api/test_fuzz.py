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

"""Whatever is sent, the answer is an answer and never a 500."""

from __future__ import annotations

import json

import hypothesis
from hypothesis import strategies as st

from heat.api import routes
from heat.tests.unit.api import client, test_dispatch

KEYS = st.sampled_from(
    "stack_name template template_url parameters environment files tags "
    "environment_files files_container timeout_mins disable_rollback existing "
    "adopt_stack_data clear_parameters converge suspend lock level reason "
    "expires_in mark_unhealthy resource_status_reason name config inputs "
    "outputs options server_id config_id input_values output_values action "
    "status status_reason environment_files_remove x".split()
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.sampled_from(
        ["true", "a,b", "{}", "- a", "a: 1", "60", "1a", "\ud800"]
    ),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=8,
)
BODIES = st.one_of(
    st.dictionaries(KEYS, VALUES, max_size=5).map(json.dumps),
    st.fixed_dictionaries(
        {"stack_name": st.just("a"), "template": VALUES},
        optional={
            "environment": VALUES,
            "parameters": VALUES,
            "tags": VALUES,
            "adopt_stack_data": VALUES,
        },
    ).map(json.dumps),
    VALUES.map(json.dumps),
    st.binary(max_size=20),
)
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(
            "limit marker sort_keys sort_dir tags show_nested name status x "
            "with_detail nested_depth template_type ignore_errors".split()
        ),
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
            st.sampled_from(["1", "true", "asc", "stack_name", ""]),
        ),
    ),
    max_size=3,
)
WRITES = [
    (path, method)
    for path, methods in routes.ROUTES.items()
    for method, entry in methods.items()
    if entry.body is not None
]
READS = [path for path, m in routes.ROUTES.items() if "GET" in m]
SETTINGS = hypothesis.settings(max_examples=150)


class FuzzTest(client.ApiTestCase):
    def check(self, response):
        self.assertIn(response.status_code // 100, (2, 3, 4), response.text)
        if response.status_code >= 400:
            self.assertIsNone(response.get_json()["error"]["traceback"])

    @SETTINGS
    @hypothesis.given(st.sampled_from(WRITES), BODIES)
    def test_bodies(self, write, body):
        path, method = write
        data = body if isinstance(body, bytes) else body.encode()
        self.check(self.request(method, test_dispatch.url_of(path), data=data))

    @SETTINGS
    @hypothesis.given(st.sampled_from(READS), QUERIES)
    def test_queries(self, path, query):
        self.check(self.get(test_dispatch.url_of(path), query_string=query))

    @SETTINGS
    @hypothesis.given(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    )
    def test_paths(self, tail):
        self.check(self.get(f"{client.ROOT}/stacks/{tail}"))
