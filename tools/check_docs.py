#!/usr/bin/env python3
"""Finds what the pages name and the tree does not have: folders, files and headers; commands of ./dev and rotule with their options;
presets; ids of physics. And what the tree has and the pages forgot: folders of src/ in docs/architecture.md. Prints file:line for
each and exits with 1.

usage: check_docs.py [ROOT]"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()

TOP = ("src", "include", "apps", "viewer", "scenes", "tests", "bench", "docs", "tools", "cmake", "data", "examples", "python")
SOURCES = (".h", ".cpp", ".py", ".cmake", ".mjs", ".ts")
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
ID = re.compile(r"\b[A-F][0-9]{1,2}\b")


def read(path):
    return path.read_text() if path.is_file() else ""


def files_of_tree():
    """What is kept: names from the top, without what builds and package managers leave there."""
    for top in TOP:
        for path in sorted((ROOT / top).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if "/node_modules/" not in name + "/":
                yield name


class Tree:
    """What there is to be named."""

    def __init__(self):
        self.paths = set(files_of_tree())
        self.ends = {end for name in self.paths for end in ends_of(name)}
        script = read(ROOT / "dev")
        cases = script.partition("case $command in")[2]
        self.dev = {word for line in re.findall(r"^  ([a-z][a-z |-]*)\)", cases, re.M) for word in re.split(r"\s*\|\s*", line)}
        self.dev_options = set(OPTION.findall(script))
        self.commands = commands_of_program("".join(read(path) for path in sorted((ROOT / "apps/rotule/options").glob("*.cpp"))))
        self.options = {"--help", "--version"}.union(*self.commands.values())
        # The pages also speak of the options of tools and benchmarks, which read them by hand.
        self.other_options = {option for folder in ("tools", "bench") for path in sorted((ROOT / folder).glob("*.*"))
                              for option in OPTION.findall(read(path))}
        presets = json.loads(read(ROOT / "CMakePresets.json") or "{}").get("configurePresets", [])
        self.presets = {preset["name"] for preset in presets if not preset.get("hidden")}
        self.ids = set(re.findall(r"^\| ([A-F][0-9]{1,2}) \|", read(ROOT / "docs/physics.md"), re.M))


def ends_of(name):
    parts = name.split("/")
    return ["/".join(parts[k:]) for k in range(len(parts))]


def commands_of_program(source):
    """The options of each command, as CLI11 is told of them: a function for each command, and for options that several share."""
    def options_in(body):
        given = re.findall(r"add_(?:option|flag)\(\s*\"([^\"]+)\"", body)
        return {option for names in given for option in OPTION.findall(names.replace("!", " "))}

    functions = dict(re.findall(r"^void (add_\w+)\([^)]*\) \{\n(.*?)^\}", source, re.S | re.M))
    commands = {}
    for body in functions.values():
        for name in re.findall(r"\bline\.command\(\s*\"([a-z-]+)\"", body):
            shared = [options_in(functions[called]) for called in re.findall(r"\b(add_\w+)\(command,", body) if called in functions]
            commands[name] = {"--help"}.union(options_in(body), *shared)
    return commands


def check_path(tree, text):
    """A path from the top, or, for sources and folders, the end of one."""
    path = re.split(r"[:#]", text)[0].rstrip("/")
    top = path.split("/")[0]
    if top == "build" and "/" in path:
        preset = path.split("/")[1]
        return None if preset in tree.presets or preset.isupper() else f"there is no preset {preset}"
    # Without a folder, only what no reader would write by himself.
    named = top in TOP and "/" in text or path.endswith(SOURCES if "/" in path else (".h", ".cpp")) and not path.startswith(".")
    if not named or re.search(r"[A-Z]{3}|…|\*", path):
        return None
    if path in tree.ends or path in TOP and (ROOT / path).exists() or f"{path}.cpp" in tree.paths:
        return None
    return f"{path} is not there"


def check_command(tree, text):
    """`rotule run ... --steps 3`, `./dev lint --all`, each part of it."""
    words = re.sub(r"^\s*\$\s+", "", text).split()
    if not words:
        return
    if words[0] == "./dev":
        command = words[1] if len(words) > 1 else None
        if command and re.fullmatch(r"[a-z-]+", command) and command not in tree.dev:
            yield f"./dev has no command {command}"
        if command == "rotule":
            yield from check_command(tree, " ".join(words[1:]))
        else:
            yield from (f"./dev has no option {option}" for option in OPTION.findall(text) if option not in tree.dev_options)
    elif words[0] == "rotule":
        command = words[1] if len(words) > 1 else None
        known = tree.options
        if command and re.fullmatch(r"[a-z]+", command):
            if command not in tree.commands:
                yield f"rotule has no command {command}"
                return
            known = tree.commands[command]
        yield from (f"rotule {command} has no option {option}" for option in OPTION.findall(text) if option not in known)


def check_line(tree, line):
    """A line of a page outside fenced code."""
    for text in SPAN.findall(line):
        for word in text.split():
            if problem := check_path(tree, word):
                yield problem
        if text.startswith("--"):
            known = tree.options | tree.dev_options | tree.other_options
            yield from (f"nobody has an option {option}" for option in OPTION.findall(text) if option not in known)
        else:
            yield from check_command(tree, text)


def check_fenced(tree, line):
    # A command ends where a comment or the next one begins.
    for part in re.split(r"\s#\s|&&|;|\|", line):
        yield from check_command(tree, part)


def check_includes(tree, line):
    for header in re.findall(r"<(rotule/[\w/]+\.h)>", line):
        if f"include/{header}" not in tree.paths:
            yield f"{header} is not there"


def check_ids(tree, line):
    return (f"{used} is not in docs/physics.md" for used in ID.findall(line) if used not in tree.ids)


def check_page(tree, page):
    fence = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = None if fence else mark[1]
            continue
        problems = [*(check_fenced if fence else check_line)(tree, line), *check_includes(tree, line)]
        if not fence:
            problems += check_ids(tree, SPAN.sub("", line))
        yield from ((number, problem) for problem in problems)


def check_comments(tree, path):
    """Ids in comments and in texts, not those that are names of variables."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code, _, comment = line.partition("//")
        said = " ".join([comment, *re.findall(r'"([^"]*)"', code)])
        yield from ((number, problem) for problem in check_ids(tree, said))


