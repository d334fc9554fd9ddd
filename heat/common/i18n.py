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

"""Translation of user-visible messages.

Plug-ins import ``_`` from here; ``_LE``, ``_LI`` and ``_LW`` are kept for
plug-ins of an older make and are the identity, as log messages are not
translated any more.
"""

from __future__ import annotations

import oslo_i18n

_translators = oslo_i18n.TranslatorFactory(domain="heat")

_ = _translators.primary


def _untranslated(message: str) -> str:
    return message


_LE = _LI = _LW = _LC = _untranslated
