"""The margin that agents' reports of their usage call for."""

from dataclasses import replace

from builder.domain.profile import MAX_MARGIN, Profile
from builder.domain.usage import Usage

MIN_REPORTS = 5
"""Reports below which the profile's own margin stands: fewer pages say too little about all others."""


def calibrated(profile: Profile, reports: tuple[Usage, ...]) -> Profile:
    """The profile with the least margin, up to MAX_MARGIN, with which all pages but the one furthest off would have fitted.

    That one does not count, so a single wrong report cannot size all pages.

    reports: what counts about the profile's model. The same profile when it does not ask for it, or when they are too few.
    """
    if profile.calibrate is None or len(reports) < MIN_REPORTS:
        return profile
    _, share, *_ = sorted(report.counted / report.used for report in reports)
    return replace(profile, margin=min(max(1 - share, 0.0), MAX_MARGIN))
