"""The commands `haytham workflow list`, `show` and `check`."""

from pathlib import Path

from tests.cli.conftest import Shell, process

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "custom_workflow.toml"


def test_end_to_end() -> None:
    """As processes of their own they list, show and check, and need no folder of projects."""
    said = process("workflow", "list")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[1] == "idea_validation  Idea validation       7  mvp, full"
    said = process("workflow", "show", "idea_validation")
    assert (said.code, said.err) == (0, "")
    assert "Modes     mvp: 1, 2, 3, 6, 7\n          full: 1, 2, 3, 4, 5, 6, 7\n" in said.out
    assert "2  Market Research    market_intelligence, competitor_analysis          optional\n" in said.out
    said = process("workflow", "check", EXAMPLE)
    assert (said.code, said.out, said.err) == (0, "release_notes can be used: 3 phases, modes short, long.\n", "")


def test_json(shell: Shell) -> None:
    """List and show print a workflow in one form, and a file is shown as well as a name."""
    (listed,) = shell("workflow", "list", "--json").json["workflows"]
    assert listed == shell("workflow", "show", "idea_validation", "--json").json["workflow"]
    assert [phase["number"] for phase in listed["phases"]] == [1, 2, 3, 4, 5, 6, 7]
    assert listed["phases"][5]["agents_by_mode"] == {
        "full": ["claims_extraction", "three_track_validator", "risk_validator"]
    }
    own = shell("workflow", "show", EXAMPLE, "--json").json["workflow"]
    assert (own["name"], list(own["modes"])) == ("release_notes", ["short", "long"])


def test_check_finds_every_problem(tmp_path: Path, shell: Shell) -> None:
    """A file that cannot be used is told with every problem and its place; as JSON it is data, not an error."""
    path = tmp_path / "w.toml"
    path.write_text(
        EXAMPLE.read_text().replace('review = "required"', 'review = "perhaps"').replace("title =", "titel =")
    )
    said = shell("workflow", "check", path)
    assert (said.code, said.out) == (1, "")
    assert said.err.count("Error: ") >= 2
    assert str(path) in said.err
    form = shell("workflow", "check", path, "--json")
    assert (form.code, form.err, form.json["valid"], form.json["name"]) == (1, "", False, None)
    assert len(form.json["problems"]) == said.err.count("Error: ")
    assert shell("workflow", "check", EXAMPLE, "--json").json["valid"] is True


def test_errors(shell: Shell) -> None:
    """An unknown command, name or file is told with what was meant."""
    said = shell("workflow", "shw")
    assert said.err == "Error: there is no command 'shw'.\nHint: did you mean \"show\"? see: haytham workflow --help\n"
    assert "did you mean" in shell("workflow", "show", "idea_validatoin").err.lower()
    assert shell("workflow", "show", "nope.toml").err.startswith("Error: there is no such workflow file.\n")
