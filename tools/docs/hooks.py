"""What mkdocs needs to be told about this tree: pages that the navigation does not name, decisions, and links from pages to
sources, which become pages of their own."""
import html
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
ITEM = re.compile(r"^([-*]|\d+\.) ")
FENCE = re.compile(r"^\s*(```|~~~)")
linked = set()  # sources that some page points to


def named(nav):
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from named(value) if isinstance(value, list) else [value]


def title(path):
    return next((line.lstrip("# ").strip() for line in path.read_text().splitlines() if line.startswith("# ")), path.stem)


def on_files(files, config):
    """Decisions in order, then whatever page nobody has named; the style that lies beside this file."""
    known = set(named(config["nav"]))
    decisions = sorted(DOCS.glob("decisions/*.md"))
    rest = [p for p in sorted(DOCS.rglob("*.md")) if p not in decisions and str(p.relative_to(DOCS)) not in known]
    entry = lambda p: {title(p): str(p.relative_to(DOCS))}
    nav = [e for e in config["nav"] if not {"Decisions", "More"} & set(e)]
    api = nav.pop()
    if decisions:
        nav.append({"Decisions": [entry(p) for p in decisions]})
    if rest:
        nav.append({"More": [entry(p) for p in rest]})
    config["nav"] = nav + [api]
    here = str(pathlib.Path(__file__).parent)
    files.append(File("site.css", here, config["site_dir"], False))
    return files


def source_page(target):
    return "source/" + str(target.relative_to(ROOT)) + ".html"


def on_page_markdown(markdown, page, config, files):
    """Links that leave docs/ lead to the source's page."""
    folder = (DOCS / page.file.src_path).parent
    up = os.path.relpath(".", os.path.dirname(page.file.src_path) or ".")

    def replace(match):
        target = (folder / match[2]).resolve()
        if "://" in match[2] or DOCS in target.parents or not target.exists() or ROOT not in target.parents:
            return match[0]
        linked.add(target)
        return f"{match[1]}{'' if up == '.' else up + '/'}{source_page(target)}{match[4]}"

    # A list may follow its paragraph at once on GitHub, and not here.
    out, fenced = [], False
    for line in markdown.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        last = out[-1] if out else ""
        if not fenced and ITEM.match(line) and last.strip() and not ITEM.match(last) and not last.startswith(" "):
            out.append("")
        out.append(line if fenced else LINK.sub(replace, line))
    return "\n".join(out) + "\n"


STYLE = """:root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
pre{overflow:auto}a{color:inherit}.n{opacity:.45;user-select:none;display:inline-block;width:3.5em}"""


def on_post_build(config):
    """One plain page per source that is pointed to; a folder's page lists what is in it."""
    queue, done = sorted(linked), set()
    while queue:
        path = queue.pop()
        if path in done:
            continue
        done.add(path)
        out = pathlib.Path(config["site_dir"]) / source_page(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        name = html.escape(str(path.relative_to(ROOT)))
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if not p.name.startswith("."))
            queue += inside
            body = "<ul>" + "".join(f'<li><a href="{path.name}/{html.escape(p.name)}.html">{html.escape(p.name)}</a></li>' for p in inside) + "</ul>"
        else:
            lines = html.escape(path.read_text(errors="replace")).splitlines()
            body = "<pre>" + "\n".join(f'<span class="n">{i}</span>{line}' for i, line in enumerate(lines, 1)) + "</pre>"
        home = "../" * len(out.relative_to(config["site_dir"]).parent.parts) + "index.html"
        out.write_text(f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                       f'<title>{name}</title><style>{STYLE}</style></head><body><p><a href="{home}">Rotule</a></p><h1>{name}</h1>{body}</body></html>\n')
