"""How one breadcrumb takes another off: by a later version, or by a tombstone."""

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb


def removed_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or the trace of a later version."""
    return other.removes == crumb.id and other.place > crumb.place and _is_near(crumb, other)


def replaced_by(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is a higher version of it, whichever came first."""
    return other.id == crumb.id and other.version > crumb.version and _is_near(crumb, other)


def _is_near(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether the other one is of the same session or of none."""
    return other.workspace == crumb.workspace and other.session in (crumb.session, NO_SESSION)


def is_same(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether both are versions of one breadcrumb of one session."""
    return (crumb.workspace, crumb.session, crumb.id) == (other.workspace, other.session, other.id)
