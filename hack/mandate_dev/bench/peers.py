"""The measured programs: how each is built, and where its binaries are."""
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from mandate_dev.bench import tasks
from mandate_dev.paths import TOOLS, ROOT, cache

HERE = os.path.join(TOOLS, "bench")
CACHE = cache("bench")
SINGLE = ("start", "webhook", "scoped")  # the programs of one task


class Missing(Exception):
    """A tool chain is missing."""


def _run(command: Any, folder: str, **env: Any) -> None:
    print(f"    {' '.join(command)}", flush=True)
    subprocess.run(command, cwd=os.path.join(HERE, folder), env={**os.environ, **env}, check=True)


def _need(tool: Any, package: Any) -> None:
    if shutil.which(tool) is None:
        raise Missing(f"{tool} is not installed ({package})")


def _go(folder: str, *packages: Any) -> Any:
    out = os.path.join(CACHE, folder)
    os.makedirs(out, exist_ok=True)
    _run([os.path.join(TOOLS, "go"), "build", "-trimpath", "-o", out + "/", *packages], folder)
    return out


def fakeapi() -> str:
    return os.path.join(_go("fakeapi", "."), "fakeapi")


def ours(config: str = "release", programs: tuple[str, ...] = ("bench", *SINGLE)) -> dict[str, Any]:
    """{sub-program: path}; one Bazel build of the configuration (empty: that of tests)."""
    bazel = os.path.join(ROOT, "hack/bazel")
    flags = [f"--config={config}"] if config else []
    _run([bazel, "build", *flags, *(f"//hack/bench/ours:{name}" for name in programs)], ROOT)
    base = os.environ.get("BAZEL_OUTPUT_BASE")
    startup = [f"--output_base={base}"] if base else []
    bin_dir = subprocess.run(["bazel", *startup, "info", *flags, "bazel-bin"], cwd=ROOT, check=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    # Copies the programs, because a build during the measurement must not change them.
    out = os.path.join(CACHE, "ours" if config == "release" else f"ours-{config or 'test'}")
    os.makedirs(out, exist_ok=True)
    for name in programs:
        target = os.path.join(out, name)
        shutil.copyfile(os.path.join(bin_dir, "hack/bench/ours", name), target + ".new")
        os.chmod(target + ".new", 0o755)
        os.replace(target + ".new", target)
    return {"" if name == "bench" else name: os.path.join(out, name) for name in programs}


def controller_runtime() -> dict[str, Any]:
    out = _go("controller_runtime", "./...")
    return {"": os.path.join(out, "controllerruntime"), **{name: os.path.join(out, name) for name in ("start", "webhook")}}


def kube_rs() -> dict[str, Any]:
    _need("cargo", "rustup.rs")
    target = os.path.join(CACHE, "kube_rs")
    _run(["cargo", "build", "--release", "--locked"], "kube_rs", CARGO_TARGET_DIR=target)
    return {"": os.path.join(target, "release", "kube_rs")}


BUILD: dict[str, Callable[[], dict[str, Any]]] = {tasks.OURS: ours, tasks.GO: controller_runtime, tasks.RUST: kube_rs}
