"""The dial: how exact a run should be, as a recipe that fits a scene."""
from __future__ import annotations

from typing import Any

from . import _core
from .scene import SceneLike


def realtime(scene: SceneLike) -> dict[str, Any]:
    """For those who watch: 1/60 s, contacts on."""
    return _core.recipe_for(scene, "realtime")


def balanced(scene: SceneLike) -> dict[str, Any]:
    """Right enough for most questions."""
    return _core.recipe_for(scene, "balanced")


def exact(scene: SceneLike) -> dict[str, Any]:
    """For those who measure mechanisms."""
    return _core.recipe_for(scene, "exact")


def fastest(scene: SceneLike) -> dict[str, Any]:
    """The real-time stepper, for what it can run."""
    return _core.recipe_for(scene, "fastest")
