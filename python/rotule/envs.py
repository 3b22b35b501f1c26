"""Worlds as environments of Gymnasium: reset, step, spaces. Without that package a small stand-in serves for the spaces."""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from .scene import SceneLike

try:
    from gymnasium import Env as _Base
    from gymnasium.spaces import Box
except ImportError:

    class Box:  # type: ignore[no-redef]
        """Arrays between two bounds: what this module needs of gymnasium.spaces.Box."""

        def __init__(self, low: Any, high: Any, shape: "Sequence[int] | None" = None, dtype: Any = np.float64,
                     seed: "int | None" = None) -> None:
            self.shape = tuple(shape) if shape is not None else np.broadcast(np.asarray(low), np.asarray(high)).shape
            self.dtype = np.dtype(dtype)
            self.low = np.broadcast_to(np.asarray(low, self.dtype), self.shape).copy()
            self.high = np.broadcast_to(np.asarray(high, self.dtype), self.shape).copy()
            self._random = np.random.default_rng(seed)

        def seed(self, seed: "int | None" = None) -> None:
            self._random = np.random.default_rng(seed)

        def sample(self) -> np.ndarray:
            """Uniform between bounds; normal where there are none."""
            bounded = np.isfinite(self.low) & np.isfinite(self.high)
            span = np.where(bounded, self.high, 1.0) - np.where(bounded, self.low, 0.0)
            uniform = np.where(bounded, self.low, 0.0) + span * self._random.random(self.shape)
            return np.where(bounded, uniform, self._random.normal(size=self.shape)).astype(self.dtype)

        def contains(self, x: Any) -> bool:
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

        __contains__ = contains

    class _Base:  # type: ignore[no-redef]
        """What gymnasium.Env would add: random numbers by seed."""

        def reset(self, *, seed: "int | None" = None, options: "dict[str, Any] | None" = None) -> Any:
            if seed is not None or not hasattr(self, "np_random"):
                self.np_random = np.random.default_rng(seed)


class WorldEnv(_Base):  # type: ignore[misc,valid-type]
    """A world with motors as actions. Observations are the world's coordinates and rates, unless `observe` gives something else.

    reward(world, action) -> float and terminated(world) -> bool are functions; `randomise(world, random)` changes the world at each
    reset. An action lasts `steps` steps of the recipe; an episode is truncated after `max_actions`. A step that fails ends the episode,
    and info["error"] says why."""

    metadata = {"render_modes": ["svg"], "render_fps": 30}
    render_mode = "svg"

    def __init__(self, scene: SceneLike, reward: "Callable[[Any, np.ndarray], float]", *,
                 terminated: "Callable[[Any], bool] | None" = None, motors: "Sequence[str] | None" = None, limit: float = 1.0,
                 observe: "Callable[[Any], np.ndarray] | None" = None,
                 randomise: "Callable[[Any, np.random.Generator], None] | None" = None, recipe: Any = None, steps: int = 1,
                 max_actions: int = 1000) -> None:
        self.world = _core.World(scene, recipe)
        self._start = self.world.save()
        coordinates = self.world.coordinates
        self.motors = list(motors) if motors is not None else coordinates
        self._axes = [self._axis(name) for name in self.motors]
        self._reward, self._terminated, self._observe, self._randomise = reward, terminated, observe, randomise
        self._steps, self._most, self._count = steps, max_actions, 0
        self.action_space = Box(-limit, limit, (len(self.motors),), np.float64)
        self.observation_space = Box(-np.inf, np.inf, self._observation().shape, np.float64)

    def _axis(self, name: str) -> tuple[str, str]:
        if name in self.world.joint_names:
            return name, ""
        joint, _, axis = name.rpartition(".")
        self.world.joint_position(joint, axis)  # raises where there is none
        return joint, axis

    def _observation(self) -> np.ndarray:
        if self._observe is not None:
            return np.array(self._observe(self.world), np.float64)
        return np.concatenate([self.world.joint_positions, self.world.joint_rates])

    def reset(self, *, seed: "int | None" = None, options: "dict[str, Any] | None" = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.world.load(self._start)
        if self._randomise is not None:
            self._randomise(self.world, self.np_random)
        self._count = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        action = np.asarray(action, np.float64)
        if action.shape != self.action_space.shape:
            raise ValueError(f"the action must have the shape {self.action_space.shape}, has {action.shape}")
        action = np.clip(action, self.action_space.low, self.action_space.high)
        for (joint, axis), torque in zip(self._axes, action):
            self.world.set_motor(joint, _core.MotorTorque(float(torque)), axis)
        self._count += 1
        info: dict[str, Any] = {}
        failed = False
        try:
            info["report"] = self.world.step(self._steps)
        except RuntimeError as error:
            failed, info["error"] = True, str(error)
        ended = failed or (self._terminated is not None and bool(self._terminated(self.world)))
        return self._observation(), float(self._reward(self.world, action)), ended, self._count >= self._most, info

    def render(self) -> str:
        """The world as an SVG picture."""
        return self.world._repr_svg_()

    def close(self) -> None:
        """Nothing is left open."""