def check_list_of_files(tree, page):
    """Rows of a folder and names in it: | kind | `src/folder/` | `name` `name` |."""
    for number, line in enumerate(read(page).splitlines(), 1):
        if row := re.fullmatch(r"\| [^|]+ \| `([^`]+)/` \| ((?:`\w+`[^|`]*)+)\|", line):
            for name in SPAN.findall(row[2]):
                if not any(f"{row[1]}/{name}{ending}" in tree.paths for ending in (".h", ".cpp")):
                    yield number, f"{row[1]}/{name} is not there"


def main():
    tree = Tree()
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    found = [(page, *problem) for page in pages if page.exists() for problem in check_page(tree, page)]
    for folder in ("src", "include", "apps", "scenes", "tests", "bench"):
        sources = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp")]
        found += [(path, *problem) for path in sources for problem in check_comments(tree, path)]
    physics, architecture = ROOT / "docs/physics.md", ROOT / "docs/architecture.md"
    found += [(physics, *problem) for problem in check_list_of_files(tree, physics)]
    if architecture.exists():
        folders = sorted(path.name for path in (ROOT / "src").glob("*") if path.is_dir())
        found += [(architecture, 1, f"src/{name}/ is not in it") for name in folders if f"`src/{name}/`" not in read(architecture)]
    for path, number, problem in found:
        print(f"{path.relative_to(ROOT)}:{number}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
