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
"""Versions of HOT, and how sections are read."""

from __future__ import annotations

import datetime

import hypothesis
from hypothesis import strategies as st

from heat.common import exception, identifier
from heat.engine import definition
from heat.engine.environment import environment
from heat.engine.hot import template as public
from heat.engine.template import base as templates
from heat.engine.template import hot, source
from heat.tests import base
from heat.tests.unit.engine.template import stacks

_BASE = {
    "get_attr",
    "get_file",
    "get_param",
    "get_resource",
    "list_join",
    "resource_facade",
    "str_replace",
}
_CFN = {"Ref"} | {
    f"Fn::{name}"
    for name in (
        "GetAZs",
        "Select",
        "Join",
        "Split",
        "Replace",
        "Base64",
        "MemberListToMap",
        "ResourceFacade",
    )
}
_2015_10 = _BASE | {"digest", "repeat", "str_split"}
_NEWTON = _2015_10 | {"map_merge", "yaql", "map_replace", "if"}
_OCATA = _NEWTON | {"filter", "str_replace_strict"}
_PIKE = _OCATA | {
    "contains",
    "list_concat",
    "list_concat_unique",
    "make_url",
    "str_replace_vstrict",
}
_CONDITIONS = {"equals", "not", "and", "or", "get_param"}

# version -> functions, condition functions
FUNCTIONS = {
    "2013-05-23": (_BASE | _CFN, set()),
    "2014-10-16": (_BASE | {"Fn::Select"}, set()),
    "2015-04-30": (_BASE | {"Fn::Select", "digest", "repeat"}, set()),
    "2015-10-15": (_2015_10, set()),
    "2016-04-08": (_2015_10 | {"map_merge"}, set()),
    "2016-10-14": (_NEWTON, _CONDITIONS),
    "2017-02-24": (_OCATA, _CONDITIONS),
    "2017-09-01": (_PIKE, _CONDITIONS | {"contains", "yaql"}),
    "2018-03-02": (_PIKE, _CONDITIONS | {"contains", "yaql"}),
    "2018-08-31": (_PIKE, _CONDITIONS | {"contains", "yaql"}),
    "2021-04-16": (_PIKE, _CONDITIONS | {"contains", "yaql"}),
}
ALIASES = {
    "newton": "2016-10-14",
    "ocata": "2017-02-24",
    "pike": "2017-09-01",
    "queens": "2018-03-02",
    "rocky": "2018-08-31",
    "wallaby": "2021-04-16",
}


class VersionTest(base.TestCase):
    def test_functions(self):
        self.assertEqual(list(FUNCTIONS), list(hot.VERSIONS))
        for name, (functions, conditions) in FUNCTIONS.items():
            with self.subTest(version=name):
                version = hot.VERSIONS[name]
                self.assertEqual(functions, set(version.functions))
                self.assertEqual(conditions, set(version.condition_functions))

    def test_words_for_versions(self):
        self.assertEqual(ALIASES, dict(hot.ALIASES))
        words: dict = {name: name for name in FUNCTIONS} | ALIASES
        words[datetime.date(2015, 4, 30)] = "2015-04-30"
        for word, version in words.items():
            made = templates.load({"heat_template_version": word})
            self.assertEqual(version, made.version)

    def test_version_as_yaml_date(self):
        body = source.parse("heat_template_version: 2015-04-30")
        self.assertEqual("2015-04-30", templates.load(body).version)

    def test_unknown_versions(self):
        for body in (
            {},
            {"resources": {}},
            {"heat_template_version": "2013-05-24"},
            {"heat_template_version": None},
            {"heat_template_version": []},
            {
                "heat_template_version": "2013-05-23",
                "AWSTemplateFormatVersion": "2010-09-09",
            },
        ):
            with self.subTest(body=body):
                self.assertRaises(
                    exception.InvalidTemplateVersion, templates.load, body
                )
        exc = self.assertRaises(
            exception.InvalidTemplateVersion,
            templates.load,
            {"heat_template_version": "melt"},
        )
        self.assertIn("melt", str(exc))
        self.assertIn("2016-10-14, newton", str(exc))

    def test_public_names(self):
        self.assertIs(
            public.HOTemplate20161014,
            type(templates.load({"heat_template_version": "newton"})),
        )


