"""Finds the commands of a documentation page, runs them, and compares their output with the page.

A block of a page has commands if its language is console or sh. A console block has lines `$ command`, lines `> more of
it`, and below them the output, in which … stands for any text. An sh block has only commands. HTML comments before a
block are for the test:

  <!-- not run: REASON -->     the block is not run
  <!-- run first: COMMANDS --> what a reader has at this place, or does between two blocks
"""
import os
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.M | re.S)
COMMENTS = re.compile(r"((?:<!--(?:(?!-->).)*-->\s*)*)\Z", re.S)
COMMENT = re.compile(r"<!-- (not run|run first): ((?:(?!-->).)*?)\s*-->", re.S)
LANGUAGES = ("console", "sh")
END = "end of the output, exit code"

# Patterns of text that differs from run to run. Both the output and the page are normalized with them.
RULES = [
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\bsha256:[0-9a-f]{64}\b", "DIGEST"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b", "HASH"),
    (r"\b\d+(\.\d+)?(ms|s|m|h|d)\b", "AGE"),
    (r"\b127\.0\.0\.1:\d+\b", "127.0.0.1:PORT"),
    (r"\bv?\d+\.\d+\.\d+\b", "VERSION"),
    (r"[ \t]+", " "),  # the width of a column depends on its content
    (r" $", ""),
]


@dataclass
class Command:
    text: str
    shown: str = ""
    status_counts: bool = True  # the page shows no output: the command must succeed


@dataclass
class Block:
    line: int
    commands: list[Command] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    not_run: str = ""
    mistake: str = ""


def console_commands(text: str) -> list[Command]:
    commands = []
    for command in re.split(r"^\$ ", text, flags=re.M)[1:]:
        lines = command.splitlines()
        more = next((i for i, line in enumerate(lines[1:], 1) if not line.startswith(">")), len(lines))
        shown = "\n".join(lines[more:]).strip("\n")
        commands.append(Command("\n".join([lines[0], *(line[1:] for line in lines[1:more])]), shown, not shown))
    return commands


def blocks(page: str) -> Iterator[Block]:
    """Yields the blocks of commands, in the page's order."""
    for match in BLOCK.finditer(page):
        if match[1] not in LANGUAGES:
            continue
        block = Block(page.count("\n", 0, match.start()) + 1)
        before = COMMENTS.search(page, 0, match.start())
        for kind, text in COMMENT.findall(before[1] if before else ""):
            if kind == "not run":
                block.not_run = " ".join(text.split())
            else:
                block.first.append(text)
        block.commands = console_commands(match[2]) if match[1] == "console" else [Command(match[2])]
        if not block.commands:
            block.mistake = "it has no line that begins with `$ `: write ```text"
        elif match[1] == "console" and not match[2].startswith("$ "):
            block.mistake = "it begins with output: write its command, or ```text"
        yield block


def normalize(text: str) -> str:
    for pattern, words in RULES:
        text = re.sub(pattern, words, text, flags=re.M)
    return text.strip("\n")


def is_shown(output: str, shown: str) -> bool:
    parts = normalize(shown).split("…")
    return re.fullmatch(".*".join(map(re.escape, parts)), normalize(output), re.S) is not None


class Shell:
    """One bash, as a reader uses it: the folder and variables persist. Not thread-safe."""

    def __init__(self, folder: str, env: Mapping[str, str], patience: float = 300) -> None:
        self._patience = patience
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._bash = subprocess.Popen(["bash"], cwd=folder, env=env, text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._bash.stdout is not None
        for line in self._bash.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def run(self, command: str) -> tuple[int, str]:
        """(exit code, output). Raises TimeoutError."""
        assert self._bash.stdin is not None
        self._bash.stdin.write(f"{command}\nstatus=$?; echo; echo '{END}' $status\n")
        self._bash.stdin.flush()
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=self._patience)
            except queue.Empty:
                raise TimeoutError(f"no end after {self._patience} s of: {command}\n" + "\n".join(lines)) from None
            if line is None:
                raise EOFError(f"the shell ended during: {command}\n" + "\n".join(lines))
            if line.startswith(END):
                return int(line.removeprefix(END)), "\n".join(lines).strip("\n")
            lines.append(line)

    def close(self) -> None:
        """Ends the shell and all processes that it has started."""
        try:
            os.killpg(self._bash.pid, 15)
        except ProcessLookupError:
            pass
        self._bash.wait(timeout=60)


def mistakes(block: Block, shell: Shell) -> Iterator[str]:
    """Runs a block, and yields its differences from the page."""
    for text in block.first:
        status, output = shell.run(text)
        if status:
            yield f"the commands of `run first`: exit {status}\n{text}\n{output}"
            return
    for command in block.commands:
        status, output = shell.run(command.text)
        if command.status_counts and status:
            yield f"{command.text}\n--- exit {status}\n{output}"
        elif command.shown and not is_shown(output, command.shown):
            yield f"{command.text}\n--- shown\n{command.shown}\n--- printed\n{output}"
