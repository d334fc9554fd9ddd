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

"""The architecture as data, and pure functions that find breaches of it.

The tables say what may import what and how big things may grow; the
functions take a :class:`Tree` (parsed modules) and answer with sentences.
test_architecture.py runs them over the package, and over planted breaches.
doc/source/contributor/architecture.rst is generated from the same tables.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
from collections.abc import Iterable, Iterator, Mapping

import mccabe

# -- the tables ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Layer:
    """Some modules that stand on one level.

    ``modules`` are dotted prefixes; the longest prefix of all layers wins.
    """

    name: str
    modules: tuple[str, ...]
    what: str


# Top to bottom. A module may import its own level and what is below.
LAYERS = (
    Layer(
        "cmd",
        ("heat.cmd",),
        "chooses the concurrency backend, starts a process",
    ),
    Layer("osc", ("heat.osc",), "plug-in of the openstack command"),
    Layer("api", ("heat.api",), "ReST: routes, handlers, faults"),
    Layer(
        "service",
        ("heat.engine.service",),
        "RPC endpoints: unpack, authorise, call, present",
    ),
    Layer("policies", ("heat.policies",), "rules and enforcer, in code"),
    Layer("rpc", ("heat.rpc",), "what API and engine say to each other"),
    Layer("stack", ("heat.engine.stack",), "what a user asks of a stack"),
    Layer(
        "traversal",
        ("heat.engine.traversal",),
        "begin, check, decide, sync, replacement, outcome, recovery",
    ),
    Layer(
        "ports",
        (
            "heat.engine.paces",
            "heat.engine.ports",
        ),
        "what an engine is handed",
    ),
    Layer("plugins", ("heat.engine.plugins",), "finds resource types"),
    Layer(
        "resources",
        ("heat.engine.resources", "heat.scaling"),
        "the plug-ins; nobody imports them by name",
    ),
    Layer("resource", ("heat.engine.resource",), "how one resource lives"),
    Layer("software", ("heat.engine.software",), "configs and deployments"),
    Layer(
        "language",
        (
            "heat.engine.definition",
            "heat.engine.graph",
            "heat.engine.hidden",
            "heat.engine.environment",
            "heat.engine.hot",
            "heat.engine.template",
        ),
        "templates, environments, graphs; pure",
    ),
    Layer(
        "surface",
        (
            "heat.engine.attributes",
            "heat.engine.constraints",
            "heat.engine.function",
            "heat.engine.output",
            "heat.engine.parameter_forms",
            "heat.engine.parameters",
            "heat.engine.properties",
            "heat.engine.property_schema",
            "heat.engine.rsrc_defn",
            "heat.engine.scheduler",
            "heat.engine.schema",
            "heat.engine.support",
            "heat.engine.translation",
        ),
        "what authors of plug-ins import",
    ),
    Layer("clients", ("heat.engine.clients",), "clients of the cloud"),
    Layer("events", ("heat.engine.events",), "records and publishes events"),
    Layer("db", ("heat.db",), "tables, sessions, repositories"),
    Layer(
        "common",
        # heat.rpc.api is names only: plug-ins read them as well.
        ("heat.common", "heat.rpc.api", "heat"),
        "config, context, errors, identifiers",
    ),
)

# Levels are not all: (who, must not import, why).
APART = (
    ("heat.api", "heat.engine", "API and engine meet in rpc and common"),
    ("heat.api", "heat.db", "the API has no database"),
    ("heat.engine", "heat.api", "API and engine meet in rpc and common"),
    ("heat.policies", "heat.rpc", "rules know no messages"),
    ("heat.rpc", "heat.engine", "the engine hands in its endpoints"),
    ("heat.rpc", "heat.db", "messages hold plain values"),
    ("heat.osc", "heat.engine", "runs on the user's machine"),
    ("heat.osc", "heat.db", "runs on the user's machine"),
    ("heat.osc", "heat.api", "runs on the user's machine"),
)

# Packages whose modules only they themselves may import. The bare package may
# be imported: plugins.py walks its folder.
PRIVATE = {
    "heat.engine.resources": "plug-ins are found by plugins.py, not imported",
}

# Modules that are pure: same input, same output. constraints, translation
# and scheduler are not among them: a custom constraint asks the cloud and
# remembers the answer for a while.
PURE = (
    "heat.engine.attributes",
    "heat.engine.definition",
    "heat.engine.environment",
    "heat.engine.function",
    "heat.engine.graph",
    "heat.engine.hot",
    "heat.engine.output",
    "heat.engine.parameter_forms",
    "heat.engine.parameters",
    "heat.engine.properties",
    "heat.engine.property_schema",
    "heat.engine.rsrc_defn",
    "heat.engine.schema",
    "heat.engine.support",
    "heat.engine.template",
    "heat.engine.traversal.decide",
)
IMPURE_IMPORTS = {
    "heat.common.config": "configuration",
    "heat.db": "database",
    "heat.engine.clients": "network",
    "keystoneauth1": "network",
    "openstack": "network",
    "oslo_config": "configuration",
    "oslo_db": "database",
    "oslo_messaging": "network",
    "requests": "network",
    "socket": "network",
    "sqlalchemy": "database",
    "time": "clock",
    "urllib.request": "network",
}

MAX_FILE_LINES = 500
MAX_PUBLIC_METHODS = 20
MAX_FUNCTION_LINES = 60
MAX_COMPLEXITY = 12

# Breaches that are allowed: (module, name or "" for the file) -> reason.
TOO_LONG_FILE = {
    "heat.common.exception": (
        "one tree of errors, a declaration each; no logic to cut along"
    ),
}
TOO_WIDE_CLASS = {
    ("heat.engine.resource.base", "Resource"): (
        "its public surface is what third-party plug-ins rely on; the "
        "methods delegate"
    ),
    ("heat.engine.resource.overridable", "Overridable"): (
        "the other half of that surface: what plug-ins override"
    ),
    ("heat.engine.resources.stack_resource", "StackResource"): (
        "the base class of third-party plug-ins that hold a child stack; its "
        "methods are that contract"
    ),
    ("heat.engine.rsrc_defn", "ResourceDefinition"): (
        "handed to plug-ins; its methods are contract"
    ),
}
TOO_LONG_FUNCTION: dict[tuple[str, str], str] = {}
TOO_COMPLEX: dict[tuple[str, str], str] = {}
# A migration is a list of tables, written once and never changed again.
MIGRATIONS = "heat.db.migrations.versions"

# Words that must not be written: (text, where, except where, why).
FORBIDDEN_WORDS = (
    (
        "OS::Heat::" + "TestResource",
        "heat",
        "heat.engine.resources.openstack.heat.test_resource",
        "the engine treats every type alike",
    ),
    (
        "standalone",
        "heat.engine",
        "",
        "the engine does not know how it was composed",
    ),
)

LICENCE_LINE = (
    '#    Licensed under the Apache License, Version 2.0 (the "License"); '
    "you may"
)


# -- reading ------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    # Not in the repr: a failing test would print the whole package.
    source: str = dataclasses.field(repr=False)
    is_package: bool = False

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


Tree = Mapping[str, Module]


def read(root: pathlib.Path) -> dict[str, Module]:
    """Every module under ``root`` (the folder of package heat), no tests."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        if "tests" in parts:
            continue
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = Module(name, path.read_text("utf-8"), package)
    return found


