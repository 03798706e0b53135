"""Records a program at a terminal as an animated SVG: record.py FILE ROWS SHOWN "COMMAND" [WHEN=TYPED ...].

The command runs in the shell at a terminal of 100 columns; SHOWN is the command line that the picture begins with. Once WHEN stands at the
cursor, TYPED is typed, a letter at a time. Nobody waits for long in the picture: a pause is shown for LONGEST seconds at most, and a question
long enough to be read.
"""

import html
import os
import pty
import re
import select
import struct
import sys
import fcntl
import termios
import time

COLUMNS, LONGEST, QUESTION, LAST = 100, 1.6, 4.0, 6.0
WIDTH, HEIGHT, MARGIN = 8.0, 18, 14


class Screen:
    """As much of a terminal as the program uses: lines, returns, and erasing to the end of a line."""

    def __init__(self):
        self.lines, self.row, self.column = [[]], 0, 0

    def write(self, text):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.", text, re.S):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.row += 1
                while len(self.lines) <= self.row:
                    self.lines.append([])
            elif part == "\x1b[K":
                del self.lines[self.row][self.column:]
            elif part == "\x1b[A":
                self.row = max(0, self.row - 1)
            elif not part.startswith("\x1b"):
                if self.column == COLUMNS:
                    self.write("\r\n")
                line = self.lines[self.row]
                line.extend(" " * (self.column - len(line)))
                line[self.column:self.column + 1] = [part]
                self.column += 1

    def shown(self, rows):
        return tuple("".join(line).rstrip() for line in self.lines[-rows:])

    def before_cursor(self):
        return "".join(self.lines[self.row][:self.column])


def record(command, answers):
    """Runs the command and returns what it wrote, in pieces, each with the seconds before it."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", command])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    pieces, since, screen, answers = [], time.monotonic(), Screen(), list(answers)
    while True:
        ready, _, _ = select.select([fd], [], [], 0.3)
        if not ready:
            if answers and screen.before_cursor().endswith(answers[0][0]):
                for letter in answers.pop(0)[1] + "\r":
                    os.write(fd, letter.encode())
                    time.sleep(0.12)
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            break
        text, now = data.decode(errors="replace"), time.monotonic()
        pieces.append((now - since, text))
        since = now
        screen.write(text)
    _, status = os.waitpid(pid, 0)
    if answers or os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command}: exit code {os.waitstatus_to_exitcode(status)}, not typed: {answers}\n" + "\n".join(screen.shown(40)))
    return pieces


def frames_of(shown, pieces, rows):
    """Returns (seconds, lines) for each state of the screen."""
    screen, frames = Screen(), []
    screen.write("$ ")
    for letter in shown:
        frames.append((0.05, screen.shown(rows)))
        screen.write(letter)
    screen.write("\r\n")
    frames.append((0.4, screen.shown(rows)))
    for wait, text in pieces:
        wait = QUESTION if screen.before_cursor().endswith(": ") else min(wait, LONGEST)
        frames[-1] = (frames[-1][0] + wait, frames[-1][1])
        screen.write(text)
        if screen.shown(rows) != frames[-1][1]:
            frames.append((0.0, screen.shown(rows)))
    frames[-1] = (LAST, frames[-1][1])
    merged = [frames[0]]
    for seconds, lines in frames[1:]:
        if merged[-1][0] < 0.04:  # nobody sees it
            merged[-1] = (merged[-1][0] + seconds, lines)
        else:
            merged.append((seconds, lines))
    return merged


def colour(line):
    if line.startswith("$ "):
        return "#8ab4f8"
    if "run it?" in line:
        return "#fdd663"
    return "#9aa0a6" if re.match(r"\s+(digest|waits)", line) else "#e8eaed"


def svg(frames, rows):
    total = sum(seconds for seconds, _ in frames)
    width, height = int(COLUMNS * WIDTH + 2 * MARGIN), rows * HEIGHT + 2 * MARGIN
    css, groups, at = [], [], 0.0
    for n, (seconds, lines) in enumerate(frames):
        begin, end = 100 * at / total, 100 * (at + seconds) / total
        first = "" if n == 0 else "0%{opacity:0}"
        css.append(f"@keyframes f{n}{{{first}{begin:.3f}%{{opacity:1}}{end:.3f}%,100%{{opacity:{int(n == len(frames) - 1)}}}}}")
        css.append(f"#f{n}{{animation:f{n} {total:.2f}s step-end infinite}}")
        last = n == len(frames) - 1  # where nothing moves, the last one is seen
        texts = "".join(
            f'<text x="{MARGIN}" y="{MARGIN + (row + 1) * HEIGHT - 5}" fill="{colour(line)}" textLength="{len(line) * WIDTH:.0f}" '
            f'lengthAdjust="spacingAndGlyphs">{html.escape(line)}</text>' for row, line in enumerate(lines) if line)
        groups.append(f'<g id="f{n}" opacity="{int(last)}">{texts}</g>')
        at += seconds
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" xml:space="preserve">'
            f"<style>text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}{''.join(css)}</style>"
            f'<rect width="100%" height="100%" rx="8" fill="#202124"/>{"".join(groups)}</svg>\n')


def main():
    file, rows, shown, command, *answers = sys.argv[1:]
    pieces = record(command, [a.rsplit("=", 1) for a in answers])
    with open(file, "w", encoding="utf-8") as f:
        f.write(svg(frames_of(shown, pieces, int(rows)), int(rows)))


main()
