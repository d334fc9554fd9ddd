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
"""Requests that nobody should send: never a 500, nothing stored, soon over."""

from __future__ import annotations

import json
import resource
import time

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st

from heat.db import models
from heat.engine.template import cfn, hot
from heat.tests import base, inprocess

SECONDS = 1.0
MEBIBYTES = 200

# -- bombs --------------------------------------------------------------------

HOT = {"heat_template_version": "2018-08-31"}


def value(content):
    return {"type": "OS::Heat::Value", "properties": {"value": content}}


def one(content, **sections):
    return HOT | {"resources": {"r": value(content)}} | sections


def laughs():
    """YAML of few bytes and billions of values."""
    lines = ["heat_template_version: 2018-08-31", "x0: &x0 [a, a, a, a, a]"]
    lines += [
        f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 12)
    ]
    return "\n".join(lines)


def deep(levels, inner="x"):
    return "[" * levels + inner + "]" * levels


def nested_call(name, levels, wrap):
    content = "x" * 8
    for _level in range(levels):
        content = {name: wrap(content)}
    return content


def growth(name, levels):
    """Each level makes the text ten times longer."""
    content = "X"
    for _level in range(levels):
        content = {name: {"template": "X" * 10, "params": {"X": content}}}
    return content


def recursion():
    files = {
        "a.yaml": "heat_template_version: 2018-08-31\n"
        "resources: {b: {type: b.yaml}}",
        "b.yaml": "heat_template_version: 2018-08-31\n"
        "resources: {a: {type: a.yaml}}",
    }
    return {
        "template": HOT | {"resources": {"a": {"type": "a.yaml"}}},
        "files": files,
    }


def breadth():
    """Six levels of templates, twenty of the next in each."""
    files = {
        f"t{n}.yaml": "heat_template_version: 2018-08-31\nresources:\n"
        + "".join(f"  r{k}: {{type: t{n + 1}.yaml}}\n" for k in range(20))
        for n in range(5)
    }
    files["t5.yaml"] = "heat_template_version: 2018-08-31\n"
    return {
        "template": HOT | {"resources": {"a": {"type": "t0.yaml"}}},
        "files": files,
    }


def pattern(text, given):
    return {
        "template": HOT
        | {
            "parameters": {
                "p": {
                    "type": "string",
                    "constraints": [{"allowed_pattern": text}],
                }
            }
        },
        "parameters": {"p": given},
    }


def yaql(expression, data="x"):
    call = {"yaql": {"expression": expression, "data": data}}
    return {"template": one(call)}


def conditions_chain(count):
    made = {"c0": True}
    for n in range(1, count):
        made[f"c{n}"] = {"and": [f"c{n - 1}", f"c{n - 1}"]}
    return made


BOMBS = {
    "aliases": {"template": laughs()},
    "aliases of texts": {
        "template": "heat_template_version: 2018-08-31\na: &a "
        + "x" * 100_000
        + "\nb: ["
        + ", ".join(["*a"] * 10_000)
        + "]"
    },
    "depth of JSON": {"template": deep(50_000)},
    "depth of YAML": {"template": "a: " + deep(50_000)},
    "depth in the body": {
        "template": one(json.loads(deep(300, '"x"'))),
    },
    "environment": {"template": HOT, "environment": laughs()},
    "repeat": {
        "template": one(
            {
                "repeat": {
                    "template": "abcdefgh",
                    "for_each": {key: list(range(100)) for key in "abcdefgh"},
                }
            }
        )
    },
    "repeat in repeat": {
        "template": one(
            nested_call(
                "repeat",
                12,
                lambda inner: {
                    "template": inner,
                    "for_each": {"x": list(range(50))},
                },
            )
        )
    },
    "list_join": {
        "template": one({"list_join": ["x" * 60_000, ["a"] * 60_000]})
    },
    "str_replace": {"template": one(growth("str_replace", 12))},
    "str_replace_strict": {"template": one(growth("str_replace_strict", 12))},
    "digest": {
        "template": one({"digest": ["sha512", growth("str_replace", 12)]})
    },
    "recursion": recursion(),
    "breadth": breadth(),
    "pattern": pattern("(a|a)*$", "a" * 60 + "b"),
    "pattern, long": pattern("(a|ab|b|ba)*c", "ab" * 5_000),
    "yaql, endless": yaql("range(1000000000).toList()"),
    "yaql, generator": yaql("generate(1, true, $ + 1).len()"),
    "yaql, product": yaql("range(100).join(range(100), true, [$1, $2]).len()"),
    "yaql, number": yaql("pow(9, pow(9, 9))"),
    "yaql, text": yaql("'x' * 1000000000"),
    "yaql, recursion": yaql("def(f, f($) + f($)) -> f(1)"),
    "yaql, pattern": yaql(
        "$.data.where($ =~ '(a|a)*$')", ["a" * 60 + "b"] * 50
    ),
    "yaql, parser": yaql("(" * 5_000 + "1" + ")" * 5_000),
    "circle": {
        "template": HOT
        | {
            "resources": {
                f"r{n}": {
                    "type": "OS::Heat::None",
                    "depends_on": f"r{(n + 1) % 900}",
                }
                for n in range(900)
            }
        }
    },
    "condition of itself": {
        "template": HOT
        | {"conditions": {"a": {"not": "b"}, "b": {"not": "a"}}}
    },
    "too many resources": {
        "template": HOT
        | {
            "resources": {
                f"r{n}": {"type": "OS::Heat::None"} for n in range(20_000)
            }
        }
    },
    "registry of circles": {
        "template": HOT | {"resources": {"r": {"type": "A"}}},
        "environment": {"resource_registry": {"A": "B", "B": "A"}},
    },
    "huge number": {
        "template": HOT | {"parameters": {"n": {"type": "number"}}},
        "parameters": {"n": "9" * 100_000},
    },
}
#: These are fine, only large.
HARMLESS = {
    "many conditions": {
        "template": HOT | {"conditions": conditions_chain(900)}
    },
}


