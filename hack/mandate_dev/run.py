"""A private control plane with the manager on it, for your own tests.

usage: hack/run [--dir DIR] [--identity-mode MODE] [--webhooks] [-- FLAG…]     make run [DIR=…] [WEBHOOKS=1]
       hack/run --operator FOLDER [--program PROGRAM] [--dir DIR] […]          make run OPERATOR=… [PROGRAM=…]
       hack/run stop [--dir DIR | --operator FOLDER]                           make stop [DIR=… | OPERATOR=…]

Builds the manager, starts the control plane unless it runs already, installs the CRDs and the generated roles as an
administrator would, and starts the manager with the base ServiceAccount's token. The terminal then shows which
components are not ready, and why. Ctrl-C stops the manager; the control plane and its content stay. The next `hack/run`
builds the changes and starts the manager again, in place of one that still runs in another terminal. `hack/run stop`
ends both and removes DIR.

  --dir DIR             the control plane, its data and the logs (default: mandate-run-UID under ${TMPDIR:-/tmp})
  --identity-mode MODE  how components act: token (the default), impersonate, single (docs/identity.md)
  --webhooks            serve the webhooks, too, and have the API server call them
  --operator FOLDER     run the operator of this repository in place of the manager: its program, its kinds, and the
                        roles of its components. Without --dir, it has a control plane of its own
  --program PROGRAM     its target, such as //:webapp-operator, or a program that is built already, relative to FOLDER
                        (default: the only cc_binary)
  FLAG…                 for mandate-manager, such as -v=3

Exit 0 after Ctrl-C, `stop`, or when another `hack/run` took over; 1 when something failed, the manager's own end included.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from mandate_dev import processes, webhooks, world
from mandate_dev.controlplane.components import new_port
from mandate_dev.operator_world import OperatorWorld
from mandate_dev.paths import TOOLS
from mandate_dev.report import Report, StepFailed

STATE = "run.json"
# The time in which a manager must end: it drains, and releases its lease.
GRACE_SECONDS = 40


class Misuse(Exception):
    """The call is invalid: exit 2."""


class Stop(BaseException):
    """Ctrl-C or SIGTERM."""


def default_folder(operator: str | None = None) -> str:
    suffix = f"-{os.path.basename(os.path.realpath(operator))}" if operator else ""
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"mandate-run-{os.getuid()}{suffix}")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    own = argv[:argv.index("--")] if "--" in argv else argv
    parser = argparse.ArgumentParser(prog="hack/run", add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?", choices=["stop"])
    parser.add_argument("--dir")
    parser.add_argument("--identity-mode", choices=["token", "impersonate", "single"], default="token")
    parser.add_argument("--webhooks", action="store_true")
    parser.add_argument("--operator")
    parser.add_argument("--program", default="")
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args(own)
    # make passes an empty DIR if it is not set.
    options.dir = os.path.abspath(options.dir or default_folder(options.operator))
    options.flags = argv[len(own) + 1:]
    return options


def manager_flags(flags: Sequence[str]) -> list[str]:
    """Returns the flags with our default verbosity, unless the user has chosen one: -v=3, -v3, -v 3, --v=3."""
    chosen = any(re.match(r"-v|--v(=|$)", flag) for flag in flags)
    return [*flags] if chosen else ["-v=1", *flags]


def check_folder(folder: str) -> None:
    """Rejects a folder of another user, or that hack/run has not created, because `stop` removes the whole folder."""
    if not os.path.lexists(folder):
        return
    if os.path.islink(folder) or not os.path.isdir(folder) or os.stat(folder).st_uid != os.getuid():
        raise Misuse(f"{folder} is not a folder of yours")
    if os.listdir(folder) and "owner" not in read_state(folder):
        raise Misuse(f"{folder} has other files; choose an empty or a new folder with --dir (make: DIR=)")


def read_state(folder: str) -> dict[str, Any]:
    try:
        with open(os.path.join(folder, STATE), encoding="utf-8") as f:
            state = json.load(f)
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def end(manager: processes.Record | None) -> bool:
    """Ends a recorded manager if it still runs. Returns whether it ran."""
    if not processes.is_alive(manager):
        return False
    if not processes.kill(manager, signal.SIGTERM, GRACE_SECONDS):
        processes.kill(manager, signal.SIGKILL)
    return True


def not_ready(text: str) -> dict[str, str]:
    """Returns {component: reason} of /readyz?verbose, including reasons of several lines."""
    reasons: dict[str, str] = {}
    name: str | None = None
    for line in text.splitlines():
        if line.startswith("[-]"):
            name = line[3:].partition(" failed: ")[0]
            reasons[name] = line[3:].partition(" failed: ")[2]
        elif line.startswith("[+]") or line == "readyz check failed":
            name = None
        elif name is not None:
            reasons[name] += "\n" + line
    return reasons


class Watcher:
    """Prints which components become ready, and which are not ready."""

    def __init__(self, env: world.World, report: Report) -> None:
        self._env, self._report = env, report
        self._said: dict[str, str] | None = None
        self._waits = False

    def look(self) -> None:
        code, text = self._env.readyz()
        if code == 0:
            return  # it does not listen yet, or has ended, which stay() notices
        reasons = not_ready(text)
        if self._waits and not reasons and self._env.leads():
            self._report.held("it has the Lease")
            self._waits = False
        if reasons == self._said:
            return
        for name in sorted(set(self._said or {}) - set(reasons)):
            self._report.held(f"{name} is ready")
        for name, reason in reasons.items():
            if (self._said or {}).get(name) != reason:
                self._report.say(f"  {name} is not ready: {reason}")
        if reasons:
            self._report.say(f"  The manager's log: {self._env.manager_log}")
        else:
            self._report.held(f"everything is ready: http://127.0.0.1:{self._env.health_port}/readyz")
            self._waits = not self._env.leads()
            if self._waits:
                self._report.say("  The manager waits for the Lease: a manager that ended without releasing the Lease holds it for up to 15 s.")
        self._said = reasons


def names_of(options: argparse.Namespace) -> str:
    """What `make` needs to find this control plane again."""
    operator = f" OPERATOR={shlex.quote(os.path.abspath(options.operator))}" if options.operator else ""
    return operator + ("" if options.dir == default_folder(options.operator) else f" DIR={shlex.quote(options.dir)}")


def introduce(env: world.World, report: Report, options: argparse.Namespace) -> None:
    report.say("")
    report.say("Running. In another terminal:")
    q = shlex.quote
    report.say(f"  export KUBECONFIG={q(env.cluster.kubeconfig)}; export PATH={q(env.cluster.bin)}:\"$PATH\"")
    if isinstance(env, OperatorWorld):
        if os.path.exists(sample := os.path.join(env.operator, "sample.yaml")):
            report.say(f"  kubectl apply -f {q(sample)}")
        report.say(f"  kubectl get serviceaccounts -n {env.namespace}      # the identities of its components")
    else:
        report.say("  kubectl apply -f hack/demo/document.yaml      # an example: a template and its instance")
        report.say("  kubectl get scopeinstances,scopetemplates,rolebindings -A")
    base = f" --base-name={q(env.base)}" if isinstance(env, OperatorWorld) else ""
    report.say(f"  {q(env.rbacgen)} trace{base} {q(env.audit_log)}      # who did what")
    report.say(f"  curl -s 'http://127.0.0.1:{env.health_port}/readyz?verbose'      # which components are ready, and why not")
    report.say(f"  curl -s http://127.0.0.1:{env.metrics_port}/metrics")
    report.say(f"  less {q(env.manager_log)}")
    if webhooks.configurations(env):
        report.say("While the manager is stopped, the API server denies the writes that the webhooks cover.")
    report.say("Ctrl-C stops the manager alone; the same command again builds it and starts it again. "
               f"`make stop{names_of(options)}` ends the control plane, too.")
    report.say("")


def say_what_stays(options: argparse.Namespace, report: Report) -> None:
    where = names_of(options)
    report.say(f"The control plane and the logs stay in {options.dir}.")
    report.say(f"  make run{where}       # starts the manager again")
    report.say(f"  make stop{where}      # ends the control plane, and removes it with its data and logs")


def stay(env: world.World, report: Report, options: argparse.Namespace) -> int:
    """Waits until Ctrl-C or the manager's end. Returns the exit code."""
    watcher = Watcher(env, report)
    while not env.manager_ends_within(0.5):
        watcher.look()
    owner = read_state(options.dir).get("owner")
    if owner != processes.record(os.getpid()):
        report.say("Stopped by hack/run stop." if owner is None else "Another hack/run has taken over.")
        return 0
    env.show_logs()
    report.say(f"The manager ended by itself: exit {env.manager_exit_code()}.")
    say_what_stays(options, report)
    return 1


