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

"""heat-status: is this installation fit for the release it has?

heat-status upgrade check
"""

from __future__ import annotations

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from heat.common import config
from heat.db import migration, session


class Checks(upgradecheck.UpgradeCommands):
    """The checks, each with a result and what to do."""

    def _database(self) -> upgradecheck.Result:
        """The database can be reached and has our tables."""
        if not cfg.CONF.database.connection:
            return _failure("[database] connection is not set.")
        try:
            db = session.Database(cfg.CONF)
            try:
                found = migration.version(db)
            finally:
                db.dispose()
        except Exception as error:
            return _failure(f"The database can't be reached: {error}")
        if found is None:
            return _failure("It has no tables: run heat-manage db_sync.")
        return upgradecheck.Result(upgradecheck.Code.SUCCESS, found)

    def _configuration(self) -> upgradecheck.Result:
        """No option is set that does nothing here."""
        idle = [
            f"[{group}] {name}: {why}."
            for group, name, why in config.without_effect(cfg.CONF)
        ]
        if idle:
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                "Options without effect. " + " ".join(idle),
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _encryption_key(self) -> upgradecheck.Result:
        """The key of stored secrets is not the one that everybody knows."""
        if not config.is_set(cfg.CONF, "auth_encryption_key"):
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                "auth_encryption_key has its default value, which is public.",
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _trustee(self) -> upgradecheck.Result:
        """There is somebody whom users can trust."""
        conf = cfg.CONF
        if conf.auth_strategy == "keystone" and not conf.trustee.auth_type:
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                "[trustee] names no user: work on a stack ends when the token "
                "of its request does.",
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    _upgrade_checks = (
        ("Database", _database),
        ("Configuration", _configuration),
        ("Encryption key", _encryption_key),
        ("Trustee", _trustee),
    )


def main() -> int:
    """Entry point; returns the exit code."""
    config.register(cfg.CONF)
    code: int = upgradecheck.main(cfg.CONF, "heat", Checks())
    return code


def _failure(details: str) -> upgradecheck.Result:
    return upgradecheck.Result(upgradecheck.Code.FAILURE, details)


if __name__ == "__main__":
    sys.exit(main())
