"""What `--json` prints: one way, each form with its schema."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import haytham.cli
from haytham import resources
from haytham.cli import json_output
from tests.cli.conftest import Sample, Shell, all_commands, check_form

SCHEMAS = resources.names("schemas/cli")
WITHOUT = {"demo"}  # a show for people


def _schema(name: str) -> Any:
    return json.loads(resources.text("schemas/cli", name))


def _objects(schema: Any) -> Iterator[Any]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def test_every_form_has_a_schema() -> None:
    """The forms that the source prints and the schemas that ship are the same."""
    (folder,) = haytham.cli.__path__
    sources = [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.py")]
    printed = {name for source in sources for name in re.findall(r'json_output\.emit\("(\w+)"', source)}
    assert {f"{name}.schema.json" for name in printed} == set(SCHEMAS)
    assert [source for source in sources if "json.dumps" in source and "def emit" not in source] == []


def test_every_command_that_shows_something_has_json() -> None:
    """No command leaves a script to read what was made for people."""
    lacking = {name for name, each in all_commands() if "as_json" not in {param.name for param in each.params}}
    assert lacking == WITHOUT


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_sound_and_closed(name: str) -> None:
    """A schema is one, names its form, and knows every key: what it does not list is not printed."""
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["form"] == {"const": f"haytham.{name.removesuffix('.schema.json')}"}
    assert schema["properties"]["version"] == {"const": json_output.VERSION}
    assert [each for each in _objects(schema) if each.get("additionalProperties") is not False] == []


def test_another_form_is_noticed(sample: Sample, shell: Shell) -> None:
    """The check that all tests of `--json` make fails on a key too many, one too few and a wrong type."""
    good = shell("status", "--base-dir", sample.base, "--json").json
    for change in ("more", "fewer", "other"):
        bad = copy.deepcopy(good)
        phase = bad["session"]["phases"][0]
        if change == "more":
            phase["extra"] = 1
        elif change == "fewer":
            del phase["policy"]
        else:
            phase["tokens"] = "many"
        with pytest.raises(AssertionError, match="phases"):
            check_form(bad)


def test_output_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """No character can steer a terminal, not even DEL."""
    json_output.emit("x", {"text": "\x1b\x7f\u202e\n"})
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert out.isascii()
    assert json.loads(out)["text"] == "\x1b\x7f\u202e\n"
