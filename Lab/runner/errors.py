"""Errors of a scenario. Each message says what was expected and what happened instead."""


class LabError(Exception):
    """The lab could not perform a request."""


class BoxDied(LabError):
    """A box that was needed has panicked, been killed or been powered off."""


class NotExpected(AssertionError):
    """An expected event has not happened."""


class Closed(NotExpected):
    """The channel closed while a scenario waited for data on it."""
