"""Scenes as dicts in the form of scene files: what can be written there can be written here, under the same names."""
from __future__ import annotations

import copy
import json
import os
import pathlib
import warnings
from typing import Any, Mapping, Sequence, Union

import numpy as np

from . import _core, fields
from .errors import UnknownName

#: What stands for a scene: a Scene, the name of a shipped one, a path (of a robot's URDF or MJCF too), a dict, or JSON text.
SceneLike = Union["Scene", str, "os.PathLike[str]", Mapping[str, Any]]


def plain(value: Any) -> Any:
    """Lists and numbers of Python in place of NumPy's; `from_` stands for `from`, which Python keeps for itself."""
    if isinstance(value, Mapping):
        return {"from" if key == "from_" else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def to_text(value: Any) -> str:
    """JSON text; infinities and NaN, which files cannot hold, raise ValueError."""
    return json.dumps(plain(value), allow_nan=False)


def scene_folders() -> list[pathlib.Path]:
    """Where shipped scenes are looked for: where ROTULE_SCENES says, then in the package."""
    named = os.environ.get("ROTULE_SCENES")
    return [*([pathlib.Path(named)] if named else []), pathlib.Path(__file__).parent / "share" / "rotule" / "scenes"]


def scene_names() -> list[str]:
    """Names that Scene takes without a path."""
    names = set(_core.built_scenes())
    for folder in scene_folders():
        names.update(path.stem for path in folder.glob("*.json") if path.name != "schema.json")
    return sorted(names)


def _read(given: "str | os.PathLike[str]") -> str:
    """Text of a scene by path or name; files that it names can be opened from here."""
    name = os.fspath(given)
    if name.lstrip().startswith("{"):
        return name
    if name.endswith((".urdf", ".xml", ".mjcf")):
        robot = _core.read_robot(name)
        if robot.remarks:
            warnings.warn(f"{name}: {len(robot.remarks)} things of the file could not be taken over as they are; "
                          f"rotule.read_robot(path).remarks lists them", stacklevel=4)
        return to_text(robot.scene.data)
    if "/" in name or name.endswith(".json") or pathlib.Path(name).is_file():
        return _core.load_scene(name)
    for folder in scene_folders():
        if (folder / f"{name}.json").is_file() and name != "schema":
            return _core.load_scene(str(folder / f"{name}.json"))
    built = _core.build_scene(name)
    if built is None:
        raise UnknownName(f'unknown scene "{name}"; {fields.suggestion(name, scene_names())}')
    return built


def text_and_origin(scene: Any) -> tuple[str, str]:
    """What the engine reads of whatever stands for a scene, and what messages call it."""
    if isinstance(scene, Scene):
        return to_text(scene.data), scene.data.get("name") or "scene"
    if isinstance(scene, Mapping):
        return to_text({"rotule": 1, **scene}), "scene"
    if isinstance(scene, (str, os.PathLike)):
        text = os.fspath(scene)
        return _read(scene), "scene" if text.lstrip().startswith("{") else text
    raise TypeError(f"a scene is a Scene, a name, a path, a dict or JSON text, not {type(scene).__name__}")


class Scene:
    """A scene; `data` is the dict that a scene file would hold, free to be changed. The engine checks it when a world is made of it, or
    by `check`."""

    def __init__(self, scene: "SceneLike | None" = None, **top: Any) -> None:
        if scene is None:
            self.data: dict[str, Any] = {"rotule": 1}
        elif isinstance(scene, Scene):
            self.data = copy.deepcopy(scene.data)
        elif isinstance(scene, Mapping):
            self.data = {"rotule": 1, **plain(scene)}
        elif isinstance(scene, (str, os.PathLike)):
            self.data = json.loads(_read(scene))
        else:
            raise TypeError(f"a scene is a name, a path, a dict or JSON text, not {type(scene).__name__}")
        fields.require("scene", top)
        self.data.update(plain(top))

    def _add(self, group: str, kind: str, given: Mapping[str, Any]) -> str:
        """Appends a part, under a name of its own where it was given none; returns the name."""
        part = plain(given)
        fields.require(kind, part)
        parts = self.data.setdefault(group, [])
        inner = [item if group in ("bodies", "materials") else next(iter(item.values())) for item in parts]
        taken = {item.get("name") for item in inner}
        if not part.get("name"):
            number = len(parts)
            while f"{kind}_{number}" in taken:
                number += 1
            part = {"name": f"{kind}_{number}", **part}
        parts.append(part if group in ("bodies", "materials") else {kind: part})
        return part["name"]

    def add_body(self, **given: Any) -> str:
        """Adds a body (rotule.describe("body")); returns its name."""
        return self._add("bodies", "body", given)

    def add_joint(self, kind: str, **given: Any) -> str:
        """Adds a joint of a kind (rotule.describe("joint") lists them); returns its name."""
        fields.require_kind("joint", kind)
        return self._add("joints", kind, given)

    def add_force(self, kind: str, **given: Any) -> str:
        """Adds a force of a kind (rotule.describe("force")); returns its name."""
        fields.require_kind("force", kind)
        return self._add("forces", kind, given)

    def add_solid(self, kind: str, **given: Any) -> str:
        """Adds a rope, a cloth, a block of particles (rotule.describe("solid")); returns its name."""
        fields.require_kind("solid", kind)
        return self._add("solids", kind, given)

    def add_material(self, **given: Any) -> str:
        """Adds a material (rotule.describe("material")); returns its name."""
        return self._add("materials", "material", given)

    def check(self) -> "Scene":
        """Raises Error, with the place, where something makes no sense; returns the scene as the engine read it, every part named."""
        return Scene(json.loads(_core.check_scene(*text_and_origin(self))))

    def to_json(self) -> str:
        """The text of a scene file."""
        return to_text(self.data)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes a scene file."""
        pathlib.Path(path).write_text(json.dumps(plain(self.data), indent=1, allow_nan=False) + "\n")

    @property
    def name(self) -> str:
        return str(self.data.get("name", ""))

    def _repr_svg_(self) -> str:
        from . import picture

        return picture.svg(_core.World(self))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.data[key])} {key}" for key in ("bodies", "joints", "particles", "solids", "forces")
                           if self.data.get(key))
        return f"<rotule.Scene {self.name!r}{': ' if counts else ''}{counts}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and plain(self.data) == plain(other.data)

    __hash__ = None  # type: ignore[assignment]


__all__: Sequence[str] = ("Scene", "SceneLike", "scene_names")
