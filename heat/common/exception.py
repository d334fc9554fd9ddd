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

"""Every error of the service, in one tree.

    HeatException
    |- Error                                  free text
    |- Invalid (400)                          what the user sent is wrong
    |  |- StackValidationFailed, InvalidSchemaError, InvalidTemplate*,
    |  |  UnknownUserParameter, UserParameterMissing, ...
    |- Forbidden, InvalidTenant (403)
    |- NotFound, EntityNotFound (404)
    |- StackExists, ActionInProgress, StackLocked (409)
    `- ResourceFailure, InvalidGlobalResource, ... (500 when they escape)

A class knows nothing of HTTP: only :mod:`heat.api.faults` maps class names
to a status. Class names are contract: they travel over RPC and clients read
them from the ``error.type`` of a fault; a test pins them.

A message says what is wrong, where (the path in the template, such as
``resources.server.properties.image``), and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heat.common.i18n import _


def _plain(value: object) -> object:
    """The value, or its text when it is no plain value."""
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


class HeatException(Exception):
    """Base of all errors.

    Sub-classes set ``msg_fmt``, a %-format over the keyword arguments.
    ``error_code`` is a stable short name or None.
    """

    msg_fmt: str = _("An unknown exception occurred.")
    error_code: str | None = None
    safe: bool = True

    def __init__(self, **kwargs: Any) -> None:
        # Both travel over RPC, where cls(*args, **kwargs) makes the error
        # anew: args stays empty and kwargs holds plain values only.
        self.kwargs = {name: _plain(value) for name, value in kwargs.items()}
        try:
            self.message = self.msg_fmt % kwargs
        except (KeyError, TypeError, ValueError):
            # A wrong argument must never hide the error itself.
            self.message = self.msg_fmt
        if self.error_code:
            self.message = f"HEAT-{self.error_code} {self.message}"
        super().__init__()

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    @property
    def args_dict(self) -> dict[str, Any]:
        """The keyword arguments, for handlers that reformat the error."""
        return dict(self.kwargs)


class _FreeText(HeatException):
    """An error whose message is one positional argument."""

    msg_fmt = "%(message)s"

    def __init__(self, message: object = "", **kwargs: Any) -> None:
        super().__init__(message=message, **kwargs)
        # It travels as it was made: in other makes the argument is
        # positional, too, and its name another one.
        self.args = (_plain(message),)
        self.kwargs = {k: _plain(value) for k, value in kwargs.items()}


class Error(_FreeText):
    """A failure that has no class of its own."""


# -- 400 --------------------------------------------------------------------


class Invalid(HeatException):
    msg_fmt = _("Data supplied was not valid: %(reason)s")


class NotSupported(HeatException):
    msg_fmt = _("%(feature)s is not supported.")


class HeatExceptionWithPath(HeatException):
    """An error at a place in a template or environment.

    :param error: short class of the error, shown first, or ""
    :param path: list of keys and indices, or ready dotted text
    :param message: what is wrong there
    :ivar says_where: the sentence names the place itself, so that no path is
        put in front of it
    """

    msg_fmt = _("%(error)s%(path)s%(message)s")
    says_where = False

    def __init__(
        self,
        error: object = None,
        path: Iterable[object] | str | None = None,
        message: object = None,
    ) -> None:
        self.error = "" if error is None else str(error)
        self.path: list[str] = []
        if isinstance(path, str):
            self.path = [path] if path else []
        elif path is not None:
            self.path = [str(p) for p in path]
        self.error_message = "" if message is None else str(message)
        super().__init__(
            error=self._prefix(self.error),
            path=self._prefix(self.path_text()),
            message=self.error_message,
        )
        self._travels_as()

    def _travels_as(self) -> None:
        """Set the keyword arguments that make this error anew."""
        self.kwargs = {
            "error": self.error,
            "path": self.path,
            "message": self.error_message,
        }

    @staticmethod
    def _prefix(text: str) -> str:
        return f"{text}: " if text else ""

    def path_text(self) -> str:
        """The path in dotted form; list indices in brackets."""
        out = ""
        for part in self.path:
            if part.isdigit():
                out += f"[{part}]"
            elif part:
                out += f".{part}" if out else part
        return out

    def as_answered(self) -> str:
        """The text that answers of the API have, as clients know it."""
        path = self.path_text()
        parts = self.error, path, self.error_message
        return (": : " if path else ": ").join(filter(None, parts))

    def args_tuple(self) -> tuple[str, list[str], str]:
        return self.error, self.path, self.error_message


class StackValidationFailed(HeatExceptionWithPath):
    """A template, environment or property that can't be accepted."""


