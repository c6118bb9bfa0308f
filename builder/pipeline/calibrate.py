"""The margin that agents' reports of their usage call for (features C8)."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from builder.domain.profile import MOST_MARGIN, Profile
from builder.domain.usage import Usage

NEWEST = 20
"""Reports that count: a provider that changes its tokenizer is followed, and one page that was counted badly is forgotten."""
SMALLEST = 100
"""Tokens of a page below which a report does not count: the few that a provider adds to any text would outweigh its tokenizer."""
FEWEST = 5
"""Reports below which the profile's own margin stands: one agent's slip must not size everybody's pages."""


def calibrated(profile: Profile, reports: Iterable[Usage]) -> Profile:
    """The profile with the least margin, up to MOST_MARGIN, with which every counting page would have fitted the budget.

    reports: newest first. The same profile when it does not ask for it, or when too few are about its model.
    """
    model = profile.calibrate
    if model is None:
        return profile
    about_it = (report for report in reports if report.counted >= SMALLEST and model.is_called(report.model))
    counting = tuple(islice(about_it, NEWEST))
    if len(counting) < FEWEST:
        return profile
    share = min(report.counted / report.used for report in counting)
    return replace(profile, margin=min(max(1 - share, 0.0), MOST_MARGIN))
