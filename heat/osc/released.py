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
"""``openstack stack released list``.

The public client has no word for the register of objects that stacks have let
go: the command is found through its entry points.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from heatclient.common import utils
from osc_lib.command import command

from heat.common.i18n import _

COLUMNS = (
    "physical_resource_id",
    "resource_type",
    "reason",
    "released_at",
    "stack_name",
    "resource_name",
)


class ListReleased(command.Lister):
    """List the objects that stacks of the project have let go.

    They still exist, as far as Heat knows, and nobody manages them.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--reason",
            metavar="<reason>",
            choices=("external", "retain", "abandon"),
            help=_(
                "Only those that were the user's (external), kept by their "
                "deletion policy (retain), or left behind by an abandoned "
                "stack (abandon)"
            ),
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
        services: Any = self.app.client_manager
        body = utils.get_response_body(
            services.orchestration.http_client.get("/released_objects")
        )
        wanted = parsed_args.reason
        return COLUMNS, (
            [each[key] for key in COLUMNS]
            for each in body["released_objects"]
            if wanted in (None, each["reason"])
        )