def within(name: str, prefix: str) -> bool:
    """Whether ``name`` is the module ``prefix`` or lies in it."""
    return bool(prefix) and (name + ".").startswith(prefix + ".")


def imports(module: Module, known: Iterable[str]) -> Iterator[tuple[str, int]]:
    """What a module imports, as (dotted name, line).

    Imports inside functions count; those under TYPE_CHECKING don't. An
    imported name that is a known module is given as that module, otherwise
    the module that it comes from is.
    """
    names = set(known)
    for node in _running_nodes(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, node)
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                yield (whole if whole in names else source), node.lineno


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    base = module.name.split(".")
    drop = node.level - (1 if module.is_package else 0)
    if drop:
        base = base[:-drop]
    return ".".join([*base, *([node.module] if node.module else [])])


def _running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and _is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from _running_nodes(other)
            continue
        yield child
        yield from _running_nodes(child)


def _is_type_checking(test: ast.expr) -> bool:
    if isinstance(test, ast.Attribute):
        return test.attr == "TYPE_CHECKING"
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


# -- imports ------------------------------------------------------------------


def level(name: str) -> int | None:
    """The number of the layer of a module: 0 is the top; None: none."""
    best: tuple[int, int] | None = None
    for number, layer in enumerate(LAYERS):
        for prefix in layer.modules:
            # "heat" alone is the bare package, not all of it.
            fits = name == prefix if prefix == "heat" else within(name, prefix)
            if fits and (best is None or len(prefix) > best[0]):
                best = (len(prefix), number)
    return None if best is None else best[1]


def homeless(tree: Tree) -> list[str]:
    """Modules that stand in no layer."""
    return [
        f"{name}: in no layer; add it to LAYERS"
        for name in tree
        if level(name) is None
        # A bare package above the layers, such as heat.engine.
        and not (tree[name].is_package and not tree[name].source.strip())
    ]


def upward(tree: Tree) -> list[str]:
    """Imports against the direction, or across a fence."""
    found = []
    for name, module in tree.items():
        mine = level(name)
        for target, line in imports(module, tree):
            theirs = level(target) if within(target, "heat") else None
            where = f"{name}:{line}: imports {target}"
            if mine is not None and theirs is not None and theirs < mine:
                found.append(
                    f"{where}: {LAYERS[mine].name} may not import "
                    f"{LAYERS[theirs].name}, which is above it"
                )
            found.extend(
                f"{where}: {why}"
                for who, what, why in APART
                if within(name, who)
                and within(target, what)
                and level(target) != len(LAYERS) - 1
                and mine != len(LAYERS) - 1
            )
            found.extend(
                f"{where}: {why}"
                for package, why in PRIVATE.items()
                if within(target, package)
                and target != package
                and not within(name, package)
            )
    return found


