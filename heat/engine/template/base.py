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
"""Templates: :func:`load` picks the language and version.

This is the door of the package: who works with templates imports this
module and :mod:`.source`.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from heat.common import exception, template_format
from heat.common.i18n import _
from heat.engine.template import core, hot

Template = core.Template

#: Keys that say which language and version a template is in.
VERSION_KEYS = template_format.VERSION_KEYS


def known_versions() -> dict[str, tuple[str, ...]]:
    """The versions that :func:`load` knows, with their aliases."""
    return {
        f"{hot.VERSION_KEY}.{version.name}": version.aliases
        for version in hot.VERSIONS.values()
    }


def load(
    body: Mapping[str, Any], files: Mapping[str, str] | None = None
) -> core.Template:
    """The template that a body makes.

    :param body: plain values, with string keys
    :param files: contents of the files that came with it, by name
    :raises InvalidTemplateVersion: for no version or an unknown one, naming
        those known
    :raises InvalidTemplateSection: for a section that isn't known
    :raises StackValidationFailed: for a section of the wrong type
    :raises ValueError: for a body that is too deep or too large
    """
    if not isinstance(body, Mapping):
        raise ValueError(_("The template must be a map of sections"))
    template_format.check_bounds(body, _("The template"))
    return template_class(body)(body, files)


def template_class(body: Mapping[str, Any]) -> type[core.Template]:
    """The class for the version that a body says it has.

    :raises InvalidTemplateVersion: for no version or an unknown one
    """
    found = [key for key in VERSION_KEYS if key in body]
    if not found:
        raise exception.InvalidTemplateVersion(
            explanation=_(
                "Template format version not found: begin the template with "
                '"%(key)s: %(newest)s"'
            )
            % {"key": hot.VERSION_KEY, "newest": list(hot.VERSIONS)[-1]}
        )
    if len(found) > 1:
        raise exception.InvalidTemplateVersion(
            explanation=_("Ambiguous template format version: %s")
            % ", ".join(found)
        )
    [key] = found
    version = body[key]
    if isinstance(version, datetime.date):
        version = version.isoformat()[:10]
    if key == hot.VERSION_KEY:
        name = hot.ALIASES.get(str(version), str(version))
        if name in hot.CLASSES:
            return hot.CLASSES[name]
    raise exception.InvalidTemplateVersion(
        explanation=_(
            '"%(key)s: %(version)s" is not known, use one of: %(known)s'
        )
        % {
            "key": key,
            "version": version,
            "known": ", ".join(
                name
                for version in hot.VERSIONS.values()
                for name in (version.name, *version.aliases)
            ),
        }
    )
