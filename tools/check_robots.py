#!/usr/bin/env python3
"""Reads every URDF and MJCF file under a folder by a small parser of its own, and by rotule; says where they differ.

usage: check_robots.py ROTULE FOLDER [--seconds S] [--limit N] [--only TEXT]

Of each file that is a model (a worldbody, or links), not a part that others include:
  mass      the sum over what moves, where the file gives it for every such body
  limits    of hinges and sliders, in radians and metres
  frames    where links of a URDF file stand with all coordinates at zero
  motion    `rotule run` for S seconds (0.3): ends with status 0
  again     URDF to scene to URDF to scene: the same masses and limits
One line per file; status 1 where anything differs. File names are never handed to a shell."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

DEGREE = math.pi / 180


def numbers(text):
    return [float(word) for word in text.split()]


def included(path, seen=()):
    """The root element of an MJCF file with what it includes in its place."""
    root = ET.parse(path).getroot()

    def expand(element):
        for child in list(element):
            if child.tag == "include":
                other = (path.parent / child.get("file")).resolve()
                if other in seen:
                    raise ValueError("includes itself")
                place = list(element).index(child)
                element.remove(child)
                for k, part in enumerate(included(other, (*seen, other))):
                    element.insert(place + k, part)
            else:
                expand(child)

    expand(root)
    return root


class Mjcf:
    """Masses and limits that the file gives outright."""

    def __init__(self, path):
        self.root = included(path, (path.resolve(),))
        if self.root.tag != "mujoco" or self.root.find("worldbody") is None or self.root.find(".//body") is None:
            raise LookupError
        self.in_degrees, self.autolimits, self.weighs_itself = True, True, False
        for compiler in self.root.iter("compiler"):
            self.in_degrees = compiler.get("angle", "degree" if self.in_degrees else "radian") == "degree"
            self.autolimits = compiler.get("autolimits", "true") == "true"
            self.weighs_itself |= any(compiler.get(key, "false") not in ("false", "auto", "0", "-1")
                                      for key in ("inertiafromgeom", "settotalmass", "boundmass", "balanceinertia"))
        self.classes = {}
        for defaults in self.root.findall("default"):
            self.read_defaults(defaults, {})
        self.mass, self.limits = 0.0, {}
        for world in self.root.findall("worldbody"):
            for body in world.findall("body"):
                self.read_body(body, "main", False)

    def read_defaults(self, element, inherited):
        own = {**inherited}
        for child in element:
            if child.tag == "joint":
                own = {**own, **child.attrib}
        self.classes[element.get("class", "main")] = own
        for child in element.findall("default"):
            self.read_defaults(child, own)

    def read_body(self, body, outer, moves):
        inner = body.get("childclass", outer)
        moves = moves or body.find("joint") is not None or body.find("freejoint") is not None
        inertial = body.find("inertial")
        if moves and inertial is None and body.find("geom") is not None:
            self.mass = None  # by geoms, which is for a larger parser
        if moves and inertial is not None and self.mass is not None:
            self.mass += float(inertial.get("mass"))
        for joint in body.findall("joint"):
            own = {**self.classes.get(joint.get("class", inner), {}), **joint.attrib}
            if own.get("type", "hinge") not in ("hinge", "slide") or "range" not in own or "name" not in own:
                continue
            limited = own.get("limited", "auto")
            if limited == "false" or (limited == "auto" and not self.autolimits):
                continue
            scale = DEGREE if self.in_degrees and own.get("type", "hinge") == "hinge" else 1
            self.limits[own["name"]] = [scale * x for x in numbers(own["range"])]
        for child in body.findall("body"):
            self.read_body(child, inner, moves)

    frames = None


class Urdf:
    def __init__(self, path):
        root = ET.parse(path).getroot()
        if root.tag != "robot" or root.find("link") is None:
            raise LookupError
        links = {link.get("name"): link for link in root.findall("link")}
        joints = [j for j in root.findall("joint")]
        children = {j.find("child").get("link") for j in joints}
        self.limits, above = {}, {}
        for joint in joints:
            limit = joint.find("limit")
            if joint.get("type") in ("revolute", "prismatic"):
                self.limits[joint.get("name")] = [float(limit.get(k, 0)) for k in ("lower", "upper")]
            above[joint.find("child").get("link")] = joint
        base = next(name for name in links if name not in children)
        self.base = base

        def moves(name):
            return name != base and (above[name].get("type") != "fixed" or moves(above[name].find("parent").get("link")))

        # Of what moves against the base.
        self.mass = sum(float(link.find("inertial/mass").get("value")) for name, link in links.items()
                        if link.find("inertial/mass") is not None and moves(name))
        self.frames = {}
        for name in links:
            pose = identity()
            at = name
            while at != base:
                joint = above[at]
                origin = joint.find("origin")
                xyz = numbers(origin.get("xyz", "0 0 0")) if origin is not None else [0, 0, 0]
                rpy = numbers(origin.get("rpy", "0 0 0")) if origin is not None else [0, 0, 0]
                pose = compose((turn(*rpy), xyz), pose)
                at = joint.find("parent").get("link")
            self.frames[name] = pose[1]


def identity():
    return [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]


def turn(roll, pitch, yaw):
    (a, b, c), (s, t, u) = map(math.cos, (roll, pitch, yaw)), map(math.sin, (roll, pitch, yaw))
    return [[c * b, c * t * s - u * a, c * t * a + u * s], [u * b, u * t * s + c * a, u * t * a - c * s], [-t, b * s, b * a]]


def compose(outer, inner):
    (R, r), (S, s) = outer, inner
    return ([[sum(R[i][k] * S[k][j] for k in range(3)) for j in range(3)] for i in range(3)],
            [r[i] + sum(R[i][k] * s[k] for k in range(3)) for i in range(3)])


def limits_of(scene):
    out, starts = {}, {}
    for joint in scene.get("joints", []):
        (kind, fields), = joint.items()
        if kind in ("hinge", "slider"):
            starts[fields["name"]] = fields.get("start", 0)
            out[fields["name"]] = [fields.get("lower"), fields.get("upper")]
    return out, starts


def total_mass(scene):
    return sum(body.get("mass", 0) for body in scene["bodies"] if not body.get("fixed"))


class Check:
    def __init__(self, rotule, seconds, folder):
        self.rotule, self.seconds, self.folder = rotule, seconds, pathlib.Path(folder)

    def call(self, *words):
        return subprocess.run([self.rotule, *map(str, words)], capture_output=True, text=True, timeout=600)

    def convert(self, source, name, *options):
        target = self.folder / name
        done = self.call("convert", source, target, *options)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return target

    def faults(self, path, model):
        scene_file = self.convert(path, "scene.json")
        scene = json.loads(scene_file.read_text())
        out = []
        limits, starts = limits_of(scene)
        for name, (low, high) in model.limits.items():
            found = limits.get(name)
            if found is None:
                out.append(f"no joint {name}")
            elif high - low < 2 * math.pi and None in found:
                out.append(f"{name} has no limits")
            elif None not in found and abs((found[1] - found[0]) - (high - low)) > 1e-9:
                out.append(f"{name}: from {found} in place of {[low, high]}")
        mass = total_mass(scene)
        if isinstance(model, Urdf):
            mass = total_mass(json.loads(self.convert(path, "fixed.json", "--base", "fixed").read_text()))
        if model.mass is not None and abs(mass - model.mass) > 1e-9 * max(1.0, model.mass) and not getattr(model, "weighs_itself", False):
            out.append(f"weighs {mass:.9g} kg in place of {model.mass:.9g}")
        if model.frames and not any(starts.values()):
            base = model.frames[model.base]
            for body in scene["bodies"]:
                if body["name"] in model.frames:
                    apart = math.dist([a - b for a, b in zip(model.frames[body["name"]], base)], body.get("position", [0, 0, 0]))
                    if apart > 1e-9:
                        out.append(f"{body['name']} stands {apart:.3g} m off")
                        break
        run = self.call("run", scene_file, "--duration", self.seconds)
        if run.returncode != 0:
            out.append(run.stderr.strip().splitlines()[-1])
        if isinstance(model, Urdf):
            again = json.loads(self.convert(self.convert(scene_file, "again.urdf"), "again.json").read_text())
            if abs(total_mass(again) - total_mass(scene)) > 1e-9 * max(1.0, total_mass(scene)):
                out.append("another mass after the round trip")
            for name, found in limits_of(again)[0].items():
                before = limits.get(name)
                if before and None not in before and None not in found and math.dist(before, found) > 1e-9:
                    out.append(f"{name}: other limits after the round trip")
        return out


def main():
    words = sys.argv[1:]
    options = {"--seconds": "0.3", "--limit": "1000000", "--only": ""}
    for name in options:
        if name in words:
            at = words.index(name)
            options[name] = words[at + 1]
            del words[at:at + 2]
    if len(words) != 2:
        sys.exit(__doc__)
    rotule, folder = words
    files = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix in (".urdf", ".xml", ".mjcf") and options["--only"] in str(p))
    checked = bad = left_out = 0
    with tempfile.TemporaryDirectory() as room:
        check = Check(rotule, options["--seconds"], room)
        for path in files:
            if checked >= int(options["--limit"]):
                break
            try:
                model = (Urdf if ET.parse(path).getroot().tag == "robot" else Mjcf)(path)
            except (LookupError, ValueError, FileNotFoundError, ET.ParseError):
                continue
            checked += 1
            try:
                found = check.faults(path, model)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                if "is not there" in str(error):
                    print(f"{path.relative_to(folder)}: left out: {error}", flush=True)
                    checked, left_out = checked - 1, left_out + 1
                    continue
                found = [str(error)]
            bad += bool(found)
            print(f"{path.relative_to(folder)}: {'; '.join(found) if found else 'as the file says'}", flush=True)
    print(f"{checked} files, {bad} with differences; {left_out} left out, since files that they name are missing")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
