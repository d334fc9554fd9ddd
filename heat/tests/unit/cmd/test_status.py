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

"""heat-status: what it says of a configuration."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import fixture as config_fixture
from oslo_upgradecheck.upgradecheck import Code

from heat.cmd import status
from heat.common import config
from heat.tests import base


class TrusteeTest(base.TestCase):
    def test_somebody_must_be_trusted(self):
        config.register(cfg.CONF)
        conf = self.useFixture(config_fixture.Config(cfg.CONF))
        checks = status.Checks()
        for strategy, kind, wanted in (
            ("keystone", None, Code.WARNING),
            ("keystone", "password", Code.SUCCESS),
            ("noauth", None, Code.SUCCESS),
        ):
            with self.subTest(strategy=strategy, kind=kind):
                conf.config(auth_strategy=strategy)
                conf.config(auth_type=kind, group="trustee")
                self.assertEqual(wanted, checks._trustee().code)
