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
"""The public clients' commands, many of them in one process.

``openstack`` and the legacy ``heat`` are run by their own entry points, in a
process that is started once: importing them takes longer than a command.
Also that process: ``python -m heat.tests.functional.commands``.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self


class Failed(Exception):
    """A command ended with an error; the text is what it printed."""


class Commands:
    """Runs commands, with the environment of a user.

    :param env: the environment of the process; OS_* say where and who
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def __call__(self, program: str, *words: str) -> str:
        """What a command prints.

        :param program: ``openstack`` or ``heat``
        :raises Failed: it ended with an error
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([program, words]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise Failed(f"{program} {words}: the process has ended")
        code, text = json.loads(answer)
        if code:
            raise Failed(f"{program} {' '.join(words)}: {text}")
        return str(text)


def _openstack(argv: list[str]) -> Any:
    from openstackclient import shell

    return shell.OpenStackShell().run(argv)


def _heat(argv: list[str]) -> Any:
    from heatclient import shell

    return shell.HeatShell().main(argv)


_PROGRAMS: Mapping[str, Callable[[list[str]], Any]] = {
    "openstack": _openstack,
    "heat": _heat,
}


def _run(program: str, argv: Sequence[str]) -> tuple[int, str]:
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            code = _PROGRAMS[program](list(argv)) or 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except Exception:
            traceback.print_exc(limit=3)
            code = 1
    return code, printed.getvalue()


def main() -> None:
    answers = sys.stdout
    for line in sys.stdin:
        program, argv = json.loads(line)
        answers.write(json.dumps(_run(program, argv)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
