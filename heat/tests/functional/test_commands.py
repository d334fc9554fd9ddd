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
"""Every command of the public clients, each with what it must print.

One story: the rows of a table run in their order, in a project of their own.
A command that the clients have and the table has not is a failure.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import pathlib
import shlex
import shutil
import tempfile
import time

import heatclient.v1.shell

from heat.tests.functional import (
    base,
    commands,
    deployment,
    test_snapshots_and_adoption,
)

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "description": "made by the matrix",
    "parameters": {"word": {"type": "string", "default": "x"}},
    "resources": {
        "one": {
            "type": "OS::Heat::TestResource",
            "metadata": {"some": "metadata"},
            "properties": {"value": {"get_param": "word"}},
        },
        "handle": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "TOKEN_SIGNAL"},
        },
    },
    "outputs": {
        "word": {
            "description": "told",
            "value": {"get_attr": ["one", "output"]},
        }
    },
}
FILES = {
    "t.yaml": TEMPLATE,
    "bad.yaml": {
        "heat_template_version": "2021-04-16",
        "resources": {
            "bad": {
                "type": "OS::Heat::TestResource",
                "properties": {"fail": True},
            }
        },
    },
    "slow.yaml": {
        "heat_template_version": "2021-04-16",
        "resources": {
            "slow": {
                "type": "OS::Heat::TestResource",
                # Its create only: nobody is to wait for its delete.
                "properties": {"action_wait_secs": {"create": 60}},
            }
        },
    },
    "env.yaml": {"parameters": {"word": "file"}},
    "hooks.yaml": {
        "resource_registry": {"resources": {"one": {"hooks": "pre-update"}}}
    },
    "config.sh": "#!/bin/sh\necho\n",
    "signal.json": {"status": "SUCCESS", "id": "1", "data": "d"},
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One command.

    :ivar words: what it prints must hold these
    :ivar keep: name under which what it prints (stripped) is remembered,
        for ``{name}`` in later rows
    :ivar until: repeated until it prints ``words``: what it shows takes time
    :ivar table: run once more as a table, and as JSON
    """

    command: str
    words: tuple[str, ...] = ()
    keep: str | None = None
    until: bool = False
    table: bool = False


def show(command: str, *words: str, until: bool = False) -> Row:
    return Row(command, words, until=until, table=True)


def value(command: str, keep: str) -> Row:
    return Row(f"{command} -f value", keep=keep)


OPENSTACK = (
    show("orchestration build info", "revision"),
    show("orchestration service list", "up"),
    show("orchestration resource type list", "OS::Heat::Value"),
    Row("orchestration resource type show OS::Heat::Value", ("properties",)),
    show("orchestration template version list", "2021-04-16"),
    show(
        "orchestration template function list "
        "heat_template_version.2021-04-16",
        "get_param",
    ),
    Row("orchestration template validate -t t.yaml", ("made by the matrix",)),
    Row("stack create -t t.yaml --dry-run s", ("INIT",)),
    Row("stack create -t t.yaml -e env.yaml --wait s", ("CREATE_COMPLETE",)),
    show("stack list", "CREATE_COMPLETE"),
    show("stack show s", "made by the matrix"),
    Row("stack template show s", ("heat_template_version",)),
    show("stack environment show s", "file"),
    Row("stack file list s", ("word",)),
    show("stack output list s", "told"),
    show("stack output show s word", "told"),
    Row("stack output show s --all", ("told",)),
    show("stack resource list s", "OS::Heat::TestResource"),
    show("stack resource show s one", "CREATE_COMPLETE"),
    Row("stack resource metadata s one", ("metadata",)),
    Row("stack resource signal s handle --data-file signal.json"),
    show("stack event list s", "CREATE_COMPLETE"),
    value("stack event list s --resource one --limit 1 -c id", "event"),
    show("stack event show s one {event}", "CREATE"),
    Row("stack update -t t.yaml --dry-run s", ("updated",)),
    Row("stack update --existing --parameter word=y --wait s", ("COMPLETE",)),
    Row("stack resource mark unhealthy s one because"),
    Row("stack check --wait s", ("CHECK_COMPLETE",)),
    Row("stack suspend --wait s", ("SUSPEND_COMPLETE",)),
    Row("stack resume --wait s", ("RESUME_COMPLETE",)),
    Row("stack snapshot create --name n s", ("n",)),
    show("stack list", "SNAPSHOT_COMPLETE", until=True),
    show("stack snapshot list s", "COMPLETE"),
    value("stack snapshot list s -c id", "snapshot"),
    Row("stack snapshot show s {snapshot}", ("COMPLETE",)),
    Row("stack snapshot restore s {snapshot}"),
    show("stack list", "RESTORE_COMPLETE", until=True),
    Row("stack snapshot delete -y s {snapshot}"),
    Row("stack create -t t.yaml -e hooks.yaml --wait h", ("COMPLETE",)),
    Row("stack update --existing --parameter word=z h"),
    Row("stack hook poll h", ("pre-update",), until=True),
    Row("stack hook clear h one --pre-update"),
    show("stack show h", "UPDATE_COMPLETE", until=True),
    Row("stack create -t bad.yaml f"),
    show("stack show f", "CREATE_FAILED", until=True),
    Row("stack failures list f", ("f.bad",)),
    Row("stack create -t t.yaml --wait c"),
    Row("stack update -t slow.yaml c"),
    Row("stack cancel --no-rollback c"),
    show("stack show c", "UPDATE_FAILED", until=True),
    Row("stack export s --output-file export.json"),
    Row("stack abandon s --output-file abandon.json"),
    Row("stack adopt --adopt-file abandon.json --wait a", ("COMPLETE",)),
    show("software config create --config-file config.sh --group script c"),
    value("software config list -c id", "config"),
    show("software config list", "script"),
    Row("software config show {config}", ("script",)),
    show(
        "software deployment create --config {config} --server {server} "
        "--action UPDATE --signal-transport NO_SIGNAL d"
    ),
    value("software deployment list -c id", "deployment"),
    show("software deployment list", "{deployment}"),
    show("software deployment show {deployment}", "UPDATE"),
    Row("software deployment output show {deployment} --all"),
    Row("software deployment metadata show {server}", ("script",)),
    Row("software deployment delete {deployment}"),
    Row("software config delete {config}"),
    Row("stack delete -y --wait a h f c"),
)

