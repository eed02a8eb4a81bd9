"""B15: the goals of the scoped cache. Each measurement is one run of the program `scoped` or `bench` on a fake server of its own;
each goal is a figure of a measurement, and what it should be.
"""
import dataclasses
import statistics
from typing import Any

ID = "B15"

Figures = dict[str, dict[str, float]]  # of one run of each measurement: the value of each metric


@dataclasses.dataclass(frozen=True)
class Server:
    """The flags of fakeapi. scopes: the number of namespaces; 0: ConfigMaps in one namespace, as for B3."""
    objects: int
    scopes: int = 0
    latency: str = "0s"
    bookmarks: str = "0s"

    def flags(self) -> list[str]:
        return [f"-scopes={self.scopes}", f"-latency={self.latency}", f"-bookmarks={self.bookmarks}"] if self.scopes else []


@dataclasses.dataclass(frozen=True)
class Measurement:
    program: str  # "scoped"; "": bench
    task: str
    flags: tuple[str, ...] = ()
    server: Server | None = None


@dataclasses.dataclass(frozen=True)
class Goal:
    id: str
    workload: str
    run: str  # the name of a measurement
    metric: str
    limit: float | None = None  # None: reported only
    kind: str = "≤"  # or "≥", "="
    unit: str = ""
    minus: str = ""  # a metric to subtract
    relative_to: str = ""  # a measurement with the same metric: the figure is a multiple of it


@dataclasses.dataclass(frozen=True)
class Sizes:
    owners: int = 1000  # and namespaces
    reads: int = 1_000_000
    commits: int = 2000
    cycles: int = 10_000
    switches: int = 1000
    revocations: int = 20
    window: int = 20  # seconds, with all namespaces denied
    events: int = 1_000_000
    objects: int = 100_000
    proof: int = 2000  # milliseconds: the lifetime of a proof and the cap of probes without hints


QUICK = Sizes(owners=60, reads=10_000, commits=100, cycles=100, switches=30, revocations=2, window=4, events=20_000, objects=1000,
              proof=1000)


def measurements(s: Sizes) -> dict[str, Measurement]:
    def scoped(task: str, *flags: str, objects: int = 5, scopes: int = s.owners, latency: str = "0s",
               bookmarks: str = "0s") -> Measurement:
        return Measurement("scoped", task, (f"--size={scopes}", *flags), Server(objects, scopes, latency, bookmarks))

    def local(task: str, *flags: str) -> Measurement:
        return Measurement("scoped", task, flags)

    one_kind = Server(s.objects)
    return {
        **{f"W{w}": scoped("streams", f"--workload={w}") for w in (1, 2, 3, 4)},
        "cold": scoped("streams", "--workload=1", latency="1ms"),
        "reads": scoped("reads", f"--times={s.reads}", latency="1ms"),
        "idle": scoped("idle", "--milliseconds=2000", objects=0, bookmarks="2s"),
        "renewals": scoped("renewals", f"--milliseconds={5 * s.proof // 2}", objects=0),
        "attached": scoped("attached", objects=0),
        "commits": scoped("commits", f"--times={s.commits}", objects=0),
        "additions": local("additions", f"--size={s.owners}"),
        "cycles": scoped("cycles", f"--times={s.cycles}", scopes=min(s.owners, 100)),
        "switches": scoped("switches", f"--times={s.switches}", "--objects=20", objects=20, scopes=10),
        "hinted": scoped("hinted", f"--times={s.revocations}", scopes=min(s.owners, 100)),
        "unhinted": scoped("unhinted", f"--milliseconds={s.proof}", scopes=5),
        "denied": scoped("denied", f"--milliseconds={s.window * 1000}"),
        "stop": scoped("stop"),
        **{task: local(task, f"--times={s.events}") for task in ("apply", "apply-selectors", "apply-parsing")},
        "objects": Measurement("", "sync", (f"--objects={s.objects}",), one_kind),
        "1 identity": Measurement("", "identities", (f"--objects={s.objects}", "--identities=1"), one_kind),
        "10 identities": Measurement("", "identities", (f"--objects={s.objects}", "--identities=10"), one_kind),
    }


