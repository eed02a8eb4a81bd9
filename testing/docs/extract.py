"""Writes each C++ block of a page into a file of its own.

usage: extract.py PAGE FILE…

There must be as many files as the page has blocks; blocks with nothing but comments (markers) are not counted.
"""
import re
import sys

page, *files = sys.argv[1:]
with open(page, encoding="utf-8") as f:
    found = re.findall(r"^```cpp\n(.*?)^```$", f.read(), re.MULTILINE | re.DOTALL)
blocks = [block for block in found if any(line and not line.startswith("//") for line in block.splitlines())]
if len(blocks) != len(files):
    sys.exit(f"{page} has {len(blocks)} blocks of C++, and {len(files)} are compiled: see testing/docs/BUILD.bazel")
for file, block in zip(files, blocks):
    with open(file, "w", encoding="utf-8") as f:
        f.write(block)
