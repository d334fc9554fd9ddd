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

"""The base of cloud client plug-ins.

A plug-in says how its client is made (``_create``) and which of its errors
mean *not found*, *conflict* or *over limit*. Knows no service.
"""

from __future__ import annotations

from typing import Any, ClassVar

import requests.exceptions
from oslo_utils import excutils

from heat.common import exception
from heat.engine.clients import registry


def retry_if_connection_err(exception: BaseException) -> bool:
    """Tell whether a call should be tried again after this error."""
    return isinstance(
        exception, requests.exceptions.ConnectionError | ConnectionError
    )


def retry_if_result_is_false(result: object) -> bool:
    """Tell whether a call should be tried again after this answer."""
    return result is False


class ClientPlugin:
    """One service's client, for one user.

    :param context: a :class:`heat.common.context.RequestContext`
    """

    #: module or modules whose exceptions come from the service
    exceptions_module: ClassVar[Any] = None
    #: service types in the catalogue
    service_types: ClassVar[list[str]] = []
    supported_versions: ClassVar[list[str]] = []
    default_version: ClassVar[str | None] = None

    def __init__(self, context: Any) -> None:
        self._context = context
        self._clients = registry.of(context)
        self._instances: dict[str | None, Any] = {}

    @property
    def context(self) -> Any:
        return self._context

    @property
    def clients(self) -> Any:
        """All clients of this user."""
        return self._clients

    def client(self, version: str | None = None) -> Any:
        """The client, made at its first use.

        :raises heat.common.exception.InvalidServiceVersion: for a version
            that is not supported
        """
        if not version:
            version = self.default_version
        elif self.supported_versions and (
            version not in self.supported_versions
        ):
            raise exception.InvalidServiceVersion(
                version=version, service=self._service_name()
            )
        if version not in self._instances:
            self._instances[version] = (
                self._create(version) if version else self._create()
            )
        return self._instances[version]

    def _service_name(self) -> str:
        if self.service_types:
            return self.service_types[0]
        return type(self).__name__

    def _create(self, version: str | None = None) -> Any:
        """Make a client. Plug-ins override this."""
        raise NotImplementedError

    def url_for(self, **kwargs: Any) -> str:
        """The address of a service, out of the user's catalogue."""
        session = self._session()
        kwargs.setdefault("interface", kwargs.pop("endpoint_type", "public"))
        kwargs.setdefault("region_name", self.context.region_name)
        url = session.get_endpoint(**kwargs)
        if not url:
            raise exception.EntityNotFound(
                entity="Service endpoint",
                name=kwargs.get("service_type", ""),
            )
        return str(url)

    def _session(self) -> Any:
        session = getattr(self.context, "keystone_session", None)
        if session is None:
            raise exception.AuthorizationFailure(
                failure_reason="There is no session to the cloud."
            )
        return session

    def does_endpoint_exist(
        self, service_type: str, service_name: str
    ) -> bool:
        """Tell whether the catalogue has an address of the service."""
        try:
            self.url_for(service_type=service_type)
        except Exception:
            return False
        return True

    # -- what an error means -------------------------------------------------

    def is_client_exception(self, ex: BaseException) -> bool:
        """Tell whether the error comes from this service's client."""
        modules = self.exceptions_module
        if modules is None:
            return False
        if not isinstance(modules, list | tuple):
            modules = (modules,)
        names = tuple(module.__name__ for module in modules)
        return any(base.__module__ in names for base in type(ex).__mro__)

    def is_not_found(self, ex: BaseException) -> bool:
        """Tell whether the error says that the object is not there."""
        return _status(ex) == 404

    def is_over_limit(self, ex: BaseException) -> bool:
        """Tell whether the error says that a quota or rate is used up."""
        return _status(ex) == 413

    def is_conflict(self, ex: BaseException) -> bool:
        """Tell whether the error says that the object's state forbids it."""
        return _status(ex) == 409

    # Each of these two is called with an error, which it raises again or
    # not, and serves as a ``with`` block as well. (The filter binds to the
    # instance as a method does; its annotation knows functions only.)

    @excutils.exception_filter  # type: ignore[arg-type]
    def ignore_not_found(self, ex: BaseException) -> bool:
        """Raise the error again unless it says *not found*."""
        return self.is_not_found(ex)

    @excutils.exception_filter  # type: ignore[arg-type]
    def ignore_conflict_and_not_found(self, ex: BaseException) -> bool:
        """Raise the error again unless it says *conflict* or *not found*."""
        return self.is_conflict(ex) or self.is_not_found(ex)


def _status(ex: BaseException) -> int | None:
    """The HTTP status an error carries, under the names clients use."""
    for name in ("http_status", "status_code", "code"):
        value = getattr(ex, name, None)
        if isinstance(value, int):
            return value
    return None
