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

"""Gnocchi in one process: its API, and what makes values of measures.

    heat_cloud_serve heat_cloud_metrics PORT FOLDER

As shipped the latter are three programs' worth of workers and a master.
"""

import os
import sys
import threading

# What checks tokens reads the default files, whatever files others are given:
# in the user's home, or below /etc.
os.environ["HOME"] = sys.argv[1]

from gnocchi import opts, service  # noqa: E402
from gnocchi.cli import metricd  # noqa: E402
from gnocchi.rest import app  # noqa: E402

opts.set_defaults()
_conf = service.prepare_service(args=[])
_processor = metricd.MetricProcessor(0, _conf)
threading.Thread(target=_processor.run, daemon=True).start()
application = app.load_app(_conf)
