import datetime as dt
import math
from typing import Any

import pytest

from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import checked, render
from haytham.domain.errors import InternalError, InvalidInput
from tests.documents import samples


def _project(**changes: Any) -> Document:
    return Document(kind="project", value=samples.project(**changes))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"startup_idea": "half \ud83d of a character"}, "startup_idea"),
        ({"metadata": samples.project()["metadata"] | {"name": "\udfff"}}, "metadata.name"),
        ({"preferences": {"a": math.nan}}, "preferences.a"),
        ({"preferences": {"a": [1, math.inf]}}, "preferences.a.1"),
        ({"preferences": {"a": {"b": (1, 2)}}}, "preferences.a.b"),
        ({"preferences": {"a": dt.date(2026, 1, 31)}}, "preferences.a"),
        ({"preferences": {"a": {1: 2}}}, "preferences.a.1"),
        ({"preferences": {"\ud800": 1}}, "preferences.'\\ud800'"),
    ],
)
def test_unwritable(changes: dict[str, Any], place: str) -> None:
    """A value that no document can hold is refused by the name of its place."""
    with pytest.raises(InvalidInput) as caught:
        checked(_project(**changes), "project.md")
    assert caught.value.message == f"project.md: {place} cannot be written in a document."


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("requirements_version", -1, "project.md: Requirements Version is -1."),
        ("requirements_version", 5.0, "project.md: Requirements Version is 5.0."),
        ("requirements_version", None, "project.md: Requirements Version is empty."),
        ("status", "gone", 'project.md: Status is "gone".'),
        ("created", "today", 'project.md: Created is "today".'),
        ("name", "", 'project.md: Name is "".'),
        ("colour", "red", "project.md: 'colour' is not known here."),
    ],
)
def test_invalid(field: str, value: object, message: str) -> None:
    """A value that its schema does not allow is refused in the words of the schema."""
    with pytest.raises(InvalidInput) as caught:
        checked(_project(metadata=samples.project()["metadata"] | {field: value}), "project.md")
    assert message == caught.value.message


def test_missing() -> None:
    """A value without a required part is refused by the name of the part."""
    value = samples.project()
    del value["preferences"]
    with pytest.raises(InvalidInput) as caught:
        checked(Document(kind="project", value=value), "project.md")
    assert caught.value.message == "project.md: Preferences is missing."


@pytest.mark.parametrize("kind", ["extra_text", "extra_fields"])
def test_own_bug(kind: str) -> None:
    """What would not read back as the same is refused as a bug of ours, before it is written."""
    extras: Any = {kind: {"nowhere": ("- a: b",)}}
    with pytest.raises(InternalError) as caught:
        checked(Document(kind="project", value=samples.project(), **extras), "project.md")
    assert caught.value.message == "project.md would read back as something else."


def test_unreadable_bug() -> None:
    """What would not be readable at all is refused as a bug of ours, with the problem."""
    document = Document(kind="project", value=samples.project(), extra_text={"metadata": "~~~"})
    with pytest.raises(InternalError) as caught:
        checked(document, "project.md")
    assert caught.value.message.startswith("project.md would not be readable: a code fence opens here")


def test_zero() -> None:
    """0 is written as 0, nothing as a dash, and figures keep all their digits."""
    metadata = samples.checkpoint()["metadata"] | {"duration": 0, "started": None}
    metrics = samples.checkpoint()["metrics"] | {"cost": 0.1 + 0.2, "total_tokens": 12345678901234567890}
    text = render(Document(kind="checkpoint", value=samples.checkpoint(metadata=metadata, metrics=metrics)))
    for line in ("- Duration: 0", "- Started: -", "- Cost: $0.30000000000000004", "Tokens: 12345678901234567890"):
        assert line in text


def test_readable() -> None:
    """Letters of any script stand as they are, also where a text must be quoted."""
    preferences = {"ville": "Zürich", "mots": ["é", "日本"], "clé": '"ok"'}
    text = checked(_project(preferences=preferences), "project.md")
    assert '- ville: Zürich\n- mots: ["é", "日本"]\n- clé: "\\"ok\\""\n' in text


def test_prose_plain() -> None:
    """Plain paragraphs stand in the document as they are; only what could be taken for structure is fenced."""
    idea = "Bread by bicycle 👩\u200d🍳.\n\n- fresh\n- 7\u00a0days | all year\n\n    indented"
    assert f"## Startup Idea\n{idea}\n" in checked(_project(startup_idea=idea), "project.md")
    assert "\n~~~verbatim\n# Bread\n~~~\n" in checked(_project(startup_idea="# Bread"), "project.md")


def test_section_goes() -> None:
    """What a person added to a section that a later value does not have is kept, fenced, in the one before."""
    before = checked(Document(kind="checkpoint", value=samples.checkpoint(errors=["it broke"])), "it")
    edited = read("checkpoint", f"{before}\n---\n\n## Post-mortem\nOops.\n")
    assert edited.extra_text == {"errors": "---", "behind errors": "## Post-mortem\nOops."}
    after = checked(edited.replaced(samples.checkpoint()), "it")
    assert after.endswith("- Name: Niche Selection\n\n~~~verbatim\n---\n~~~\n\n## Post-mortem\nOops.\n")


def test_subsection_goes() -> None:
    """The same for a subsection, and for the fields of a section that goes."""
    error = {"type": "E", "message": "m", "stack_trace": "line 1"}
    before = checked(Document(kind="agent_output", value=samples.agent_output("x", error=error)), "it")
    edited = read(
        "agent_output",
        before.replace("line 1\n", "line 1\n\n### Cause\nrain\n").replace("- Error T", "- Seen: by me\n- Error T"),
    )
    del error["stack_trace"]
    shorter = edited.replaced(samples.agent_output("x", error=error))
    assert shorter.extra_fields == {"error": ("- Seen: by me",)}
    assert shorter.extra_text == {"error": "~~~verbatim\n### Cause\nrain\n~~~"}
    assert "rain" in checked(shorter, "it")
    gone = shorter.replaced(samples.agent_output("x"))
    assert gone.extra_fields == {}
    assert "- Seen: by me\n\n~~~verbatim\n### Cause" in gone.extra_text["execution"]
    assert "by me" in checked(gone, "it")
