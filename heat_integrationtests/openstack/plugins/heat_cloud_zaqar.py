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

"""Zaqar's application, which as shipped finds its files in /etc only."""

import sys

from oslo_config import cfg
from oslo_log import log
from zaqar import bootstrap

log.register_options(cfg.CONF)
cfg.CONF(sys.argv[1:], project="zaqar")
log.setup(cfg.CONF, "zaqar")
application = bootstrap.Bootstrap(cfg.CONF).transport.app
