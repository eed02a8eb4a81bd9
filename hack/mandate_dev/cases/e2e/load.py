"""Requests to the API server, by many threads at once."""
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from mandate_dev.world import World


class Load:
    """Threads that create objects as an administrator, dry, one after the other, while the context lasts.

    target: the path that they POST to. make: the object of a thread, by its number. rate: objects a second of all
    threads together; None: as many as they can.
    """

    def __init__(self, world: World, threads: int, target: str, make: Callable[[int], Any], rate: float | None = None) -> None:
        self._tls = world.cluster.tls()
        self._address = world.cluster.server().removeprefix("https://")
        self._target, self._make = f"{target}?dryRun=All", make
        self._pause = threads / rate if rate else 0.0
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        self.codes: Counter[int] = Counter()
        self.failures: list[str] = []  # the bodies of answers that are not 201 Created

    @property
    def count(self) -> int:
        return sum(self.codes.values())

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        connection = http.client.HTTPSConnection(self._address, context=self._tls, timeout=60)
        body = json.dumps(self._make(number))
        due = time.monotonic()
        while not self._end.wait(max(0.0, due - time.monotonic())):
            connection.request("POST", self._target, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            self.codes[answer.status] += 1
            if answer.status != 201:
                self.failures.append(text)
            due += self._pause
        connection.close()
