#!/usr/bin/env python3
"""Keeps #include lines true to the arrows of docs/architecture.md. Prints file:line for each that is not, and exits with 1.

usage: check_includes.py [ROOT]"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()

# Which folders of src/ a folder may include, besides itself.
SEES = {
    "base": [],
    "math": ["base"],
    "linalg": ["math", "base"],
    "problem": ["linalg", "math", "base"],
    "solve": ["problem", "linalg", "math", "base"],
    "flow": ["linalg", "math", "base"],
    "model": ["flow", "linalg", "math", "base"],
    "collide": ["model", "flow", "linalg", "math", "base"],
    "dynamics": ["model", "flow", "linalg", "math", "base"],
    "constraint": ["collide", "dynamics", "model", "flow", "problem", "linalg", "math", "base"],
    "integrate": ["linalg", "math", "base"],
    "fluid": ["collide", "model", "flow", "linalg", "math", "base"],
}
SEES["mechanism"] = [*SEES]
SEES["step"] = [*SEES]
SEES["world"] = [*SEES]
SEES["analyse"] = [*SEES]
SEES["inverse"] = [*SEES]
SEES["reduced"] = [*SEES]
SEES["record"] = [*SEES]
SEES["robot"] = ["world", *SEES["world"]]
SEES["tune"] = ["solve", *SEES["solve"]]

# The folder to which a public header belongs: who may see the folder may include the header.
PUBLIC = {
    "error.h": "base", "fields.h": "base", "ids.h": "base", "types.h": "base",
    "integrators.h": "base", "integrators_adaptive.h": "base", "integrator_traits.h": "base", "contacts.h": "base", "steppers.h": "base",  # settings: names and numbers only
    "solvers.h": "base", "solver_traits.h": "base", "solver_fields.h": "base", "solver_storage.h": "base", "solver_choice.h": "base",
    "jet.h": "math",
    "moving.h": "math",
    "problem.h": "problem",
    "recipe.h": "model", "shapes.h": "model", "joints.h": "model", "scene.h": "model", "results.h": "model", "step_report.h": "base",
    "flow.h": "base", "structures.h": "model", "forces.h": "model", "formula.h": "base", "particles.h": "model", "mass_properties.h": "model",
    "fluid.h": "model", "fluid_grid.h": "fluid",
    "meshes.h": "collide", "robots.h": "robot", "parareal.h": "base",
    "world.h": "world", "queries.h": "world", "query_types.h": "world", "solve.h": "world",
    "relaxation.h": "analyse", "analyse.h": "analyse", "formulation_study.h": "analyse", "state_space.h": "analyse", "flutter.h": "analyse", "inverse.h": "inverse", "inverse_dynamics.h": "inverse", "reduced.h": "reduced", "rotule.h": "inverse",
}

# Libraries that only some folders may know, by the beginning of the included path.
LIBRARIES = {
    "tbb/": ["base"], "oneapi/": ["base"],
    "amd.h": ["linalg"], "suitesparse/": ["linalg"],
    "libqhull_r/": ["model"],
    "fftw3": ["fluid"],
    "hwy/": ["collide", "dynamics", "solve", "step", "tune"],
    "hdf5": ["record"], "H5": ["record"],
    "nlohmann/": ["record"],
    "pugixml": ["robot"],
    "CLI/": [], "boost/": [],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp"))


def check_public(path):
    """Public headers know each other, Eigen and the standard library, and declare nothing virtual."""
    for number, mark, target in includes(path):
        known = target.startswith(("rotule/", "Eigen/")) or not re.search(r"[/.]", target)
        if mark == '"' or not known:
            yield number, f"a public header must not include {target}"
        elif target.startswith("rotule/") and not (ROOT / "include" / target).exists():
            yield number, f"{target} is not there"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.search(r"\bvirtual\b", line.split("//")[0]):
            yield number, "a public header must not declare virtual functions"


def check_source(path):
    folder = path.relative_to(ROOT / "src").parts[0]
    if folder not in SEES:
        yield 1, f"src/{folder} is not in the table of tools/check_includes.py"
        return
    allowed = {folder, *SEES[folder]}
    for number, mark, target in includes(path):
        if mark == '"':
            owner = target.split("/")[0]
            if not (ROOT / "src" / target).exists():
                yield number, f'"{target}" is not there; write it from src/, as "folder/file.h"'
            elif owner not in allowed:
                yield number, f"{folder} must not include {owner} ({target})"
        elif target.startswith("rotule/"):
            header = target.removeprefix("rotule/")
            owner = "base" if header.startswith("solvers/") else PUBLIC.get(header)  # one header of settings per solver
            if owner is None:
                yield number, f"{target} is not in the table of tools/check_includes.py"
            elif owner not in allowed:
                yield number, f"{folder} must not include {target}, which belongs to {owner}"
        else:
            for beginning, folders in LIBRARIES.items():
                if target.startswith(beginning) and folder not in folders:
                    yield number, f"{folder} must not include {target}; only {', '.join(folders) or 'the program'} may"


def main():
    problems = 0
    for check, paths in ((check_public, sources("include")), (check_source, sources("src"))):
        for path in paths:
            for number, message in check(path):
                print(f"{path.relative_to(ROOT)}:{number}: {message}", file=sys.stderr)
                problems += 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
