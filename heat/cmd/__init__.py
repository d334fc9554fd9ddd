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

"""Processes. Importing this package chooses the concurrency backend.

Every entry point lives in this package, so the choice is made before
anything else of the service, or of a library that locks, is imported. It is
looked up in the environment (``HEAT_CONCURRENCY_BACKEND``) and then in the
configuration files (``[DEFAULT] concurrency_backend``): ``threading``, the
default, or ``eventlet``. No other package may import eventlet.
"""

from __future__ import annotations

import configparser
import contextlib
import ctypes
import gc
import os
import pathlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence

OPTION = "concurrency_backend"
VARIABLE = "HEAT_CONCURRENCY_BACKEND"
BACKENDS = ("threading", "eventlet")

# So many new objects are looked through at once, in place of 700.
_YOUNG = 100_000

# Of mallopt(3).
_M_ARENA_MAX = -8

_DEFAULT_FILES = ("~/.heat/heat.conf", "~/heat.conf", "/etc/heat/heat.conf")


def choose(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """The backend to use: ``threading`` or ``eventlet``.

    Reads configuration files itself: oslo.config may not be imported yet.

    :param argv: command line without the program's name
    :raises SystemExit: another word was given
    """
    word = environ.get(VARIABLE)
    if not word:
        for path in _files(argv):
            word = _value(path) or word
    word = word or "threading"
    if word not in BACKENDS:
        raise SystemExit(
            f"{OPTION} must be one of {', '.join(BACKENDS)}, not {word!r}"
        )
    return word


def init_backend(backend: str) -> None:
    """Make oslo.service use this backend; eventlet patches the process.

    Does nothing when whoever imports this package has chosen already.
    """
    warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
    if backend == "eventlet":
        import eventlet

        eventlet.monkey_patch()
        _init(backend)
        return
    with _unseen("eventlet"):
        _init(backend)


def _init(backend: str) -> None:
    from oslo_service import backend as oslo_backend

    if oslo_backend.get_backend_type() is None:
        oslo_backend.init_backend(oslo_backend.BackendType(backend))
    # It and what the backend takes import eventlet to see whether it is
    # there: 12 MiB of a process that does not use it.
    import oslo_messaging  # noqa: F401


@contextlib.contextmanager
def _unseen(module: str) -> Iterator[None]:
    """A module is not there for what is imported meanwhile, only for that:
    a plug-in may have a use for it."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def settle_memory() -> None:
    """Tell the collector that what is loaded now stays.

    Called once, when a process is ready to serve. A service's modules,
    schemas and tables are some hundred thousand objects that never go;
    looking through them again and again took a third of the CPU time of a
    request that makes many objects.
    """
    gc.collect()
    gc.freeze()
    # A request for thousands of parameters makes objects by the hundred
    # thousand, hardly any of them in circles.
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


def share_heaps() -> None:
    """Have all threads of the process share two heaps.

    glibc gives each thread a heap of its own, which keeps what was once used
    of it: requests of megabytes, each on another thread, took 80 MiB more.
    Called before there are threads; without glibc it does nothing.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def _files(argv: Sequence[str]) -> Iterator[str]:
    """The configuration files that the process will read, in order."""
    named = []
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if option in ("--config-file", "--config-dir"):
            path = value if equals else next(words, "")
            named += _expanded(path, option == "--config-dir")
    if named:
        yield from named
        return
    for path in _DEFAULT_FILES:
        found = os.path.expanduser(path)
        if os.path.exists(found):
            yield found
            return


def _expanded(path: str, directory: bool) -> list[str]:
    if not directory:
        return [path]
    return [str(found) for found in sorted(pathlib.Path(path).glob("*.conf"))]


def _value(path: str) -> str | None:
    """The option in one file. What is wrong with a file is found later."""
    parser = configparser.RawConfigParser(
        strict=False, default_section="<none>", allow_no_value=True
    )
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return None
    return parser.get("DEFAULT", OPTION, fallback=None)


share_heaps()
init_backend(choose(sys.argv[1:], os.environ))
