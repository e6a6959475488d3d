"""The command `haytham skip`."""

from haytham.cli.deciding import deciding
from haytham.domain.choices import Action

command = deciding(
    "skip",
    Action.SKIP_PHASE,
    consequence="Its outputs stay in the folder and in history.",
    examples="""\b
Examples:
  haytham skip
  haytham skip 3 -m "The niche is given.\"""",
)
