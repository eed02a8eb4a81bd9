"""The process of the fake API server."""
import json
import os
import ssl
import subprocess
import tempfile
import urllib.request
from collections.abc import Sequence
from typing import Any

from mandate_dev.bench import pods

TIMEOUT = 600  # seconds, of one run


class Server:
    """The process of fakeapi, with this number of objects.

    pods: as in Task. Recorded Pods are made if they are not in the cache folder. flags: further flags of the process.
    """

    def __init__(self, binary: Any, objects: Any, which: str = "", flags: Sequence[str] = ()) -> None:
        self.binary, self.objects, self.pods = binary, objects, which
        command = [binary, "-objects", str(objects), *flags]
        if which:
            command += ["-pods", ",".join(pods.recorded(objects)) if which == "recorded" else which]
        self.folder = tempfile.TemporaryDirectory(prefix="mandate-bench-")
        self.process = subprocess.Popen([*command, "-dir", self.folder.name], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin = self.process.stdin
        self.kubeconfig = self.process.stdout.readline().strip()
        with open(os.path.join(self.folder.name, "server")) as f:
            self.url = f.read()
        self.tls = ssl.create_default_context(cafile=os.path.join(self.folder.name, "ca.crt"))

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/bench/{path}", context=self.tls, timeout=TIMEOUT) as answer:
            return json.load(answer)

    def close(self) -> None:
        self.stdin.close()  # the process then ends
        self.process.wait(timeout=10)
        self.folder.cleanup()
