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

"""All of Swift's servers as one process: ``heat_cloud_swift FOLDER``.

They are as shipped and talk HTTP to one another, each on its own port; one
process costs a quarter of the memory of four. The folder has their
configuration. The rings are made from it at each start: with one device and
one replica there is only one way.
"""

from swift.common import utils

# Before anything else that might keep a function of the standard library.
utils.monkey_patch()

import pathlib  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402

from swift.common import (  # noqa: E402
    concurrency,
    constraints,
    http_protocol,
    wsgi,
)
from swift.common.ring import builder  # noqa: E402

#: server -> file of its ring; the proxy is in none
RINGS = {
    "account-server": "account.ring.gz",
    "container-server": "container.ring.gz",
    "object-server": "object.ring.gz",
    "proxy-server": None,
}
DEVICE = "device"
#: Partitions, as a power of two: each is a folder with folders.
PART_POWER = 2


def _make_ring(path: pathlib.Path, conf: dict) -> None:
    made = builder.RingBuilder(PART_POWER, replicas=1, min_part_hours=0)
    made.add_dev(
        {
            "region": 1,
            "zone": 1,
            "weight": 1,
            "ip": conf["bind_ip"],
            "port": int(conf["bind_port"]),
            "device": DEVICE,
        }
    )
    made.rebalance()
    made.get_ring().save(str(path))


def _serve(
    name: str, conf: dict, sock: concurrency.greenio.GreenSocket
) -> None:
    """Serve as ``swift.common.wsgi.run_server`` does.

    That one takes another hub first, and so can't be there twice.
    """
    concurrency.wsgi.server(
        sock,
        wsgi.loadapp(conf["__file__"], {"log_name": name}),
        utils.NullLogger(),
        protocol=http_protocol.SwiftHttpProtocol,
        capitalize_response_headers=False,
        url_length_limit=constraints.MAX_REQUEST_LINE,
    )


def main() -> None:
    folder = pathlib.Path(sys.argv[1]).absolute()
    warnings.simplefilter("ignore")
    concurrency.hubs.use_hub(utils.get_hub())
    concurrency.debug.hub_exceptions(False)
    utils.set_swift_dir(str(folder))
    found = {}
    for name, ring in RINGS.items():
        file = str(folder / f"{name}.conf")
        found[name] = wsgi.appconfig(file, name=name)
        if ring:
            _make_ring(folder / ring, found[name])
    # All loggers write to the console once one does.
    utils.get_logger(found["proxy-server"], "swift", log_to_console=True)
    serving = [
        concurrency.spawn(_serve, name, conf, wsgi.get_socket(conf))
        for name, conf in found.items()
    ]
    for each in serving:
        each.wait()


if __name__ == "__main__":
    main()
