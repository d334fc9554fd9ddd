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

"""A server's network cards: checking them, asking for them, showing them.

A card is on a port that is there, on a port that Nova makes, or, when more
is said of it than Nova takes (a subnet, properties of the port), on a port
that is made here; those are listed in the resource's data and deleted after
the server.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import errors, settings

#: key of the resource's data that lists ports made here
OWN_PORTS = "internal_ports"
_EXTRA = "port_extra_properties"
_ALLOCATE = "allocate_network"
#: between two looks whether a port is free: with all others a second or two
_DETACH_SECONDS = 0.5


def check(properties: Any) -> None:
    """Check what the cards' properties say together.

    :raises heat.common.exception.StackValidationFailed: naming the place
    """
    given = properties.data.get("networks")
    if not isinstance(given, list):
        return
    cards = [each for each in given if isinstance(each, Mapping)]
    allocating = [each for each in cards if each.get(_ALLOCATE)]
    if allocating and len(cards) > 1:
        raise _failed(
            0, _("allocate_network stands alone: give no other network.")
        )
    for index, each in enumerate(cards):
        named = ("network", "uuid", "port", "subnet", _ALLOCATE)
        if not any(each.get(key) is not None for key in named):
            raise _failed(
                index, _("Say which network: network, subnet or port.")
            )
        if each.get("port") is None:
            continue
        for key in ("fixed_ip", "subnet", _EXTRA):
            if each.get(key) is not None:
                raise _failed(
                    index,
                    _("%s is the port's business: give it there.") % key,
                )


def _failed(index: int, message: str) -> exception.StackValidationFailed:
    return exception.StackValidationFailed(
        path=["properties", "networks", str(index)], message=message
    )


def cards(server: Any, properties: Any) -> Any:
    """The ``nics`` argument; ports that are needed are made."""
    wanted = properties["networks"]
    if not wanted:
        return "auto"
    if wanted[0][_ALLOCATE]:
        return wanted[0][_ALLOCATE]
    return [card(server, properties, each) for each in wanted]


def card(server: Any, properties: Any, each: Mapping[str, Any]) -> Any:
    """One network card, as novaclient takes it."""
    made: dict[str, Any] = {}
    if each["tag"]:
        made["tag"] = each["tag"]
    if each["port"]:
        made["port-id"] = each["port"]
    elif each["subnet"] or each[_EXTRA]:
        made["port-id"] = _make_port(server, properties, each)
    else:
        made["net-id"] = each["network"]
        if each["fixed_ip"]:
            version = "v6" if ":" in each["fixed_ip"] else "v4"
            made[f"{version}-fixed-ip"] = each["fixed_ip"]
    return made


def _neutron(server: Any, entity: str) -> Any:
    return server.client_plugin("neutron").collection(entity)


def _make_port(server: Any, properties: Any, each: Mapping[str, Any]) -> str:
    network = each["network"]
    if not network:
        network = _neutron(server, "subnet").get(each["subnet"])["network_id"]
    number = len(_own_ports(server))
    body: dict[str, Any] = {
        "network_id": network,
        "name": f"{server.physical_resource_name()}-port-{number}",
    }
    fixed = {"subnet_id": each["subnet"], "ip_address": each["fixed_ip"]}
    fixed = {key: value for key, value in fixed.items() if value}
    if fixed:
        body["fixed_ips"] = [fixed]
    body.update(_extra(each[_EXTRA] or {}))
    groups = properties["security_groups"]
    if groups:
        find = server.client_plugin("neutron").find
        body["security_groups"] = [find("security_group", g) for g in groups]
    made = _neutron(server, "port").create(body)
    _remember(server, [*_own_ports(server), made["id"]])
    return str(made["id"])


def _extra(given: Mapping[str, Any]) -> dict[str, Any]:
    body = {key: value for key, value in given.items() if value is not None}
    body.update(body.pop("value_specs", None) or {})
    if body.pop("no_fixed_ips", False):
        body["fixed_ips"] = []
    if "qos_policy" in body:
        body["qos_policy_id"] = body.pop("qos_policy")
    return body


def _own_ports(server: Any) -> list[str]:
    found: list[str] = json.loads(server.data().get(OWN_PORTS, "[]"))
    return found


def _remember(server: Any, ports: Iterable[str]) -> None:
    server.data_set(OWN_PORTS, json.dumps(list(ports)))


def forget_ports(server: Any, which: Iterable[str] | None = None) -> None:
    """Delete ports that were made here.

    :param which: None: all
    """
    own = _own_ports(server)
    gone = set(own if which is None else which)
    for port in own:
        if port in gone:
            try:
                _neutron(server, "port").delete(port)
            except errors.NotFound:
                continue
    if own:
        _remember(server, [port for port in own if port not in gone])


def part_with_ports(server: Any) -> list[str]:
    """Delete the ports made here that nothing uses; the others."""
    used = []
    for port in _own_ports(server):
        with contextlib.suppress(errors.NotFound):
            if _neutron(server, "port").get(port).get("device_id"):
                used.append(port)
    forget_ports(server, set(_own_ports(server)).difference(used))
    return used


# -- which port is which card -------------------------------------------------


def _ports(server: Any) -> list[dict[str, Any]]:
    found = _neutron(server, "port").list(device_id=server.resource_id)
    return [dict(each) for each in found]


def _fits(each: Mapping[str, Any], port: Mapping[str, Any]) -> bool:
    """Whether a port is what a card asks for."""
    if each["port"]:
        return bool(each["port"] == port["id"])
    fixed = port["fixed_ips"]
    wrong = (
        each["network"] and each["network"] != port["network_id"],
        each["subnet"] and each["subnet"] not in _values(fixed, "subnet_id"),
        each["fixed_ip"]
        and _address(each["fixed_ip"])
        not in map(_address, _values(fixed, "ip_address")),
    )
    return bool(each["network"] or each["subnet"]) and not any(wrong)


def _values(fixed: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return [each[key] for each in fixed if each.get(key)]


def _address(text: str) -> Any:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return text


def _found(
    cards: Sequence[Mapping[str, Any]],
    ports: Iterable[Mapping[str, Any]],
    own: Collection[str],
) -> list[str | None]:
    """The port of each card, None for none; no port is that of two.

    Cards that say more choose first, and one for which a port is made here
    takes such a one before others.
    """
    left, found = list(ports), dict[int, str]()
    for place in sorted(range(len(cards)), key=lambda i: _vague(cards[i])):
        each = cards[place]
        made = not each["port"] and bool(each["subnet"] or each[_EXTRA])
        fitting = sorted(
            (port for port in left if _fits(each, port)),
            key=lambda port: (port["id"] in own) is not made,
        )
        if fitting:
            left.remove(fitting[0])
            found[place] = str(fitting[0]["id"])
    return [found.get(place) for place in range(len(cards))]


def _vague(each: Mapping[str, Any]) -> int:
    keys = ("port", "fixed_ip", "subnet", _EXTRA)
    return next((i for i, key in enumerate(keys) if each[key]), len(keys))


# -- floating addresses -------------------------------------------------------


def associate(server: Any, properties: Any) -> None:
    """Let the floating IPs of the cards lead to the server's ports."""
    cards = _named(properties)
    if not any(each["floating_ip"] for each in cards):
        return
    ports = _found(cards, _ports(server), _own_ports(server))
    for each, port in zip(cards, ports, strict=True):
        if not each["floating_ip"]:
            continue
        if port is None:
            raise exception.Error(
                _("The server has no port for the floating IP %s.")
                % each["floating_ip"]
            )
        _neutron(server, "floatingip").update(
            each["floating_ip"], {"port_id": port}
        )