# version, text, part of the message
ERRORS = (
    (stacks.NEWEST, "Resources: {}", "section is invalid: Resources"),
    ("2016-04-08", "conditions: {}", "section is invalid: conditions"),
    (stacks.NEWEST, "resources: []", "resources: "),
    (stacks.NEWEST, "parameters: x", "parameters: "),
    (stacks.NEWEST, "outputs: 5", "outputs: "),
    (stacks.NEWEST, "conditions: [a]", "conditions: "),
    (stacks.NEWEST, "parameter_groups: {}", "parameter_groups: "),
    (stacks.NEWEST, "resources: {a: }", "resources.a: "),
    (stacks.NEWEST, "resources: {a: T}", "resources.a: "),
    (stacks.NEWEST, "resources: {a: {}}", 'resources.a: The key "type"'),
    (stacks.NEWEST, "resources: {a: {type: 5}}", "resources.a.type: "),
    (stacks.NEWEST, "resources: {a: {type: [T]}}", "resources.a.type: "),
    (stacks.NEWEST, "resources: {a: {Type: T}}", "resources.a.Type: "),
    (
        "2016-04-08",
        "resources: {a: {type: T, external_id: x}}",
        "resources.a.external_id: ",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, properties: []}}",
        "resources.a.properties: Must be a map",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, metadata: x}}",
        "resources.a.metadata: Must be a map",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, depends_on: {}}}",
        "resources.a.depends_on: Must be a string or a list",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, depends_on: [5]}}",
        "resources.a.depends_on",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, depends_on: b}}",
        '"b" (in resources.a.depends_on)',
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, properties: {x: {get_attr: [b, c]}}}}",
        '"b" (in resources.a.properties.x.get_attr)',
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, deletion_policy: keep}}",
        "resources.a.deletion_policy: ",
    ),
    (
        "2016-04-08",
        "resources: {a: {type: T, deletion_policy: delete}}",
        "resources.a.deletion_policy: ",
    ),
    (
        stacks.NEWEST,
        "resources: {a: {type: T, condition: nobody}}",
        'resources.a.condition: Invalid condition "nobody"',
    ),
    (stacks.NEWEST, "resources: {a/b: {type: T}}", "resources.a/b: "),
    (stacks.NEWEST, 'resources: {"": {type: T}}', "resources"),
    (stacks.NEWEST, "resources: {%s: {type: T}}" % ("a" * 256), "255"),
    (stacks.NEWEST, 'resources: {"a\\u0001": {type: T}}', "printable"),
    (stacks.NEWEST, "outputs: {o: 5}", "outputs.o: "),
    (stacks.NEWEST, "outputs: {o: {}}", 'outputs.o: The key "value"'),
    (stacks.NEWEST, "outputs: {o: {value: 1, x: 1}}", "outputs.o.x: "),
    ("2016-04-08", "outputs: {o: {value: 1, condition: true}}", "condition"),
    (
        stacks.NEWEST,
        "outputs: {o: {value: {get_resource: b}}}",
        '"b" (in outputs.o.value.get_resource)',
    ),
    (
        stacks.NEWEST,
        "conditions: {a: b, b: {not: a}}",
        "conditions.a refers to itself",
    ),
    (stacks.NEWEST, "conditions: {a: {get_attr: [x, y]}}", "get_attr"),
    (stacks.NEWEST, "conditions: {a: {b: c}}", "conditions.a: "),
    (stacks.NEWEST, "conditions: {a: {not: c}}", "conditions.a.not"),
    (stacks.NEWEST, "parameters: {p: {}}", 'parameters.p: The key "type"'),
    (stacks.NEWEST, "parameters: {p: x}", "parameters.p: "),
    (stacks.NEWEST, "parameters: {p: {type: text}}", "parameters.p.type: "),
    (stacks.NEWEST, "parameters: {p: {type: [a]}}", "parameters.p.type: "),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, dflt: 1}}",
        "parameters.p.dflt: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, default: x, tags: 'a, b'}}",
        "parameters.p.tags: Tags property should be a list for parameter: p",
    ),
    (
        "2017-09-01",
        "parameters: {p: {type: string, tags: [a]}}",
        "parameters.p.tags: ",
    ),
    (
        "2016-10-14",
        "parameters: {p: {type: number, constraints: "
        "[{modulo: {step: 2, offset: 0}}]}}",
        "parameters.p.constraints[0].modulo: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, constraints: {length: 5}}}",
        "parameters.p.constraints: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, constraints: [{length: 5}]}}",
        "parameters.p.constraints[0].length: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, constraints: [{description: x}]}}",
        "parameters.p.constraints[0]: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, constraints: "
        "[{allowed_pattern: '('}]}}",
        "parameters.p.constraints[0].allowed_pattern: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, default: a, constraints: "
        "[{range: {min: 1}}]}}",
        "parameters.p: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: number, default: x}}",
        "parameters.p: Invalid default",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: number, default: 5, constraints: "
        "[{range: {max: 4}}]}}",
        "parameters.p: Invalid default",
    ),
    (
        stacks.NEWEST,
        "parameters: {p: {type: string, hidden: maybe}}",
        "parameters.p.hidden: ",
    ),
    (
        stacks.NEWEST,
        "parameters: {'OS::stack_id': {type: string}}",
        "pseudo parameter",
    ),
    (
        stacks.NEWEST,
        "parameter_groups: [{label: a, parameters: [p]}]",
        "Parameter Groups error: parameter_groups[0].parameters: ",
    ),
    (stacks.NEWEST, "parameter_groups: [{a: b}]", "parameter_groups[0].a: "),
    (stacks.NEWEST, "parameter_groups: [a]", "parameter_groups[0]: "),
    (
        stacks.NEWEST,
        "parameter_groups: [{parameters: [p]}, {parameters: [p]}]\n"
        "parameters: {p: {type: string, default: a}}",
        "one group only",
    ),
)


