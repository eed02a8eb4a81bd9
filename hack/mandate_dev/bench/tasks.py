"""The tasks: the program of each, the size of its input, and the figures that count."""
import dataclasses
from typing import Any

OURS, GO, RUST = "ours", "controller-runtime", "kube-rs"
ALL = (OURS, GO, RUST)
BEFORE = "before"  # our program of another commit


@dataclasses.dataclass(frozen=True)
class Task:
    id: str  # of several: with a slash
    what: str
    program: str  # the sub-command of the programs; "start", "webhook": the program of B11, of B13
    figures: dict[str, float | None]  # metric of the programs: the most, or (at_least) the least that it should be for ours; None: no target
    peers: tuple[str, ...] = (OURS, GO)
    content: str = ""  # "protobuf", "json": the flag --json
    objects: int = 0  # of the server; 0: none is needed
    pods: str = ""  # Pods instead of ConfigMaps: "recorded" (pods.py) or "synthetic"
    events: int = 0  # released once a program is ready
    events_of: dict[str, int] = dataclasses.field(default_factory=dict)  # of a peer, where it is slow
    rate: int = 0  # of the events or reviews, a second; 0: at once
    in_flight: int = 0  # reviews at once, without a rate
    seconds: float = 10  # of the reviews
    flags: tuple[str, ...] = ()
    at_least: tuple[str, ...] = ()  # metrics whose target is a least
    quick: dict[str, Any] = dataclasses.field(default_factory=dict)  # fields of a quick run
    relative_to: str = ""  # the `what` of another row
    relative: tuple[str, ...] = ()  # metrics whose target is a multiple of that row's figure
    shares: dict[str, float] = dataclasses.field(default_factory=dict)  # metric: the most, as a share of controller-runtime's

    def sized(self, quick: Any) -> Any:
        return dataclasses.replace(self, **self.quick, events_of={}) if quick else self


SYNC = {"objects": 10_000}
STORM = {"events": 20_000}
PODS: dict[str, float | None] = dict.fromkeys((
    "p99 of a read", "p50 of a typed read", "p99 of a typed read", "wall", "bytes per object", "resident bytes per object",
    "wire bytes per object", "rss", "peak rss"))
RECORDED: dict[str, Any] = {"content": "protobuf", "objects": 100_000, "pods": "recorded",
                            "quick": {"objects": 300, "pods": "synthetic"}}

TASKS = [
    Task("B1", "add, get, done; 1 thread each", "queue", {"cpu per item": 0.2, "wall per item": 0.2},
         flags=("--keys=1000000",), quick={"flags": ("--keys=100000",)}),
    Task("B1", "the same, client-go's queue", "queue", {"cpu per item": None, "wall per item": None}, peers=(GO,),
         flags=("--keys=1000000", "--legacy-queue"), quick={"flags": ("--keys=100000", "--legacy-queue")}),
    Task("B2", "empty reconciles, 8 workers", "reconciles", {"cpu per item": 0.8, "items per second": 2e6},
         flags=("--keys=1000000", "--workers=8"), at_least=("items per second",),
         quick={"flags": ("--keys=100000", "--workers=8")}),
    *(Task("B3/B4", f"sync, {how}", "sync",
           {"cpu": cpu, "peak rss": None, "bytes per object": size, "resident bytes per object": None, "rss": None},
           content=content, objects=100_000, quick=SYNC, peers=ALL if content == "json" else (OURS, GO), flags=flags)
      for how, flags in (("watch", ()), ("list", ("--list",)))
      for content, cpu, size in (("protobuf", 0.3, 1110), ("json", 0.5, None))),
    Task("B5", "watch storm", "storm", {"cpu per 1M events": 2, "peak rss": None}, content="protobuf",
         objects=1000, events=1_000_000, events_of={GO: 300_000}, quick=STORM),
    Task("B5", "watch storm", "storm", {"cpu per 1M events": 3, "peak rss": None}, content="json",
         peers=ALL, objects=1000, events=1_000_000, events_of={GO: 50_000, RUST: 200_000}, quick=STORM),
    Task("B6", "event to reconcile, 200/s", "latency",
         {"p50": 100, "p99": 200, "p99.9": None, "p50 at the loop": None, "p99 at the loop": None, "cpu per event": None},
         content="protobuf", objects=1000, events=4000, rate=200, quick={"events": 200}),
    Task("B6", "its floor, 200/s", "floor",
         {"p50": None, "p99": None, "p99.9": None, "p50 at the loop": None, "p99 at the loop": None, "cpu per event": None},
         peers=(OURS,),
         content="protobuf", objects=1000, events=4000, rate=200, quick={"events": 200}),
    Task("B6", "event to reconcile, 5000/s", "latency",
         {"p50": None, "p99": None, "p99.9": None, "p50 at the loop": None, "p99 at the loop": None, "cpu per event": None},
         content="protobuf", objects=1000, events=20_000, rate=5000, quick={"events": 1000}),
    Task("B6", "its floor, 5000/s", "floor",
         {"p50": None, "p99": None, "p99.9": None, "p50 at the loop": None, "p99 at the loop": None, "cpu per event": None},
         peers=(OURS,),
         content="protobuf", objects=1000, events=20_000, rate=5000, quick={"events": 1000}),
    Task("B10", "1 identity", "identities", {"cpu": None, "rss": None, "watches": None, "connections": None},
         content="protobuf", objects=10_000, flags=("--identities=1",), quick={"objects": 1000}),
    Task("B10", "50 identities", "identities", {"cpu": 1.5, "rss": 1.3, "watches": 1, "connections": None},
         content="protobuf", objects=10_000, flags=("--identities=50",), quick={"objects": 1000},
         relative_to="1 identity", relative=("cpu", "rss")),
    Task("B11", "exec to first reconcile, then idle", "start",
         {"first reconcile": 50, "cpu": None, "rss": 24 * 2**20, "anonymous": 6 * 2**20, "threads": None,
          "binary": None},
         content="protobuf", objects=1),
    Task("B13", "reviews, 1000/s", "webhook", {"cpu per review": None, "p50": None, "p99": 5000, "max": None},
         content="json", objects=1, rate=1000, quick={"seconds": 1}, shares={"cpu per review": 0.2}),
    Task("B13", "reviews, 16 in flight", "webhook",
         {"cpu per review": None, "reviews per second": None, "p50": None, "p99": None, "max": None},
         content="json", objects=1, in_flight=16, quick={"seconds": 1}, shares={"cpu per review": 0.2}),
    Task("B14", "Pods", "pods", {"resident to wire": 0.35, "p50 of a read": 10, "cpu": 1.5, **PODS},
         relative_to="Pods, uncompressed", relative=("cpu",), **RECORDED),
    Task("B14", "Pods, uncompressed", "pods", {"resident to wire": None, "p50 of a read": None, "cpu": None, **PODS},
         peers=(OURS,), flags=("--uncompressed",), **RECORDED),
    Task("B14", "Pods, without managedFields", "pods", {"resident to wire": None, "p50 of a read": None, "cpu": None, **PODS},
         peers=(GO,), flags=("--strip-managed-fields",), **RECORDED),
]
