"""The viewer: a scene, a world or a recording in the browser, by the program `rotule` as a child process."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import warnings
import weakref
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


def _end(process: "subprocess.Popen[str]", scene: "str | None") -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
    if scene:
        pathlib.Path(scene).unlink(missing_ok=True)


class Viewer:
    """A running viewer: `url` is where it listens. It ends with `close`, when nobody holds it any more, or with this process."""

    def __init__(self, command: "list[str]", scene: "str | None") -> None:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._end = weakref.finalize(self, _end, process, scene)
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        self.url = line.rpartition(": ")[2].strip()
        if not self.url.startswith("http"):
            process.wait()
            said = process.stderr.read().strip() or line.strip()
            self.close()
            raise Error(f"the viewer did not start: {said}")

    def close(self) -> None:
        """Ends it."""
        self._end()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *exception: object) -> None:
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
