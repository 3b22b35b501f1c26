"""The package as a whole: stubs, documentation, examples, speed of a call."""
import ast
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import parts

import rotule
from rotule import _core

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def tool(name):
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Stubs(unittest.TestCase):
    def setUp(self):
        self.text = (pathlib.Path(rotule.__file__).parent / "_core.pyi").read_text()

    def test_they_are_what_the_module_says_of_itself(self):
        self.assertEqual(self.text, tool("make_stubs").stubs(_core),
                         "write them anew: PYTHONPATH=build/release/python/package python/tools/make_stubs.py python/rotule/_core.pyi")

    def test_they_parse_and_name_all_that_is_there(self):
        tree = ast.parse(self.text)
        stubbed = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        there = {name for name in vars(_core) if not name.startswith("__")}
        self.assertEqual(stubbed, there)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, ast.FunctionDef):
                        self.assertTrue(hasattr(getattr(_core, node.name), member.name), f"{node.name}.{member.name}")

    def test_everything_public_is_documented(self):
        self.assertTrue((pathlib.Path(rotule.__file__).parent / "py.typed").exists())
        for name in rotule.__all__:
            value = getattr(rotule, name)
            if callable(value):
                self.assertTrue(value.__doc__, name)
        for name, value in vars(rotule.World).items():
            if not name.startswith("_"):
                said = (value.__doc__ or "").partition("\n")[2] if not isinstance(value, property) else value.__doc__
                self.assertTrue(said and said.strip(), f"World.{name}")


class Pages(unittest.TestCase):
    def run_python(self, *command):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def test_examples(self):
        for path in sorted((HERE.parent / "examples").glob("*.py")):
            with self.subTest(path.name):
                self.assertTrue(self.run_python(str(path)))
                self.assertLessEqual(len(path.read_text().splitlines()), 65)

    def test_blocks_of_the_page(self):
        page = (ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        self.assertGreater(len(blocks), 5)
        # Blocks are read one after the other: later ones may use what earlier ones made.
        self.run_python("-c", "\n".join(blocks))


class Speed(unittest.TestCase):
    def test_a_call_of_step_costs_less_than_two_microseconds(self):
        world = rotule.World(parts.free_body(), {"integrator": "semi_implicit_euler", "contacts": "none", "dt": 1e-6})
        n, calls, inside = 2000, float("inf"), float("inf")
        for _ in range(15):  # the machine may be busy: the least is what it costs
            begun = time.perf_counter()
            for _ in range(n):
                world.step()
            called = time.perf_counter()
            world.step(n)
            calls, inside = min(calls, (called - begun) / n), min(inside, (time.perf_counter() - called) / n)
        self.assertLess(calls - inside, 2e-6)


if __name__ == "__main__":
    unittest.main()
