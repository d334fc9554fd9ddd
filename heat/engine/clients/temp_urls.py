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
"""URLs by which whoever has one reads or writes one object of a store.

The rule is the object store's (Swift, middleware ``tempurl``): method, end
and path are signed with a key that the account or the container has.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib import parse

#: The latest end that every release of the store takes: in the year 2038.
NEVER = 2**31 - 1


def signed(url: str, method: str, key: str, ends: int = NEVER) -> str:
    """A URL with its signature.

    :param url: of the object, quoted
    :param method: the only one that it is good for; a GET may be a HEAD too
    :param ends: seconds since 1970
    """
    path = parse.unquote(parse.urlsplit(url).path)
    said = f"{method}\n{ends}\n{path}".encode()
    made = hmac.new(key.encode(), said, hashlib.sha256).hexdigest()
    query = parse.urlencode({"temp_url_sig": made, "temp_url_expires": ends})
    return f"{url}?{query}"
