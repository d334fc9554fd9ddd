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

"""Hands everything to pbr; setup.cfg has the metadata.

A version comes from the tags of the git clone. A plain copy of the tree has
neither tags nor git, and it must install all the same: FALLBACK_VERSION
stands in, unless PBR_VERSION was given.
"""

from __future__ import annotations

import os
import pathlib
import subprocess

import setuptools

FALLBACK_VERSION = "0.1.0"


def _version_is_known() -> bool:
    if os.environ.get("PBR_VERSION") or pathlib.Path("PKG-INFO").exists():
        return True
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--verify", "HEAD"],
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return head.returncode == 0


if not _version_is_known():
    os.environ["PBR_VERSION"] = FALLBACK_VERSION

setuptools.setup(setup_requires=["pbr"], pbr=True)
