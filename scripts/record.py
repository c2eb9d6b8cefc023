#!/usr/bin/env python3
"""Records a command that runs in a terminal, as an animated SVG.

    cargo build -p cargo-retry
    scripts/record.py docs/demo.svg target/debug/cargo-retry retry demo

Runs the command in a pseudo terminal, follows what it writes, and keeps a picture of the screen at each step of
STEP seconds. A line that does not change is in the file once. The times are those of the real run.
"""
import html
import os
import pty
import re
import select
import struct
import sys
import time
import fcntl
import termios

COLUMNS, ROWS = 80, 30
STEP = 0.48  # seconds between two pictures
REST = 4.0  # seconds for which the last picture stays
CHARACTER, LINE, MARGIN = 8.4, 17, 16
COLOURS = {166: "#f97316", 214: "#eab308", 36: "#34d399"}
CODE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])")


class Screen:
    """Understands what our programs write: colours, new lines, the way up, the rest of a line."""

    def __init__(self):
        self.lines, self.row, self.column, self.style = [[]], 0, 0, ""

    def write(self, text):
        while text:
            code = CODE.match(text)
            if code:
                self.obey(code[1], code[2])
                text = text[code.end():]
            else:
                self.put(text[0])
                text = text[1:]

    def obey(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "K":
            del self.lines[self.row][self.column:]
        elif letter == "m":
            self.style = self.styled(number)
        else:
            sys.exit(f"record.py does not know the escape code `{number}{letter}`; teach it in `obey`")

    def styled(self, number):
        if number in ("", "0"):
            return ""
        parts = set(self.style.split())
        if number.startswith("38;5;"):
            colour = int(number.split(";")[2])
            if colour not in COLOURS:
                sys.exit(f"record.py does not know the colour {colour}; add it to COLOURS")
            parts.add(f"c{colour}")
        else:
            parts.add({"1": "b", "2": "d"}[number])
        return " ".join(sorted(parts))

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row, self.column = self.row + 1, 0
            while len(self.lines) <= self.row:
                self.lines.append([])
        else:
            line = self.lines[self.row]
            line.extend([(" ", "")] * (self.column + 1 - len(line)))
            line[self.column] = (character, self.style)
            self.column += 1

    def picture(self):
        return [spans(line) for line in self.lines]


def spans(line):
    """A line as the inside of a `<text>`: a span for each style."""
    out, index = [], 0
    while index < len(line):
        style, end = line[index][1], index
        while end < len(line) and line[end][1] == style:
            end += 1
        text = "".join(character for character, _ in line[index:end])
        if text.strip():
            x = MARGIN + index * CHARACTER
            length = (end - index) * CHARACTER
            kind = f' class="{style}"' if style else ""
            out.append(
                f'<tspan x="{x:.1f}" textLength="{length:.1f}"{kind}>{html.escape(text, quote=False)}</tspan>'
            )
        index = end
    return "".join(out)


def record(command):
    """The pictures of a run, each with its moment in seconds."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS))
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen, pictures, start, left = Screen(), [], time.monotonic(), b""
    due = STEP / 2
    while True:
        wait = max(0.0, start + due - time.monotonic())
        if select.select([terminal], [], [], wait)[0]:
            try:
                read = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                read = b""
            if not read:
                break
            left += read
            # A code or a character that is cut is written with the rest of it.
            cut = left.rfind(b"\n") + 1
            screen.write(left[:cut].decode())
            left = left[cut:]
        if time.monotonic() - start >= due:
            pictures.append((time.monotonic() - start, screen.picture()))
            due += STEP
    screen.write(left.decode())
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        sys.exit("the command failed; run it by itself to see why")
    pictures.append((time.monotonic() - start, screen.picture()))
    return pictures


def svg(pictures, title, prompt):
    end = pictures[-1][0] + REST
    rows = max(len(picture) for _, picture in pictures)
    windows, texts = {}, []
    for row in range(rows):
        index = 0
        while index < len(pictures):
            line = pictures[index][1][row] if row < len(pictures[index][1]) else ""
            until = index
            while until < len(pictures) and (
                pictures[until][1][row] if row < len(pictures[until][1]) else ""
            ) == line:
                until += 1
            if line:
                window = windows.setdefault((index, until), len(windows))
                last = " last" if until == len(pictures) else ""
                y = MARGIN + LINE * (row + 2)
                texts.append(f'<text y="{y}" class="w{window}{last}">{line}</text>')
            index = until
    rules = []
    for (first, until), number in windows.items():
        begin = 0 if first == 0 else 100 * pictures[first][0] / end
        stop = 100 if until == len(pictures) else 100 * pictures[until][0] / end
        hidden = "" if first == 0 else "0%{opacity:0}"
        after = "" if stop == 100 else f"{stop:.2f}%{{opacity:0}}"
        rules.append(f"@keyframes k{number}{{{hidden}{begin:.2f}%{{opacity:1}}{after}"
                     f"{'100%{opacity:1}' if stop == 100 else '100%{opacity:0}'}}}"
                     f".w{number}{{animation:k{number} {end:.1f}s infinite step-end}}")
    width, height = 2 * MARGIN + COLUMNS * CHARACTER, MARGIN * 2 + LINE * (rows + 1)
    colours = "".join(f".c{number}{{fill:{colour}}}" for number, colour in COLOURS.items())
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        "<style>",
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e6edf3;"
        "white-space:pre;opacity:0}",
        ".p{opacity:1}.b{font-weight:700}.d{fill:#9da7b3}" + colours,
        *rules,
        "@media (prefers-reduced-motion:reduce){text{animation:none!important}.last{opacity:1}}",
        "</style>",
        '<rect width="100%" height="100%" rx="8" fill="#161b22"/>',
        f'<text class="p" x="{MARGIN}" y="{MARGIN + LINE // 2}"><tspan class="d">$</tspan> {html.escape(prompt)}</text>',
        *texts,
        "</svg>",
        "",
    ])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    target, command = sys.argv[1], sys.argv[2:]
    words = [os.path.basename(command[0]).replace("cargo-retry", "cargo"), *command[1:]]
    prompt = " ".join(words)
    with open(target, "w", encoding="utf-8") as file:
        file.write(svg(record(command), f"A recording of {prompt}", prompt))


if __name__ == "__main__":
    main()
