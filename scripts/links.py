"""Links that lead nowhere: of a built book, and of the README and the pages. Nothing is fetched; `--list` names what leads outside.

`python3 scripts/links.py BOOK`, where BOOK is the folder that mdBook wrote."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
OURS = "https://github.com/reattempt/reattempt/"
PAGES = "https://docs.rs/reattempt/latest/reattempt"
BOOK = "https://reattempt.github.io/reattempt/"
faults, outside = [], set()


class Page(HTMLParser):
    """The ids and the links of a page of HTML."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and tag != "meta":
                self.ids.add(value)
            if name in ("href", "src") and value is not None:
                self.links.append(value)


def slug(heading):
    """As GitHub and rustdoc make it of a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(path):
    def included(match):
        return (path.parent / match[1]).read_text()

    text = re.sub(r"^\{\{#include ([^:}]+)\}\}$", included, path.read_text(), flags=re.M)
    headings = re.findall(r"^#{1,6} (.*)$", without_code(text), flags=re.M)
    return {slug(heading) for heading in headings}


def page_of_docs(name):
    """The files that rustdoc shows as one page; none where it is no page of ours."""
    if name == "retry":
        return [ROOT / "retry-macros/docs/retry.md"]
    name = name.removeprefix("guide/")
    single = ROOT / f"docs/{name}.md"
    return [single] if single.is_file() else sorted((ROOT / "docs" / name).glob("*.md"))


def check_page(link, name, fragment):
    files = page_of_docs(name)
    if not files:
        return f"{link}: there is no page `{name}`"
    if fragment and not any(fragment in anchors(file) for file in files):
        return f"{link}: `{name}` has no heading `{fragment}`"


def check_outside(link):
    """Another's page: only its form. One of our own is looked up here."""
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[\w.-]+\.\w+", parts.netloc) or " " in link:
        return f"{link}: malformed"
    if link.startswith(OURS):
        kind, _, path = link[len(OURS):].partition("/")
        path = path.partition("/")[2] if kind in ("blob", "tree", "edit") else ""
        if path and not (ROOT / unquote(path.partition("#")[0])).exists():
            return f"{link}: there is no `{path}`"
    elif link.startswith(BOOK):
        chapter = unquote(parts.path[len(urlsplit(BOOK).path):]).replace(".html", ".md")
        file = ROOT / "docs/guide/src" / chapter
        if chapter and not file.is_file():
            return f"{link}: there is no chapter `{chapter}`"
        if parts.fragment and parts.fragment not in anchors(file):
            return f"{link}: `{chapter}` has no heading `{parts.fragment}`"
    elif link.startswith(PAGES):
        name = parts.path[len(urlsplit(PAGES).path):].strip("/").removesuffix("/index.html")
        name = re.sub(r"^attr\.(\w+)\.html$", r"\1", name)
        return check_page(link, name, parts.fragment) if name else None
    else:
        outside.add(link)


def check_book(book):
    pages = {path: Page(path) for path in book.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                yield path, check_outside(link)
                continue
            if parts.scheme:
                yield path, f"{link}: what is `{parts.scheme}`?"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield path, f"{link}: there is no such file"
            elif parts.fragment and target in pages and parts.fragment not in pages[target].ids:
                yield path, f"{link}: no such anchor"


def check_text(path):
    text = without_code(path.read_text())
    links = re.findall(r"(?<!\\)\]\(([^()\s]+(?:\(\))?)\)", text) + re.findall(r"^\[[^]]+\]: (\S+)$", text, flags=re.M)
    for link in links:
        parts = urlsplit(link)
        inside = re.match(r"(?:macro@)?crate::(?:guide::)?(\w+)#(.+)$", link)
        if inside:
            yield path, check_page(link, *inside.groups())
        elif parts.scheme in ("http", "https"):
            yield path, check_outside(link)
        elif re.match(r"(?:\w+@)?(?:crate|Self)::|macro@", link) or (path.name == "retry.md" and "::" in link):
            continue  # an item: rustdoc looks for it
        elif not parts.path:
            if parts.fragment not in anchors(path):
                yield path, f"{link}: no such heading"
        elif not (path.parent / parts.path).exists():
            yield path, f"{link}: there is no such file"
        elif parts.fragment and parts.fragment not in anchors(path.parent / parts.path):
            yield path, f"{link}: no such heading"


book = Path(sys.argv[1]).resolve()
texts = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
for results in [check_book(book), *map(check_text, texts)]:
    faults += [f"{path.relative_to(ROOT)}: {fault}" for path, fault in results if fault]
print(f"{len(outside)} links lead outside and were not followed")
if "--list" in sys.argv:
    print("\n".join(sorted(outside)))
if faults:
    sys.exit("\n".join(sorted(set(faults))))