class ErrorTest(base.TestCase):
    """Errors are of class 400, name the place, and what is known."""

    def test_table(self):
        for version, text, part in ERRORS:
            with self.subTest(version=version, text=text[:60]):
                try:
                    made = stacks.stack(text, version)
                    made.validate()
                    made.t.check_declarations()
                except (
                    exception.Invalid,
                    exception.StackValidationFailed,
                ) as exc:
                    self.assertIn(part, str(exc))
                else:
                    self.fail("nothing was wrong")


class SectionTest(base.TestCase):
    def test_empty_sections(self):
        made = stacks.stack("resources:\noutputs:\nparameters:\nconditions:")
        made.validate()
        self.assertEqual({}, made.resource_definitions)
        self.assertEqual({}, made.outputs)
        self.assertEqual("No description", made.t.description)

    def test_sections_of_the_template(self):
        made = stacks.stack("description: x\nresources: {a: {type: T}}").t
        self.assertEqual({"a": {"type": "T"}}, made["resources"])
        self.assertIn("outputs", made)
        self.assertIsNone(made.get("Resources"))
        self.assertEqual("x", made.description)

    def test_groups(self):
        made = stacks.stack(
            "parameter_groups: [{label: a, parameters: [p]}]\n"
            "parameters: {p: {type: string, default: a}}"
        )
        self.assertEqual(
            [{"label": "a", "parameters": ["p"]}], made.t.parameter_groups()
        )

    def test_conditions(self):
        text = """
parameters: {env: {type: string}}
conditions:
  prod: {equals: [{get_param: env}, prod]}
  not_prod: {not: prod}
  both: {and: [prod, not_prod]}
  either: {or: [prod, not_prod]}
resources:
  a: {type: T, condition: prod}
  b: {type: T, condition: not_prod}
  c: {type: T, condition: both}
  d: {type: T, condition: either, depends_on: [a, b]}
  e: {type: T, condition: {not: {equals: [{get_param: env}, x]}}}
outputs:
  o: {value: {if: [prod, 1, 2]}}
  p: {value: 1, condition: prod, description: text}
"""
        for env, names, values in (
            ("prod", "ade", (1, 1)),
            ("test", "bde", (2, None)),
            ("x", "bd", (2, None)),
        ):
            made = stacks.stack(text, params={"env": env})
            made.validate()
            self.assertEqual(list(names), list(made.resource_definitions))
            self.assertEqual(frozenset(names[0]), made.dependencies()["d"])
            self.assertEqual(
                values,
                tuple(out.get_value() for out in made.outputs.values()),
            )
            self.assertEqual("text", made.outputs["p"].description())

    def test_conditions_without_values_are_checked_all_the_same(self):
        made = stacks.stack(
            "parameters: {p: {type: boolean}}\n"
            "conditions: {a: {get_param: p}, b: {not: a}}",
            strict_validate=False,
        )
        made.validate()


