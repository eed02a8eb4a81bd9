"""Bazel, by hack/bazel: builds, where the outputs are, and the results of tests from its event file."""
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlparse

from mandate_dev import junit
from mandate_dev.paths import ROOT

BUILD_SECONDS = 7200


def build(*targets: str, root: str = ROOT) -> None:
    """Builds the targets and shows the output. Raises CalledProcessError."""
    subprocess.run(["hack/bazel", "build", *targets], cwd=root, check=True, timeout=BUILD_SECONDS)


def info(*flags: str, root: str = ROOT) -> dict[str, str]:
    """Returns bazel-bin and output_base of the configuration that the flags choose."""
    done = subprocess.run(["hack/bazel", "info", *flags, "bazel-bin", "output_base"], cwd=root, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def program(target: str) -> str:
    """Builds a program, such as //rbacgen or //testing/conformance:run_rows, and returns its path."""
    build(target)
    folder, _, name = target.removeprefix("//").partition(":")
    return os.path.join(info()["bazel-bin"], folder, name or os.path.basename(folder))


def kubernetes_protos() -> str:
    """Returns the folder of Kubernetes' .proto files, which are fetched if they are missing."""
    build("@kubernetes//:protos")
    return os.path.join(info()["output_base"], "external", "kubernetes")


def events(path: str) -> Iterator[dict[str, Any]]:
    """Yields the events that --build_event_json_file=path wrote; no events if Bazel failed before that."""
    try:
        with open(path, encoding="utf-8") as f:
            for line in f:
                yield json.loads(line)
    except (OSError, ValueError):  # a Bazel that was killed leaves half a line
        return


def log_of(summary: dict[str, Any]) -> str:
    """Returns the log of a failed test, or the part of it that exists."""
    for file in summary.get("failed", []):
        try:
            with open(unquote(urlparse(file["uri"]).path), encoding="utf-8", errors="replace") as f:
                return f.read()[-20000:]
        except OSError:
            continue
    return ""


def results(path: str, code: int) -> list[junit.Outcome]:
    """Returns one outcome for each test target of the event file. A build that failed before any test ran is a failure,
    too."""
    found: dict[str, junit.Outcome] = {}
    for event in events(path):
        name = event.get("id", {})
        if (of := name.get("testSummary")) is not None and "testSummary" in event:
            summary = event["testSummary"]
            status = str(summary.get("overallStatus", "NO_STATUS"))
            seconds = int(summary.get("totalRunDurationMillis", 0)) / 1000
            label = of["label"]
            if status == "PASSED":
                found[label] = junit.Outcome(label, junit.PASSED, seconds)
            else:
                found[label] = junit.Outcome(f"{label} {status.replace('_', ' ')}", junit.FAILED, seconds, log_of(summary))
        elif (of := name.get("targetCompleted")) is not None and not event.get("completed", {}).get("success"):
            if "aborted" in event or "completed" in event:
                found.setdefault(of["label"], junit.Outcome(f"{of['label']} FAILED TO BUILD", junit.FAILED))
    outcomes = list(found.values())
    if code != 0 and junit.count(outcomes, junit.FAILED) == 0:
        outcomes.append(junit.Outcome("the build", junit.FAILED, text=f"bazel: exit {code}"))
    return outcomes


def test(run: Callable[[list[str]], tuple[int, str]], flags: Sequence[str], folder: str) -> list[junit.Outcome]:
    """Runs `bazel test` with the flags by `run`, which shows its output; the event file is in `folder`."""
    path = os.path.join(folder, "events.json")
    if os.path.exists(path):
        os.remove(path)
    code, _ = run(["hack/bazel", "test", f"--build_event_json_file={path}", *flags])
    return results(path, code)
