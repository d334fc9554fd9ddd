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

"""OS::Heat::RandomString: text nobody can guess."""

from __future__ import annotations

import secrets
import string
from typing import Any, ClassVar

from heat.common import exception
from heat.common.i18n import _
from heat.engine import (
    attributes,
    constraints,
    properties,
    resource,
    support,
    translation,
)


class RandomString(resource.Resource):
    """A resource which generates a random string.

    Useful for passwords and secrets. The string is made once; a change of
    any property makes a new one.
    """

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (LENGTH, SEQUENCE, CLASSES, SEQUENCES, SALT) = (
        "length",
        "sequence",
        "character_classes",
        "character_sequences",
        "salt",
    )
    CLASS_KEYS = (CLASS, MIN) = ("class", "min")
    SEQUENCE_KEYS = (SEQUENCES_SEQUENCE, SEQUENCES_MIN) = ("sequence", "min")
    ATTRIBUTES = (VALUE,) = ("value",)

    CHARACTERS = {
        "lettersdigits": string.ascii_letters + string.digits,
        "letters": string.ascii_letters,
        "lowercase": string.ascii_lowercase,
        "uppercase": string.ascii_uppercase,
        "digits": string.digits,
        "hexdigits": string.digits + "ABCDEF",
        "octdigits": string.octdigits,
    }

    _min = properties.Schema(
        properties.Schema.INTEGER,
        _("How many characters of this kind there are at least."),
        default=1,
        constraints=[constraints.Range(1, 512)],
    )
    properties_schema = {
        LENGTH: properties.Schema(
            properties.Schema.INTEGER,
            _("How many characters the string has."),
            default=32,
            constraints=[constraints.Range(1, 512)],
        ),
        SEQUENCE: properties.Schema(
            properties.Schema.STRING,
            _("The one class that all characters are taken from."),
            constraints=[constraints.AllowedValues(list(CHARACTERS))],
            support_status=support.SupportStatus(
                status=support.HIDDEN,
                version="5.0.0",
                previous_status=support.SupportStatus(
                    status=support.DEPRECATED,
                    message=_("Use property %s.") % CLASSES,
                    version="2014.2",
                ),
            ),
        ),
        CLASSES: properties.Schema(
            properties.Schema.LIST,
            _(
                "The classes that characters are taken from, each with a "
                "least number."
            ),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CLASS: properties.Schema(
                        properties.Schema.STRING,
                        _("Which class."),
                        default="lettersdigits",
                        constraints=[
                            constraints.AllowedValues(list(CHARACTERS))
                        ],
                    ),
                    MIN: _min,
                },
            ),
            default=[{CLASS: "lettersdigits", MIN: 1}],
        ),
        SEQUENCES: properties.Schema(
            properties.Schema.LIST,
            _(
                "Texts of your own that characters are taken from, each with "
                "a least number."
            ),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    SEQUENCES_SEQUENCE: properties.Schema(
                        properties.Schema.STRING,
                        _("The characters to take from."),
                        required=True,
                    ),
                    SEQUENCES_MIN: _min,
                },
            ),
        ),
        SALT: properties.Schema(
            properties.Schema.STRING,
            _("Any text; change it to have another string generated."),
        ),
    }
    attributes_schema = {
        VALUE: attributes.Schema(
            _("The string; get_resource gives it too."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        )
    }

    def translation_rules(
        self, properties: Any
    ) -> list[translation.TranslationRule] | None:
        sequence = properties.get(self.SEQUENCE)
        if sequence is None:
            return None
        rule = translation.TranslationRule
        return [
            rule(
                properties,
                rule.ADD,
                [self.CLASSES],
                [{self.CLASS: sequence, self.MIN: 1}],
            ),
            rule(properties, rule.DELETE, [self.SEQUENCE]),
        ]

    def validate(self) -> None:
        super().validate()
        needed = sum(count for _chars, count in self._sources())
        length = self.properties[self.LENGTH]
        if length < needed:
            raise exception.StackValidationFailed(
                properties.Properties.ERROR,
                ["resources", self.name, "properties", self.LENGTH],
                _(
                    "The length is less than all the least numbers of "
                    "character_classes and character_sequences together "
                    "(%(length)d < "
                    "%(needed)d)"
                )
                % {"length": length, "needed": needed},
            )

    irrecoverable: ClassVar[dict[str, str]] = {
        VALUE: _("the text: there is no object that it could be read from")
    }

    def handle_create(self) -> None:
        value = generate(self._sources(), self.properties[self.LENGTH])
        self.data_set(self.VALUE, value, redact=True)
        self.resource_id_set(self.physical_resource_name())

    def get_reference_id(self) -> str:
        return self.data().get(self.VALUE) or super().get_reference_id()

    def _resolve_attribute(self, name: str) -> Any:
        if name == self.VALUE:
            return self.data().get(self.VALUE)
        return None

    def _sources(self) -> list[tuple[str, int]]:
        """(characters, how many at least), sequences first."""
        props = self.properties
        sources = [
            (item[self.SEQUENCES_SEQUENCE], item[self.SEQUENCES_MIN])
            for item in props[self.SEQUENCES] or ()
            if item is not None and item[self.SEQUENCES_SEQUENCE]
        ]
        sources += [
            (self.CHARACTERS[item[self.CLASS]], item[self.MIN])
            for item in props[self.CLASSES] or ()
            if item is not None
        ]
        return sources or [(self.CHARACTERS["lettersdigits"], 0)]


def generate(sources: list[tuple[str, int]], length: int) -> str:
    """Make a string of ``length`` characters in random order.

    :param sources: (characters, how many of them at least)
    """
    chars = [
        secrets.choice(characters)
        for characters, count in sources
        for _index in range(count)
    ]
    every = "".join(characters for characters, _count in sources)
    chars += [secrets.choice(every) for _index in range(length - len(chars))]
    secrets.SystemRandom().shuffle(chars)
    return "".join(chars)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {"OS::Heat::RandomString": RandomString}
