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
"""Encryption of what must not be readable in the database.

The key is text from the configuration. The first of several keys encrypts;
the others still decrypt, so that a key can be changed: put the new one
first, rewrite what is stored (:meth:`Crypt.rotate`), take the old one out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, Final

from cryptography import fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf import hkdf

from heat.common import exception

#: What a sealed text begins with, and the key of a sealed value.
MARK: Final = "$encrypted:v1:"


class Crypt:
    """Encrypts and decrypts with the keys of one service.

    Making one is cheap next to reading a row. Thread-safe.

    :param keys: secrets of any length, the newest first; empty ones are
        left out
    :raises ValueError: there is no key
    """

    def __init__(self, keys: Iterable[str]) -> None:
        ciphers = [fernet.Fernet(_derived(key)) for key in keys if key]
        if not ciphers:
            raise ValueError("There is no key to encrypt with.")
        self._newest = ciphers[0]
        self._cipher = fernet.MultiFernet(ciphers)

    # -- plain tokens -------------------------------------------------------

    def encrypt(self, text: str) -> str:
        """A token that stands for the text: ASCII, other each time."""
        data = text.encode("utf-8", "surrogatepass")
        return self._cipher.encrypt(data).decode("ascii")

    def decrypt(self, token: str) -> str:
        """The text that a token stands for.

        :raises InvalidEncryptionKey: it was made with another key, or
            changed since
        """
        try:
            data = self._cipher.decrypt(token.encode("utf-8"))
        except (fernet.InvalidToken, ValueError):
            raise exception.InvalidEncryptionKey() from None
        return data.decode("utf-8", "surrogatepass")

    def rotate(self, token: str) -> str:
        """The token made anew with the first key; its time stays.

        :raises InvalidEncryptionKey: it was made with none of the keys
        """
        try:
            return self._cipher.rotate(token).decode("ascii")
        except (fernet.InvalidToken, ValueError):
            raise exception.InvalidEncryptionKey() from None

    def is_newest(self, token: str) -> bool:
        """Whether a token was made with the first key."""
        try:
            self._newest.decrypt(token.encode("utf-8"))
        except (fernet.InvalidToken, ValueError):
            return False
        return True

    # -- values among plain ones --------------------------------------------

    def seal(self, value: Any) -> dict[str, str]:
        """A JSON value in a form that :meth:`open` knows from plain ones."""
        return {MARK: self.encrypt(json.dumps(value))}

    def open(self, value: Any) -> Any:
        """The JSON value behind a sealed one; a plain one as it is.

        :raises InvalidEncryptionKey: it was sealed with another key
        """
        if not is_sealed(value):
            return value
        return json.loads(self.decrypt(value[MARK]))

    def seal_text(self, text: str) -> str:
        """A text in a form that :meth:`open_text` knows from plain ones."""
        return MARK + self.encrypt(text)

    def open_text(self, text: str) -> str:
        """The text behind a sealed one; a plain one as it is.

        :raises InvalidEncryptionKey: it was sealed with another key
        """
        if not is_sealed(text):
            return text
        return self.decrypt(text[len(MARK) :])

    def renew(self, value: Any) -> Any:
        """A sealed value or text, with the first key.

        :raises InvalidEncryptionKey: it was sealed with none of the keys
        """
        token = value[len(MARK) :] if isinstance(value, str) else value[MARK]
        if self.is_newest(token):
            return value
        made = self.rotate(token)
        return MARK + made if isinstance(value, str) else {MARK: made}


def is_sealed(value: Any) -> bool:
    """Whether a value or text has the form of a sealed one.

    A user may write the form as well: who stores values of users seals
    those that have it, so that what has it in the database is always ours.
    """
    if isinstance(value, str):
        return value.startswith(MARK)
    return (
        isinstance(value, dict)
        and len(value) == 1
        and isinstance(value.get(MARK), str)
    )


def from_conf(conf: Any) -> Crypt | None:
    """The keys of ``auth_encryption_key`` and the ones before it.

    None when the configuration has no such option, as in a tool that only
    migrates the schema.
    """
    if conf is None or "auth_encryption_key" not in conf:
        return None
    older = (
        conf.auth_encryption_old_keys
        if "auth_encryption_old_keys" in conf
        else ()
    )
    return Crypt([conf.auth_encryption_key, *older])


def _derived(key: str) -> bytes:
    # The option is a text of any length; a Fernet key is 32 bytes. The info
    # keeps this key apart from others derived from the same text.
    derive = hkdf.HKDF(
        algorithm=hashes.SHA256(), length=32, salt=None, info=b"heat values v1"
    )
    return base64.urlsafe_b64encode(derive.derive(key.encode("utf-8")))
