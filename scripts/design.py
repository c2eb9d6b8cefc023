"""The DESIGN.md files are together at most MOST bytes, and each path and item that they name in `code` exists: a path at the end
of one of the repository, an item as a word of code that is not a comment, `Type::function` in a file that defines it.

    scripts/design.py MOST
"""

import pathlib
import re
import subprocess
import sys

tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
files = [file for file in tracked if pathlib.Path(file).is_file()]
paths = {"/" + "/".join(file.split("/")[:end]) for file in files for end in range(1, file.count("/") + 2)}
texts = {file: pathlib.Path(file).read_text() for file in files if re.search(r"\.(rs|sql|toml|md)$|^scripts/", file)}
code = [re.sub(r"(//|-- ).*", "", text) + file for file, text in texts.items() if not file.endswith(".md")]
code = [set(re.findall(r"\w+", text) + re.findall(r"\b(?:fn|mod|const(?! fn)) \w+", text)) for text in code]


def exists(name):
    if re.fullmatch(r"[\w./-]+(/|\.(rs|md|txt|py|sql|svg))|[\w.-]+/[\w./-]+", name):
        return any(path.endswith("/" + name.strip("/")) for path in paths)
    items = [item.split("::")[-2:] for item in re.findall(r"\w+(?:::\w+)*", name)]
    return all(any(is_in(words, *item) for words in code) for item in items)


def is_in(words, first, last=None):
    defined = not last or last in words and (last[0].isupper() or any(f"{it} {last}" in words for it in ("fn", "mod", "const")))
    return first in words and defined


designs = {file: text for file, text in texts.items() if file.endswith("DESIGN.md")}
size = sum(len(text.encode()) for text in designs.values())
named = {(file, name) for file, text in designs.items() for name in re.findall(r"`([^`]+)`", re.sub(r"(?ms)^```.*?^```", "", text))}
faults = [f"{file}: there is no `{name}`" for file, name in sorted(named) if not exists(name)]
if size > int(sys.argv[1]):
    faults.append(f"above {sys.argv[1]}: a reason of one place stands there as a comment")
print(f"DESIGN.md: {size} bytes")
sys.exit("\n".join(faults) or 0)
