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
"""Pools that hand connections out as they are, and take them back so.

Usually a pool asks the server whether a connection still lives before it
hands it out, and rolls back what it takes back: two round trips for every
transaction, where many a transaction has no more than two of its own. Here a
work whose connection is lost is done again anyway, and a transaction has
ended when its connection is given back.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import dialects
from sqlalchemy.engine import CreateEnginePlugin

_NAME = "heat.unasked"


class Unasked(CreateEnginePlugin):
    """Chosen by an engine's URL, see :func:`unasked`."""

    def update_url(self, url: sa.URL) -> sa.URL:
        return url

    def handle_pool_kwargs(
        self, pool_cls: type[sa.Pool], pool_args: dict[str, Any]
    ) -> None:
        pool_args.update(pre_ping=False, reset_on_return=None)


dialects.plugins.register(_NAME, __name__, Unasked.__name__)


def unasked(url: sa.URL) -> sa.URL:
    """The URL of an engine with such a pool."""
    return url.update_query_dict({"plugin": _NAME})