_words = st.sampled_from(
    [
        "a",
        "b",
        "T",
        "p",
        "type",
        "properties",
        "value",
        "depends_on",
        "condition",
        "default",
        "string",
        "json",
        "constraints",
        "template",
        "params",
        "for_each",
        "data",
        "expression",
        *hot.VERSIONS[stacks.NEWEST].functions,
        *hot.VERSIONS[stacks.NEWEST].condition_functions,
    ]
)
_snippet = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | _words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_words, inner, max_size=3)
        | st.dictionaries(_words, inner, min_size=1, max_size=1)
    ),
    max_leaves=25,
)
_definition = st.fixed_dictionaries(
    {"type": st.just("T")},
    optional={
        "properties": st.dictionaries(_words, _snippet, max_size=3),
        "condition": _snippet,
        "depends_on": _snippet,
        "metadata": _snippet,
    },
)
_body = st.fixed_dictionaries(
    {},
    optional={
        "parameters": st.just({"p": {"type": "json", "default": {"a": [1]}}})
        | st.dictionaries(_words, _snippet, max_size=2),
        "resources": st.dictionaries(
            st.sampled_from("ab"), _definition | _snippet, max_size=2
        ),
        "conditions": st.dictionaries(
            st.sampled_from("ab"), _snippet, max_size=2
        ),
        "outputs": st.dictionaries(
            st.sampled_from("ab"),
            st.fixed_dictionaries({"value": _snippet}) | _snippet,
            max_size=2,
        ),
        "parameter_groups": _snippet,
    },
)


class FuzzTest(base.TestCase):
    """Whatever is in a template: it works, or the error is of class 400."""

    EXPECTED = (
        ValueError,
        exception.Invalid,
        exception.StackValidationFailed,
    )

    @hypothesis.settings(max_examples=400)
    @hypothesis.given(_body, st.sampled_from(list(hot.VERSIONS)))
    def test_bodies(self, body, version):
        try:
            made = definition.StackDefinition(
                identifier.HeatIdentifier("p", "s", None),
                templates.load({"heat_template_version": version, **body}),
                environment.Environment(),
            )
            made.validate()
            made.t.parameter_groups()
            list(made.attribute_references())
            for defn in made.resource_definitions.values():
                defn.freeze().render_hot()
            for out in made.outputs.values():
                out.get_value()
        except self.EXPECTED:
            pass
        made = None

    def test_deepest_nesting(self):
        for name, wrap in (
            ("list_join", lambda s: {"list_join": [",", [s]]}),
            ("if", lambda s: {"if": [True, s]}),
            ("map_merge", lambda s: {"map_merge": [{"a": s}]}),
        ):
            snippet: object = "x"
            for _level in range(30):
                snippet = wrap(snippet)
            with self.subTest(name=name):
                stacks.value(snippet)
