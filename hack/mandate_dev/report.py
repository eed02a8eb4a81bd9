"""The output of programs: sections, steps with their results, and tables. Colours are used only on a terminal."""
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any


class StepFailed(AssertionError):
    """A step that failed: the expected and the actual result."""

    def __init__(self, step: str, expected: str, seen: Any) -> None:
        super().__init__(f"{step}: expected {expected}; saw {seen}")
        self.step, self.expected, self.seen = step, expected, seen


class Report:
    """Progress on standard output."""

    def __init__(self) -> None:
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._start = time.monotonic()
        self.current = "start"

    def _paint(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colour else text

    def say(self, text: str) -> None:
        print(text, flush=True)

    def section(self, title: str) -> None:
        self.say("")
        self.say(self._paint("1", title))

    def step(self, title: str) -> None:
        """Begins a step; its checks follow."""
        self.current = title
        self.say(f"{self._paint('36', '▸')} {title}")

    def held(self, what: str) -> None:
        elapsed = time.monotonic() - self._start
        self.say(f"  {self._paint('32', '✓')} {what} {self._paint('2', f'({elapsed:.1f} s)')}")

    def expect(self, what: str, holds: Any, seen: Any) -> None:
        """Reports that `what` holds, or raises StepFailed with the actual result."""
        if not holds:
            raise StepFailed(self.current, what, seen)
        self.held(what)

    def failed(self, failure: StepFailed) -> None:
        self.say("")
        self.say(self._paint("31", f"✗ {failure.step}"))
        self.say(f"  expected: {failure.expected}")
        self.say(f"  seen:     {failure.seen}")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Returns lines of aligned columns: the first column to the left, the others to the right."""
    cells = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]
