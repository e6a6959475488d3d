"""A point in the history of a phase, as it is named in options: an attempt by its number, or a commit by its id."""

import re
from typing import Any

import click

from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import SHORTEST_COMMIT, check_commit

_ATTEMPT = re.compile(rf"-?[0-9]{{1,{SHORTEST_COMMIT - 1}}}\Z")


class _Point(click.ParamType["int | str"]):
    name = "point"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Returns the number of an attempt, or the text of a commit's id; fails on anything else."""
        text = str(value).strip().lower()
        if _ATTEMPT.match(text):
            if int(text) < 1:
                self.fail(f"{value} is not in the range x>=1.", param, ctx)
            return int(text)
        try:
            return check_commit(text)
        except InvalidInput:
            self.fail(f"{value!r} is neither the number of an attempt nor the id of a commit.", param, ctx)


POINT = _Point()
