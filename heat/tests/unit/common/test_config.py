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

"""Options: those that operators have in their files, and how they are read."""

from __future__ import annotations

import socket

from oslo_config import cfg

from heat.common import config
from heat.tests import base

# Of every kind a few: group, name, default.
KNOWN = (
    ("DEFAULT", "host", socket.gethostname()),
    ("DEFAULT", "auth_strategy", "keystone"),
    ("DEFAULT", "max_resources_per_stack", 1000),
    ("DEFAULT", "max_json_body_size", 1048576),
    ("DEFAULT", "max_template_size", 524288),
    ("DEFAULT", "num_engine_workers", None),
    ("DEFAULT", "deferred_auth_method", "trusts"),
    ("DEFAULT", "shared_services_types", ["image", "volumev3"]),
    ("DEFAULT", "instance_connection_is_secure", "0"),
    ("DEFAULT", "metadata_put_timeout", 60.0),
    ("DEFAULT", "hidden_stack_tags", []),
    ("DEFAULT", "auth_encryption_key", "notgood but just long enough i t"),
    ("auth_password", "multi_cloud", False),
    ("clients", "endpoint_type", "public"),
    ("clients", "insecure", False),
    ("clients_heat", "url", None),
    ("clients_keystone", "auth_uri", None),
    ("clients_keystone", "insecure", None),
    ("clients_nova", "http_log_debug", False),
    ("clients_cinder", "endpoint_type", None),
    ("constraint_validation_cache", "expiration_time", 60),
    ("resource_finder_cache", "expiration_time", 3600),
    ("service_extension_cache", "caching", True),
    ("noauth", "token_response", ""),
    ("paste_deploy", "api_paste_config", "api-paste.ini"),
    ("revision", "heat_revision", "unknown"),
    ("trustee", "auth_type", None),
    ("volumes", "backups_enabled", True),
    ("yaql", "memory_quota", 10000),
    ("heat_api", "bind_port", 8004),
    ("engine", "heartbeat_interval", 5.0),
    ("engine", "dead_after", 20.0),
    ("engine", "pool_size", 16),
    ("engine", "service_pool_size", 32),
)


class ConfigTest(base.TestCase):
    def load(self, text: str = "") -> cfg.ConfigOpts:
        path = self.create_tempfiles([("heat", text)], ext=".conf")[0]
        return config.load("heat-test", ["--config-file", path], self.conf)

    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()

    def test_defaults(self):
        conf = self.load()
        for group, name, default in KNOWN:
            with self.subTest(group=group, name=name):
                values = conf if group == "DEFAULT" else conf[group]
                self.assertEqual(default, values[name])

    def test_libraries_have_their_options(self):
        conf = self.load("[database]\nconnection = sqlite://\n")
        self.assertEqual("sqlite://", conf.database.connection)
        self.assertFalse(conf.debug)

    def test_registering_twice_is_harmless(self):
        config.register(self.conf)
        config.register(self.conf)

    def test_every_option_has_a_help_text(self):
        for group, options in config.list_opts():
            for option in options:
                with self.subTest(group=group, option=option.name):
                    self.assertTrue(option.help)

    def test_generator_lists_the_trustee_completely(self):
        table = dict(config.list_opts())
        names = {option.name for option in table["trustee"]}
        self.assertTrue({"auth_type", "auth-url", "password"} <= names)

    def test_limits(self):
        for name, raised in config.RAISED_LIMITS.items():
            with self.subTest(name=name):
                self.conf = cfg.ConfigOpts()
                self.assertEqual(raised, config.limit(self.load(), name))
                self.conf = cfg.ConfigOpts()
                conf = self.load(f"[DEFAULT]\n{name} = 1000\n")
                self.assertEqual(1000, config.limit(conf, name))

    def test_options_without_effect(self):
        self.assertEqual([], list(config.without_effect(self.load())))
        self.conf = cfg.ConfigOpts()
        conf = self.load(
            "[DEFAULT]\nconvergence_engine = true\n"
            "[paste_deploy]\napi_paste_config = x\n"
        )
        found = [(g, n) for g, n, _why in config.without_effect(conf)]
        self.assertEqual(
            [
                ("DEFAULT", "convergence_engine"),
                ("paste_deploy", "api_paste_config"),
            ],
            found,
        )

    def test_an_unknown_word_is_refused(self):
        error = self.assertRaises(
            SystemExit, self.load, "[DEFAULT]\nauth_strategy = none\n"
        )
        self.assertIn("auth_strategy", str(error))