class HostileTest(base.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = inprocess.Service()
        cls.service.setUp()
        cls.addClassCleanup(cls.service.cleanUp)

    def stored(self):
        def work(conn):
            return [
                conn.execute(
                    sa.select(sa.func.count()).select_from(table)
                ).scalar_one()
                for table in (models.raw_template, models.stack)
            ]

        return self.service.db.read(work)

    def send(self, path, body):
        before = self.stored()
        answer = self.service.call("POST", path, body)
        self.assertNotEqual(500, answer.status_code, f"{body} {answer.text}")
        self.assertLess(answer.status_code, 502)
        if answer.status_code >= 400:
            self.assertNotIn("Traceback", answer.text)
            self.assertEqual(before, self.stored())
        return answer


class BombTest(HostileTest):
    def memory(self):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    def test_bombs(self):
        # What is loaded once is not what is measured.
        self.send("/validate", yaql("1"))
        for name, body in BOMBS.items():
            with self.subTest(bomb=name):
                memory = self.memory()
                began = time.process_time()
                answer = self.send("/stacks", {"stack_name": "b", **body})
                self.assertLess(time.process_time() - began, SECONDS)
                self.assertLess(self.memory() - memory, MEBIBYTES)
                self.assertEqual(400, answer.status_code, answer.text[:300])

    def test_a_deployment_without_a_server(self):
        config = self.service.call("POST", "/software_configs", {"name": "c"})
        made = {"config_id": config.json["software_config"]["id"]}
        for body in (
            made,
            {**made, "server_id": None},
            {**made, "server_id": ""},
            {**made, "server_id": 7},
            {**made, "server_id": "s" * 300},
            {},
        ):
            with self.subTest(body=body):
                answer = self.send("/software_deployments", body)
                self.assertEqual(400, answer.status_code, answer.text)
                self.assertIn("server_id", answer.text)

    def test_a_filter_of_types(self):
        for text in (
            "(O|O|:|:)*$$(a",
            "(.*)*(.*)*(.*)*(.*)*(.*)*x$",
            "(",
            "[",
        ):
            began = time.process_time()
            answer = self.service.call(
                "GET", "/resource_types?name=" + text.replace("+", "%2B")
            )
            self.assertIn(answer.status_code, (200, 400))
            self.assertLess(time.process_time() - began, SECONDS)

    def test_harmless(self):
        for name, body in HARMLESS.items():
            with self.subTest(name=name):
                answer = self.send("/validate", body)
                self.assertEqual(200, answer.status_code, answer.text[:300])


# -- fuzzing ------------------------------------------------------------------

_FUNCTIONS = sorted(
    {
        name
        for version in hot.VERSIONS.values()
        for name in (*version.functions, *version.condition_functions)
    }
    | {
        name
        for cls in cfn.CLASSES.values()
        for name in (*cls.spec.functions, *cls.spec.condition_functions)
    }
)
_KEYS = (
    *("type", "properties", "metadata", "depends_on", "deletion_policy"),
    *("update_policy", "description", "external_id", "condition", "value"),
    *("default", "hidden", "label", "constraints", "schema", "immutable"),
    *("tags", "length", "range", "min", "max", "allowed_values", "modulo"),
    *("allowed_pattern", "custom_constraint", "step", "offset", "parameters"),
    *("Type", "Properties", "Value", "Condition", "Default", "NoEcho"),
    *("template", "params", "for_each", "expression", "data", "keys"),
)
_WORDS = (
    *("r", "p", "c", "value", "OS::Heat::Value", "OS::Heat::None", "a.yaml"),
    *("OS::Nova::Server", "OS::Heat::RandomString", "string", "number"),
    *("json", "comma_delimited_list", "String", "OS::stack_id", "2018-08-31"),
    *("2012-12-12", "", "0", "-1", "(", "$", "x" * 40, "\u2603", "\x00"),
)
words = st.sampled_from(_WORDS) | st.text(max_size=5)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
)
names = st.sampled_from((*_FUNCTIONS, *_KEYS)) | words
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(names, inner, max_size=4)
        | st.builds(
            lambda name, args: {name: args}, st.sampled_from(_FUNCTIONS), inner
        )
    ),
    max_leaves=12,
)
entries = st.dictionaries(st.sampled_from("rpcz"), values, max_size=3)
definitions = st.dictionaries(
    st.sampled_from("rpcz"),
    st.fixed_dictionaries(
        {},
        optional={key: values for key in _KEYS[:10]},
    ).map(lambda made: {"type": "OS::Heat::Value", **made}),
    max_size=3,
)
hots = st.fixed_dictionaries(
    {"heat_template_version": st.sampled_from(sorted(hot.VERSIONS))},
    optional={
        "description": scalars,
        "parameters": entries | values,
        "parameter_groups": values,
        "resources": definitions | entries | values,
        "outputs": entries | values,
        "conditions": entries | values,
    },
)
cfns = st.fixed_dictionaries(
    {"HeatTemplateFormatVersion": st.just("2012-12-12")},
    optional={
        "Description": scalars,
        "Parameters": entries | values,
        "Mappings": entries | values,
        "Resources": entries | values,
        "Outputs": entries | values,
        "Conditions": entries | values,
    },
)
environments = st.fixed_dictionaries(
    {},
    optional={
        "parameters": entries | values,
        "parameter_defaults": entries | values,
        "resource_registry": st.dictionaries(words, values, max_size=3)
        | st.builds(lambda inner: {"resources": inner}, values),
        "encrypted_param_names": values,
        "event_sinks": values,
        "parameter_merge_strategies": entries | values,
        "strange": values,
    },
)
bodies = st.fixed_dictionaries(
    {"template": hots | cfns | values},
    optional={
        "environment": environments | values,
        "parameters": entries | values,
        "files": st.dictionaries(words, words, max_size=2) | values,
        "environment_files": st.lists(words, max_size=2) | values,
        "timeout_mins": scalars,
        "disable_rollback": scalars,
        "tags": values,
        "stack_name": words,
    },
)

