"""Runs the measurements of B15, and prints its table."""
import json
from typing import Any

from mandate_dev.bench import scoped
from mandate_dev.bench.figures import figures_of
from mandate_dev.bench.server import Server

Runs = dict[str, list[dict[str, float]]]  # of each measurement


def run(m: scoped.Measurement, binaries: dict[str, Any], server: Server | None) -> dict[str, float]:
    """One run. The program's questions to the server are answered by the server of the measurement."""
    command = scoped.command_of(m, binaries, server.kubeconfig if server else "")
    if server:
        server.ask("reset")

    def ask(line: str) -> str:
        assert server is not None and line.startswith("ask "), line
        return json.dumps(server.ask(line.removeprefix("ask ")))

    figures = figures_of(command, ask)
    if server and m.program == "":
        figures["object bytes"] = server.ask("stats")["object bytes"]
    return figures


def measure(wanted: dict[str, scoped.Measurement], binaries: dict[str, Any], fakeapi: str, times: int) -> tuple[Runs, int]:
    """Returns the figures of each run, and how many measurements failed."""
    results: Runs = {}
    failures = 0
    for name, m in wanted.items():
        print(f"==> {scoped.ID} {name}: {m.task} {' '.join(m.flags)}", flush=True)
        results[name] = []
        try:
            for _ in range(times):
                # A new server, since a world remembers its events.
                server = Server(fakeapi, m.server.objects, flags=m.server.flags()) if m.server else None
                try:
                    results[name].append(run(m, binaries, server))
                finally:
                    if server:
                        server.close()
        except (RuntimeError, OSError, ValueError) as error:
            failures += 1
            print(f"    failed: {error}", flush=True)
    return results, failures


def by_run(results: Runs) -> list[scoped.Figures]:
    times = max((len(runs) for runs in results.values()), default=0)
    return [{name: runs[i] for name, runs in results.items() if i < len(runs)} for i in range(times)]


def show(goals: list[scoped.Goal], results: Runs, judged: bool) -> None:
    print("\n| goal | workload | target | figure | |\n|---|---|---|---|---|")
    for row in scoped.rows(goals, by_run(results), judged):
        print("| " + " | ".join(row) + " |")
