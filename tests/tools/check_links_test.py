"""Small trees of pages with one link each: the check must pass the good ones and name the others."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)


def check(files, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (pathlib.Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / name).write_text(text)
        run = subprocess.run([sys.executable, CHECK, *arguments, folder], capture_output=True, text=True)
        return run.returncode, run.stderr


class Markdown(unittest.TestCase):
    def page(self, text):
        return check({"docs/a.md": text, "docs/b.md": "# B\n\n## Two words (F1)\n\n```\n## not a heading\n```\n", "src/x.h": ""})

    def test_good(self):
        for link in ("b.md", "b.md#two-words-f1", "../src/x.h", "https://example.org/none", "#here"):
            self.assertEqual(self.page(f"# Here\n\n[text]({link})\n"), (0, ""), link)

    def test_code_is_no_link(self):
        self.assertEqual(self.page("`[f](x)` and\n\n```cpp\n[](int a)\n[f](none.md)\n```\n"), (0, ""))

    def test_bad(self):
        for link in ("c.md", "b.md#three", "b.md#not-a-heading", "../src/y.h", "#nowhere", "pictures/none.svg"):
            status, message = self.page(f"# Here\n\n![text]({link})\n")
            self.assertEqual(status, 1, link)
            self.assertTrue(message.startswith("docs/a.md:3: " + link), message)


class Site(unittest.TestCase):
    def page(self, text):
        return check({"index.html": text, "sub/index.html": '<p id="here"></p>', "style.css": ""}, "--site")

    def test_good(self):
        for link in ("sub/index.html", "sub/", "sub/index.html#here", "style.css", "https://example.org"):
            self.assertEqual(self.page(f'<a href="{link}">x</a>'), (0, ""), link)

    def test_bad(self):
        for link in ("none.html", "sub/index.html#there", "#nowhere"):
            status, message = self.page(f'<a href="{link}">x</a>')
            self.assertEqual(status, 1, link)
            self.assertTrue(message.startswith("index.html: " + link), message)
        self.assertEqual(self.page('<script src="https://example.org/x.js"></script>')[0], 1)  # nothing comes from the net
        self.assertEqual(check({"x.txt": ""}, "--site")[0], 1)


unittest.main()
