"""The viewer: a scene, a world or a recording in the browser, by the program `rotule` as a child process."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import warnings
import webbrowser
from typing import Any

from . import _core
from .errors import Error
from .scene import Scene, text_and_origin


def program() -> "str | None":
    """The program: where ROTULE_PROGRAM says, in the package, or on the path."""
    inside = pathlib.Path(__file__).parent / "bin" / "rotule"
    for candidate in (os.environ.get("ROTULE_PROGRAM"), str(inside), shutil.which("rotule")):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    return None


class Viewer:
    """A running viewer: `url` is where it listens. It ends with `close`, or with this process."""

    def __init__(self, command: "list[str]", scene: "str | None") -> None:
        self._scene = scene
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.url = line.rpartition(": ")[2].strip()
        if not self.url.startswith("http"):
            self._process.wait()
            said = self._process.stderr.read().strip() if self._process.stderr else ""
            self.close()
            raise Error(f"the viewer did not start: {said or line.strip()}")

    def close(self) -> None:
        """Ends it."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        if self._scene:
            pathlib.Path(self._scene).unlink(missing_ok=True)
            self._scene = None

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="480" style="border:0"></iframe>'


def view(what: Any, *, port: int = 0, open_browser: bool = True) -> Viewer:
    """Shows a scene, a world as it stands now, or a recording (a path that ends in .h5), and returns the viewer. What is shown is a copy:
    the viewer's own run, which changes nothing here. In a notebook the returned object shows the page inline."""
    found = program()
    if found is None:
        raise Error("the viewer needs the program rotule, which is neither in this package nor on the path; set ROTULE_PROGRAM to it")
    temporary = None
    if isinstance(what, (str, os.PathLike)) and os.fspath(what).endswith(".h5"):
        shown = os.fspath(what)
    else:
        if isinstance(what, _core.World):
            try:
                what = what.posed()
            except Error as error:
                warnings.warn(f"the viewer shows the scene as it began: {error}", stacklevel=2)
                what = what.scene
        text, _ = text_and_origin(what if isinstance(what, Scene) else Scene(what))
        with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="rotule_", delete=False) as file:
            file.write(text)
        shown = temporary = file.name
    viewer = Viewer([found, "view", shown, "--port", str(port), "--no-open"], temporary)
    if open_browser:
        webbrowser.open(viewer.url)
    return viewer
