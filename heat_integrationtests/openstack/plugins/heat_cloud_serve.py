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

"""Serves one WSGI application: ``heat_cloud_serve MODULE PORT [ARGUMENTS]``.

The applications read their arguments from ``sys.argv`` when they are
imported, as if they were programs.
"""

import importlib
import sys
import warnings

import waitress


def main() -> None:
    _name, module, port, *arguments = sys.argv
    sys.argv = [module, *arguments]
    warnings.simplefilter("ignore")
    waitress.serve(
        importlib.import_module(module).application,
        host="127.0.0.1",
        port=int(port),
        threads=8,
        connection_limit=500,
        channel_timeout=300,
        clear_untrusted_proxy_headers=True,
    )


if __name__ == "__main__":
    main()
