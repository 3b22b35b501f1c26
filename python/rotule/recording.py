"""A run with a recording, in one call."""
from __future__ import annotations

import os
from typing import Any

from . import _core


def record(world: Any, path: "str | os.PathLike[str]", duration: "float | None" = None, every: int = 1) -> Any:
    """Runs a world (or a scene) for so many seconds (default: its recipe's duration), writes every so many steps to an HDF5 file, and
    returns the recording. `rotule report`, `plot`, `view` and `film` take the file."""
    if not isinstance(world, _core.World):
        world = _core.World(world)
    seconds = world.recipe["duration"] if duration is None else duration
    if every < 1:
        raise ValueError("every must be at least 1")
    rounds = max(1, int(-(-seconds * (1 - 1e-12) // (world.dt * every))))
    with _core.Recorder(world, os.fspath(path), rounds + 1) as recorder:
        recorder.capture()
        for _ in range(rounds):
            world.step(every)
            recorder.capture()
    return _core.Recording(os.fspath(path))
