"""The bugs that could be seeded in a file: universalmutator's mutants, without those that do not measure the tests.

A candidate is one changed line. Its key contains the line's text, not its number, so that the key stays the same while
other lines are added and removed.
"""
import contextlib
import dataclasses
import hashlib
import io
import os
import re
from collections.abc import Iterable
from typing import Any

# Statements that tests need not check.
LOG = re.compile(r"^\s*(?:\w+(?:\.|->))*(?:log|log_|logger|logger_)(?:\(\))?(?:\.|->)(?:With|Info|Error|Debug)\(")
ASSERTION = re.compile(r"^\s*(?:static_assert|assert|ABSL_ASSERT|ABSL_HARDENING_ASSERT)\(")
HASH = re.compile(r"\bhash(?: [*^+]?=| \^) ")  # a worse hash is slower, but still correct
PERFORMANCE = re.compile(r"\b(?:reserve|shrink_to_fit|Prefetch)\(")
# `Type name…;`: without this declaration its scope does not compile, or the declaration was unused.
DECLARATION = re.compile(
    r"^\s*(?:const|constexpr|static|mutable|auto|friend|explicit|virtual|inline|typedef|extern|template|struct|class|enum)\b"
    r"|^\s*\[\[|^.*\) = (?:delete|default|0);"
    r"|^\s*(?!return\b|delete\b|throw\b|co_)~?[A-Za-z_][\w:]*(?:<.*>)?[&*]*(?: const)? [&*]*\w+(?:\W.*)?;\s*(?://.*)?$")
CONSTRUCTOR = re.compile(r"^  ~?[A-Z]\w*\(.*;")  # in a class; the bodies of functions there are indented further
NEGATED = re.compile(r"^\s*(?:\} else )?if \(!\((?:!|(?!.*(?:&&|\|\|)).* (?:==|!=|<|<=|>|>=) )(?!.*(?:&&|\|\|)).*\)\) \{$")
STATEMENT = re.compile(r"^\s*[^\s}].*;\s*(?://.*)?$")
FINISHED = re.compile(r"[;{}:]\s*$")


@dataclasses.dataclass(frozen=True)
class Candidate:
    path: str
    line: int  # from 1
    was: str  # the line, without blanks at its ends
    became: str
    nth: int  # of the lines in this file that have the same text
    text: str  # the whole new line

    @property
    def name(self) -> str:
        return f"{self.path}: {self.was} ==> {self.became}"

    @property
    def names(self) -> tuple[Any, Any]:
        """The names that equivalents.txt may use: for every line with this text, or for this one only, counted from
        1."""
        return self.name, f"{self.path}#{self.nth + 1}: {self.was} ==> {self.became}"

    def order(self, seed: str) -> str:
        """Its place in a sample, which is random but the same in every run."""
        return hashlib.sha256(f"{seed}\n{self.name}\n{self.nth}".encode()).hexdigest()


def is_product(path: str) -> bool:
    """Whether bugs are seeded in the file: not in tests, their helpers and benchmarks."""
    name = os.path.basename(path)
    return (name.endswith((".cc", ".h")) and not name.endswith(("_test.cc", "_benchmark.cc")) and
            not name.startswith("testing") and "/testing/" not in path and "/testdata/" not in path)


def in_string(line: Any, start: Any, end: Any, raw: bool = False) -> Any:
    """Whether [start, end) of the line lies in one literal. The line begins inside a raw one if `raw`."""
    at, opened = 0, 0 if raw else None
    while at < len(line):
        c = line[at]
        if opened is None:
            if line.startswith("//", at):
                return start >= at
            if c == '"' or (c == "'" and not line[at - 1:at].isalnum()):
                opened, closing = at, c
        elif raw:
            if line.startswith(')"', at):
                if start >= opened and end <= at:
                    return True
                opened, raw, at = None, False, at + 1
        elif c == "\\":
            at += 1
        elif c == closing:
            if start > opened and end <= at:
                return True
            opened = None
        at += 1
    return raw


def changed(line: Any, other: Any) -> tuple[Any, Any]:
    """Returns the part of the line that differs from the other: [start, end)."""
    start = 0
    while start < min(len(line), len(other)) and line[start] == other[start]:
        start += 1
    end, far = len(line), len(other)
    while end > start and far > start and line[end - 1] == other[far - 1]:
        end, far = end - 1, far - 1
    return start, end


