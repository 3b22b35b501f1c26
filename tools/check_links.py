#!/usr/bin/env python3
"""Finds links that lead nowhere: in the markdown pages, or, with --site FOLDER, in a built site. Prints file:line (or file) for
each and exits with 1. Only what is in the tree is looked at; addresses of the net are not called.

usage: check_links.py [ROOT]
       check_links.py --site FOLDER"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"(`+).+?\1")


def is_outside(target):
    return urllib.parse.urlsplit(target).scheme != "" or target.startswith("//")


def lines_of(path):
    """Lines outside fenced code, with their numbers."""
    fence = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = None if fence else mark[1]
        elif fence is None:
            yield number, line


def anchors(path):
    """The names of a page's headings, as GitHub and the site make them."""
    out = set()
    for _, line in lines_of(path):
        if match := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            name, count = slug, 0
            while name in out:
                count += 1
                name = f"{slug}-{count}"
            out.add(name)
            out.add(re.sub(r"-+", "-", name).strip("-"))
    return out


def check_markdown(root):
    pages = sorted(root.glob("docs/**/*.md")) + sorted(root.glob("*.md"))
    known = {}
    for page in pages:
        for number, line in lines_of(page):
            for target in LINK.findall(CODE.sub("", line)):
                if is_outside(target):
                    continue
                path, _, anchor = target.partition("#")
                there = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
                where = f"{page.relative_to(root)}:{number}"
                if not there.exists():
                    yield f"{where}: {target} is not there"
                elif anchor and there.suffix == ".md":
                    if there not in known:
                        known[there] = anchors(there)
                    if anchor not in known[there]:
                        yield f"{where}: {target}: no heading of that name"


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {"", "top"}
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif (name == "href" and tag in ("a", "link", "area")) or (name == "src" and tag in ("img", "script", "iframe", "source", "video")):
                self.links.append((tag, value))


def check_site(site):
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: has no pages"
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for tag, target in page.links:
            if is_outside(target):
                if tag != "a" and urllib.parse.urlsplit(target).scheme not in ("data", "javascript"):
                    yield f"{name}: {target}: comes from the net"
                continue
            if path.name == "404.html":  # stands for any address, so its links begin at the top
                target = target.removeprefix("/")
            parts = urllib.parse.urlsplit(target)
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there /= "index.html"
            if not there.exists():
                yield f"{name}: {target} is not there"
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].anchors:
                yield f"{name}: {target}: no such place in the page"


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] == "--site":
        problems = list(check_site(pathlib.Path(arguments[1])))
    else:
        problems = list(check_markdown(pathlib.Path(arguments[0] if arguments else __file__ + "/../..").resolve()))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
