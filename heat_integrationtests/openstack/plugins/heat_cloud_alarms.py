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

"""Aodh in one process: its API, and what evaluates and notifies.

    heat_cloud_serve heat_cloud_alarms PORT FOLDER

As shipped the three workers are programs, each with a master and a child.
"""

import os
import sys

# What checks tokens reads the default files, whatever files others are given:
# in the user's home, or below /etc.
os.environ["HOME"] = sys.argv[1]

from aodh import evaluator, event, notifier, service  # noqa: E402
from aodh.api import app  # noqa: E402

_conf = service.prepare_service(argv=[], with_gmr=False)
# They start threads as they are made, and go on while they are referred to.
_workers = [
    worker(0, _conf)
    for worker in (
        notifier.AlarmNotifierService,
        event.EventAlarmEvaluationService,
        evaluator.AlarmEvaluationService,
    )
]
application = app.load_app(_conf)
