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


"""Going on with a create that another engine has begun."""

from __future__ import annotations

from heat.engine.resource import lifecycle, outcomes, state


class Resumption(lifecycle.Operation):
    """The rest of a CREATE whose engine stopped.

    ``handle_create`` was run, or nobody knows how far: it is never run
    again. The object is the recorded one, or one that the plug-in finds.
    """

    def start(self) -> lifecycle.Done | lifecycle.Waiting:
        """Take up the object, and check once whether it is there.

        :raises heat.common.exception.ResourceFailure: as at any create
        :raises heat.common.exception.UpdateReplace: there is no object, or
            none that can be gone on with
        """
        with self._wrapped():
            taken_up = self._take_up()
        if not taken_up:
            raise outcomes.UpdateReplace(self.rsrc.name)
        return self.poll()

    def _take_up(self) -> bool:
        """Whether there is an object that can be gone on with."""
        rsrc = self.rsrc
        found = rsrc.resource_id is None
        if found:
            rsrc.resource_id_set(self._find_made())
        if rsrc.resource_id is None:
            return False
        try:
            self.token = rsrc.resume_create(found)
        except outcomes.UpdateReplace:
            return False
        self._set_state(state.IN_PROGRESS)
        return True