# -- changes ------------------------------------------------------------------


def _named(properties: Any) -> list[dict[str, Any]]:
    """The cards of which something is said."""
    given = properties["networks"] or ()
    return [dict(each) for each in given if not each[_ALLOCATE]]


def _chooses(properties: Any) -> bool:
    """Whether the cards are left for Nova to choose."""
    given = properties["networks"]
    return not given or given[0][_ALLOCATE] == "auto"


_Card = Mapping[str, Any]


def _same(old: _Card, _port: _Card | None, new: _Card) -> bool:
    keys = ("network", "port", "subnet", "fixed_ip", "tag", _EXTRA)
    return all(old[key] == new[key] for key in keys)


def _serves(old: _Card, port: _Card | None, new: _Card) -> bool:
    """Whether the port of a card is what another card asks for, too.

    One that was named is not taken for a card that does not name it.
    """
    if port is None or (old["port"] and not new["port"]):
        return False
    return all(old[k] == new[k] for k in ("tag", _EXTRA)) and _fits(new, port)


def change(server: Any, before: Any, after: Any) -> None:
    """Detach the cards that aren't wanted any more, attach the new ones.

    A port that is what a changed card asks for stays. What Nova chose goes
    when networks are named, unless it is what they ask for; Nova chooses
    again when none are named any more.

    :raises heat.common.exception.Error: Nova doesn't detach in time
    """
    ports, own = _ports(server), set(_own_ports(server))
    old, new = _named(before), _named(after)
    holds = _found(old, ports, own)
    by_id = {port["id"]: port for port in ports}
    stale = [(o, by_id.get(p)) for o, p in zip(old, holds, strict=True)]
    for stays in (_same, _serves):
        for each in sorted(new, key=_vague):
            match = next((o for o in stale if stays(*o, each)), None)
            if match is not None:
                stale.remove(match)
                new.remove(each)
    gone = [str(port["id"]) for _card, port in stale if port is not None]
    spare = [port for port in ports if port["id"] not in holds]
    # What an earlier try has attached is not attached again.
    fitting = _found(new, spare, own)
    new = [e for e, port in zip(new, fitting, strict=True) if port is None]
    spare = [port for port in spare if port["id"] not in fitting]
    if _chooses(before) and not _chooses(after):
        gone += [str(port["id"]) for port in spare]
    if gone:
        # Else its addresses are still in use when they are asked for anew.
        _let_go(server, server.resource_id, gone)
        forget_ports(server, gone)
    for each in new:
        _attach(server, card(server, after, each))
    if _chooses(after) and not _chooses(before) and not spare:
        _attach(server, {})
    associate(server, after)


