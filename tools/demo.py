#!/usr/bin/env python3
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

"""A stack's whole life, through the real ``openstack`` client.

Starts heat-standalone on a free port with a folder of its own, says what it
does and which command it types, checks that what it says is true (exit code 1
if not), and removes everything again. Run it with ``make demo``.
"""

from __future__ import annotations

import json
import pathlib
import shlex
import sys
import tempfile
import textwrap
import time
from typing import Any

from heat.tests.functional import base, deployment

PROJECT = "demo"
TEMPLATE = """\
heat_template_version: 2021-04-16

description: A password, a sentence that holds it, and a slow colleague.

parameters:
  length:
    type: number
    default: 12
    constraints:
      - range: {min: 8, max: 64}
  greeting:
    type: string
  broken:
    type: boolean
    default: false

resources:
  password:
    type: OS::Heat::RandomString
    properties:
      length: {get_param: length}

  sentence:
    type: OS::Heat::Value
    properties:
      value:
        str_replace:
          template: HELLO, the password is SECRET.
          params:
            HELLO: {get_param: greeting}
            SECRET: {get_attr: [password, value]}

  colleague:
    type: OS::Heat::TestResource
    depends_on: sentence
    properties:
      value: {get_param: greeting}
      fail: {get_param: broken}
      wait_secs: 1

outputs:
  password:
    description: What was made up
    value: {get_attr: [password, value]}
  sentence:
    description: What it is good for
    value: {get_attr: [sentence, value]}
"""


class Untrue(Exception):
    """The demonstration said something that is not so."""


