"""The API server's audit log: the watches that are open, and the times of requests."""
import datetime
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]


def read(path: str) -> list[Event]:
    """Returns the events. The last line may still be incomplete; it is omitted then."""
    events = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.endswith("\n"):
                events.append(json.loads(line))
    return events


def of(events: Iterable[Event], user: str) -> list[Event]:
    return [e for e in events if e["user"].get("username") == user]


def open_watches(events: Iterable[Event]) -> list[Event]:
    """Returns the first event of each watch that is open: the server accepted it (ResponseStarted) and has not ended it
    (ResponseComplete)."""
    watches: dict[str, Event] = {}
    for event in events:
        if event["verb"] != "watch":
            continue
        if event["stage"] == "ResponseStarted":
            if event.get("responseStatus", {}).get("code", 200) < 300:
                watches[event["auditID"]] = event
        else:
            watches.pop(event["auditID"], None)
    return list(watches.values())


def scope_of(event: Event) -> str:
    """Returns "pods in namespace foo", "secrets foo/bar" or "memcacheds in the cluster"."""
    ref = event["objectRef"]
    namespace, name = ref.get("namespace", ""), ref.get("name", "")
    if name:
        return f"{ref['resource']} {namespace + '/' if namespace else ''}{name}"
    return f"{ref['resource']} in {'namespace ' + namespace if namespace else 'the cluster'}"


def scopes(watches: Iterable[Event]) -> list[str]:
    """Returns the sorted scopes of the watches; one that is watched twice has its number."""
    counts = Counter(scope_of(watch) for watch in watches)
    return [scope if count == 1 else f"{scope} ({count} times)" for scope, count in sorted(counts.items())]


def time_of(event: Event) -> datetime.datetime:
    return datetime.datetime.fromisoformat(event["stageTimestamp"].replace("Z", "+00:00"))


def is_about(event: Event, verb: str, resource: str, namespace: str, subresource: str = "") -> bool:
    """Whether it is the successful response to such a request."""
    ref = event.get("objectRef", {})
    return bool(event["stage"] == "ResponseComplete" and event["verb"] == verb and ref.get("resource") == resource
            and ref.get("namespace", "") == namespace and ref.get("subresource", "") == subresource
            and event.get("responseStatus", {}).get("code", 500) < 300)


def seconds_between(first: Event | None, second: Event | None) -> float | None:
    if first is None or second is None:
        return None
    return (time_of(second) - time_of(first)).total_seconds()


def requests(events: Iterable[Event]) -> dict[str, int]:
    """Returns the number of responses by verb and resource, as "list pods: 403"."""
    counts: Counter[str] = Counter()
    for event in events:
        if event["stage"] != "ResponseComplete":
            continue
        ref = event.get("objectRef", {})
        counts[f"{event['verb']} {ref.get('resource', event['requestURI'])}: {event['responseStatus']['code']}"] += 1
    return dict(sorted(counts.items()))
