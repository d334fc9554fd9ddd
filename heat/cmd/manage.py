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
    heat-manage traversals [--all]   print the stacks that make no progress
    heat-manage resend STACK_ID      send their ready nodes to the engines
    heat-manage purge_deleted [AGE]  remove what was deleted long ago
    heat-manage rotate_keys          encrypt everything with the newest key

Only ``resend`` talks to anything but the database; no engine need run.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable, Sequence

import sqlalchemy as sa
from alembic import util as alembic_util
from oslo_config import cfg
from oslo_db import exception as db_exc
from oslo_log import log as logging
from oslo_utils import timeutils

from heat.common import config
from heat.db import migration, purge, rotation, services, session, stacks
from heat.engine.traversal import diagnosis, identity
from heat.rpc import clients, transport

Command = Callable[[session.Database, cfg.ConfigOpts], None]

# Most nodes or rows of one kind that are printed for a stack.
_SHOWN = 20


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


def traversals(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    found = _reports(db, conf)
    still = [each for each in found if each.stands_still]
    for each in found if conf.command.all else still:
        _print_report(each)
    print(f"{len(found)} in progress, {len(still)} that may stand still")


def _reports(
    db: session.Database, conf: cfg.ConfigOpts
) -> list[diagnosis.Report]:
    def read(conn: sa.Connection) -> list[diagnosis.Report]:
        living = services.living(conn, conf.engine.dead_after)
        return [
            diagnosis.report(conn, stack, living)
            for stack in stacks.in_progress(conn)
        ]

    return db.read(read)


def _print_report(found: diagnosis.Report) -> None:
    stack = found.stack
    print(
        f"{stack.id}  {stack.name}  {stack.action} since "
        f"{stack.traversal_started or 'unknown'}, "
        f"last event {found.last_event or 'never'}"
    )
    if found.broken:
        print(f"    broken: {found.broken}")
    if found.ready:
        shown = ", ".join(found.ready[:_SHOWN])
        more = len(found.ready) - _SHOWN
        print(
            f"    ready and held by nobody: {shown}"
            + (f" and {more} more" if more > 0 else "")
        )
    for title, rows in (
        ("held by a dead engine", found.dead),
        ("running", found.running),
    ):
        for row in rows[:_SHOWN]:
            print(
                f"    {title}: {row.name} {row.action} since "
                f"{row.updated_at}, engine {row.engine_id}"
            )
        if len(rows) > _SHOWN:
            print(f"    {title}: {len(rows) - _SHOWN} more")


def resend(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    wanted = conf.command.stack_id
    if bool(wanted) == bool(conf.command.all):
        raise ValueError("name a stack, or give --all")
    found = db.read(stacks.in_progress)
    if wanted:
        found = [stack for stack in found if stack.id == wanted]
        if not found:
            raise ValueError(f"no stack in progress has the id {wanted}")
    bus = transport.MessagingBus(conf)
    try:
        sender = clients.WorkerClient(bus)
        for stack in found:
            standing = db.read(
                lambda conn, stack=stack: diagnosis.look(conn, stack)  # type: ignore[misc]
            )
            if standing.ready:
                sender.send(
                    identity.context_of(stack),
                    stack.id,
                    stack.current_traversal or "",
                    standing.ready,
                )
            print(f"{stack.id}  {stack.name}: {len(standing.ready)} sent")
    finally:
        bus.close()


def purge_deleted(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    asked = conf.command
    if asked.age < 0:
        raise ValueError("the age must not be negative")
    if asked.batch_size < 1:
        raise ValueError("the batch must be at least 1")
    try:
        age = datetime.timedelta(**{asked.granularity: asked.age})
        before = timeutils.utcnow() - age
    except OverflowError:
        raise ValueError("the age is too large") from None
    count = purge.purge_deleted(
        db, before, tenant=asked.project_id, batch=asked.batch_size
    )
    print(f"{count} removed")


def rotate_keys(db: session.Database, conf: cfg.ConfigOpts) -> None:
    _require_schema(db)
    if conf.command.batch_size < 1:
        raise ValueError("the batch must be at least 1")
    unread = 0
    for each in rotation.rotate(db, batch=conf.command.batch_size):
        print(f"{each.table}: {each.renewed} rows encrypted anew")
        unread += len(each.unread)
        if each.unread:
            shown = ", ".join(map(str, each.unread[:_SHOWN]))
            more = len(each.unread) - _SHOWN
            print(
                f"    no key opens: {shown}"
                + (f" and {more} more" if more > 0 else "")
            )
    if unread:
        raise ValueError(
            f"{unread} rows can't be read with any key: keep the older ones "
            "in auth_encryption_old_keys"
        )


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
    _add_traversal_parsers(commands)
    _add_purge_parser(commands)
    rotated = commands.add_parser(
        "rotate_keys", help="encrypt everything with the newest key"
    )
    rotated.add_argument(
        "--batch-size",
        dest="batch_size",
        type=int,
        default=100,
        help="rows of one transaction (100)",
    )
    rotated.set_defaults(run=rotate_keys)


def _add_traversal_parsers(commands: argparse._SubParsersAction) -> None:  # type: ignore[type-arg]
    listed = commands.add_parser(
        "traversals", help="the stacks in progress that make no progress"
    )
    listed.add_argument(
        "--all", action="store_true", help="those that do, too"
    )
    listed.set_defaults(run=traversals)
    sent = commands.add_parser(
        "resend", help="send what is ready to the engines once more"
    )
    sent.add_argument("stack_id", nargs="?", help="id of a stack in progress")
    sent.add_argument(
        "--all", action="store_true", help="all stacks in progress"
    )
    sent.set_defaults(run=resend)


def _add_purge_parser(commands: argparse._SubParsersAction) -> None:  # type: ignore[type-arg]
    purged = commands.add_parser(
        "purge_deleted", help="remove stacks that were deleted long ago"
    )
    purged.add_argument(
        "age", nargs="?", type=int, default=90, help="least age (90)"
    )
    purged.add_argument(
        "-g",
        "--granularity",
        default="days",
        choices=("days", "hours", "minutes", "seconds"),
        help="what the age counts (days)",
    )
    purged.add_argument(
        "-p", "--project-id", help="only the stacks of this project"
    )
    purged.add_argument(
        "-b",
        "--batch_size",
        "--batch-size",
        dest="batch_size",
        type=int,
        default=20,
        help="how many at once (20)",
    )
    purged.set_defaults(run=purge_deleted)


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
