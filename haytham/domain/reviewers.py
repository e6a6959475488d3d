"""Who reviews: a name, perhaps an address, perhaps a role, and when two of them are one person."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from haytham.domain import suggestions

_NAMED = re.compile(r"(?P<name>[^<>]+)<(?P<address>[^<>\s]*)>\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reviewer:
    """Who decided."""

    name: str
    address: str = ""
    role: str | None = None

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.address else self.name

    @property
    def keys(self) -> tuple[str, ...]:
        """What the reviewer is known by: the address if there is one, and the name."""
        name = unicodedata.normalize("NFC", self.name).casefold()
        return (self.address.casefold(), name) if self.address else (name,)

    def is_same(self, other: "Reviewer") -> bool:
        """Tells whether two are one person: by address if both have one, otherwise by name."""
        if self.address and other.address:
            return self.keys[0] == other.keys[0]
        return self.keys[-1] == other.keys[-1]


def parsed(text: str | None) -> Reviewer | None:
    """Reads `Name <address>` or a name alone, as people write them; None if there is nothing to see in it."""
    plain = "".join(char for char in text or "" if char.isprintable()).strip()
    if not plain:
        return None
    match = _NAMED.match(plain)
    return Reviewer(name=match["name"].strip(), address=match["address"]) if match else Reviewer(name=plain)


def of(feedback: Mapping[str, Any]) -> Reviewer | None:
    """Returns whom a form is by, or None if it does not say."""
    return parsed(feedback["review"]["reviewer"])


def name_in(feedback: Mapping[str, Any]) -> str | None:
    """Returns the name of the reviewer in a form, without the address."""
    found = of(feedback)
    return found.name if found else None


def role_among(role: str | None, roles: tuple[str, ...]) -> str | None:
    """Returns that one of the roles which is meant, in any case and spacing, or None."""
    if role is None:
        return None
    return next((each for each in roles if suggestions.normalised(each) == suggestions.normalised(role)), None)
