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

"""The configuration: registering options and reading the files.

A process calls :func:`load` once and hands the result down; nothing in the
engine reads a global. Only third-party plug-ins do, through
``oslo_config.cfg.CONF``, which is why processes load that object.
"""

from __future__ import annotations

import logging as std_logging
from collections.abc import Iterable, Sequence
from importlib import metadata

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg
from oslo_db import options as db_options
from oslo_log import log as logging

from heat.common import config_groups as groups
from heat.common import config_options as default

LOG = logging.getLogger(__name__)

# Options whose contract default is lower than what this engine accepts when
# the operator has not set them: name -> bytes.
RAISED_LIMITS = {
    "max_json_body_size": 32 * 1024 * 1024,
    "max_template_size": 4 * 1024 * 1024,
}

_QUIET_LIBRARIES = (
    "amqp=WARN",
    "amqplib=WARN",
    "keystoneauth=WARN",
    "keystonemiddleware=WARN",
    "oslo_messaging=INFO",
    "requests=WARN",
    "sqlalchemy=WARN",
    "stevedore=WARN",
    "urllib3=WARN",
)


def _groups() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Every group of ours with its options; None is [DEFAULT]."""
    table: list[tuple[str | None, list[cfg.Opt]]] = [
        (
            None,
            [
                *default.SERVICE,
                *default.LIMITS,
                *default.OPERATIONS,
                *default.AUTH,
            ],
        ),
        ("auth_password", list(groups.AUTH_PASSWORD)),
        ("clients", groups.client_options("public")),
    ]
    for service in groups.CLIENT_SERVICES:
        name = f"clients_{service}"
        extra = groups.CLIENT_EXTRAS.get(name, ())
        table.append((name, [*groups.client_options(), *extra]))
    table += [
        ("constraint_validation_cache", groups.cache_options(60)),
        ("resource_finder_cache", groups.cache_options(3600)),
        ("service_extension_cache", groups.cache_options(3600)),
        ("engine", list(groups.ENGINE)),
        ("heat_api", list(groups.HEAT_API)),
        ("heat_api_cfn", list(groups.HEAT_API_CFN)),
        ("test_resources", list(groups.TEST_RESOURCES)),
        ("noauth", list(groups.NOAUTH)),
        ("paste_deploy", list(groups.PASTE_DEPLOY)),
        ("revision", list(groups.REVISION)),
        ("trustee", list(ks_loading.get_auth_common_conf_options())),
        ("volumes", list(groups.VOLUMES)),
        ("yaql", list(groups.YAQL)),
    ]
    return table


def register(conf: cfg.ConfigOpts) -> None:
    """Make every option known to ``conf``; a second call does nothing."""
    for group, options in _groups():
        conf.register_opts(options, group=group)
    conf.register_opts(db_options.database_opts, "database")


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Entry point of oslo-config-generator.

    It shows more than :func:`register` registers: keystoneauth registers
    the options of an ``auth_type`` itself, when that type is chosen.
    """
    password = ks_loading.get_auth_plugin_conf_options("password")
    return [
        (group, [*options, *password] if group == "trustee" else options)
        for group, options in _groups()
    ]


def load(
    prog: str,
    args: Sequence[str] | None = None,
    conf: cfg.ConfigOpts | None = None,
    default_config_files: Sequence[str] | None = None,
) -> cfg.ConfigOpts:
    """Read the command line and the files, and set up the log.

    :param prog: name of the program, such as ``heat-engine``
    :param args: command line without the program's name; None: sys.argv
    :param conf: object to load into; None: the global one of oslo.config
    :param default_config_files: files read when the command line names
        none; None: what oslo.config finds for project ``heat``
    :raises SystemExit: the command line or a file can't be read, or an
        option has a wrong value; the text says which
    """
    conf = cfg.CONF if conf is None else conf
    register(conf)
    logging.register_options(conf)
    logging.set_defaults(
        default_log_levels=[
            *logging.get_default_log_levels(),
            *_QUIET_LIBRARIES,
        ]
    )
    conf(
        args,
        project="heat",
        prog=prog,
        version=version(),
        default_config_files=(
            None
            if default_config_files is None
            else list(default_config_files)
        ),
    )
    _check(conf, prog)
    logging.setup(conf, "heat", version())
    return conf


def _check(conf: cfg.ConfigOpts, prog: str) -> None:
    """Read every option of ours once: oslo.config checks values then."""
    try:
        for group, options in _groups():
            values = conf if group is None else conf[group]
            for option in options:
                values[option.dest]
    except (cfg.ConfigFileValueError, ValueError) as error:
        raise SystemExit(f"{prog}: {error}") from None


def version() -> str:
    """The installed version of this package, or ``unknown``."""
    try:
        return metadata.version("heat")
    except metadata.PackageNotFoundError:
        return "unknown"


def is_set(conf: cfg.ConfigOpts, name: str, group: str | None = None) -> bool:
    """Whether somebody gave the option a value (file, env, override)."""
    location = conf.get_location(name, group)
    return location is not None and location.location not in (
        cfg.Locations.opt_default,
        cfg.Locations.set_default,
    )


def limit(conf: cfg.ConfigOpts, name: str) -> int:
    """A size limit in bytes: what is set, else what this engine accepts.

    :param name: a key of ``RAISED_LIMITS``
    """
    if is_set(conf, name):
        return int(conf[name])
    return max(int(conf[name]), RAISED_LIMITS[name])


def without_effect(conf: cfg.ConfigOpts) -> Iterable[tuple[str, str, str]]:
    """Options that are set but do nothing here: (group, name, why)."""
    for group, name, why in groups.WITHOUT_EFFECT:
        if is_set(conf, name, None if group == "DEFAULT" else group):
            yield group, name, why


def report(conf: cfg.ConfigOpts) -> None:
    """Say in the log, once at start, which settings do nothing."""
    for group, name, why in without_effect(conf):
        LOG.warning(
            "Option %(name)s in [%(group)s] has no effect on this engine: "
            "%(why)s.",
            {"name": name, "group": group, "why": why},
        )
    if conf.engine.dead_after < 3 * conf.engine.heartbeat_interval:
        LOG.warning(
            "[engine] dead_after (%(dead)s s) is less than three times "
            "heartbeat_interval (%(beat)s s): a short delay of the database "
            "will make living engines look dead.",
            {
                "dead": conf.engine.dead_after,
                "beat": conf.engine.heartbeat_interval,
            },
        )
    if std_logging.getLogger().isEnabledFor(std_logging.DEBUG):
        conf.log_opt_values(LOG, std_logging.DEBUG)
