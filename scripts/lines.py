"""Counts lines of code: those with a token, without comments and without what is compiled for tests alone.

    scripts/lines.py             each package of the workspace, largest first
    scripts/lines.py PATH MOST   fails if there are more in the folder
"""

import pathlib
import re
import sys

# Strings, raw ones too, are a token; comments may lie in each other.
TOKEN = re.compile(r'//[^\n]*|/\*|(?:b|c)?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', re.S)
TESTS = re.compile(r"\n#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*mod \w+ \{")


def lines(file):
    text, code, at = file.read_text(), [], 0
    start = TESTS.search(text)
    text = text[: start.start()] if start else text
    while token := TOKEN.search(text, at):
        code.append(text[at : token.start()])
        at = token.end()
        if token[0] == "/*":
            depth = 1
            while depth and (mark := re.compile(r"/\*|\*/").search(text, at)):
                depth += 1 if mark[0] == "/*" else -1
                at = mark.end()
        elif not token[0].startswith("//"):
            code.append(re.sub(r"[^\n]+", "x", token[0]))
    code.append(text[at:])
    return sum(1 for line in "".join(code).splitlines() if line.strip())


def count(folder):
    files = [it for it in folder.rglob("*.rs") if "tests" not in it.relative_to(folder).parts and it.name != "tests.rs"]
    return sum(map(lines, files))


if len(sys.argv) > 1:
    found, most = count(pathlib.Path(sys.argv[1])), int(sys.argv[2])
    print(f"{sys.argv[1]}: {found} lines of code")
    sys.exit(0 if found <= most else f"above {most}; what does not run a call belongs elsewhere")
root = pathlib.Path(__file__).parent.parent
packages = [it for it in (root, *root.glob("crates/*"), *root.glob("retry-*")) if (it / "Cargo.toml").exists()]
found = sorted(((count(it / "src"), "reattempt" if it == root else it.name) for it in packages), reverse=True)
for number, name in found:
    print(f"{number:7} {name}")
print(f"{sum(number for number, _ in found):7} in {len(found)} packages")
