"""Whose signatures they are: a signer is told by whole addresses, by all that the key has and by nothing else."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audit.homes import OF_OPENPGP, OF_SSH, OF_X509, REA, Home, OpenpgpHome, X509Home, counts, lived_in
from tests.evidence import git_environment

WORK = "Rea at Work <Rea@Work.example>"


@pytest.fixture
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home folder with a key, and git set up to sign with it."""
    with lived_in(request.param, tmp_path) as made:
        yield made


def identities(home: Home, what: str = "look") -> list[str]:
    """Returns whose the good signatures are; those of somebody else are findings, and no others."""
    said = home.said(what)
    signatures = [entry["signature"] for entry in said["log"] if entry["signature"]]
    assert {each["state"] for each in signatures} == {"good"}
    found = [each["identity"] for each in signatures]
    assert found.count("unchecked") == said["report"]["signatures"]["unidentified"]
    assert found.count("other") == len([each for each in said["report"]["findings"] if each["kind"] == "signature"])
    return found


LISTS = {  # of signers, and whose a signature in the name of rea@example.org is by them
    "rea@example.org {key}": "author",
    "REA@Example.org {key}": "author",
    "a@x.example,rea@example.org {key}": "author",
    "*@example.org {key}": "author",
    "re?@* {key}": "author",
    '"Rea Viewer,rea@example.org" {key}': "author",
    "eve@x.example {key}\nrea@example.org {key}": "author",
    'a@x.example,rea@example.org namespaces="git",valid-after="20200101" {key}': "author",
    "# a note\n\nrea@example.org {key}": "author",
    "rea {key}": "unchecked",
    "* {key}": "unchecked",
    "eve@x.example {key}": "other",
    "area@example.org {key}": "other",
    "rea@example.org.x {key}": "other",
    "rea@example.or[g] {key}": "other",
    "*@example.org,!rea@* {key}": "other",
    "eve@x.example {key}\nrea@example.org {other}": "other",
    'eve@x.example {key}\nrea@example.org valid-before="20200101" {key}': "other",
}


@pytest.mark.parametrize("home", OF_SSH, indirect=True)
def test_ssh_names_are_those_of_the_list(home: Home) -> None:
    """All names that a key has in the user's list of signers count, as patterns, as ssh has them."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{home.key}-2"], check=True)
    key, other = (Path(f"{home.key}{each}.pub").read_text().strip() for each in ("", "-2"))
    home.said("tell")
    texts = [each.format(key=key, other=other) + "\n" for each in LISTS]
    told = home.said("lists", json.dumps(texts))
    assert {each["state"] for each in told} == {"good"}
    assert dict(zip(LISTS, (each["identity"] for each in told), strict=True)) == LISTS


@pytest.mark.parametrize("home", OF_SSH, indirect=True)
def test_an_author_without_an_address_is_nobodys(home: Home) -> None:
    """An empty address is a part of any other, and not the signer's."""
    home.said("tell")
    nobody = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Nobody")
    nobody |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "")
    words = ["git", "-c", "gpg.format=ssh", "-c", f"user.signingkey={home.key}", "commit", "-q", "--allow-empty"]
    subprocess.run([*words, "-S", "-m", "x"], cwd=home.session, env=git_environment(**nobody), check=True)
    assert identities(home) == ["other", "author"]


def _with_owner(home: Home, owner: str) -> None:
    assert isinstance(home, OpenpgpHome)
    home.gpg("gpg", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-add-uid", home.key, owner)


@pytest.mark.parametrize("home", OF_OPENPGP, indirect=True)
@pytest.mark.parametrize("address", ["rea@example.org", "rea@work.example"])
def test_every_owner_of_an_openpgp_key_counts(address: str, home: Home) -> None:
    """Git names one of them, and not the author each time; the case of letters does not matter."""
    _with_owner(home, WORK)
    home.set_up(email=address)
    assert identities(home, "tell") == ["author"]


@pytest.mark.parametrize("home", OF_OPENPGP, indirect=True)
def test_an_owner_that_was_revoked_does_not_count(home: Home) -> None:
    """Who says that an address is theirs no longer is not told by it any more."""
    _with_owner(home, WORK)
    home.said("tell")
    assert identities(home) == ["author"]
    assert isinstance(home, OpenpgpHome)
    home.gpg("gpg", "--quick-revoke-uid", home.key, REA)
    assert identities(home) == ["other"]


@pytest.mark.parametrize("home", OF_OPENPGP, indirect=True)
def test_an_owner_whom_nobody_vouches_for_does_not_count(home: Home) -> None:
    """Anybody can write an address into their own key; where the user vouches for one, that one counts."""
    assert isinstance(home, OpenpgpHome)
    quick = ("--pinentry-mode", "loopback", "--passphrase", "")
    home.gpg("gpg", *quick, "--quick-generate-key", "Eve <eve@x.example>", "ed25519", "sign", "never")
    rows = home.gpg("gpg", "--list-keys", "--with-colons", "eve@x.example").splitlines()
    eve = next(row.split(":")[9] for row in rows if row.startswith("fpr:"))
    home.gpg("gpg", *quick, "--quick-add-uid", eve, REA)
    home.gpg("gpg", "--import-ownertrust", data=f"{eve}:2:\n")
    home.gpg("gpg", *quick, "--default-key", home.key, "--quick-sign-key", eve, "Eve <eve@x.example>")
    home.set_up(key=eve)
    assert identities(home, "tell") == ["other"]


@pytest.mark.parametrize("home", OF_OPENPGP, indirect=True)
def test_where_all_keys_are_trusted_every_owner_counts(home: Home) -> None:
    """Whoever sets up gpg to trust any key is not asked to vouch for each."""
    assert isinstance(home, OpenpgpHome)
    home.said("tell")
    home.gpg("gpg", "--import-ownertrust", data=f"{home.key}:2:\n")
    assert home.said()["report"]["signatures"] == counts(unchecked=1, none=4)
    (home.keys / "gpg.conf").write_text("trust-model always\n")
    assert identities(home) == ["author"]


class Nameless(OpenpgpHome):
    """A key of gpg's that names no address."""

    _MADE = ("--quick-generate-key", "Rea Viewer", "ed25519", "sign", "never")


class Unaddressed(X509Home):
    """A certificate that names no address."""

    addresses = ()


@pytest.mark.parametrize(
    "home",
    [pytest.param(Nameless, marks=OF_OPENPGP[0].marks), pytest.param(Unaddressed, marks=OF_X509[0].marks)],
    indirect=True,
)
def test_a_signer_without_an_address_is_not_identified(home: Home) -> None:
    """The signature is good, whose it is cannot be told, and that is no finding."""
    assert identities(home, "tell") == ["unchecked"]
    assert home.said()["report"]["signatures"] == counts(good=1, unidentified=1, none=4)


class TwoAddresses(X509Home):
    """A certificate for two addresses."""

    addresses = ("rea@work.example", "Rea@Example.org")


@pytest.mark.parametrize("home", [pytest.param(TwoAddresses, marks=OF_X509[0].marks)], indirect=True)
def test_every_address_of_a_certificate_counts(home: Home) -> None:
    """Git tells its subject only; the addresses are beside it."""
    assert identities(home, "tell") == ["author"]
