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
"""Random environments, and what the public client does with them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

value = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["", "a", "a,b"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
_section = st.dictionaries(st.sampled_from("abc"), value, max_size=3)
data = st.fixed_dictionaries(
    {}, optional={"parameters": _section, "parameter_defaults": _section}
)


def client_update(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The public client's merge; it breaks on a map over a text."""
    for key, each in new.items():
        if isinstance(each, dict):
            old[key] = client_update(old.get(key, {}) or {}, each)
        elif not (each is None and isinstance(old.get(key), dict)):
            old[key] = each
    return old
