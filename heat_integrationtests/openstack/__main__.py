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

"""The cloud as a program. See README.rst beside this package."""

from __future__ import annotations

import argparse
import shlex
import sys

from heat_integrationtests.openstack import cloud, install, seed
from heat_integrationtests.openstack.settings import (
    MYSQL,
    CloudError,
    Settings,
)

_DESCRIPTION = """\
A cloud of real OpenStack services on the loopback interface.

  install   what the services need, into an environment of their own
  start     install, make and start what is absent; wait until all serves
  stop      end the processes; the next start goes on with the same cloud
  status    what is wrong with each service; exit code 0: nothing
  env       export lines for tests and clients (demo, other, admin, heat)
  destroy   stop, drop databases and vhost, remove the state

HEAT_TEST_MYSQL_URL and HEAT_TEST_RABBIT_URL name the servers it uses,
HEAT_CLOUD_DIR the folder (~/.cache/heat-cloud), HEAT_CLOUD_PORT the first of
its ports (21500): clouds with different ports live beside one another.
"""


def env(settings: Settings, user: str) -> str:
    """Lines for a shell: how to log in, and what tests want to know."""
    settings = settings.as_recorded()
    given = {
        f"OS_{name.upper()}": value
        for name, value in seed.login(settings, user).items()
    }
    given.update(
        OS_IDENTITY_API_VERSION="3",
        OS_AUTH_TYPE="password",
        HEAT_TEST_CLOUD_RABBIT_URL=" ".join(settings.heat_rabbits),
        HEAT_TEST_CLOUD_EVENTS_URL=settings.rabbit,
        HEAT_TEST_SERVICE_PASSWORD=settings.password,
    )
    given[MYSQL] = settings.mysql
    lines = [
        f"export {name}={shlex.quote(value)}" for name, value in given.items()
    ]
    return "\n".join(
        ["unset OS_CLOUD OS_TOKEN OS_DOMAIN_NAME OS_SYSTEM_SCOPE", *lines]
    )


def _status(settings: Settings) -> int:
    found = cloud.status(settings)
    for name, fault in found.items():
        print(f"{name:18}{fault or 'serves'}")
    return 1 if any(found.values()) else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m heat_integrationtests.openstack",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    changing = {
        "install": install.install,
        "start": cloud.start,
        "stop": cloud.stop,
        "destroy": cloud.destroy,
    }
    parser.add_argument("command", choices=[*changing, "status", "env"])
    parser.add_argument(
        "user", nargs="?", default="demo", choices=[*seed.LOGINS]
    )
    args = parser.parse_args()
    settings = Settings.load()
    if args.command == "env":
        print(env(settings, args.user))
        return 0
    if args.command == "status":
        return _status(settings)
    try:
        with cloud.alone(settings):
            changing[args.command](settings)
    except CloudError as err:
        print(f"cloud: {err}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
