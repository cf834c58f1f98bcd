#!/usr/bin/env python3
"""No comment line of C++ or CUDA beyond 120 columns: clang-format leaves comments as they are.

  tools/check_comments.py            lists them and fails
  tools/check_comments.py FILE...    breaks them in these files, at clauses where it can; read what comes out
"""
import re, subprocess, sys

WIDTH = 120


def is_long(line):
    return len(line) > WIDTH and re.search(r'(^\s*//|[^:"]//[^"]*$)', line)


def parts_of(text, room):
    out = []
    while len(text) > room:
        clause = max((m.end() - 1 for m in re.finditer(r"[.;:,] ", text[: room + 1]) if m.end() > 0.6 * room), default=0)
        cut = clause or text.rfind(" ", 0, room + 1)
        if cut <= 0:
            break
        out.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return out + [text]


def broken(line):
    """The line as lines; a comment behind code continues below itself, or moves above where it has no room."""
    alone = re.match(r"(\s*///?<? +)(.*)$", line)
    if alone:
        return [alone[1] + p for p in parts_of(alone[2], WIDTH - len(alone[1]))]
    code, gap, mark, text = re.match(r"(.*?\S)(\s+)(///?<? )(.*)$", line).groups()
    column = len(code + gap)
    if WIDTH - column - len(mark) < 24:
        start = re.match(r"\s*", line)[0] + mark.replace("<", "")
        return [start + p for p in parts_of(text, WIDTH - len(start))] + [code]
    first, *more = parts_of(text, WIDTH - column - len(mark))
    return [code + gap + mark + first] + [" " * column + mark + p for p in more]


def mended(lines):
    """What is left of a broken line goes into the next one, where that is text of the same paragraph."""
    out, left = [], list(lines)
    while left:
        line = left.pop(0)
        if not is_long(line):
            out.append(line)
            continue
        parts = broken(line)
        alone = re.match(r"\s*///?<? (?=\S)", parts[-1])
        if len(parts) > 1 and alone and left and re.match(re.escape(alone[0]) + r"[^\s@|-]", left[0]) and re.match(re.escape(alone[0]), line):
            out += parts[:-1]
            left[0] = parts[-1] + " " + left[0][len(alone[0]):]
        else:
            out += parts
    return out


def main(files):
    listed = files or subprocess.run(["git", "ls-files", "*.hpp", "*.cpp", "*.cu", "*.cuh"], capture_output=True, text=True).stdout.split()
    count = 0
    for name in listed:
        lines = open(name, encoding="utf-8").read().split("\n")
        wide = [k for k, line in enumerate(lines) if is_long(line)]
        count += len(wide)
        if not files:
            for k in wide:
                print(f"{name}:{k + 1}: {len(lines[k])} columns")
        elif wide:
            with open(name, "w", encoding="utf-8") as f:
                f.write("\n".join(mended(lines)))
    if count and not files:
        sys.exit(f"check_comments: {count} comment lines are beyond {WIDTH} columns. tools/check_comments.py FILE breaks them")


main(sys.argv[1:])
