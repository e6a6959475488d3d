from typing import Any

import pytest

from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import render
from haytham.domain.errors import InvalidDocument
from tests.documents import samples


def _edited(kind: str, value: dict[str, Any], *changes: tuple[str, str]) -> Document:
    text = render(Document(kind=kind, value=value))
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return read(kind, text, f"{kind}.md")


def _problems(kind: str, value: dict[str, Any], *changes: tuple[str, str]) -> list[str]:
    with pytest.raises(InvalidDocument) as caught:
        _edited(kind, value, *changes)
    return [str(problem) for problem in caught.value.problems]


def test_output_with_our_headings() -> None:
    """An output may contain whole documents of ours; it still ends where the file ends."""
    inner = render(Document(kind="checkpoint", value=samples.checkpoint()))
    output = f"## Metadata\n- Status: failed\n\n{inner}\n## Output\n\nagain\n```\n<!--"
    assert output == _edited("agent_output", samples.agent_output(output)).value["output"]


@pytest.mark.parametrize(
    "output", ["", "\n", "\n\n\n", " ", "\r\n", "\r", "\ufeff", "\x00", "x\n" + "\n" * 10, "\u2028"]
)
def test_output_edges(output: str) -> None:
    """An output keeps its first and last bytes."""
    assert output == _edited("agent_output", samples.agent_output(output)).value["output"]


def test_output_from_another_editor() -> None:
    """A file whose line ends an editor changed to CRLF reads as before."""
    document = Document(kind="agent_output", value=samples.agent_output("a\n\nb\n"))
    assert document == read("agent_output", "\ufeff" + render(document).replace("\n", "\r\n"))


def test_output_with_markers() -> None:
    """Merge markers in an output are the agent's own; above it, they are refused."""
    output = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
    assert output == _edited("agent_output", samples.agent_output(output)).value["output"]
    problems = _problems("agent_output", samples.agent_output(output), ("- Model: m\n", "<<<<<<< HEAD\n- Model: m\n"))
    assert len(problems) == 1
    assert problems[0].startswith('"<<<<<<<" was left here by a merge.\n  agent_output.md, line 12\n')


def test_output_missing() -> None:
    """An agent's output without its last section is refused."""
    problems = _problems("agent_output", samples.agent_output("x"), ("## Output\n\nx", ""))
    expected = 'Output is missing.\n  agent_output.md, line 15, section "Output"\nHint: add a section "Output".'
    assert [expected] == problems


@pytest.mark.parametrize("name", ["---", "-", "a|b", "a\\|b", "a\\", "|", "**b**", "`x`", ":-:"])
def test_cells(name: str) -> None:
    """A cell may hold what a table is made of."""
    value = samples.checkpoint()
    figures: dict[str, Any] = dict.fromkeys(value["metrics"]["agent_times"][0])
    value["metrics"]["agent_times"] = [figures | {"agent": name}, figures | {"agent": "x"}]
    assert value == _edited("checkpoint", value).value


def test_map_by_hand() -> None:
    """A map may be written with bold keys, other bullets and values over several lines."""
    document = _edited(
        "project",
        samples.project(preferences={"a": 1}),
        ("- a: 1\n", "* **tone**: dry\n+ **place:** here\n- mail: one\n  two\n- none\n- n/a\n\nloose\n"),
    )
    expected = {"tone": "dry", "place": "here", "mail": "one\n  two"}
    assert expected == document.value["preferences"]
    assert document.extra_text == {"preferences": "loose"}


def test_map_with_more() -> None:
    """Bullets without a colon, and subsections, are kept; nothing in them becomes a value."""
    document = _edited(
        "project", samples.project(preferences={"a": 1}), ("- a: 1\n", "- a: 1\n- just so\n\n### Later\n- b: 2\n")
    )
    assert document.value["preferences"] == {"a": 1}
    assert document.extra_text == {"preferences": "- just so\n\n### Later\n- b: 2"}


def test_map_twice() -> None:
    """A key that stands twice in a map is refused at its second line."""
    problems = _problems("project", samples.project(preferences={"a": 1}), ("- a: 1\n", "- a: 1\n- a: 2\n"))
    expected = (
        'a stands here a second time.\n  project.md, line 20, section "Preferences", field "a"\n'
        "Hint: keep one of the two."
    )
    assert [expected] == problems


