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

A plug-in says how its client is made (``_create``), which objects its
service has (``collection``), and which of its errors mean *not found*,
*conflict* or *over limit*. Knows no service.
"""

from __future__ import annotations

from typing import Any, ClassVar

import requests.exceptions
from oslo_utils import excutils

from heat.common import exception
from heat.common.i18n import _
from heat.engine.clients import cache, collection, errors, registry, settings
from heat.engine.clients import session as sessions


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
    #: as in the options [clients_<service>]
    service: ClassVar[str] = ""
    #: nothing works without a user's credentials
    needs_credentials: ClassVar[bool] = False

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

    # -- the session -------------------------------------------------------

    def keystone_session(self, service: str | None = None) -> Any:
        """The session that requests go through.

        :param service: whose certificate options hold; None: this one's
        :raises heat.common.exception.AuthorizationFailure: when the request
            brought no credentials
        """
        own = getattr(self.context, "keystone_session", None)
        if own is not None:
            return own
        return self._clients.session(service or self.service)

    def interface(self, service: str | None = None) -> str:
        """Which of a service's addresses are used."""
        return str(
            settings.client_option(
                service or self.service, "endpoint_type", "public"
            )
        ).removesuffix("URL")

    # What plug-ins that make clients by hand ask for.

    @property
    def auth_token(self) -> str | None:
        """The token of the user."""
        token: str | None = self.keystone_session().get_token()
        return token

    def _get_client_option(self, client: str, option: str) -> Any:
        """An option of ``[clients_<client>]``, else of ``[clients]``."""
        return settings.client_option(client, option)

    def region_name(self) -> str | None:
        """The region whose services are used."""
        types = self.service_types
        return sessions.region(self.context, types[0] if types else "")

    def url_for(self, **kwargs: Any) -> str:
        """The address of a service, out of the user's catalogue.

        :raises heat.common.exception.EntityNotFound: there is none
        """
        kwargs.setdefault(
            "interface", kwargs.pop("endpoint_type", None) or self.interface()
        )
        kwargs.setdefault("region_name", self.region_name())
        url = self.keystone_session().get_endpoint(**kwargs)
        if not url:
            raise exception.EntityNotFound(
                entity="Service endpoint",
                name=kwargs.get("service_type", ""),
            )
        return str(url)

    def does_endpoint_exist(
        self, service_type: str, service_name: str
    ) -> bool:
        """Tell whether the catalogue has an address of the service."""
        try:
            self.url_for(service_type=service_type)
        except Exception:
            return False
        return True

    def availability(self) -> tuple[bool, str | None]:
        """Tell whether the user can reach the service, and why not."""
        if not self.service_types and not self.needs_credentials:
            return True, None
        own = getattr(self.context, "keystone_session", None)
        if own is None and not sessions.has_credentials(self.context):
            return False, _("the request brought no credentials for it")
        if not self.service_types or any(
            self.does_endpoint_exist(kind, "") for kind in self.service_types
        ):
            return True, None
        return False, _(
            "the service catalogue has no %(interface)s endpoint of the type "
            "%(type)s"
        ) % {
            "interface": self.interface(),
            "type": _(" or ").join(self.service_types),
        }

    # -- objects -------------------------------------------------------------

    def collection(self, entity: str) -> Any:
        """The objects of one kind; plug-ins override this.

        :param entity: as resource types name it
        :returns: a :class:`heat.engine.clients.collection.Collection`
        """
        raise NotImplementedError

    def look_up(self, entity: str, value: str) -> dict[str, Any]:
        """The object with this id or name, as it is now.

        :raises heat.common.exception.EntityNotFound: there is none
        :raises heat.common.exception.PhysicalResourceNameAmbiguity: several
            objects have the name
        """
        try:
            return collection.find(self.collection(entity), value)
        except exception.HeatException:
            cache.FINDERS.forget(self._key(entity, value))
            raise

    def find(self, entity: str, value: str) -> str:
        """The id of the object with this id or name; may be remembered.

        Errors as :meth:`look_up`.
        """
        if not value:
            return value
        found = cache.FINDERS.get(
            self._key(entity, value),
            lambda: self.look_up(entity, value)["id"],
        )
        return str(found)

    def _key(self, entity: str, value: str) -> tuple[Any, ...]:
        return (*cache.scope(self.context), self.service, entity, value)

    # -- waiting -------------------------------------------------------------

    def listed_in(self, entity: str, state: str) -> set[str]:
        """The ids of the project's objects that are in a state."""
        found = self.collection(entity).list(status=state)
        return {str(each["id"]) for each in found}

    # -- what an error means -------------------------------------------------

    def is_client_exception(self, ex: BaseException) -> bool:
        """Tell whether the error comes from this service's client."""
        if isinstance(ex, errors.ServiceError):
            return ex.service == self.service
        modules = self.exceptions_module
        if modules is None:
            return False
        if not isinstance(modules, list | tuple):
            modules = (modules,)
        names = tuple(module.__name__ for module in modules)
        return any(base.__module__ in names for base in type(ex).__mro__)

    def is_not_found(self, ex: BaseException) -> bool:
        """Tell whether the error says that the object is not there."""
        return errors.is_not_found(ex)

    def is_over_limit(self, ex: BaseException) -> bool:
        """Tell whether the error says that a quota or rate is used up."""
        return errors.is_over_limit(ex)

    def is_conflict(self, ex: BaseException) -> bool:
        """Tell whether the error says that the object's state forbids it."""
        return errors.is_conflict(ex)

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
