"""Lists of ranks in the arguments of commands."""

from typing import List

import gdb

from . import jobs
from .errors import Failure, one_line


def select(text: str, inferiors: List[gdb.Inferior]) -> List[gdb.Inferior]:
    """Returns those of some inferiors that are of the ranks in a list. Raises Failure."""
    if text.strip() == "all":
        return inferiors
    by_rank = {jobs.rank_of(inferior.pid): inferior for inferior in inferiors}
    chosen: List[gdb.Inferior] = []
    for word in text.replace(",", " ").split():
        first, is_range, last = word.partition("-")
        try:
            numbers = range(int(first), int(last if is_range else first) + 1)
        except ValueError:
            raise Failure("Invalid rank: %s" % one_line(word, 40))
        for number in numbers:
            if number not in by_rank:
                raise Failure("There is no rank %d." % number)
            chosen.append(by_rank[number])
    return chosen
