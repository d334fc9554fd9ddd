#!/usr/bin/env python3
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

"""Asks whether a database server or a broker lets us in.

    tools/ci_services.py probe URL

Exit code 0: it does. Otherwise the reason is on stderr.
"""

from __future__ import annotations

import sys


def probe_database(url: str) -> None:
    import sqlalchemy

    address = sqlalchemy.make_url(url)
    if address.get_backend_name() == "postgresql" and not address.database:
        address = address.set(database="postgres")
    engine = sqlalchemy.create_engine(
        address, connect_args={"connect_timeout": 5}
    )
    with engine.connect() as conn:
        conn.execute(sqlalchemy.text("SELECT 1"))


def probe_broker(url: str) -> None:
    import kombu

    # oslo.messaging says rabbit://, kombu says amqp://; an empty vhost is
    # the default one.
    with kombu.Connection(
        url.replace("rabbit://", "amqp://", 1), connect_timeout=5
    ) as connection:
        connection.connect()


def main(argv: list[str]) -> int:
    if len(argv) != 3 or argv[1] != "probe":
        print(__doc__, file=sys.stderr)
        return 2
    url = argv[2]
    probe = probe_broker if url.startswith("rabbit") else probe_database
    try:
        probe(url)
    except Exception as err:
        print(f"{type(err).__name__}: {err}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