class InvalidSchemaError(Invalid):
    msg_fmt = "%(message)s"


class InvalidTemplateReference(Invalid):
    msg_fmt = _(
        'The specified reference "%(resource)s" (in %(key)s) is incorrect.'
    )


class InvalidTemplateVersion(Invalid):
    msg_fmt = _("The template version is invalid: %(explanation)s")


class InvalidTemplateSection(Invalid):
    msg_fmt = _("The template section is invalid: %(section)s")


class InvalidTemplateAttribute(HeatException):
    msg_fmt = _(
        "The Referenced Attribute (%(resource)s %(key)s) is incorrect."
    )


class TemplateOutputError(HeatException):
    msg_fmt = _("Error in %(resource)s output %(attribute)s: %(message)s")


class UnknownUserParameter(Invalid):
    msg_fmt = _("The Parameter (%(key)s) was not defined in template.")


class UserParameterMissing(Invalid):
    msg_fmt = _("The Parameter (%(key)s) was not provided.")


class ImmutableParameterModified(Invalid):
    msg_fmt = _(
        "The following parameters are immutable and may not be "
        "updated: %(keys)s"
    )

    def __init__(self, *args: object, **kwargs: Any) -> None:
        if args:
            kwargs["keys"] = ", ".join(str(a) for a in args)
        super().__init__(**kwargs)


class InvalidMergeStrategyForParam(Invalid):
    msg_fmt = _("Invalid merge strategy '%(strategy)s' for '%(param)s'.")


class ConflictingMergeStrategyForParam(Invalid):
    msg_fmt = _(
        "Conflicting merge strategy '%(strategy)s' for "
        "'%(param)s' in file '%(env_file)s'."
    )


class MissingCredentialError(HeatException):
    msg_fmt = _("Missing required credential: %(required)s")


class RequestLimitExceeded(HeatException):
    msg_fmt = _("Request limit exceeded: %(message)s")


class DownloadLimitExceeded(HeatException):
    msg_fmt = _("Permissible download limit exceeded: %(message)s")


class StackResourceLimitExceeded(StackValidationFailed):
    """More resources than ``max_resources_per_stack`` allows."""

    def __init__(
        self,
        error: object = None,
        path: Iterable[object] | str | None = None,
        message: object = None,
        limit: object = None,
    ) -> None:
        if message is None:
            message = _(
                "Maximum resources per stack exceeded "
                "(max_resources_per_stack is %s)."
            ) % (limit,)
        super().__init__(error, path, message)


class ResourcePropertyConflict(StackValidationFailed):
    """Properties that may not be given together.

    :param props: the names, as positional arguments
    """

    def __init__(self, *props: object, message: object = None) -> None:
        if message is None:
            message = _(
                "Cannot define the following properties at the same time: %s"
            ) % ", ".join(str(p) for p in props)
        super().__init__(message=message)

    def _travels_as(self) -> None:
        self.kwargs = {"message": self.error_message}


class ResourcePropertyDependency(HeatException):
    msg_fmt = _("%(prop1)s cannot be specified without %(prop2)s.")


class ResourcePropertyValueDependency(HeatException):
    msg_fmt = _(
        "%(prop1)s property should only be specified "
        "for %(prop2)s with value %(value)s."
    )


