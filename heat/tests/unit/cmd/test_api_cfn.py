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

"""heat-api-cfn, as far as it starts without a cloud."""

from __future__ import annotations

import contextlib
import io
import pathlib
import socket
import tempfile

from oslo_config import cfg

from heat.cmd import api_cfn
from heat.common import config
from heat.tests import base


class StartTest(base.TestCase):
    def refuse(self, *lines: str) -> str:
        """What it says when it does not start."""
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / "heat.conf"
            conf.write_text("\n".join(lines))
            self.addCleanup(cfg.CONF.reset)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                code = api_cfn.main(["--config-file", str(conf)])
        self.assertEqual(1, code)
        return said.getvalue()

    def test_noauth(self):
        said = self.refuse("[DEFAULT]", "auth_strategy = noauth")
        self.assertIn("heat-api-cfn: signatures are checked by", said)

    def test_port_is_taken(self):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            sock.listen()
            port = sock.getsockname()[1]
            said = self.refuse(
                "[heat_api_cfn]",
                "bind_host = 127.0.0.1",
                f"bind_port = {port}",
            )
        self.assertIn(f"port {port}", said)

    def test_options(self):
        conf = cfg.ConfigOpts()
        config.register(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        self.assertEqual(8000, conf.heat_api_cfn.bind_port)
