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
"""Templates and environments as text: YAML or JSON, within limits.

Builds on the bounded reader of :mod:`heat.common.template_format`.
"""

from __future__ import annotations

from typing import Any

from heat.common import template_format
from heat.common.i18n import _

MAX_BYTES = template_format.MAX_BYTES


def parse(
    text: str, what: str = "template", max_bytes: int = MAX_BYTES
) -> dict[str, Any]:
    """Read a text that must be a map.

    :param what: what it is, for errors: ``template``, or a file's name
    :param max_bytes: longest text
    :returns: plain values: dict with string keys, list, str, int, float,
        bool, None; dates stay text
    :raises ValueError: naming ``what``, line, column and remedy
    """
    value = template_format.load(text, what, max_bytes)
    if value is None:
        raise ValueError(_("The %s is empty") % what)
    if not isinstance(value, dict):
        raise ValueError(
            _("The %(what)s is not a map of keys to values but a %(kind)s")
            % {
                "what": what,
                "kind": "list" if isinstance(value, list) else "single value",
            }
        )
    return value
