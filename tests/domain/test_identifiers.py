import pytest

from haytham.domain.errors import HaythamError, InvalidInput
from haytham.domain.identifiers import LONGEST_ID, check_agent_name, check_commit, check_id, check_line, check_text
from tests.evidence import label

GOOD_IDS = ["p", "project-123", "a.b_c-d", "0", "x" * LONGEST_ID, "Session.2026-01-31", "consolation"]
BAD_IDS = {
    "": "is empty",
    "x" * (LONGEST_ID + 1): "is longer than",
    ".": "not allowed",
    "..": "not allowed",
    "...": "not allowed",
    "a..b": "two dots",
    "a.": "ends with a dot",
    ".git": "not allowed",
    ".hidden": "not allowed",
    "-x": "not allowed",
    "_x": "not allowed",
    "a/b": "not allowed",
    "../../x": "not allowed",
    "/etc": "not allowed",
    "a\\b": "not allowed",
    "a:b": "not allowed",
    "a b": "not allowed",
    "a ": "not allowed",
    "a\n": "not allowed",
    "a\0b": "not allowed",
    "a\x1b[31m": "not allowed",
    "a\u202eb": "not allowed",
    "é": "not allowed",
    "e\u0301": "not allowed",
    "\uff41": "not allowed",
    "\ud800": "not allowed",
    "~x": "not allowed",
    "a*": "not allowed",
    "con": "device",
    "CON": "device",
    "nul.txt": "device",
    "Aux.a.b": "device",
    "com1": "device",
    "LPT9": "device",
    "x.lock": ".lock",
    "x.LOCK": ".lock",
    "@{u}": "not allowed",
}


@pytest.mark.parametrize("value", GOOD_IDS)
def test_safe_id_is_returned_unchanged(value: str) -> None:
    """An id of letters, digits, hyphens, underscores and dots is taken as it is."""
    assert value == check_id(value, "id")


@pytest.mark.parametrize("value", BAD_IDS, ids=label)
def test_unsafe_id_is_refused_with_the_reason(value: str) -> None:
    """An id that could leave its folder, hide, or name a device is refused by name."""
    with pytest.raises(InvalidInput, match=BAD_IDS[value].replace(".", r"\.")) as caught:
        check_id(value, "session id")
    assert caught.value.message.startswith("session id ")
    assert "use letters" in caught.value.hint


@pytest.mark.parametrize("value", [None, 1, b"p", ["p"], True, object()])
def test_id_that_is_no_text_is_refused(value: object) -> None:
    """Only text can be an id."""
    with pytest.raises(ValueError, match="not text"):
        check_id(value, "id")


def test_long_id_is_not_repeated_in_full() -> None:
    """An error message stays readable whatever was passed in."""
    with pytest.raises(HaythamError) as caught:
        check_id("x" * 100_000, "id")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "name", ["checkpoint", "Checkpoint", "CHECKPOINT", "checkpoint.md", "user_feedback", "session_manifest", "journal"]
)
def test_agent_cannot_have_the_name_of_a_document_of_ours(name: str) -> None:
    """An agent's output never takes the place of a checkpoint, feedback or manifest."""
    with pytest.raises(InvalidInput, match="reserved for a document"):
        check_agent_name(name)


@pytest.mark.parametrize("name", ["concept_expansion", "checkpoints", "checkpoint_2", "agent-1"])
def test_other_agent_names_are_free(name: str) -> None:
    """A name that merely resembles a reserved one is fine."""
    assert name == check_agent_name(name)


@pytest.mark.parametrize("value", ["user-789", "Zoë O'Neil", "用户", "a" * 500])
def test_line_is_any_visible_text(value: str) -> None:
    """A user's id may be any text of one visible line."""
    assert value == check_line(value, "user id")


@pytest.mark.parametrize(
    "value", ["", "  ", "a\nb", "a\tb", " a", "a ", "a\0", "\ud800", "a" * 501, None, 7, b"a", "a\u2028b"], ids=label
)
def test_line_must_be_one_plain_line(value: object) -> None:
    """Line breaks, control characters and spaces at the ends are refused with a hint."""
    with pytest.raises(InvalidInput, match="user id") as caught:
        check_line(value, "user id")
    assert "visible characters" in caught.value.hint


@pytest.mark.parametrize("value", ["", "\0", "\r\n", "\ufeff", "😀", "a" * 10_000], ids=label)
def test_text_may_hold_anything_that_utf8_can(value: str) -> None:
    """Free text is not restricted."""
    assert value == check_text(value, "comments")


@pytest.mark.parametrize("value", ["abcd", "0123", "ABCDEF0", "a" * 40])
def test_commit_is_named_by_the_beginning_of_its_id(value: str) -> None:
    """Four digits or more may name a commit, in letters of either case."""
    assert value.lower() == check_commit(value)


@pytest.mark.parametrize(
    "value", ["", "abc", "123", "a" * 41, "HEAD", "abcd\n", "--x", "abcg", None, True, 1234, b"abcd"]
)
def test_no_commit_is_named_otherwise(value: object) -> None:
    """Fewer digits are the number of an attempt; names of branches and options of git are refused."""
    with pytest.raises(InvalidInput, match="commit is ") as caught:
        check_commit(value)
    assert caught.value.hint == "use at least 4 digits of an id that the log shows."


def test_lone_surrogate_is_refused_by_its_place() -> None:
    """Text that UTF-8 cannot hold is named with the position of the culprit."""
    with pytest.raises(InvalidInput, match=r"comments cannot be written as UTF-8: character 3 is '\\ud800'"):
        check_text("abc\ud800", "comments")


@pytest.mark.parametrize("value", [None, b"bytes", 1])
def test_text_must_be_text(value: object) -> None:
    """Bytes are not guessed to be text."""
    with pytest.raises(InvalidInput, match="not text") as caught:
        check_text(value, "comments")
    assert caught.value.hint