HEAT = (
    Row("build-info", ("revision",)),
    Row("service-list", ("up",)),
    Row("resource-type-list", ("OS::Heat::Value",)),
    Row("resource-type-show OS::Heat::Value", ("properties",)),
    Row("resource-type-template OS::Heat::Value", ("Value",)),
    Row("resource-template OS::Heat::Value", ("Value",)),
    Row("template-version-list", ("2021-04-16",)),
    Row(
        "template-function-list heat_template_version.2021-04-16",
        ("get_param",),
    ),
    Row("template-validate -f t.yaml", ("made by the matrix",)),
    Row("stack-preview -f t.yaml s", ("INIT",)),
    Row("stack-create -f t.yaml -e env.yaml s"),
    Row("stack-list", ("CREATE_COMPLETE",), until=True),
    Row("stack-show s", ("made by the matrix",)),
    Row("template-show s", ("heat_template_version",)),
    Row("output-list s", ("told",)),
    Row("output-show s word", ("file",)),
    Row("resource-list s", ("CREATE_COMPLETE",)),
    Row("resource-show s one", ("OS::Heat::TestResource",)),
    Row("resource-metadata s one", ("metadata",)),
    Row("resource-signal s handle -f signal.json"),
    Row("event-list s", ("CREATE_COMPLETE",)),
    Row("event-show s one {event}", ("CREATE",)),
    Row("event s one {event}", ("CREATE",)),
    Row("stack-update -x -P word=y s"),
    Row("stack-list", ("UPDATE_COMPLETE",), until=True),
    Row("resource-mark-unhealthy s one because"),
    Row("action-check s"),
    Row("stack-list", ("CHECK_COMPLETE",), until=True),
    Row("action-suspend s"),
    Row("stack-list", ("SUSPEND_COMPLETE",), until=True),
    Row("action-resume s"),
    Row("stack-list", ("RESUME_COMPLETE",), until=True),
    Row("stack-snapshot -n n s", ("n",)),
    Row("stack-list", ("SNAPSHOT_COMPLETE",), until=True),
    Row("snapshot-list s", ("COMPLETE",)),
    Row("snapshot-show s {snapshot}", ("COMPLETE",)),
    Row("stack-restore s {snapshot}"),
    Row("stack-list", ("RESTORE_COMPLETE",), until=True),
    Row("snapshot-delete -y s {snapshot}"),
    Row("stack-create -f t.yaml -e hooks.yaml h"),
    Row("stack-show h", ("CREATE_COMPLETE",), until=True),
    Row("stack-update -x -P word=z h"),
    Row("hook-poll h", ("pre-update",), until=True),
    Row("hook-clear --pre-update h one"),
    Row("stack-show h", ("UPDATE_COMPLETE",), until=True),
    Row("stack-update -f slow.yaml h"),
    Row("stack-cancel-update h"),
    Row("stack-show h", ("ROLLBACK_COMPLETE",), until=True),
    Row("stack-abandon -O abandon.json s"),
    Row("stack-adopt -a abandon.json a"),
    Row("stack-show a", ("ADOPT_COMPLETE",), until=True),
    Row("config-create -c config.sh -g script c", ("script",)),
    Row("config-list", ("script",)),
    Row("config-show {config}", ("script",)),
    Row(
        "deployment-create -c {config} -s {server} -a UPDATE -t NO_SIGNAL d",
        ("UPDATE",),
    ),
    Row("deployment-list", ("UPDATE",)),
    Row("deployment-show {deployment}", ("UPDATE",)),
    Row("deployment-output-show {deployment} --all"),
    Row("deployment-metadata-show {server}", ("script",)),
    Row("deployment-delete {deployment}"),
    Row("config-delete {config}"),
    Row("stack-delete -y a h"),
)
#: What the legacy shell can't print by itself: asked by the other program.
ASKED = {
    "event": "stack event list s --resource one --limit 1 -c id",
    "snapshot": "stack snapshot list s -c id",
    "config": "software config list -c id",
    "deployment": "software deployment list -c id",
}
SERVER = "5b1e7a52-9f1c-4f6e-8a35-2c1f6a0d7b11"


