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
"""The arithmetic of groups, on any groups there may be."""

from __future__ import annotations

import itertools

import hypothesis
from hypothesis import strategies as st

from heat.scaling import rolling_update, scalingutil, template
from heat.tests import base

names = st.sampled_from([str(number) for number in range(8)])
groups = st.dictionaries(names, st.sampled_from("ab"), max_size=8)
paces = st.builds(
    rolling_update.Pace,
    st.one_of(st.none(), st.integers(1, 4)),
    st.integers(0, 9),
)


def spares():
    return ((f"s{number}", "b") for number in itertools.count())


def walk(current, goal, pace):
    """Every state on the way to the goal, the first one included."""
    states = [current]
    while True:
        made = rolling_update.step(states[-1], goal, pace, spares())
        if made is None:
            return states
        states.append(made)
        assert len(states) < 50, states


class RollingUpdateTest(base.TestCase):
    @hypothesis.given(groups, groups, paces)
    def test_the_goal_is_reached(self, current, goal, pace):
        self.assertEqual(goal, walk(current, goal, pace)[-1])

    @hypothesis.given(groups, groups, paces)
    def test_no_step_is_too_large(self, current, goal, pace):
        hypothesis.assume(pace.size is not None)
        for old, new in itertools.pairwise(walk(current, goal, pace)):
            touched = [n for n in new if old.get(n) != new[n]]
            self.assertLessEqual(len(touched), pace.size)

    @hypothesis.given(groups, groups, paces)
    def test_enough_stay_in_service(self, current, goal, pace):
        least = min(pace.min_in_service, len(goal))
        for old, new in itertools.pairwise(walk(current, goal, pace)):
            changed = [n for n in new if n in old and old[n] != new[n]]
            if changed:
                serving = [n for n in new if n in old and old[n] == new[n]]
                self.assertGreaterEqual(len(serving), least)

    @hypothesis.given(groups, groups)
    def test_without_a_pace_it_is_one_step(self, current, goal):
        states = walk(current, goal, rolling_update.UNLIMITED)
        self.assertLessEqual(len(states), 2)

    @hypothesis.given(groups, paces)
    def test_steps_are_counted(self, goal, pace):
        self.assertEqual(
            len(walk({}, goal, pace)) - 1,
            rolling_update.batches(len(goal), pace),
        )


class TemplateTest(base.TestCase):
    def test_names(self):
        found = itertools.islice(template.member_names({"1", "3"}), 4)
        self.assertEqual(["0", "2", "4", "5"], list(found))

    def test_the_number_stands_anywhere_in_a_text(self):
        given = {"a": ["x-%i%-%i%", 7, None], "b": {"c": "%i%"}}
        self.assertEqual(
            {"a": ["x-4-4", 7, None], "b": {"c": "4"}},
            template.replace_index(given, "%i%", "4"),
        )

    def test_template(self):
        one, every = template.Asked("1", ("a",)), template.Asked("", ("a",))
        gone = template.Asked("9", ("a",))
        made = template.make_template(
            {"0": {"type": "T"}, "1": {"type": "T"}}, [one, every, gone]
        )
        self.assertEqual(
            {
                template.REFERENCES: {
                    "0": {"get_resource": "0"},
                    "1": {"get_resource": "1"},
                },
                one.output: {"get_attr": ["1", "a"]},
                every.output: {
                    "0": {"get_attr": ["0", "a"]},
                    "1": {"get_attr": ["1", "a"]},
                },
            },
            {key: each["value"] for key, each in made["outputs"].items()},
        )


class CapacityTest(base.TestCase):
    def test_adjustments(self):
        change, exact, percent = (
            "change_in_capacity",
            "exact_capacity",
            "percent_change_in_capacity",
        )
        for current, amount, kind, least, wanted in (
            (3, 1, change, None, 4),
            (3, -2, "ChangeInCapacity", None, 1),
            (3, 100, change, None, 10),
            (3, -100, change, None, 1),
            (3, 5, exact, None, 5),
            (3, 0, "ExactCapacity", None, 1),
            (4, 50, percent, None, 6),
            (4, -50, "PercentChangeInCapacity", None, 2),
            (3, 10, percent, None, 4),
            (3, -10, percent, None, 2),
            (5, 35, percent, None, 6),
            (4, 10, percent, 3, 7),
            (4, 0, percent, 3, 4),
        ):
            with self.subTest(current=current, amount=amount, kind=kind):
                self.assertEqual(
                    wanted,
                    scalingutil.calculate_new_capacity(
                        current, amount, kind, least, 1, 10
                    ),
                )
