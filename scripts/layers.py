"""Checks the floors: a crate depends only on crates of floors below it, and a module imports only modules of lines below
its own. `scripts/layers.txt` has the floors of the crates and the lines of each crate's modules, from top to bottom. Nor do
the files of a folder import each other in a circle.

    scripts/layers.py [ROOT]
"""

import pathlib
import re
import sys
import tomllib

IMPORT = re.compile(r"\b(crate|super|self)((?:::super)*)::")


def floors(root):
    """The lines of each section of `layers.txt`: {section: [[name, ...], ...]}, from top to bottom."""
    sections = {}
    for line in (root / "scripts/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line:
            lines.append(line.split())
    return sections


def code(file):
    """The code of a file without comments, strings and what is compiled for tests alone."""
    text = file.read_text()
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    start = re.search(r"\n#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*mod \w+ \{", text)
    return text[: start.start()] if start else text


def heads(text, at):
    """The first names of the paths that begin at a position: one, or those in braces."""
    if text[at] != "{":
        name = re.match(r"\w+", text[at:])
        return [name[0]] if name else []
    names, depth, first = [], 0, False
    for match in re.finditer(r"[{},]|\w+", text[at:]):
        token = match[0]
        if token == "{":
            depth += 1
            first = depth == 1
        elif token == "}":
            depth -= 1
            if not depth:
                break
        elif token == ",":
            first = depth == 1
        elif first:
            names.append(token)
            first = False
    return names


def module_of(file, source):
    """The path of a file's module, such as ["engine", "live"]."""
    parts = list(file.relative_to(source).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "mod" else parts


def imports(source):
    """Who imports whom, among the modules of a crate and among those of each of its folders: {(from, to): file}."""
    modules = {path.stem for path in source.iterdir() if path.suffix == ".rs" or path.is_dir()}
    modules -= {"lib", "main", "bin"}
    paths = {tuple(path.relative_to(source).with_suffix("").parts) for path in source.rglob("*")}
    found = {}
    for file in sorted(source.rglob("*.rs")):
        here = module_of(file, source)
        if here[0] in ("lib", "main", "bin", "tests") or "tests" in here:
            continue
        text = code(file)
        for match in IMPORT.finditer(text):
            if match[1] == "self" and not match[2]:
                continue
            ups = match[2].count("super") + (match[1] == "super")
            base = [] if match[1] == "crate" else here[: len(here) - ups]
            rest = re.match(r"(?:\w+::)*", text[match.end() :])[0].split("::")[:-1]
            for head in heads(text, match.end()):
                path = base + (rest if rest[:1] == [head] else [head])
                common = 0
                while common < min(len(path), len(here)) and path[common] == here[common]:
                    common += 1
                start, end = tuple(here[: common + 1]), tuple(path[: common + 1])
                if common < min(len(path), len(here)) and end in paths and end[0] in modules:
                    found.setdefault((start, end), file)
    return modules, found


def circle(edges):
    """A circle among the edges, or nothing."""
    following = {}
    for start, end in edges:
        following.setdefault(start, []).append(end)
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node) :] + [node]
        if node in done:
            return None
        path.append(node)
        for end in following.get(node, ()):
            if found := visit(end):
                return found
        path.pop()
        done.add(node)
        return None

    return next((found for start in list(following) if (found := visit(start))), None)


def modules_of(root, crate, lines):
    """What is wrong with the modules of a crate."""
    source = root / crate / "src"
    modules, found = imports(source)
    line_of = {name: number for number, names in enumerate(lines) for name in names}
    for name in sorted(modules - line_of.keys() - {"tests"}):
        if list(source.glob(f"{name}.rs")) or list(source.glob(f"{name}/**/*.rs")):
            yield f"{crate}: module `{name}` has no line in scripts/layers.txt"
    for name in sorted(line_of.keys() - modules):
        yield f"{crate}: there is no module `{name}`; drop it from scripts/layers.txt"
    folders = {}
    for (start, end), file in sorted(found.items()):
        folders.setdefault(start[:-1], []).append((start[-1], end[-1]))
        (start, *_), (end, *_) = start, end
        if start != end and start in line_of and end in line_of and line_of[start] >= line_of[end]:
            yield f"{file.relative_to(root)}: `{start}` imports `{end}`, which is not below it"
    for folder, edges in sorted(folders.items()):
        path = "/".join([crate, "src", *folder])
        around = circle(edges)
        if around:
            yield f"{path}: the modules {' -> '.join(around)} import each other"


def crates(root, lines):
    """What is wrong with the crates."""
    floor_of = {name: number for number, names in enumerate(lines) for name in names}
    manifests = [root / "Cargo.toml", *root.glob("retry-*/Cargo.toml"), *root.glob("crates/*/Cargo.toml")]
    for manifest in sorted(manifests):
        data = tomllib.loads(manifest.read_text())
        name = data["package"]["name"]
        if name not in floor_of:
            yield f"crate `{name}` has no floor in scripts/layers.txt"
            continue
        for dependency in data.get("dependencies", {}):
            if dependency in floor_of and floor_of[dependency] <= floor_of[name]:
                yield f"crate `{name}` depends on `{dependency}`, which is not below it"


def main(root):
    sections = floors(root)
    wrong = list(crates(root, sections.pop("crates")))
    for crate, lines in sections.items():
        wrong += modules_of(root, crate, lines)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