def impure(tree: Tree) -> list[str]:
    """Pure modules that import a database, clock, network or config."""
    return [
        f"{name}:{line}: imports {target}: no {what} in a pure module"
        for name, module in tree.items()
        if any(within(name, prefix) for prefix in PURE)
        for target, line in imports(module, tree)
        for prefix, what in IMPURE_IMPORTS.items()
        if within(target, prefix)
    ]


# Steps through works in one thread, whatever the backend.
_SWITCHES = "heat.db.together"


def eventlet(tree: Tree) -> list[str]:
    """Imports of eventlet outside the one place that chooses it."""
    return [
        f"{name}:{line}: only heat.cmd chooses the concurrency backend"
        for name, module in tree.items()
        if name != "heat.cmd"
        for target, line in imports(module, tree)
        if within(target, "eventlet")
        or (within(target, "greenlet") and name != _SWITCHES)
    ]


def cycles(tree: Tree) -> list[str]:
    """Groups of modules that import each other (Tarjan, no recursion)."""
    graph = {
        name: sorted(
            {
                target
                for target, _ in imports(module, tree)
                if target in tree and target != name
            }
        )
        for name, module in tree.items()
    }
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []
    for start in graph:
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        work = [(start, iter(graph[start]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(graph[target])))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    group, stack[cut:] = stack[cut:], []
                    if len(group) > 1:
                        found.append("cycle: " + " <-> ".join(sorted(group)))
    return found


# -- sizes --------------------------------------------------------------------


def functions(
    node: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """(qualified name, function) of every function, methods and inner too."""
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}{getattr(child, 'name', '')}"
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, child
            yield from functions(child, f"{name}.")
        elif isinstance(child, ast.ClassDef):
            yield from functions(child, f"{name}.")
        else:
            yield from functions(child, prefix)


def too_big(tree: Tree) -> list[str]:
    """Files, classes and functions beyond the limits, with their size."""
    found = []
    for name, module in tree.items():
        lines = module.source.count("\n")
        if lines > MAX_FILE_LINES and name not in TOO_LONG_FILE:
            found.append(f"{name}: {lines} lines (most {MAX_FILE_LINES})")
        syntax = module.tree
        for node in ast.walk(syntax):
            if isinstance(node, ast.ClassDef):
                count = len(_public_methods(node))
                if (
                    count > MAX_PUBLIC_METHODS
                    and (name, node.name) not in TOO_WIDE_CLASS
                ):
                    found.append(
                        f"{name}.{node.name}: {count} public methods "
                        f"(most {MAX_PUBLIC_METHODS})"
                    )
        if within(name, MIGRATIONS):
            continue
        for qualified, function in functions(syntax):
            length = (function.end_lineno or 0) - function.lineno + 1
            if (
                length > MAX_FUNCTION_LINES
                and (name, qualified) not in TOO_LONG_FUNCTION
            ):
                found.append(
                    f"{name}.{qualified}: {length} lines "
                    f"(most {MAX_FUNCTION_LINES})"
                )
    return found


def _public_methods(node: ast.ClassDef) -> set[str]:
    return {
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
    }


def too_complex(tree: Tree) -> list[str]:
    """Functions with more than MAX_COMPLEXITY paths."""
    found = []
    for name, module in tree.items():
        visitor = mccabe.PathGraphingAstVisitor()
        visitor.preorder(module.tree, visitor)
        for graph in visitor.graphs.values():
            if (
                graph.complexity() > MAX_COMPLEXITY
                and (name, graph.entity) not in TOO_COMPLEX
            ):
                found.append(
                    f"{name}.{graph.entity}: complexity "
                    f"{graph.complexity()} (most {MAX_COMPLEXITY})"
                )
    return found


# -- texts --------------------------------------------------------------------


def forbidden_words(tree: Tree) -> list[str]:
    """Words where they may not stand, comments included."""
    return [
        f"{name}:{number}: {word!r}: {why}"
        for word, where, exempt, why in FORBIDDEN_WORDS
        for name, module in tree.items()
        if within(name, where) and not within(name, exempt)
        for number, line in enumerate(module.source.splitlines(), 1)
        if word.lower() in line.lower()
    ]


def headers(tree: Tree) -> list[str]:
    """Files without the licence, or without a docstring for the module."""
    found = []
    for name, module in tree.items():
        if not module.source.strip():
            continue
        top = module.source.splitlines()[:3]
        if LICENCE_LINE not in top:
            found.append(f"{name}: does not begin with the licence")
        syntax = module.tree
        if syntax.body and not ast.get_docstring(syntax):
            found.append(f"{name}: has no docstring")
    return found