def goals(s: Sizes) -> list[Goal]:
    n = s.owners
    streams = {1: 2 * n, 2: 2, 3: 2 * n, 4: n}
    proof = s.proof / 1000
    return [
        *(goal for w, d in streams.items() for goal in (
            Goal("G1", f"W{w}: streams", f"W{w}", "streams", d, "="),
            Goal("G1", f"W{w}: requests", f"W{w}", "requests", d, "="),
            Goal("G1", f"W{w}: access reviews", f"W{w}", "reviews", 0, "="),
            Goal("G1", f"W{w}: connections", f"W{w}", "connections", -(-d // 100) + 1))),
        Goal("G2", "cold W1 until all is synced, server latency 1 ms", "cold", "sync", 2, unit="s"),
        Goal("G2", "first read of a new demand, p50, server latency 1 ms", "reads", "p50 of a first read", 2000, unit="µs"),
        Goal("G2", "the same, p99", "reads", "p99 of a first read", 50_000, unit="µs"),
        Goal("G2", "read of an object that is there", "reads", "warm read", 1, unit="µs"),
        Goal("G2", "requests of these reads", "reads", "requests of warm reads", 0, "="),
        Goal("G3", "idle W1: messages, with one bookmark a minute", "idle", "messages per second", 2 * n / 60 + 1, unit="/s"),
        Goal("G3", "the same, bytes with TLS, both ways", "idle", "bytes per second", 10 * 1024, unit="B/s"),
        Goal("G3", "renewed proofs and watches: requests, scaled to proofs of 5 min", "renewals", "requests per second", 2 * n / 120,
             unit="/s"),
        Goal("G3", "the same, bytes with TLS, both ways", "renewals", "bytes per second", unit="B/s"),
        Goal("G3", "CPU of a bookmark", "idle", "cpu per bookmark", unit="µs"),
        Goal("G4", "idle stream, with its share of TLS", "idle", "bytes per stream", 8192, unit="B"),
        Goal("G4", "W3: a demand that attaches", "attached", "bytes per demand", 64, unit="B"),
        Goal("G4", "object, over its protobuf (B4)", "objects", "bytes per object", 200, unit="B", minus="object bytes"),
        Goal("G4", f"{s.objects:,} objects: 10 identities, resident", "10 identities", "rss", 1.3, unit="×", relative_to="1 identity"),
        Goal("G5", f"commit of {n:,} unchanged demands", "commits", "unchanged commit", 100, unit="µs"),
        Goal("G5", "the same with one more or one less", "commits", "changed commit", unit="µs"),
        Goal("G5", f"one demand more for an owner of {n:,}", "additions", "addition to few", unit="ns"),
        Goal("G5", f"the same for an owner of {16 * n:,}", "additions", "ratio", 3, unit="×"),
        Goal("G5", f"W3: {2 * n * n:,} demands of {n:,} owners: CPU of each until all is synced", "W3", "cpu per demand", 10, unit="µs"),
        Goal("G6", f"{s.cycles:,} cycles: streams left", "cycles", "streams left", 0, "="),
        Goal("G6", "demands left", "cycles", "demands left", 0, "="),
        Goal("G6", "growth of resident memory", "cycles", "rss drift", 2**20, unit="B"),
        Goal("G7", f"{s.switches:,} steps: duplicate events", "switches", "duplicate events", 0, "="),
        Goal("G7", "lost events", "switches", "lost events", 0, "="),
        Goal("G7", "scopes opened or closed", "switches", "switches"),
        Goal("G8", "revoked, with a hint: longest", "hinted", "longest revocation", 1000, unit="ms"),
        Goal("G8", f"revoked, no hint, a proof lasts {proof:g} s: longest", "unhinted", "revocation to lifetime", 1.01, unit="×"),
        Goal("G8", "another namespace's p99 of a read meanwhile", "hinted", "p99 ratio", 1.05, unit="×"),
        Goal("G9", "granted, with a hint: longest", "hinted", "longest grant", 1000, unit="ms"),
        Goal("G9", f"granted, no hint, probes at most {proof:g} s ± 20 % apart: longest", "unhinted", "grant to cap", 1.21, unit="×"),
        Goal("G10", f"{n:,} denied namespaces: probes", "denied", "probes per second", 5 + 1 / s.window, unit="/s"),
        Goal("G10", "log lines", "denied", "log lines per second", 0, "=", unit="/s"),
        Goal("G10", "log lines of the denial of one", "denied", "log lines per namespace", 1, "="),
        Goal("G11", "apply and route to 10 owners", "apply", "events per second", 500_000, "≥", "/s"),
        Goal("G11", "the same, to 1 of 10 by a label", "apply-selectors", "events per second", unit="/s"),
        Goal("G11", "the same as the first, with the frame's parsing", "apply-parsing", "events per second", unit="/s"),
        Goal("G12", "stop with W1: most closes in one second", "stop", "closed in one second", 200, unit="/s"),
        Goal("G12", "the stop", "stop", "stop", unit="ms"),
    ]


def figure_of(goal: Goal, figures: Figures) -> float | None:
    """None: there is no such metric."""
    value = figures.get(goal.run, {}).get(goal.metric)
    if value is None:
        return None
    if goal.minus:
        value -= figures[goal.run][goal.minus]
    if goal.relative_to:
        base = figures.get(goal.relative_to, {}).get(goal.metric)
        return value / base if base else None
    return value


def figure_of_runs(goal: Goal, runs: list[Figures]) -> float | None:
    """The median; of a count that must be exact: the one that is farthest from its target, since a single wrong one counts."""
    values = [value for run in runs if (value := figure_of(goal, run)) is not None]
    if not values:
        return None
    if goal.kind == "=" and goal.limit is not None:
        limit = goal.limit
        return max(values, key=lambda value: abs(value - limit))
    return statistics.median(values)


def is_met(goal: Goal, value: float) -> bool:
    assert goal.limit is not None
    return {"≤": value <= goal.limit, "≥": value >= goal.limit, "=": value == goal.limit}[goal.kind]


def show(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{'×' if unit == '×' else ''}{text} {'' if unit == '×' else unit}".strip()


def rows(wanted: list[Goal], runs: list[Figures], judged: bool = True) -> list[tuple[str, str, str, str, str]]:
    """The table: goal, workload, target, figure, and whether it is met; without the last if not `judged`."""
    result = []
    for goal in wanted:
        value = figure_of_runs(goal, runs)
        target = "" if goal.limit is None else f"{goal.kind} {show(goal.limit, goal.unit)}"
        verdict = "" if goal.limit is None or not judged else "not measured" if value is None else (
            "met" if is_met(goal, value) else "missed")
        result.append((goal.id, goal.workload, target, "" if value is None else show(value, goal.unit), verdict))
    return result


def command_of(m: Measurement, binaries: dict[str, Any], kubeconfig: str) -> list[str]:
    return [binaries[m.program], m.task, *m.flags, *([f"--kubeconfig={kubeconfig}"] if kubeconfig else [])]