def skipped_lines(lines: list[str]) -> tuple[Any, Any]:
    """Returns (numbers of the lines to skip, numbers of the lines that begin in a raw string), from 0."""
    skipped, raw_lines = set(), set()
    in_comment = in_raw = in_statement = in_macro = False
    for i, line in enumerate(lines):
        text = line.strip()
        if in_raw:
            raw_lines.add(i)
            in_raw = ')"' not in line
            continue
        if in_comment or in_macro or not text or text.startswith("//") or text.startswith("#") or text.startswith("/*"):
            skipped.add(i)
            in_comment = (in_comment or text.startswith("/*")) and "*/" not in text
            in_macro = (in_macro or text.startswith("#")) and text.endswith("\\")
            continue
        if HASH.search(line) or PERFORMANCE.search(line):
            skipped.add(i)
        if in_statement or LOG.match(line) or ASSERTION.match(line):
            skipped.add(i)
            in_statement = not text.endswith(";")
        if 'R"(' in line and ')"' not in line[line.index('R"('):]:
            in_raw = True
    return skipped, raw_lines


def begins_statement(lines: list[str], i: int) -> bool:
    for before in range(i - 1, -1, -1):
        text = lines[before].split("//")[0].strip()
        if text:
            return bool(FINISHED.search(text)) or bool(re.search(r"^(?:\} )?(?:else )?(?:if|for|while) \(.*\)$|^else$", text))
    return False


# The tool reads these as the start of a comment (C, Haskell), even in a string; here such a string uses the second
# form.
OPENS = {"/*": "/\ue000*", "{-": "{\ue000-"}


def mutants(lines: list[str], rules: str) -> list[tuple[int, str]]:
    """Returns (number from 1, new line) of each mutant of universalmutator."""
    from universalmutator import mutator  # type: ignore[import]
    for opening, hidden in OPENS.items():
        lines = [line.replace(opening, hidden) for line in lines]
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(lines, [rules], ignorePatterns=[])
    return [(m[0], m[1].rstrip("\n").replace("\ue000", "")) for m in made]


def candidates(path: str, source: str, made: Iterable[tuple[int, str]]) -> list[Candidate]:
    """Returns the pairs of `made`, as mutants() returns them, that should be tried."""
    lines = source.split("\n")
    skipped, raw = skipped_lines(lines)
    seen: dict[str, int] = {}
    found: list[Candidate] = []
    nth = {}
    for i, line in enumerate(lines):
        nth[i] = seen.get(line.strip(), 0)
        seen[line.strip()] = nth[i] + 1
    known = set()
    for number, text in made:
        i = number - 1
        line = lines[i]
        start, end = changed(line, text)
        if i in skipped or (i, text.strip()) in known or in_string(line, start, end, i in raw):
            continue
        if NEGATED.match(text):  # equals the change of another operator
            continue
        if path.endswith(".h") and line[start:end].isdigit() and DECLARATION.match(line):
            continue  # the initial number of a member or an option
        is_deletion = text.strip() == ";"
        if is_deletion and path.endswith(".h") and CONSTRUCTOR.match(line):
            continue
        if is_deletion and (not STATEMENT.match(line) or DECLARATION.match(line) or not begins_statement(lines, i)):
            continue
        known.add((i, text.strip()))
        found.append(Candidate(path, number, line.strip(), text.strip(), nth[i], text))
    return found


def sample(found: list[Candidate], seed: str, per_file: Any = None, share: Any = None) -> tuple[list[Candidate], int]:
    """Returns all candidates in the order of trial, and the number to try of those that compile."""
    ordered = sorted(found, key=lambda c: c.order(seed))
    limit = len(ordered)
    if per_file is not None:
        limit = min(limit, per_file)
    if share is not None:
        limit = min(limit, -(-len(ordered) * share // 100))
    return ordered, int(limit)


def read_equivalents(text: str) -> Any:
    """Returns {name of a candidate: why no test can notice it}, from lines `PATH: WAS ==> BECAME  # REASON`.

    `PATH#2: …` is the second line with this text.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, mark, reason = line.rpartition("  # ")
        if not mark or not reason.strip() or " ==> " not in name or ": " not in name.split(" ==> ")[0]:
            raise ValueError(f"line {number}: write PATH: WAS ==> BECAME  # REASON")
        found[name.strip()] = reason.strip()
    return found


def key(source: str, candidate: Any) -> Any:
    """Returns the key of a bug, which depends on the source and on the change."""
    digest = hashlib.sha256()
    for part in (candidate.path, source, str(candidate.line), candidate.text):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()
