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

"""heat-api-cfn: the CloudFormation API, in the built-in server or another.

A foreign WSGI server takes the application from :func:`application`; see
:mod:`heat.cmd.api`, which this is alike to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oslo_config import cfg
from oslo_service import service

from heat.api.cfn import app
from heat.cmd import api
from heat.common import config
from heat.rpc import clients, transport

if TYPE_CHECKING:
    from _typeshed import wsgi as wsgi_types

NAME: Final = "heat-api-cfn"


def make(
    conf: cfg.ConfigOpts, engine: clients.EngineClient
) -> wsgi_types.WSGIApplication:
    """The application, for a worker."""
    return app.make_app(conf, engine)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    conf = config.load(NAME, argv)
    config.report(conf)
    if conf.auth_strategy == "noauth":
        print(
            f"{NAME}: signatures are checked by Keystone, so that "
            "auth_strategy must be keystone.",
            file=sys.stderr,
        )
        return 1
    host = str(conf.heat_api_cfn.bind_host)
    problem = api.address_problem(host, conf.heat_api_cfn.bind_port)
    if problem:
        print(f"{NAME}: {problem}", file=sys.stderr)
        return 1
    launcher = service.launch(
        conf,
        api.ApiProcess(conf, host, conf.heat_api_cfn, make),
        workers=conf.heat_api_cfn.workers,
        restart_method="mutate",
    )
    launcher.wait()
    return 0


def application() -> wsgi_types.WSGIApplication:
    """The application for a foreign WSGI server."""
    named = os.environ.get(api.FILES_VARIABLE)
    files = named.split(os.pathsep) if named else None
    conf = config.load(NAME, [], default_config_files=files)
    config.report(conf)
    bus = transport.MessagingBus(conf)
    return make(conf, clients.EngineClient(bus))


if __name__ == "__main__":
    sys.exit(main())
