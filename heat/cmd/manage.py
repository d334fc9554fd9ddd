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

"""heat-manage: what an operator does to the database by hand.

    heat-manage db_sync [VERSION]    bring the schema to a version
    heat-manage db_version           print the version it has
    heat-manage service list         print the engines and whether they live
    heat-manage service clean        forget the engines that are gone

Talks to the database only; no engine need run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from alembic import util as alembic_util
from oslo_config import cfg
from oslo_db import exception as db_exc
from oslo_log import log as logging

from heat.common import config
from heat.db import migration, services, session

Command = Callable[[session.Database, cfg.ConfigOpts], None]


def db_sync(db: session.Database, conf: cfg.ConfigOpts) -> None:
    print(migration.upgrade(db, conf.command.version))


def db_version(db: session.Database, conf: cfg.ConfigOpts) -> None:
    print(migration.version(db) or "none")


def service_list(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    line = "{:36}  {:36}  {:24}  {:12}  {:10}  {:6}  {}"
    print(
        line.format(
            "id", "engine id", "host", "binary", "topic", "status", "seen"
        )
    )
    for each in db.read(services.list_):
        alive = each.silent_for <= 2 * each.report_interval
        print(
            line.format(
                each.id,
                each.engine_id,
                each.hostname,
                each.binary,
                each.topic,
                "up" if alive else "down",
                each.updated_at or each.created_at or "never",
            )
        )


def service_clean(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    gone = db.run(services.clean)
    print(f"{len(gone)} removed")
    for each in gone:
        print(f"{each.engine_id} on {each.hostname}")


def _require_schema(db: session.Database) -> None:
    if migration.version(db) is None:
        raise ValueError(
            "the database has no tables yet: run heat-manage db_sync first"
        )


def _add_parsers(commands: argparse._SubParsersAction) -> None:  # type: ignore[type-arg]
    sync = commands.add_parser("db_sync", help="update the schema")
    sync.add_argument(
        "version", nargs="?", default="head", help="a version; the newest"
    )
    sync.set_defaults(run=db_sync)
    commands.add_parser(
        "db_version", help="print the schema's version"
    ).set_defaults(run=db_version)
    service = commands.add_parser("service", help="the engines")
    what = service.add_subparsers(dest="what", required=True)
    what.add_parser(
        "list", help="the engines and whether they live"
    ).set_defaults(run=service_list)
    what.add_parser(
        "clean", help="forget the engines that are gone"
    ).set_defaults(run=service_clean)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point.

    :param argv: command line without the program's name; None: sys.argv
    :returns: 0, or 1 after saying on stderr what went wrong
    """
    conf = cfg.ConfigOpts()
    conf.register_cli_opt(
        cfg.SubCommandOpt(
            "command",
            title="Commands",
            help="what to do",
            handler=_add_parsers,
        )
    )
    # The log goes to stdout by default, where our answers go.
    logging.register_options(conf)
    conf.set_default("use_stderr", True)
    config.load("heat-manage", argv, conf=conf)
    run: Command = conf.command.run
    try:
        db = session.Database(conf)
        try:
            run(db, conf)
        finally:
            db.dispose()
    except (
        alembic_util.CommandError,
        db_exc.DBError,
        db_exc.CantStartEngineError,
        ValueError,
    ) as error:
        print(f"heat-manage: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
