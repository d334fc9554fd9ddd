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
from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import exception, template_format
from heat.common.i18n import _
from heat.engine.template import cfn, core, hot

Template = core.Template

#: Keys that say which language and version a template is in.
VERSION_KEYS = template_format.VERSION_KEYS


#: Classes that installed distributions offer, by key and version.
_added: dict[tuple[str, str], type[core.Template]] = {}


def add(name: str, cls: type[core.Template]) -> None:
    """Make one more template class known, for the whole process.

    :param name: the key and the version, such as
        ``heat_template_version.2013-05-23``
    :raises TypeError: it is no sub-class of :class:`Template`
    :raises ValueError: the name has no dot
    """
    key, dot, version = name.partition(".")
    if not (dot and key and version):
        raise ValueError(_("%s is no <key>.<version>") % name)
    if not (isinstance(cls, type) and issubclass(cls, core.Template)):
        raise TypeError(_("%r is no class of templates") % (cls,))
    _added[key, version] = cls


def known_versions() -> dict[str, tuple[str, ...]]:
    """The versions that :func:`load` knows, with their aliases."""
    known = {
        f"{hot.VERSION_KEY}.{version.name}": version.aliases
        for version in hot.VERSIONS.values()
    }
    for key, version in (*cfn.CLASSES, *_added):
        known.setdefault(f"{key}.{version}", ())
    return known


def load(
    body: Mapping[str, Any],
    files: Mapping[str, str] | None = None,
    *,
    bounded: bool = False,
) -> core.Template:
    """The template that a body makes.

    :param body: plain values, with string keys
    :param files: contents of the files that came with it, by name
    :param bounded: it is known to be within the limits
    :raises InvalidTemplateVersion: for no version or an unknown one, naming
        those known
    :raises InvalidTemplateSection: for a section that isn't known
    :raises StackValidationFailed: for a section of the wrong type
    :raises ValueError: for a body that is too deep or too large
    """
    if not isinstance(body, Mapping):
        raise ValueError(_("The template must be a map of sections"))
    if not bounded:
        template_format.check_bounds(body, _("The template"))
    return template_class(body)(body, files)


def template_class(body: Mapping[str, Any]) -> type[core.Template]:
    """The class for the version that a body says it has.

    :raises InvalidTemplateVersion: for no version or an unknown one
    """
    keys = dict.fromkeys((*VERSION_KEYS, *(key for key, _v in _added)))
    found = [key for key in keys if key in body]
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
    cls = _class(key, str(version))
    if cls is not None:
        return cls
    raise exception.InvalidTemplateVersion(
        explanation=_(
            '"%(key)s: %(version)s" is not known, use one of: %(known)s'
        )
        % {
            "key": key,
            "version": version,
            "known": ", ".join(_versions_of(key)),
        }
    )


def _class(key: str, version: str) -> type[core.Template] | None:
    if (key, version) in _added:
        return _added[key, version]
    if key == hot.VERSION_KEY:
        return hot.CLASSES.get(hot.ALIASES.get(version, version))
    return cfn.CLASSES.get((key, version))


def _versions_of(key: str) -> Iterator[str]:
    """All that may stand at a key, aliases too."""
    for name, aliases in known_versions().items():
        first, _dot, version = name.partition(".")
        if first == key:
            yield version
            yield from aliases
