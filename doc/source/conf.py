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

"""Configuration of the documentation; warnings are errors (make docs)."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent.parent))

# The theme and the release notes read the git history. A copy of the tree
# without one gets a plainer theme, and a page that says so (heat_tables).
HISTORY = (
    shutil.which("git") is not None
    and subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--verify", "HEAD"],
        capture_output=True,
        check=False,
    ).returncode
    == 0
)

extensions = [
    *(["openstackdocstheme", "reno.sphinxext"] if HISTORY else []),
    "oslo_config.sphinxext",
    "heat_tables",
    "heat_language",
]

project = "heat"
copyright = "the authors; Apache License, Version 2.0"
root_doc = "index"
exclude_patterns = ["_ext"]
pygments_style = "native"
html_title = "Heat-compatible orchestration"
html_static_path: list[str] = []
# Quotes in tables are JSON.
smartquotes = False
if HISTORY:
    html_theme = "openstackdocs"
    html_theme_options = {
        "display_badge": False,
        "show_other_versions": False,
        "display_global_toc_section": True,
    }
    openstackdocs_auto_name = False
    openstackdocs_auto_version = False
    openstackdocs_repo_name = ""
    html_last_updated_fmt = None
version = release = ""
