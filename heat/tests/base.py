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

"""The base of every test of the project.

oslotest gives time-outs, captured output and log records (shown when a test
fails), and temporary directories that are cleaned up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from oslotest import base


class TestCase(base.BaseTestCase):
    """A test; add helpers here only when every kind of test wants them."""

    @contextlib.contextmanager
    def subTest(self, msg: object = None, **params: Any) -> Iterator[None]:
        """One row of a table: the others run when it fails.

        testtools has no subTest, and unittest's stops there at the first
        failure without naming the row. Here every failing row is named when
        the test ends.
        """
        try:
            yield
        except AssertionError as err:
            words = [] if msg is None else [str(msg)]
            words += [f"{key}={value!r}" for key, value in params.items()]
            if not self.__dict__.get("_failed_rows"):
                self._failed_rows: list[str] = []
                self.addCleanup(self._report_failed_rows)
            self._failed_rows.append(f"[{' '.join(words)}] {err}")

    def _report_failed_rows(self) -> None:
        rows, self._failed_rows = self._failed_rows, []
        self.fail(f"{len(rows)} failed rows:\n" + "\n".join(rows))
