"""The policy of a workflow's journals: when snapshots are taken, which of them stay."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from haytham.domain.due import Due
from haytham.domain.retention import Retention, retention_of


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalPolicy:
    """What a workflow says about the journals of its agents."""

    due: Due = field(default_factory=Due)
    retention: Retention = field(default_factory=Retention)


def policy_of(value: Mapping[str, Any]) -> JournalPolicy:
    """Builds a policy from one flat table; raises InvalidInput for an unknown field or a bad figure."""
    timing = {each.name for each in fields(Due)}
    return JournalPolicy(
        due=Due(**{name: each for name, each in value.items() if name in timing}),
        retention=retention_of({name: each for name, each in value.items() if name not in timing}),
    )
