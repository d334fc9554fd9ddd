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

"""A cloud of real OpenStack services, on the loopback interface.

Keystone, Glance, Placement, Nova, Neutron, Cinder, Swift, Zaqar, Barbican,
Octavia, Aodh and Gnocchi as released, in a virtual environment of their own,
over a MariaDB and a RabbitMQ that are there. Nothing is virtualised: servers
are those of Nova's fake hypervisor, ports are bound by a driver without
agents, volumes hold no bytes, load balancers forward nothing; only objects,
messages, secrets and measures are kept. What a client sees (authentication,
policy, quotas, states, errors) is the real thing.
``python -m heat_integrationtests.openstack --help``.

=============  ===============================================================
settings       where everything is: folder, ports, names
servers        MariaDB and RabbitMQ: access, databases, the vhost
install        the virtual environment
services       THE table: what runs, and in which order
configs        the configuration files
swift          those of Swift, and its folder
schemas        the services' databases
processes      starting, finding and ending processes
seed           users, flavors, networks and so on, as tables
cloud          start, stop, status, destroy
plugins        what runs inside the services' environment
=============  ===============================================================
"""
