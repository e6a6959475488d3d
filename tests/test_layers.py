"""Reads the source and proves its shape: layers, gateways, who may write, who knows the terminal, sizes."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "haytham"
LONGEST_MODULE, LONGEST_FUNCTION = 400, 50

LAYERS = {  # the higher the number, the higher the layer; a module imports its own layer and those below
    "domain": 0,
    "resources": 0,
    "documents": 1,
    "storage": 2,
    "checkpoint": 3,
    "journal": 3,
    "operations": 3,
    "project": 3,
    "session": 3,
    "exchange": 3,
    "audit": 3,
    "cli": 4,
    "demo": 4,
}
GATEWAYS = {
    "jinja2": ("documents/renderer", "documents/pages"),
    "markupsafe": ("documents/pages",),  # a part of jinja2
    "mistune": ("documents/blocks", "documents/markup"),
    "jsonschema": ("documents/schemas",),
    "referencing": ("documents/schemas",),
    "fastjsonschema": ("documents/schemas",),
    "rfc3339_validator": ("documents/schemas",),
    "watchfiles": ("checkpoint/waiting",),
    "pygit2": ("storage/history",),
    "git": ("storage/user_git",),
    "filelock": ("storage/locks",),
    "click": ("cli/", "demo"),
    "rich": ("cli/", "demo"),
}
WRITERS = {
    "storage/files",
    "storage/folders",
    "storage/swaps",
    "storage/locks",
    "storage/git_index",
    "storage/journal_file",  # which is appended to
}
MOVERS = {  # whole files or folders, moved or removed as they are
    "storage/store": {"rename"},  # what was rescued from under an editor's hands
}
WRITING_CALLS = {
    "write_text",
    "write_bytes",
    "touch",
    "mkdir",
    "makedirs",
    "symlink_to",
    "hardlink_to",
    "unlink",
    "rmdir",
    "rmtree",
    "rename",
    "truncate",
    "fsync",
    "link",
    "copy",
    "copytree",
    "move",
}
TERMINAL_CALLS = {"print", "input", "exit", "quit"}
TERMINAL_NAMES = {
    ("os", "environ"),
    ("os", "getenv"),
    ("os", "getcwd"),
    ("os", "chdir"),
    ("sys", "argv"),
    ("sys", "exit"),
    ("sys", "stdout"),
    ("sys", "stderr"),
    ("sys", "stdin"),
    ("Path", "cwd"),
    ("Path", "home"),
}


def _modules() -> list[str]:
    paths = [path.relative_to(PACKAGE).with_suffix("") for path in sorted(PACKAGE.rglob("*.py"))]
    return [str(path) for path in paths if path.parts[0] not in {"templates", "schemas"}]


MODULES = _modules()


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def _imports(module: str) -> set[str]:
    """Returns the full names of everything a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def _own_imports(module: str) -> set[str]:
    """Returns the modules of the package that a module imports, as paths."""
    paths = {
        name.removeprefix("haytham.").replace(".", "/") for name in _imports(module) if name.startswith("haytham.")
    }
    return {path for path in paths if path in MODULES} | {f"{p}/__init__" for p in paths if f"{p}/__init__" in MODULES}


def _part(module: str) -> str:
    return module.split("/", maxsplit=1)[0]


def _layer(module: str) -> int:
    return LAYERS.get(_part(module), max(LAYERS.values()))


