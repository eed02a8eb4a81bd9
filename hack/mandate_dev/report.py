"""What the demo prints: a line for each step and what was seen; colour on a terminal only."""
import sys
import time


class StepFailed(Exception):
    """A step that did not hold: what was expected and what was seen."""

    def __init__(self, step, expected, seen):
        super().__init__(f"{step}: expected {expected}; saw {seen}")
        self.step, self.expected, self.seen = step, expected, seen


class Report:
    def __init__(self):
        self._colour = sys.stdout.isatty()
        self._start = time.monotonic()
        self.current = "start"

    def _paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self._colour else text

    def say(self, text):
        print(text, flush=True)

    def section(self, title):
        self.say("")
        self.say(self._paint("1", title))

    def step(self, title):
        """Begins a step; its checks follow."""
        self.current = title
        self.say(f"{self._paint('36', '▸')} {title}")

    def held(self, what):
        elapsed = time.monotonic() - self._start
        self.say(f"  {self._paint('32', '✓')} {what} {self._paint('2', f'({elapsed:.1f} s)')}")

    def failed(self, failure):
        self.say("")
        self.say(self._paint("31", f"✗ {failure.step}"))
        self.say(f"  expected: {failure.expected}")
        self.say(f"  seen:     {failure.seen}")
