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

"""Barbican with the files of a folder: its API, and as a program its worker.

    heat_cloud_serve heat_cloud_secrets PORT FOLDER
    heat_cloud_secrets FOLDER

Each part of Barbican reads the default files, whatever files its programs
are given: in the user's home, or below /etc.
"""

import os
import sys

FOLDER = sys.argv[1]
os.environ["HOME"] = FOLDER
# Barbican reads its files as it is imported.
del sys.argv[1:]


def _application():
    from paste import deploy

    return deploy.loadapp(f"config:{FOLDER}/barbican-api-paste.ini")


if __name__ == "__main__":
    from barbican.cmd import worker

    worker.main()
else:
    application = _application()
