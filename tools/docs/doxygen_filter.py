#!/usr/bin/python3
"""Shows Doxygen the comments as this tree writes them: what opens a header is about the file, what ends a line is about what
stands on it.

usage: doxygen_filter.py HEADER"""
import re
import sys

TRAILING = re.compile(r"^(\s*[^/\s].*[;,{}])\s+// (.*)$")

lines = open(sys.argv[1]).read().splitlines()
opening = 0
while opening < len(lines) and (lines[opening].startswith("//") or lines[opening].startswith("#pragma once")):
    opening += 1
name = sys.argv[1].split("include/")[-1]
print("/** @file " + name + " " + " ".join(line[2:].strip() for line in lines[:opening] if line.startswith("//")) + " */", end=" ")
print("\n".join([""] * opening))
for line in lines[opening:]:
    match = TRAILING.match(line)
    print(f"{match[1]}  ///< {match[2]}" if match and not line.lstrip().startswith("#") else line)