def _functions(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(_tree(module)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_the_source_is_found() -> None:
    """The test looks at the package, not at nothing."""
    assert {"domain/errors", "documents/reader", "storage/files", "checkpoint/checkpoint_manager"} <= set(MODULES)
    assert {"storage/files", "domain/checkpoints"} <= _own_imports("checkpoint/checkpoint_manager")


def test_every_part_of_the_package_has_a_layer() -> None:
    """No folder or module stands outside the layers."""
    assert set() == {_part(module) for module in MODULES} - set(LAYERS) - {"__init__", "__main__"}


@pytest.mark.parametrize("module", [each for each in MODULES if each != "__init__"])
def test_no_module_imports_a_higher_layer(module: str) -> None:
    """A lower layer never imports a higher one."""
    assert [each for each in sorted(_own_imports(module)) if _layer(each) > _layer(module)] == []


@pytest.mark.parametrize("module", MODULES)
def test_foreign_libraries_have_one_gateway(module: str) -> None:
    """Each foreign library is imported by its gateway only."""
    foreign = {name.split(".")[0] for name in _imports(module)} - set(sys.stdlib_module_names) - {"haytham"}
    assert set() == foreign - set(GATEWAYS)
    assert [name for name in sorted(foreign) if not module.startswith(GATEWAYS[name])] == []


@pytest.mark.parametrize("module", [each for each in MODULES if _part(each) == "domain"])
def test_the_domain_does_no_input_or_output(module: str) -> None:
    """The domain imports nothing that touches disk, network, processes or threads."""
    forbidden = {"os", "pathlib", "io", "shutil", "subprocess", "socket", "threading", "asyncio", "tempfile", "sys"}
    assert set() == {name.split(".")[0] for name in _imports(module)} & forbidden


@pytest.mark.parametrize("module", [each for each in MODULES if _part(each) == "documents"])
def test_documents_touch_no_disk(module: str) -> None:
    """Text becomes values and values text without a look at the disk."""
    forbidden = {"os", "pathlib", "io", "shutil", "subprocess", "socket", "tempfile", "open"}
    names = {node.id for node in ast.walk(_tree(module)) if isinstance(node, ast.Name)}
    assert set() == ({name.split(".")[0] for name in _imports(module)} | names) & forbidden


@pytest.mark.parametrize("module", [each for each in MODULES if each not in WRITERS and _layer(each) < LAYERS["cli"]])
def test_only_one_module_writes_files(module: str) -> None:
    """Files are written by `storage/files`, `folders` and `swaps`; locks and the index of git are the exceptions."""
    calls = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.Call)]
    writing = [
        f"{module}.py:{call.lineno} {call.func.attr}"
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in WRITING_CALLS - MOVERS.get(module, set())
        and not (isinstance(call.func.value, ast.Name) and call.func.value.id == "files")
    ]
    opening = [f"{module}.py:{c.lineno} open" for c in calls if isinstance(c.func, ast.Name) and c.func.id == "open"]
    assert writing + opening == []


@pytest.mark.parametrize("module", [each for each in MODULES if _part(each) not in {"cli", "demo"}])
def test_only_the_command_line_knows_the_terminal(module: str) -> None:
    """The library does not print, exit, or look at the environment, the arguments or the current folder."""
    found = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TERMINAL_CALLS:
            found.append(f"{module}.py:{node.lineno} {node.func.id}()")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = (node.value.id, node.attr)
            if name in TERMINAL_NAMES:
                found.append(f"{module}.py:{node.lineno} {'.'.join(name)}")
    assert found == []


@pytest.mark.parametrize("module", [each for each in MODULES if _layer(each) < LAYERS["cli"]])
def test_only_the_gateway_to_the_users_git_may_start_processes(module: str) -> None:
    """No save can start a process: nothing below the command line imports what could."""
    allowed = {"subprocess"} if module == "storage/user_git" else set()
    imported = {name.split(".")[0] for name in _imports(module)}
    assert set() == imported & {"subprocess", "multiprocessing", "pty"} - allowed


def test_there_are_no_import_cycles() -> None:
    """Every module can be put before those that import it."""
    waiting = {module: _own_imports(module) - {module} for module in MODULES}
    while free := [module for module, needs in waiting.items() if not needs & set(waiting)]:
        for module in free:
            del waiting[module]
    assert waiting == {}


@pytest.mark.parametrize("module", MODULES)
def test_modules_stay_small(module: str) -> None:
    """No module is longer than 400 lines, no function's body longer than 50."""
    assert len((PACKAGE / f"{module}.py").read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    assert [each.name for each in _functions(module) if _body_length(each) > LONGEST_FUNCTION] == []


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is_for(module: str) -> None:
    """A file's docstring begins with its responsibility in one sentence."""
    first = (ast.get_docstring(_tree(module)) or "").partition("\n")[0]
    assert first.endswith((".", ":"))


def test_importing_the_package_imports_no_foreign_library() -> None:
    """`import haytham` costs nothing: what is heavy is imported where it is used."""
    assert set() == {name.split(".")[0] for name in _top_level_imports("__init__")} & set(GATEWAYS)
    heavy = ("jinja2", "mistune", "jsonschema", "referencing", "pygit2", "git", "filelock")
    eager = {module: _top_level_imports(module) & set(heavy) for module in MODULES if _part(module) != "cli"}
    assert {module: names for module, names in eager.items() if names and module != "documents/blocks"} == {}


def _top_level_imports(module: str) -> set[str]:
    found: set[str] = set()
    for node in _tree(module).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found
