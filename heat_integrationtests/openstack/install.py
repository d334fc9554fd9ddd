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

"""The virtual environment that the services run in.

Theirs, not Heat's: the versions of the services' libraries must not decide
over Heat's, nor the other way round.
"""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import subprocess
import sys

from heat_integrationtests.openstack.settings import CloudError, Settings

_HERE = pathlib.Path(__file__).parent
_REQUIREMENTS = _HERE / "requirements.txt"
_CONSTRAINTS = _HERE / "constraints.txt"
PLUGINS = _HERE / "plugins"

#: Neutron and Octavia find drivers by entry points only, so the folder is
#: made known to the environment as a distribution.
_METADATA = "Metadata-Version: 2.1\nName: heat-cloud-plugins\nVersion: 1\n"
_ENTRY_POINTS = """\
[neutron.ml2.mechanism_drivers]
heat_cloud = heat_cloud_network:InstantDriver
[octavia.api.drivers]
heat_cloud = heat_cloud_balancer:InstantDriver
"""


def digest() -> str:
    """Changes when what is to be installed does."""
    found = hashlib.sha256(sys.version.encode())
    for path in (_REQUIREMENTS, _CONSTRAINTS, pathlib.Path(__file__)):
        found.update(path.read_bytes())
    found.update(str(PLUGINS).encode())
    return found.hexdigest()


def install(settings: Settings) -> bool:
    """Install what is not installed yet.

    :returns: whether there was something to do
    :raises CloudError: pip failed
    """
    stamp = settings.venv / "installed"
    if stamp.exists() and stamp.read_text() == digest():
        return False
    shutil.rmtree(settings.venv, ignore_errors=True)
    settings.venv.parent.mkdir(parents=True, exist_ok=True)
    _run(sys.executable, "-m", "venv", str(settings.venv))
    python = settings.program("python")
    _run(
        python,
        *("-m", "pip", "install", "--quiet", "--no-compile"),
        *("--disable-pip-version-check", "-r", str(_REQUIREMENTS)),
        *("-c", str(_CONSTRAINTS)),
    )
    site = next(settings.venv.glob("lib/python3*/site-packages"))
    # All processors, and no tests: a third of pip's own time for it.
    _run(
        python,
        *("-m", "compileall", "-q", "-j", "0", "-x", "/tests?/", str(site)),
        must=False,
    )
    (site / "heat_cloud_plugins.pth").write_text(f"{PLUGINS}\n")
    info = site / "heat_cloud_plugins-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(_METADATA)
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    stamp.write_text(digest())
    return True


def _run(*command: str, must: bool = True) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if must and done.returncode:
        end = "\n".join(done.stdout.splitlines()[-20:])
        raise CloudError(f"{' '.join(command)} failed:\n{end}")