def write_state(folder: str, **state: Any) -> None:
    path = os.path.join(folder, STATE)
    world.World.write_private(path + ".new", json.dumps(state))
    os.replace(path + ".new", path)  # another hack/run may read it at this moment


def make_world(options: argparse.Namespace, report: Report) -> world.World:
    if options.operator is None:
        return world.World(options.dir, report, options.identity_mode, lasting=True)
    try:
        return OperatorWorld(options.dir, report, options.operator, options.program, identity_mode=options.identity_mode, lasting=True)
    except ValueError as error:
        raise Misuse(str(error)) from None


def run(options: argparse.Namespace, report: Report) -> int:
    me = processes.record(os.getpid())
    env = make_world(options, report)
    if not read_state(options.dir):
        write_state(options.dir, owner=None, manager=None)  # marks the folder as ours, even if a later step fails
    try:
        # `stop` ends this call while it builds.
        write_state(options.dir, **{**read_state(options.dir), "starting": me})
        env.prepare()
        former = read_state(options.dir).get("manager")
        write_state(options.dir, owner=me, manager=former)  # tells the hack/run that owns it why it ends
        if end(former):
            report.held("the manager that ran before has ended")
        report.step(f"{os.path.basename(env.manager_program)} starts with base's token file and nothing else")
        if options.webhooks:
            port = new_port([env.health_port, env.metrics_port])
            webhooks.install(env, port)
            options.flags.append(f"--webhook-bind-address=127.0.0.1:{port}")
        else:
            webhooks.uninstall(env)
        env.start_manager(*manager_flags(options.flags))
        write_state(options.dir, owner=me, manager=processes.record(env.manager_pid()))
        if options.webhooks:
            webhooks.trust_conversions(env)
        introduce(env, report, options)
        return stay(env, report, options)
    except StepFailed as failure:
        report.failed(failure)
    except Stop:
        # Another Ctrl-C must not interrupt this.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        report.say("\nStopping the manager.")
        env.end_manager(GRACE_SECONDS)
        say_what_stays(options, report)
        return 0
    say_what_stays(options, report)
    return 1


