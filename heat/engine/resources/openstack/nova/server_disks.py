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

"""A server's disks: checking them, and asking Nova for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.common.i18n import _

_V2 = "block_device_mapping_v2"
#: property -> where a disk that has it comes from
_SOURCES = {
    "volume_id": "volume",
    "snapshot_id": "snapshot",
    "image": "image",
    "image_id": "image",
    "ephemeral_size": "blank",
    "ephemeral_format": "blank",
    "swap_size": "blank",
}
#: property -> key, for what is passed on as it is
_KEYS = {
    "ephemeral_format": "guest_format",
    "device_name": "device_name",
    "device_type": "device_type",
    "disk_bus": "disk_bus",
    "boot_index": "boot_index",
    "delete_on_termination": "delete_on_termination",
    "volume_type": "volume_type",
}
_BOOTABLE = frozenset({"volume", "snapshot", "image"})


def check(properties: Any) -> None:
    """Check what the disks' properties say together.

    A value that is not known before something else is made counts.

    :raises heat.common.exception.StackValidationFailed: naming the place
    """
    given = properties.data.get
    if given("block_device_mapping") is not None and given(_V2) is not None:
        raise exception.ResourcePropertyConflict("block_device_mapping", _V2)
    disks = given(_V2)
    boots = given("block_device_mapping")
    if isinstance(disks, list):
        for index, each in enumerate(disks):
            if isinstance(each, Mapping):
                _check_one(index, each)
        boots = [
            each
            for each in disks
            if not isinstance(each, Mapping) or _kinds(each) & _BOOTABLE
        ]
    elif disks is not None:
        boots = disks
    if given("image") is None and not boots:
        raise exception.StackValidationFailed(
            path=["properties"],
            message=_(
                "A server boots from something: give image, or a volume "
                "or image in block_device_mapping_v2."
            ),
        )


def _kinds(disk: Mapping[str, Any]) -> set[str]:
    return {
        kind for key, kind in _SOURCES.items() if disk.get(key) is not None
    }


def _check_one(index: int, disk: Mapping[str, Any]) -> None:
    named = [
        key
        for key in _SOURCES
        if key != "ephemeral_format" and disk.get(key) is not None
    ]
    if len(named) > 1:
        raise exception.ResourcePropertyConflict(*named)
    kinds = _kinds(disk)
    if not kinds:
        raise _failed(
            index,
            _(
                "Say where the disk comes from: volume_id, snapshot_id, "
                "image, ephemeral_size, ephemeral_format or swap_size."
            ),
        )
    if disk.get("volume_type") is not None and not kinds & {
        "snapshot",
        "image",
    }:
        raise _failed(
            index,
            _(
                "volume_type is for a volume that is made of an image or a "
                "snapshot."
            ),
        )
    if "image" in kinds and disk.get("volume_size") is None:
        raise _failed(
            index, _("A volume that is made of an image needs volume_size.")
        )


def _failed(index: int, message: str) -> exception.StackValidationFailed:
    return exception.StackValidationFailed(
        path=["properties", _V2, str(index)], message=message
    )


def legacy(properties: Any) -> dict[str, str]:
    """The first form of disks: device -> id:type:size:delete."""
    found = {}
    for each in properties["block_device_mapping"] or ():
        snapshot = each["snapshot_id"]
        parts = [
            each["volume_id"] or snapshot or "",
            "snap" if snapshot else "",
            str(each["volume_size"] or ""),
            "1" if each["delete_on_termination"] else "",
        ]
        found[each["device_name"]] = ":".join(parts).rstrip(":")
    return found


def wanted(properties: Any) -> list[dict[str, Any]]:
    """The disks, as novaclient takes them.

    Nova wants to be told which one to boot from when there is no image.
    """
    disks = [_disk(each) for each in properties[_V2] or ()]
    roots = [each for each in disks if each["source_type"] in _BOOTABLE]
    if (
        roots
        and not properties["image"]
        and not any(each.get("boot_index") == 0 for each in disks)
    ):
        roots[0]["boot_index"] = 0
    for each in disks:
        each.setdefault("boot_index", -1)
    return disks


def _disk(each: Mapping[str, Any]) -> dict[str, Any]:
    disk = {
        key: each[name]
        for name, key in _KEYS.items()
        if each[name] is not None
    }
    for name in ("volume_id", "snapshot_id", "image"):
        if each[name]:
            disk.update(
                uuid=each[name],
                source_type=_SOURCES[name],
                destination_type="volume",
            )
            if each["volume_size"]:
                disk["volume_size"] = each["volume_size"]
            return disk
    disk.update(source_type="blank", destination_type="local", boot_index=-1)
    size = each["ephemeral_size"] or each["swap_size"]
    if size:
        disk["volume_size"] = size
    if each["swap_size"]:
        disk["guest_format"] = "swap"
    return disk