class PropertyUnspecifiedError(StackValidationFailed):
    """None of several properties was given, one is needed.

    :param props: the names, as positional arguments
    """

    def __init__(self, *props: object, message: object = None) -> None:
        if message is None:
            message = _(
                "At least one of the following properties must be "
                "specified: %s."
            ) % ", ".join(str(p) for p in props)
        super().__init__(message=message)

    def _travels_as(self) -> None:
        self.kwargs = {"message": self.error_message}


class ResourceActionNotSupported(HeatException):
    msg_fmt = _("%(action)s is not supported for resource.")


class ResourceActionRestricted(Invalid):
    msg_fmt = _("%(action)s is restricted for resource.")


class InvalidRestrictedAction(Invalid):
    msg_fmt = "%(message)s"


class InvalidBreakPointHook(Invalid):
    msg_fmt = "%(message)s"


class ResourceTypeUnavailable(HeatException):
    msg_fmt = _(
        "HEAT-E99001 Service %(service_name)s is not available for resource "
        "type %(resource_type)s, reason: %(reason)s"
    )
    error_code = None


class PhysicalResourceNameAmbiguity(HeatException):
    msg_fmt = _("Multiple physical resources were found with name (%(name)s).")


class PhysicalResourceIDAmbiguity(HeatException):
    msg_fmt = _(
        "Multiple resources were found with the physical ID (%(phys_id)s)."
    )


class CircularDependencyException(HeatException):
    msg_fmt = _("Circular Dependency Found: %(cycle)s")


# -- 403 --------------------------------------------------------------------


class Forbidden(HeatException):
    msg_fmt = _("You are not authorized to use %(action)s.")

    def __init__(self, action: object = "this action", **kwargs: Any) -> None:
        super().__init__(action=action, **kwargs)


class InvalidTenant(HeatException):
    msg_fmt = _(
        "Searching Tenant %(target)s from Tenant %(actual)s forbidden."
    )


class AuthorizationFailure(HeatException):
    msg_fmt = _("Authorization failed.%(failure_reason)s")

    def __init__(self, failure_reason: object = "", **kwargs: Any) -> None:
        text = f" {failure_reason}" if failure_reason else ""
        super().__init__(failure_reason=text, **kwargs)
        self.kwargs["failure_reason"] = str(failure_reason)


# -- 404 --------------------------------------------------------------------


class NotFound(_FreeText):
    """Something that was asked for is not there."""


class EntityNotFound(HeatException):
    """The thing of a kind (``entity``) with a name is not there."""

    msg_fmt = _("The %(entity)s (%(name)s) could not be found.")

    def __init__(
        self, entity: str | None = None, name: object = None, **kwargs: Any
    ) -> None:
        self.entity = entity
        self.name = name
        super().__init__(entity=entity, name=name, **kwargs)


class ResourceNotFound(EntityNotFound):
    msg_fmt = _(
        "The Resource (%(resource_name)s) could not be found "
        "in Stack %(stack_name)s."
    )


class SnapshotNotFound(EntityNotFound):
    msg_fmt = _(
        "The Snapshot (%(snapshot)s) for Stack (%(stack)s) could not be found."
    )


class ResourceNotAvailable(HeatException):
    msg_fmt = _("The Resource (%(resource_name)s) is not available.")


class InvalidServiceVersion(HeatException):
    msg_fmt = _("Invalid service %(service)s version %(version)s")


class ClientNotAvailable(HeatException):
    msg_fmt = _("The client (%(client_name)s) is not available.")


class PhysicalResourceExists(HeatException):
    msg_fmt = _("The physical resource for (%(name)s) exists.")


# -- 409 --------------------------------------------------------------------


class StackExists(HeatException):
    msg_fmt = _("The Stack (%(stack_name)s) already exists.")


class ActionInProgress(HeatException):
    msg_fmt = _(
        "Stack %(stack_name)s already has an action (%(action)s) in progress."
    )


class ActionNotComplete(ActionInProgress):
    msg_fmt = _(
        "Stack %(stack_name)s has an action (%(action)s) "
        "in progress or failed state."
    )


class StackLocked(HeatException):
    msg_fmt = _("Stack %(stack_name)s is locked: %(record)s")


