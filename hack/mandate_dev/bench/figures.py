"""The figures that a measured program prints."""
import json
import subprocess
import threading
from collections.abc import Callable, Sequence

from mandate_dev.bench.server import TIMEOUT


def figures_of(command: Sequence[str], on_text: Callable[[str], str | None]) -> dict[str, float]:
    """Runs a program that prints one object of JSON for each figure. `on_text` gets each other line; the text that it
    returns is the answer, on the program's input."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    watchdog = threading.Timer(TIMEOUT, process.kill)
    watchdog.start()
    figures: dict[str, float] = {}
    try:
        for line in process.stdout:
            if line.startswith("{"):
                row = json.loads(line)
                figures[row["metric"]] = row["value"]
            elif (answer := on_text(line.strip())) is not None:
                print(answer, file=process.stdin, flush=True)
        if process.wait() != 0:
            raise RuntimeError(f"{' '.join(command)} failed")
    finally:
        watchdog.cancel()
        process.kill()
        process.stdin.close()
        process.stdout.close()
    return figures
