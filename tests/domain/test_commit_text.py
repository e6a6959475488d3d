"""The text of commits."""

import pytest

from haytham.domain import commit_text

HEAD = b"tree 1\nparent 2\nauthor Ada <ada@example.org> 1 +0000\ncommitter Bob <bob@example.org> 2 +0100\n"


def test_parts() -> None:
    """Every part of a commit is found where git puts it."""
    assert commit_text.read(HEAD + b"gpgsig -----BEGIN\n more\n -----END\n\nsubject\n\nbody\n\nKey-One: 1\n") == {
        "parents": ["2"],
        "name": "Ada",
        "email": "ada@example.org",
        "seconds": 2,
        "subject": "subject",
        "body": "body",
        "trailers": {"Key-One": "1"},
        "is_signed": True,
    }


@pytest.mark.parametrize(
    ("text", "subject", "body", "trailers"),
    [
        ("", "", "", {}),
        ("only", "only", "", {}),
        ("Key: is the subject", "Key: is the subject", "", {}),
        ("s\nKey: of the first paragraph", "s", "Key: of the first paragraph", {}),
        ("s\n\nKey: 1\nOther:2", "s", "", {"Key": "1", "Other": "2"}),
        ("s\n\nKey: 1\nno trailer", "s", "Key: 1\nno trailer", {}),
        ("s\n\nKey 1: 1", "s", "Key 1: 1", {}),
        ("s\n\nabove\n\nKey: 1\n  more", "s", "above", {"Key": "1 more"}),
        ("s\n\n  indented: 1", "s", "  indented: 1", {}),
        ("s\n\nKey: 1\nKey: 2", "s", "", {"Key": "2"}),
        ("s\n\nKey: 1\n(cherry picked from commit 1)", "s", "", {"Key": "1"}),
        ("s\n\n\u00fc: 1", "s", "\u00fc: 1", {}),
        ("\n\ns  \n \nbody \n\n\n", "s", "body", {}),
        ("s\n\nbody\0hidden", "s", "body", {}),
    ],
)
def test_messages(text: str, subject: str, body: str, trailers: dict[str, str]) -> None:
    """Trailers are the last paragraph, if it holds nothing else; blank space at the ends of lines is none."""
    found = commit_text.read(HEAD + b"\n" + text.encode())
    assert (found["subject"], found["body"], found["trailers"]) == (subject, body, trailers)


def test_a_commit_of_nobody_at_no_time() -> None:
    """What is no commit is not taken for one."""
    with pytest.raises(ValueError, match="invalid literal"):
        commit_text.read(b"tree 1\n\nsubject")
