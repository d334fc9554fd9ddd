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

"""nova-compute with Nova's fake hypervisor, made good in two places.

It forgets its guests when the process ends, and leaves snapshots without
bytes, so that their images never become active.
"""

import io
import sys
import warnings

# First of all: it chooses how Nova's threads are made.
import nova.cmd.compute
from nova import context as nova_context
from nova import objects
from nova.compute import power_state, task_states
from nova.image import glance
from nova.virt import fake


class RememberingDriver(fake.FakeDriverWithoutFakeNodes):
    """Keeps guests in memory, and takes them from the database at start."""

    vcpus = 512
    memory_mb = 1024 * 1024
    local_gb = 16 * 1024

    def init_host(self, host) -> None:
        super().init_host(host)
        found = objects.InstanceList.get_by_host(
            nova_context.get_admin_context(), host
        )
        for instance in found:
            state = instance.power_state or power_state.RUNNING
            self.instances[instance.uuid] = fake.FakeInstance(
                instance.name, state, instance.uuid
            )

    def snapshot(self, context, instance, image_id, update_task_state):
        update_task_state(task_state=task_states.IMAGE_PENDING_UPLOAD)
        update_task_state(
            task_state=task_states.IMAGE_UPLOADING,
            expected_state=task_states.IMAGE_PENDING_UPLOAD,
        )
        images = glance.API()
        shown = images.get(context, image_id)
        images.update(
            context,
            image_id,
            {
                "name": shown["name"],
                "properties": shown.get("properties", {}),
                "disk_format": "raw",
                "container_format": "bare",
            },
            io.BytesIO(instance.uuid.encode()),
            purge_props=False,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    # Nova looks for drivers in its own package only.
    fake.RememberingDriver = RememberingDriver
    sys.argv[0] = "nova-compute"
    sys.exit(nova.cmd.compute.main())


if __name__ == "__main__":
    main()
