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

"""A volume driver without volumes: they are rows of Cinder's database."""

from cinder import interface
from cinder.volume import driver

_PLENTY_GB = 10000


def _nothing(self, *_args, **_kwargs) -> None:
    """There are no bytes to do it to."""


@interface.volumedriver
class DatalessDriver(driver.VolumeDriver):
    """Every operation succeeds, and takes no time."""

    VERSION = "1"
    CI_WIKI_NAME = "none"

    do_setup = _nothing

    def check_for_setup_error(self) -> None:
        self.set_initialized()

    def _update_volume_stats(self) -> None:
        self._stats = {
            "volume_backend_name": self.configuration.volume_backend_name,
            "vendor_name": "none",
            "driver_version": self.VERSION,
            "storage_protocol": "none",
            "multiattach": True,
            "online_extend_support": True,
            "pools": [
                {
                    "pool_name": "all",
                    "total_capacity_gb": _PLENTY_GB,
                    "free_capacity_gb": _PLENTY_GB,
                    "provisioned_capacity_gb": 0,
                    "max_over_subscription_ratio": 20.0,
                    "reserved_percentage": 0,
                    "thin_provisioning_support": True,
                    "multiattach": True,
                }
            ],
        }

    def clone_image(self, context, volume, location, meta, service):
        # "Cloned": Cinder need not fetch and write the image's bytes.
        return {}, True

    def initialize_connection(self, volume, connector, **_more):
        return {
            "driver_volume_type": "local",
            "data": {"volume_id": volume.id, "device_path": "/dev/null"},
        }

    create_volume = delete_volume = extend_volume = _nothing
    create_snapshot = delete_snapshot = revert_to_snapshot = _nothing
    create_volume_from_snapshot = create_cloned_volume = _nothing
    ensure_export = create_export = remove_export = _nothing
    terminate_connection = copy_volume_to_image = _nothing
    copy_image_to_volume = _nothing