def test_map_value() -> None:
    """A wrong value in a map is reported with its key and line."""
    problems = _problems("checkpoint", samples.checkpoint(), ("analysis: completed", "analysis: complete"))
    expected = (
        'competitor_analysis is "complete".\n'
        '  checkpoint.md, line 16, section "Agents in Phase", field "competitor_analysis"\n'
        'Hint: did you mean "completed"? Allowed: pending, in_progress, completed, failed, skipped, requires_retry.'
    )
    assert [expected] == problems


def test_table_value() -> None:
    """A wrong value in a table is reported with its column and row."""
    problems = _problems("checkpoint", samples.checkpoint(), ("| 1 | concept", "| zero | concept"))
    expected = (
        'Phase is "zero".\n  checkpoint.md, line 22, section "Inputs", field "Phase"\nHint: a whole number is expected.'
    )
    assert [expected] == problems


def test_table_gone() -> None:
    """A column that was taken out is told once, not for every row."""
    problems = _problems("checkpoint", samples.checkpoint(), ("| Phase | Name | Content |", "| Phase | Name |"))
    expected = 'column "Content" is missing.\n  checkpoint.md, line 20, section "Inputs"\nHint: add it to every row.'
    assert [expected] == problems


@pytest.mark.parametrize("figure", ["1e999", "inf", "nan", "1.2.3", "--1", "0x10", "1_0", "9" * 5000 + ".5"])
def test_figures(figure: str) -> None:
    """What is no finite number is refused, not read as something else."""
    problems = _problems("checkpoint", samples.checkpoint(), ("- Duration: 25.0", f"- Duration: {figure}"))
    assert len(problems) == 1
    assert problems[0].startswith(f'Duration is "{figure[:60]}')


@pytest.mark.parametrize(
    ("figure", "expected"), [("12s", 12), ("$1,234.5", 1234.5), (".5", 0.5), ("1.", 1.0), ("2e3", 2000.0)]
)
def test_figures_by_hand(figure: str, expected: float) -> None:
    """Figures may be written with a unit, with thousands grouped, or short."""
    document = _edited("checkpoint", samples.checkpoint(), ("- Duration: 25.0", f"- Duration: {figure}"))
    assert expected == document.value["metadata"]["duration"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", ["a", "b"]),
        ("[a,b,]", ["a", "b"]),
        ('"a, b", c', ["a, b", "c"]),
        ('say "hi", x', ['say "hi"', "x"]),
        ("-", None),
    ],
)
def test_lists_by_hand(text: str, expected: list[str] | None) -> None:
    """A short list may be written without brackets and quotes."""
    document = _edited("agent_output", samples.agent_output("x"), ("[a, b c]", text))
    assert expected == document.value["execution"]["tools_used"]


def test_comment_is_ours() -> None:
    """A comment of ours is no text, wherever a person left it; a person's own comment is kept."""
    document = _edited(
        "project",
        samples.project(),
        ("## Metadata\n", "## Metadata\n  <!-- haytham: a hint -->\n<!-- mine -->\n"),
        ("Bread by", "<!-- haytham: one\nmore -->\nBread by"),
    )
    assert document.extra_text == {"metadata": "<!-- mine -->"}
    assert document.value["startup_idea"] == "Bread by bicycle."


def test_shared() -> None:
    """The same text is read once; a problem names the path that it was asked for."""
    text = render(Document(kind="project", value=samples.project()))
    assert read("project", text) is read("project", text, "elsewhere.md")
    for path in ("a.md", "b.md"):
        with pytest.raises(InvalidDocument) as caught:
            read("project", "", path)
        assert path == caught.value.location.path


def test_large() -> None:
    """A text that is too large to be kept is read the same way."""
    document = Document(kind="project", value=samples.project(startup_idea="word " * 20_000 + "end"))
    text = render(document)
    assert document == read("project", text)
    with pytest.raises(InvalidDocument):
        read("project", text.replace("## Preferences", ""), "p.md")


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n", "\ufeff", "\x00"])
def test_blank(text: str) -> None:
    """A file that was emptied is refused with all that it lacks."""
    with pytest.raises(InvalidDocument) as caught:
        read("project", text)
    expected = ["Metadata is missing.", "Startup Idea is missing.", "Preferences is missing."]
    assert expected == [problem.message for problem in caught.value.problems]
