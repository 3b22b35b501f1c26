"""Small trees with one page each: the check must pass what is there and name what is not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)

TREE = {
    "src/solve/pgs.cpp": "// Sweeps (A1).\n",
    "include/rotule/world.h": "",
    "bench/wall_bench.cpp": "// wall_bench --quick\n",
    "dev": 'case $command in\n  build | lint) "$command" "$@" ;;\n  rotule) : ;;\n  *) : ;;\nesac\n# lint --all\n',
    "apps/rotule/options/scenes.cpp": 'void add_run(CommandLine& line) {\n  CLI::App& command = line.command("run", "x");\n'
                                      '  command.add_option("--steps", n, "x");\n  add_shared(command, n);\n}\n',
    "apps/rotule/options/view.cpp": 'void add_shared(CLI::App& command, int& n) {\n  command.add_flag("--dark", n);\n}\n'
                                    'void add_view(CommandLine& line) {\n  CLI::App& command = line.command("view", "x");\n'
                                    '  command.add_flag("!--no-open", open, "x");\n}\n',
    "CMakePresets.json": '{"configurePresets": [{"name": "base", "hidden": true}, {"name": "release"}]}',
    "docs/architecture.md": "`src/solve/`\n",
    "docs/physics.md": "| id | what |\n| --- | --- |\n| A1 | bodies |\n\n| sweeps | `src/solve/` | `pgs` |\n",
}


def check(**changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (TREE | {name.replace("__", "/").replace("_md", ".md"): text for name, text in changes.items()}).items():
            (pathlib.Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / name).write_text(text)
        run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)
        return run.returncode, run.stderr


class Pages(unittest.TestCase):
    def assert_good(self, text):
        self.assertEqual(check(docs__a_md=text), (0, ""), text)

    def assert_bad(self, text, message, line=1):
        self.assertEqual(check(docs__a_md=text), (1, f"docs/a.md:{line}: {message}\n"), text)

    def test_paths(self):
        for path in ("src/solve/", "src/solve/pgs.cpp", "solve/pgs.cpp", "pgs.cpp", "bench/wall_bench", "build/release", "out/x.h5",
                     "build/PRESET", "/joint_force", "cloth/12", "m/s", "fall.py"):
            self.assert_good(f"See `{path}`.\n")
        self.assert_bad("See `src/tune/`.\n", "src/tune is not there")
        self.assert_bad("See\n`src/solve/sor.cpp:3`.\n", "src/solve/sor.cpp is not there", 2)
        self.assert_bad("See `solve/sor.h`.\n", "solve/sor.h is not there")
        self.assert_bad("See `sor.h`.\n", "sor.h is not there")
        self.assert_bad("In `build/base`.\n", "there is no preset base")

    def test_includes(self):
        self.assert_good("```cpp\n#include <rotule/world.h>\n```\n")
        self.assert_bad("```cpp\n#include <rotule/word.h>\n```\n", "rotule/word.h is not there", 2)

    def test_commands(self):
        for text in ("`./dev lint --all`", "`./dev rotule run x --steps 3`", "`rotule view --no-open`", "`rotule run x --dark`", "`rotule ARGS`", "`--steps N`",
                     "`--quick`", "`rotule --version`", "```\n$ rotule run a --steps 3 && cmake --preset release\n```"):
            self.assert_good(text + "\n")
        self.assert_bad("`./dev clean`\n", "./dev has no command clean")
        self.assert_bad("`./dev lint --some`\n", "./dev has no option --some")
        self.assert_bad("`rotule walk`\n", "rotule has no command walk")
        self.assert_bad("`./dev rotule run --no-open`\n", "rotule run has no option --no-open")
        self.assert_bad("`--stepz`\n", "nobody has an option --stepz")
        self.assert_bad("```\n$ rotule run a --stepz 3\n```\n", "rotule run has no option --stepz", 2)

    def test_ids(self):
        self.assert_good("Bodies (A1).\n")
        self.assert_bad("Bodies (A2).\n", "A2 is not in docs/physics.md")


class Sources(unittest.TestCase):
    def test_ids_in_comments_and_texts(self):
        self.assertEqual(check(include__rotule__x_md=""), (0, ""))
        for line, status in (("double E2 = 1;", 0), ("// Energy (E2)", 1), ('name = "energy (E2)";', 1)):
            self.assertEqual(check(**{"src__solve__x.h": line})[0], status, line)

    def test_folders_of_the_tree(self):
        status, message = check(**{"src__tune__x.h": ""})
        self.assertEqual((status, message), (1, "docs/architecture.md:1: src/tune/ is not in it\n"))

    def test_list_of_files(self):
        physics = TREE["docs/physics.md"].replace("`pgs`", "`pgs` `sor` (relaxed)")
        self.assertEqual(check(docs__physics_md=physics), (1, "docs/physics.md:5: src/solve/sor is not there\n"))


unittest.main()
