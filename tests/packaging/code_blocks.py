#!/usr/bin/env python3
"""Writes each block of C++ of README.md and docs/*.md into a file of its own: ```cpp is for users and must compile against the
installed package, by itself where it has a main, else as the inside of a function. Blocks about the inside of the library are
```c++ and left alone.

usage: code_blocks.py ROOT FOLDER"""
import pathlib
import re
import sys

FRAGMENT = """#include <rotule/rotule.h>
#include <cstdio>
using namespace rotule;
void {name}();
void {name}() {{
#line {line} "{page}"
{text}
}}
"""


def blocks(page):
    for match in re.finditer(r"^```cpp\n(.*?)^```$", page.read_text(), re.M | re.S):
        yield page.read_text()[: match.start(1)].count("\n") + 1, match[1]


def main():
    root, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    folder.mkdir(parents=True)
    written = 0
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for line, text in blocks(page):
            name = f"{page.stem.replace('-', '_')}_{line}"
            if "int main(" not in text:
                if "#include" in text:
                    sys.exit(f"{page}:{line}: a block with an #include must be a whole program")
                text = FRAGMENT.format(name=name, line=line, page=page, text=text)
            else:
                text = f'#line {line} "{page}"\n{text}'
            (folder / f"{name}.cpp").write_text(text)
            written += 1
    if written == 0:
        sys.exit("no blocks found: are the fences still ```cpp?")


if __name__ == "__main__":
    main()