def stop(options: argparse.Namespace, report: Report) -> int:
    if not os.path.isdir(options.dir):
        report.say(f"Nothing runs in {options.dir}.")
        return 0
    state = read_state(options.dir)
    manager = state.get("manager")
    write_state(options.dir, owner=None, manager=manager)  # tells a hack/run that waits for its manager why that ends
    end(state.get("starting"))
    end(manager)
    cluster = os.path.join(options.dir, "cluster")
    if os.path.isdir(cluster) and subprocess.run([os.path.join(TOOLS, "cluster"), "down", "--dir", cluster],
                                                 stdout=subprocess.DEVNULL).returncode != 0:
        return 1
    shutil.rmtree(options.dir, ignore_errors=True)
    report.say(f"Stopped; {options.dir} is removed.")
    return 0


def main(argv: Sequence[str]) -> int:
    def on_signal(*_: object) -> None:
        raise Stop

    # Needed if a script started this with &, which otherwise ignores SIGINT.
    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    try:
        check_folder(options.dir)
        if options.program and options.operator is None:
            raise Misuse("--program needs --operator")
        return (stop if options.command == "stop" else run)(options, Report())
    except Misuse as misuse:
        print(f"hack/run: {misuse}", file=sys.stderr)
        return 2
    except Stop:
        return 130