def _attach(server: Any, asked: Mapping[str, Any]) -> None:
    server.collection().call(
        "interface_attach",
        server.resource_id,
        asked.get("port-id"),
        asked.get("net-id"),
        asked.get("v4-fixed-ip") or asked.get("v6-fixed-ip"),
        tag=asked.get("tag"),
        idempotent=False,
    )


def live(server: Any, wanted: Any) -> list[dict[str, Any]]:
    """The server's cards in the words of the property ``networks``.

    A port that one of the wanted cards is satisfied with is that card.
    """
    ports, cards = _ports(server), _named(wanted)
    held = _found(cards, ports, _own_ports(server))
    found = [
        {k: v for k, v in each.items() if v is not None}
        for each, port in zip(cards, held, strict=True)
        if port is not None
    ]
    spare = [{"port": p["id"]} for p in ports if p["id"] not in held]
    return [*found, *spare]


def detach(server: Any, properties: Any) -> list[str]:
    """Detach the ports that were there before the server, for another one.

    :returns: their ids
    :raises heat.common.exception.Error: the service doesn't let go in time
    """
    wanted = {e["port"] for e in properties["networks"] or () if e["port"]}
    if not wanted or server.resource_id is None:
        return []
    held = _neutron(server, "port").list(device_id=server.resource_id)
    ports = [port["id"] for port in held if port["id"] in wanted]
    _let_go(server, server.resource_id, ports)
    return ports


def _let_go(server: Any, holder: str, ports: Iterable[str]) -> None:
    """Detach ports from whoever holds them, and wait for it a moment."""
    for port in ports:
        server.collection().call("interface_detach", holder, port)
    left = set(ports)
    attempts = int(settings.option("max_interface_check_attempts", 10))
    for _attempt in range(attempts):
        held = _neutron(server, "port").list(device_id=holder)
        left &= {port["id"] for port in held}
        if not left:
            return
        time.sleep(_DETACH_SECONDS)
    raise exception.Error(
        _("The server %(id)s doesn't let go of its ports: %(ports)s")
        % {"id": holder, "ports": ", ".join(sorted(left))}
    )


def attach(server: Any, ports: Iterable[str]) -> None:
    """Attach ports again that :func:`detach` took."""
    for port in ports:
        holder = _neutron(server, "port").get(port).get("device_id")
        if holder == server.resource_id:
            continue
        if holder and _is_replacement(server, holder):
            _let_go(server, holder, [port])
        server.collection().call(
            "interface_attach",
            server.resource_id,
            port,
            None,
            None,
            idempotent=False,
        )


def _is_replacement(server: Any, other: str) -> bool:
    """Whether a server was made for the same resource: nothing is taken
    from anybody else's."""
    try:
        name = str(server.collection().get(other).get("name"))
    except errors.NotFound:
        return False
    given = server.chosen_name()
    return name == given or name.startswith(
        f"{server.stack.name}-{server.name}-"
    )


# -- showing ------------------------------------------------------------------


def by_name(shown: Mapping[str, Any]) -> dict[str, list[str]]:
    """The server's addresses, by name of the network."""
    return {
        network: [each["addr"] for each in addresses]
        for network, addresses in (shown.get("addresses") or {}).items()
    }


def with_ports(server: Any, shown: Mapping[str, Any]) -> dict[str, Any]:
    """The server's addresses with their ports, by name and by id."""
    ports = _neutron(server, "port").list(device_id=server.resource_id)
    by_mac = {port["mac_address"]: port for port in ports}
    found: dict[str, Any] = {}
    for name, addresses in (shown.get("addresses") or {}).items():
        told = []
        network = None
        for each in addresses:
            port = by_mac.get(each.get("OS-EXT-IPS-MAC:mac_addr"), {})
            network = port.get("network_id", network)
            told.append({**each, "port": port.get("id")})
        found[name] = told
        if network:
            found[network] = told
    return found
