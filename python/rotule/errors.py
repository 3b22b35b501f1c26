"""Exceptions: the engine's message, one line with the place and the remedy, under classes that Python's own handlers know."""


class Error(ValueError):
    """Input that makes no sense: a field out of its range, an unknown key, a recipe that does not fit."""


class UnknownName(Error, KeyError):
    """A body, joint, solver or quantity that is not there."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class StepError(Error, RuntimeError):
    """A step that left the realm of numbers; the message names the step and the body."""


class Interrupted(Exception):
    """World.interrupt() ended a step: the world is as it was before it."""
