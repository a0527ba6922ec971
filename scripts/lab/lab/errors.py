"""What can go wrong in a scenario. Each message says what was awaited and what was seen instead."""


class LabError(Exception):
    """The lab itself could not do what it was asked to."""


class BoxDied(LabError):
    """A box has panicked, been killed or powered off while it was needed."""


class NotExpected(AssertionError):
    """What a scenario waited for has not happened."""


class Closed(NotExpected):
    """The channel on which a scenario waited for something is closed."""
