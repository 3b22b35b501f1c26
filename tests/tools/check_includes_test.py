"""Small trees with one include each: the check must pass the legal ones and name file and line of the others."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)


def check(path, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("include/rotule/scene.h", "include/rotule/types.h", "src/model/body.h", "src/problem/operators.h", "src/step/step.h"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("#pragma once\n")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)
        return run.returncode, run.stderr


class CheckIncludes(unittest.TestCase):
    def accepted(self, path, text):
        self.assertEqual(check(path, text), (0, ""))

    def refused(self, path, text, where):
        status, message = check(path, text)
        self.assertEqual(status, 1)
        self.assertTrue(message.startswith(where), message)

    def test_arrows(self):
        self.accepted("src/solve/direct/x.cpp", '#include "problem/operators.h"\n')
        self.accepted("src/constraint/x.cpp", '#include "model/body.h"\n#include "problem/operators.h"\n')
        self.accepted("src/step/x.cpp", '#include "model/body.h"\n')
        self.refused("src/solve/direct/x.cpp", '#pragma once\n#include "model/body.h"\n', "src/solve/direct/x.cpp:2: solve must not")
        self.refused("src/model/x.cpp", '#include "problem/operators.h"\n', "src/model/x.cpp:1: model must not")
        self.refused("src/integrate/x.h", '#include "model/body.h"\n', "src/integrate/x.h:1: integrate must not")
        self.refused("src/constraint/x.h", '#include "step/step.h"\n', "src/constraint/x.h:1: constraint must not")

    def test_public_headers_count_as_their_folder(self):
        self.accepted("src/solve/x.cpp", "#include <rotule/types.h>\n")
        self.refused("src/solve/x.cpp", "#include <rotule/scene.h>\n", "src/solve/x.cpp:1: solve must not")

    def test_public_headers_are_plain(self):
        self.accepted("include/rotule/types.h", "#include <Eigen/Core>\n#include <vector>\n")
        self.refused("include/rotule/types.h", "#include <tbb/task.h>\n", "include/rotule/types.h:1: a public header")
        self.refused("include/rotule/types.h", '#include "model/body.h"\n', "include/rotule/types.h:1: a public header")
        self.refused("include/rotule/types.h", "struct A {\n  virtual void f();\n};\n", "include/rotule/types.h:2: a public header")

    def test_libraries_stay_where_they_belong(self):
        self.accepted("src/record/x.cpp", "#include <nlohmann/json.hpp>\n")
        self.refused("src/step/x.cpp", "#include <tbb/parallel_for.h>\n", "src/step/x.cpp:1: step must not")

    def test_what_is_not_in_the_table(self):
        self.refused("src/misc/x.cpp", "\n", "src/misc/x.cpp:1: src/misc is not in the table")
        self.refused("src/step/x.cpp", '#include "y.h"\n', 'src/step/x.cpp:1: "y.h" is not there')


if __name__ == "__main__":
    unittest.main()
