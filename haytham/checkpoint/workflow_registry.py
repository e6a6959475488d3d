"""The workflows that sessions can be created with: the built-in ones and those registered."""

from collections.abc import Iterable
from pathlib import Path

from haytham.documents import workflow_file
from haytham.domain.errors import InvalidInput, Location, NotFound
from haytham.domain.suggestions import allowed
from haytham.domain.workflow import Workflow
from haytham.storage import files


class WorkflowRegistry:
    """Workflows by name."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._known = dict(workflow_file.built_in())
        for path in paths:
            self.register(path)

    def register(self, path: str | Path) -> str:
        """Makes the workflow in a TOML file known under its name, which is returned."""
        text = files.read_text(Path(path))
        if text is None:
            raise NotFound("there is no such workflow file.", location=Location(path=str(path)))
        workflow = workflow_file.read(text, str(path))
        known = self._known.get(workflow.name)
        if known is not None and known.source != workflow.source:
            raise InvalidInput(
                f"another workflow is already known as {workflow.name!r}.",
                location=Location(path=str(path)),
                hint="give this one another name.",
            )
        self._known[workflow.name] = workflow
        return workflow.name

    def names(self) -> list[str]:
        """Returns the names of all workflows, sorted."""
        return sorted(self._known)

    def named(self, name: str) -> Workflow:
        """Returns a workflow; raises InvalidInput if there is none of that name."""
        if not isinstance(name, str) or name not in self._known:
            hint = f"{allowed(str(name), self._known)} Make your own known with register_workflow."
            raise InvalidInput(f"workflow type is {name!r}, which is not known.", hint=hint)
        return self._known[name]