class Demo:
    """Says, types, and checks.

    :param service: what to talk to, already started
    :param file: where the template is
    """

    def __init__(self, service: deployment.Deployment, file: str) -> None:
        self.client = base.OpenStack(service.url, PROJECT)
        self.file = file
        self.step = 0

    def say(self, text: str) -> None:
        self.step += 1
        print(f"\n{self.step}. " + textwrap.fill(text, 75), flush=True)

    def type(self, *args: object) -> Any:
        """Show a command, run it, show its answer; give it as data."""
        words = [str(arg) for arg in args]
        print(f"   $ openstack {shlex.join(words)}", flush=True)
        answer = self.client(*words)
        self.show(answer)
        return answer

    def show(self, answer: Any) -> None:
        rows = answer if isinstance(answer, list) else [answer]
        for row in rows:
            text = json.dumps(row, ensure_ascii=False)
            print("     " + textwrap.shorten(text, 170, placeholder=" ..."))

    def check(self, true: bool, claim: str) -> None:
        if not true:
            raise Untrue(claim)
        print(f"   -> {claim}", flush=True)

    def resources(self) -> dict[str, str]:
        rows = self.type("stack", "resource", "list", "mine")
        return {r["resource_name"]: r["physical_resource_id"] for r in rows}

    def output(self, key: str) -> str:
        answer = self.client("stack", "output", "show", "mine", key)
        return str(answer["output_value"])

    def run(self) -> None:
        self.create()
        self.look()
        before = self.update_in_place()
        self.update_with_replacement(before)
        self.failing_update()
        self.mistake()
        self.delete()

    def create(self) -> None:
        self.say("Create a stack from a template and wait until it is there.")
        made = self.type(
            *("stack", "create", "--wait", "--poll", 1, "-t", self.file),
            *("--parameter", "greeting=Hello", "mine"),
        )
        self.check(
            made["stack_status"] == "CREATE_COMPLETE",
            "the stack is CREATE_COMPLETE",
        )

    def look(self) -> None:
        self.say("List the stacks of the project, and look at this one.")
        rows = self.type("stack", "list")
        self.check(
            [row["Stack Name"] for row in rows] == ["mine"], "there is one"
        )
        shown = self.type("stack", "show", "mine")
        self.check(
            str(shown["parameters"]["length"]) == "12",
            "the length that was not given has its default, 12",
        )
        self.say("Ask for an output; it was made by the resources.")
        answer = self.type("stack", "output", "show", "mine", "sentence")
        password = self.output("password")
        self.check(
            answer["output_value"] == f"Hello, the password is {password}.",
            "the sentence holds the password of the other resource",
        )
        self.say("See what happened: the order follows the dependencies.")
        events = self.type("stack", "event", "list", "mine")
        done = [
            event["resource_name"]
            for event in events
            if event["resource_status"] == "CREATE_COMPLETE"
        ]
        self.check(
            done == ["password", "sentence", "colleague", "mine"],
            "password, then sentence, then colleague, then the stack",
        )

    def update_in_place(self) -> dict[str, str]:
        self.say("These are its resources.")
        before = self.resources()
        self.say("Change a parameter; what can change where it is, does.")
        self.type(
            *("stack", "update", "--wait", "--existing"),
            *("--parameter", "greeting=Good morning", "mine"),
        )
        after = self.resources()
        self.check(before == after, "every physical id is still the same")
        self.check(
            self.output("sentence").startswith("Good morning"),
            "the sentence is new",
        )
        return after

    def update_with_replacement(self, before: dict[str, str]) -> None:
        self.say(
            "Ask for a longer password. It can't grow: a new one is made, the "
            "sentence is pointed to it, and then the old one is deleted."
        )
        self.type(
            *("stack", "update", "--wait", "--existing"),
            *("--parameter", "length=20", "mine"),
        )
        after = self.resources()
        self.check(
            before["password"] != after["password"],
            "the password is another object: "
            f"{before['password']} became {after['password']}",
        )
        self.check(
            before["sentence"] == after["sentence"],
            "the sentence is the same object",
        )
        password = self.output("password")
        self.check(len(password) == 20, "the password has 20 characters")
        self.check(
            password in self.output("sentence"),
            "the sentence holds the new one",
        )

    def failing_update(self) -> None:
        before = self.client("stack", "resource", "list", "mine")
        sentence = self.output("sentence")
        self.say(
            "Now an update in which one resource fails, with rollback: "
            "all goes back to how it was, and every object is still the same."
        )
        try:
            self.type(
                *("stack", "update", "--wait", "--existing"),
                *("--rollback", "enabled"),
                *("--parameter", "greeting=Oops", "--parameter", "length=30"),
                *("--parameter", "broken=true", "mine"),
            )
        except base.ClientFailed as err:
            self.show(str(err).strip().splitlines()[-1])
        status = self.settle()
        self.check(
            status == "ROLLBACK_COMPLETE", f"the stack says {status} now"
        )
        after = self.resources()
        for row in before:
            name = row["resource_name"]
            self.check(
                row["physical_resource_id"] == after[name],
                f"the {name} is the object of before",
            )
        self.check(
            self.output("sentence") == sentence, "the sentence reads as before"
        )

    def settle(self) -> str:
        """The status of the stack once it is at rest."""
        deadline = time.monotonic() + 60
        while True:
            shown = self.client("stack", "show", "mine")
            status = str(shown["stack_status"])
            if status not in (
                "UPDATE_IN_PROGRESS",
                "UPDATE_FAILED",
                "ROLLBACK_IN_PROGRESS",
            ):
                return status
            if time.monotonic() > deadline:
                raise Untrue(f"the stack comes to rest; it is {status}")
            time.sleep(0.5)

    def mistake(self) -> None:
        self.say("A mistake is refused before anything is touched.")
        try:
            self.type(
                *("stack", "update", "--existing"),
                *("--parameter", "length=1000", "mine"),
            )
        except base.ClientFailed as err:
            text = " ".join(str(err).split())
            self.show(text)
            self.check("length" in text, "the answer names the parameter")
        else:
            raise Untrue("a length of 1000 is refused")

    def delete(self) -> None:
        self.say("Delete it and wait until it is gone.")
        words = ("stack", "delete", "--yes", "--wait", "mine")
        print(f"   $ openstack {shlex.join(words)}", flush=True)
        self.client(*words, parse=False)
        rows = self.type("stack", "list")
        self.check(rows == [], "no stack is left")


def main() -> int:
    began = time.monotonic()
    service = deployment.Standalone()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "template.yaml"
        file.write_text(TEMPLATE)
        print("The template:\n\n" + textwrap.indent(TEMPLATE, "    "))
        try:
            service.start()
            print(
                f"heat-standalone answers at {service.url}; the client is "
                "told so by\n"
                "   $ export OS_AUTH_TYPE=none "
                f"OS_ENDPOINT={service.url}/v1/{PROJECT}"
            )
            Demo(service, str(file)).run()
        except (Untrue, base.ClientFailed, deployment.NotReady) as err:
            print(f"\nFAILED: not so: {err}", file=sys.stderr)
            print(service.logs(), file=sys.stderr)
            return 1
        finally:
            service.stop()
    seconds = time.monotonic() - began
    print(f"\nAll of it was true. ({seconds:.0f} s; everything is removed.)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