FUZZ = hypothesis.settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=list(hypothesis.HealthCheck),
    database=None,
)


class FuzzTest(HostileTest):
    @FUZZ
    @hypothesis.given(bodies, st.sampled_from(("", "?show_nested=1")))
    def test_validate(self, body, query):
        self.send(f"/validate{query}", body)

    @FUZZ
    @hypothesis.given(hots | cfns, environments)
    @hypothesis.example(HOT, {"resource_registry": {"resources": True}})
    def test_validate_templates(self, template, environment):
        self.send(
            "/validate", {"template": template, "environment": environment}
        )

    @FUZZ
    @hypothesis.given(bodies)
    def test_preview(self, body):
        self.send("/stacks/preview", {"stack_name": "f", **body})

    @hypothesis.settings(FUZZ, max_examples=60)
    @hypothesis.given(bodies, st.integers())
    def test_create(self, body, number):
        self.send("/stacks", {**body, "stack_name": f"f{abs(number)}"[:200]})

    @FUZZ
    @hypothesis.given(
        st.binary(max_size=200) | st.text(max_size=100).map(str.encode)
    )
    def test_texts(self, text):
        body = {"template": text.decode("utf-8", "replace")}
        self.send("/validate", body)
        self.send(
            "/validate", {"template": HOT, "environment": body["template"]}
        )

    @FUZZ
    @hypothesis.given(
        st.dictionaries(
            st.sampled_from(
                (
                    "limit",
                    "marker",
                    "sort_keys",
                    "sort_dir",
                    "tags",
                    "id",
                    "name",
                    "status",
                    "with_count",
                    "nested_depth",
                    "filters",
                    "support_status",
                    "version",
                    "with_description",
                    "action",
                )
            ),
            words | st.integers().map(str),
            max_size=4,
        ),
        st.sampled_from(
            (
                "/stacks",
                "/stacks/detail",
                "/resource_types",
                "/services",
            )
        ),
    )
    def test_queries(self, query, path):
        answer = self.service.client.get(
            f"/v1/{self.service.project}{path}",
            query_string=query,
            environ_overrides={"REMOTE_ADDR": "127.0.0.1"},
        )
        self.assertLess(answer.status_code, 500, answer.text)