class MatrixTest(base.FunctionalTest):
    """The rows on heat-standalone."""

    @classmethod
    def make_deployment(cls) -> deployment.Deployment:
        return test_snapshots_and_adoption.Permitting()

    def user(self) -> dict[str, str]:
        """The environment that the commands are run with."""
        return self.openstack.env

    def legacy(self) -> tuple[str, ...]:
        """What the legacy shell needs beside that."""
        url = f"{self.url}/v1/{self.project.id}"
        return (
            "--os-no-client-auth",
            *("--heat-url", url, "--os-auth-token", "none"),
        )

    def setUp(self) -> None:
        super().setUp()
        self.kept = {"server": SERVER}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heat-matrix-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name, content in FILES.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.folder / name).write_text(text)
        here = pathlib.Path.cwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        root = str(pathlib.Path(base.__file__).parents[3])
        made = commands.Commands({**self.user(), "PYTHONPATH": root})
        self.run_command = made.__enter__()
        self.addCleanup(made.__exit__)

    def printed(self, program: str, row: Row, *more: str) -> str:
        """What a row prints, tried again until it has its words."""
        words = tuple(word.format(**self.kept) for word in row.words)
        command = shlex.split(row.command.format(**self.kept))
        if program == "heat":
            command = [*self.legacy(), *command]
        deadline = time.monotonic() + base.WAIT_SECONDS
        while True:
            text = self.run_command(program, *command, *more)
            missing = [word for word in words if word not in text]
            if not missing:
                return text
            if not row.until or time.monotonic() > deadline:
                raise AssertionError(
                    f"{program} {row.command}: no {missing} in {text[:3000]}"
                )
            time.sleep(0.3)

    def test_openstack(self):
        for row in OPENSTACK:
            text = self.printed("openstack", row)
            if row.keep:
                self.kept[row.keep] = text.strip().splitlines()[-1]
            if row.table and "create" not in row.command:
                as_json = self.printed("openstack", row, "-f", "json")
                json.loads(as_json[as_json.index(self._first(as_json)) :])

    @staticmethod
    def _first(text: str) -> str:
        """The mark with which the JSON in a text begins."""
        return min("[{", key=lambda mark: text.find(mark) % (len(text) + 1))

    def test_heat(self):
        for row in HEAT:
            for name, command in ASKED.items():
                if f"{{{name}}}" in row.command and name not in self.kept:
                    asked = self.run_command(
                        "openstack", *shlex.split(command), "-f", "value"
                    )
                    self.kept[name] = asked.strip().splitlines()[-1]
            self.printed("heat", row)

    def test_no_gap(self):
        points = importlib.metadata.entry_points(
            group="openstack.orchestration.v1"
        )
        there = {
            point.name.replace("_", " ")
            for point in points
            if point.value.startswith("heatclient.")
        }
        self.assertGreater(len(there), 40)
        told = {
            name
            for name in there
            if any(row.command.startswith(f"{name} ") or row.command == name
                   for row in OPENSTACK)
        }  # fmt: skip
        self.assertEqual(set(), there - told)
        verbs = {
            name.removeprefix("do_").replace("_", "-")
            for name in dir(heatclient.v1.shell)
            if name.startswith("do_")
        }
        self.assertEqual(
            set(), verbs - {row.command.split()[0] for row in HEAT}
        )
