"""Measures this project's cache, controllers, queue and webhooks, compared with controller-runtime and kube-rs, on one fake
API server.

Builds everything first, then prints one table: each figure is the median of the runs, and ratio is the peer's first
figure divided by ours. CPU seconds are user and system time of the measured program alone. docs/benchmarks.md describes each task.
"""
import argparse
import dataclasses
import functools
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from mandate_dev import go
from mandate_dev.bench import peers, pods, scoped, scoped_run, tasks
from mandate_dev.bench.figures import figures_of
from mandate_dev.bench.server import TIMEOUT, Server
from mandate_dev.controlplane import build as controlplane

def status_field(pid: int, field: Any, file: str = "status") -> Any:
    with open(f"/proc/{pid}/{file}") as f:
        for line in f:
            if line.startswith(field + ":"):
                return float(line.split()[1])
    return 0.0


def cpu_of(pid: int) -> Any:
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_start(binary: Any, server: Any, quick: Any) -> dict[str, Any]:
    """B11: measured from outside."""
    start = time.monotonic()
    process = subprocess.Popen([binary, server.kubeconfig], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        took = time.monotonic() - start
        if line != "reconciled":
            raise RuntimeError(f"{binary} ended without a reconcile")
        cpu = cpu_of(process.pid)
        time.sleep(1 if quick else 10)
        return {"first reconcile": took * 1e3, "cpu": cpu,
                "rss": status_field(process.pid, "VmRSS") * 1024, "anonymous": status_field(process.pid, "RssAnon") * 1024,
                "threads": status_field(process.pid, "Threads"), "binary": os.path.getsize(binary)}
    finally:
        process.kill()
        process.wait()


def free_address() -> str:
    """A port of loopback: controller-runtime's webhook server cannot choose one."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def run_webhook(binary: Any, task: Any, server: Any) -> dict[str, Any]:
    """B13: the load generator measures the process of the webhook server."""
    address, folder = free_address(), server.folder.name
    process = subprocess.Popen([binary, server.kubeconfig, address, folder])
    try:
        load = [server.binary, "reviews", f"-url=https://{address}/validate--v1-configmap",
                f"-ca={os.path.join(folder, 'ca.crt')}", f"-pid={process.pid}", f"-rate={task.rate}",
                f"-in-flight={task.in_flight}", f"-duration={task.seconds}s"]
        done = subprocess.run(load, stdout=subprocess.PIPE, text=True, check=False, timeout=TIMEOUT)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(load)} failed")
        return {row["metric"]: row["value"] for row in map(json.loads, done.stdout.splitlines())}
    finally:
        process.kill()
        process.wait()


def run_program(binary: Any, task: Any, peer: Any, server: Any) -> Any:
    events = task.events_of.get(peer, task.events)
    command = [binary, task.program, *task.flags]
    if server:
        server.ask("reset")
        command += [f"--kubeconfig={server.kubeconfig}", f"--objects={task.objects}"]
    if events:
        command.append(f"--events={events}")
    if task.content == "json" and peer != tasks.RUST:
        command.append("--json")

    def on_text(line: str) -> None:
        if line != "ready":
            raise RuntimeError(f"{' '.join(command)} printed: {line}")
        threading.Thread(target=server.ask, args=(f"burst?n={events}&rate={task.rate}",), daemon=True).start()

    figures = figures_of(command, on_text)
    if server:
        stats = server.ask("stats")
        figures.update({k: v for k, v in stats.items() if k in ("watches", "lists", "connections")})
        figures["connections"] -= 1  # without the reset's connection
        if task.pods:
            figures["wire bytes per object"] = stats["object bytes"]
            figures["resident to wire"] = figures["resident bytes per object"] / stats["object bytes"]
    return figures


def measure(task: Any, peer: Any, binaries: Any, server: Any, quick: Any) -> Any:
    if task.program == "start":
        return run_start(binaries["start"], server, quick)
    if task.program == "webhook":
        return run_webhook(binaries["webhook"], task, server)
    return run_program(binaries[""], task, peer, server)


UNITS = {"rss": "MiB", "peak rss": "MiB", "anonymous": "MiB", "binary": "MiB", "cpu": "cpu-s", "cpu per 1M events": "cpu-s",
         "first reconcile": "ms", "items per second": "/s", "bytes per object": "B", "resident bytes per object": "B",
         "cpu per item": "µs", "wall per item": "µs", "p50": "µs", "p99": "µs", "p99.9": "µs", "max": "µs", "cpu per event": "µs",
         "cpu per review": "µs", "reviews per second": "/s",
         "p50 at the loop": "µs", "p99 at the loop": "µs", "wire bytes per object": "B", "wall": "s",
         "p50 of a read": "µs", "p99 of a read": "µs", "p50 of a typed read": "µs", "p99 of a typed read": "µs"}


def show(metric: Any, value: Any) -> str:
    unit = UNITS.get(metric, "")
    if unit == "MiB":
        value /= 2**20
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def measure_one(task: Any, binaries: Any, server: Any, quick: Any, name: str) -> Any:
    return measure(task, name, binaries[name], server, quick)


def in_turn(names: Sequence[str], runs: int, one: Callable[[str], Any]) -> dict[str, list[Any]]:
    """Runs `one` for each name, `runs` times. They change places in each round, so that neither has the warmer machine."""
    measured: dict[str, list[Any]] = {name: [] for name in names}
    for n in range(runs):
        for name in names if n % 2 == 0 else reversed(names):
            measured[name].append(one(name))
    return measured


def medians(runs: Any) -> dict[str, Any]:
    return {m: statistics.median(r[m] for r in runs if m in r) for m in runs[0]}


def verdict(task: Any, figures: Any, base: Any, peer: Any) -> Any:
    """Returns our result: each missed target, or that all targets are met. `peer` are controller-runtime's figures, or None."""
    missed = []
    for metric, most in task.shares.items() if peer else ():
        share = figures[metric] / peer[metric]
        if share > most:
            missed.append(f"{metric} ≤ {most:g} of {tasks.GO}'s, is {share:.2f}")
    for metric, target in task.figures.items():
        if target is None or metric not in figures:
            continue
        value = figures[metric]
        relative = metric in task.relative
        if relative:
            value /= base[metric]
        if value < target if metric in task.at_least else value > target:
            wanted = f"×{target:g}" if relative else show(metric, target)
            missed.append(f"{metric} {'≥' if metric in task.at_least else '≤'} {wanted}"
                          + (f", is ×{value:.2f}" if relative else ""))
    if missed:
        return "missed: " + "; ".join(missed)
    return "met" if any(t is not None for t in task.figures.values()) or (task.shares and peer) else ""


def table(results: Any, quick: Any) -> None:
    rows = [("task", "what", "content", "client", "figures", "ratio", "target")]
    by_key = {(t.id, t.what, t.content, peer): medians(runs) for t, peer, runs in results}
    for task, peer, runs in results:
        figures = medians(runs)
        shown = ", ".join(f"{m} {show(m, figures[m])}" for m in task.figures if m in figures)
        ours = by_key.get((task.id, task.what, task.content, tasks.OURS)) or by_key.get(
            (task.id, next((t.what for t in tasks.TASKS if t.id == task.id), ""), task.content, tasks.OURS))
        main = next(m for m in task.figures if m in figures)
        digits = 2 if peer == tasks.BEFORE else 1
        ratio = f"{figures[main] / ours[main]:.{digits}f}" if ours and peer != tasks.OURS and ours.get(main) else ""
        base = by_key.get((task.id, task.relative_to, task.content, peer))
        go = by_key.get((task.id, task.what, task.content, tasks.GO))
        reached = verdict(task, figures, base, go) if peer == tasks.OURS and not quick and (
            base or not task.relative_to) else ""
        rows.append((task.id, task.what, task.content, peer, shown, ratio, reached))
    print("\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows[1:]:
        print("| " + " | ".join(row) + " |")


def machine() -> str:
    with open("/proc/cpuinfo") as f:
        model = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({model}), {memory:.1f} GiB, Linux {platform.release().split('-')[0]}"


def build(wanted: Any) -> Any:
    binaries = {}
    for peer in wanted:
        print(f"==> building {peer}", flush=True)
        try:
            binaries[peer] = peers.BUILD[peer]()
        except (peers.Missing, subprocess.CalledProcessError) as error:
            if peer == tasks.OURS:
                raise
            print(f"    {peer} is skipped: {error}", flush=True)
    return binaries


def main(argv: Sequence[str]) -> int:
    known = [*dict.fromkeys(i for t in tasks.TASKS for i in t.id.split("/")), scoped.ID]
    parser = argparse.ArgumentParser(prog="hack/bench/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"{', '.join(known)} (default: all)")
    parser.add_argument("--quick", action="store_true",
                        help="use small sizes and one run, to check that everything works, not how fast it is")
    parser.add_argument("--ours", action="store_true",
                        help="measure only this project; the tool chains of the peers are not needed (without the flag, a peer "
                        "that cannot be built is skipped)")
    parser.add_argument("--before", metavar="PROGRAM",
                        help="measure this program in turn with ours: //hack/bench/ours:bench of another commit (not B11, B13, B15)")
    parser.add_argument("--runs", type=int, metavar="N", help="how often each task runs (default: 3; 1 with --quick)")
    parser.add_argument("--json", metavar="FILE", default=os.path.join(peers.CACHE, "results.json"),
                        help="write all figures of all runs to this file (default: %(default)s)")
    parser.add_argument("--pods", type=int, metavar="N",
                        help="the number of Pods of B14 (default: 100000); hack/bench/pods records them, once")
    args = parser.parse_args(argv)
    unknown = [t for t in args.tasks if t not in known]
    if unknown:
        print(f"hack/bench/run: {unknown[0]!r} must be one of {', '.join(known)}", file=sys.stderr)
        return 2
    if args.before and not os.access(args.before, os.X_OK):
        print(f"hack/bench/run: --before: {args.before} is not a program: build //hack/bench/ours:bench with --config=release "
              "in a worktree of the commit", file=sys.stderr)
        return 2
    chosen = [t.sized(args.quick) for t in tasks.TASKS if not args.tasks or set(t.id.split("/")) & set(args.tasks)]
    goals = scoped.ID in args.tasks or not args.tasks
    if args.pods:
        chosen = [dataclasses.replace(t, objects=args.pods) if t.pods else t for t in chosen]
    runs = args.runs or (1 if args.quick else 3)

    print("==> building the server", flush=True)
    fakeapi = peers.fakeapi()
    binaries = build((tasks.OURS,) if args.ours or not chosen else [p for p in tasks.ALL if any(p in t.peers for t in chosen)])

    if args.before:
        binaries[tasks.BEFORE] = {"": os.path.abspath(args.before)}

    results, server, failures = [], None, 0
    reached: dict[str, Any] = {}
    try:
        # Sorted by size, so that one server serves several rows.
        for task in sorted(chosen, key=lambda t: (t.pods, t.objects)):
            if server and (server.objects, server.pods) != (task.objects, task.pods):
                server.close()
                server = None
            if not server and task.objects:
                try:
                    server = Server(fakeapi, task.objects, task.pods)
                except (pods.Failure, controlplane.Failure, go.Failure, subprocess.CalledProcessError, RuntimeError) as error:
                    failures += 1
                    print(f"==> {task.id} {task.what}\n    failed: {error}", flush=True)
                    continue
            for peer in task.peers:
                if peer not in binaries:
                    continue
                names = [peer]
                if peer == tasks.OURS and tasks.BEFORE in binaries and task.program not in peers.SINGLE:
                    names.append(tasks.BEFORE)
                print(f"==> {task.id} {task.what} {task.content} {', '.join(names)}".replace("  ", " "), flush=True)
                try:
                    measured = in_turn(names, runs, functools.partial(measure_one, task, binaries, server, args.quick))
                    results += [(task, name, measured[name]) for name in names]
                except (RuntimeError, OSError, ValueError) as error:
                    failures += 1
                    print(f"    failed: {error}", flush=True)
        if goals:
            sizes = scoped.QUICK if args.quick else scoped.Sizes()
            reached, failed = scoped_run.measure(scoped.measurements(sizes), binaries[tasks.OURS], fakeapi, runs)
            failures += failed
    finally:
        if server:
            server.close()
    order = {id(t): i for i, t in enumerate(chosen)}
    results.sort(key=lambda r: order[id(r[0])])
    os.makedirs(os.path.dirname(os.path.abspath(args.json)), exist_ok=True)
    with open(args.json, "w") as f:
        json.dump({"machine": machine(), "quick": args.quick,
                   "results": [{"task": t.id, "what": t.what, "content": t.content, "peer": p, "runs": r}
                               for t, p, r in results], scoped.ID: reached}, f, indent=1)
    print(f"\n{machine()}; median of {runs}")
    if results:
        table(results, args.quick)
    if goals:
        scoped_run.show(scoped.goals(sizes), reached, judged=not args.quick)
    print(f"\nevery figure: {args.json}")
    return int(failures > 0)
