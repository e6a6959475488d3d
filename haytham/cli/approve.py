"""The command `haytham approve`."""

from haytham.cli.deciding import deciding
from haytham.domain.choices import Action

command = deciding(
    "approve",
    Action.APPROVED,
    consequence="The approval holds as long as the outputs stay as they are.",
    examples="""\b
Examples:
  haytham approve
  haytham approve 2 -m "The size is counted now."
  haytham approve 2 --reviewer 'Ada <ada@example.org>' --role legal""",
)