class StackNotLocked(HeatException):
    msg_fmt = _(
        "Stack %(stack_name)s is %(state)s and not locked: there is nothing "
        "to unlock."
    )


class StackNotLockable(HeatException):
    msg_fmt = _(
        "Stack %(stack_name)s is %(state)s: only a stack that has been made "
        "can be locked."
    )


# -- 500 when they reach a client --------------------------------------------


class InvalidGlobalResource(HeatException):
    msg_fmt = _(
        "There was an error loading the definition of the global resource "
        "type %(type_name)s."
    )


class StopActionFailed(HeatException):
    msg_fmt = _(
        "Failed to stop stack (%(stack_name)s) on other engine (%(engine_id)s)"
    )


class EventSendFailed(HeatException):
    msg_fmt = _(
        "Failed to send message to stack (%(stack_name)s) on other engine "
        "(%(engine_id)s)"
    )


class InvalidEncryptionKey(HeatException):
    msg_fmt = _(
        "Can not decrypt data with the auth_encryption_key in heat config."
    )


class SIGHUPInterrupt(HeatException):
    msg_fmt = _("System SIGHUP signal received.")


class NotImplementedYet(HeatException):
    """A part of the public interface that this release does not serve."""

    msg_fmt = _("%(feature)s is not implemented by this release.")


# -- resources ----------------------------------------------------------------


class ResourceFailure(HeatExceptionWithPath):
    """An action on a resource failed.

    :param exception_or_error: the exception, or its text
    :param resource: the resource object (for its path), or None
    :param action: the action that failed, such as ``CREATE``
    """

    def __init__(
        self,
        exception_or_error: object,
        resource: Any,
        action: str | None = None,
    ) -> None:
        self.resource = resource
        self.action = action
        self.exc: BaseException | None = None
        if action is None and resource is not None:
            self.action = getattr(resource, "action", None)
        path: list[object] = []
        if resource is not None:
            path = ["resources", getattr(resource, "name", "")]
        error: object = None
        message: object = exception_or_error
        if isinstance(exception_or_error, HeatExceptionWithPath):
            self.exc = exception_or_error
            error = exception_or_error.error or _class_of(exception_or_error)
            path.extend(exception_or_error.path)
            message = exception_or_error.error_message
        elif isinstance(exception_or_error, BaseException):
            self.exc = exception_or_error
            error = _class_of(exception_or_error)
            message = str(exception_or_error)
        super().__init__(error=error, path=path, message=message)

    def _travels_as(self) -> None:
        self.kwargs = {
            "exception_or_error": str(self),
            "resource": None,
            "action": self.action,
        }


def _class_of(error: BaseException) -> str:
    return type(error).__name__.removesuffix("_Remote")


class ResourceInError(HeatException):
    msg_fmt = _(
        'Went to status %(resource_status)s due to "%(status_reason)s"'
    )

    def __init__(
        self,
        status_reason: object = "Unknown",
        resource_status: object = "ERROR",
    ) -> None:
        super().__init__(
            status_reason=status_reason, resource_status=resource_status
        )


class ResourceUnknownStatus(HeatException):
    msg_fmt = _(
        "%(result)s - Unknown status %(resource_status)s due to "
        '"%(status_reason)s"'
    )

    def __init__(
        self,
        result: object = "Resource failed",
        resource_status: object = None,
        status_reason: object = "Unknown",
    ) -> None:
        super().__init__(
            result=result,
            resource_status=resource_status,
            status_reason=status_reason,
        )


class UpdateReplace(Exception):
    """Raised by a plug-in: this change needs a new object.

    Control flow, not an error: the engine answers it with a replacement.
    """

    def __init__(self, resource_name: str = "Unknown") -> None:
        super().__init__(
            _("The Resource %s requires replacement.") % resource_name
        )


class UpdateInProgress(Exception):
    """An update met a row that another operation holds."""

    def __init__(self, resource_name: str = "Unknown") -> None:
        super().__init__(
            _("The resource %s is already being updated.") % resource_name
        )
