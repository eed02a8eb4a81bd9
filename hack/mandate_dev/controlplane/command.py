"""A private Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager, and kubectl.

usage: hack/cluster COMMAND [options]

  up            start it (building its programs the first time) and return; it runs until `down`
      --apiserver-flag=F    one more flag for kube-apiserver, such as --apiserver-flag=--v=4; repeatable
      --foreground          stay; stop and remove it all on Ctrl-C, SIGTERM, or when the starting process ends
      --watch-pid PID       return, but stop and remove it all when process PID ends (also: --supervise PID)
      --keep                with the two above: leave the folder in place at the end
  down          stop it and remove its folder (--keep leaves the folder; the next `up` goes on with its data)
  status        a table of its programs; exit 0 only when all are healthy
  kubeconfig    print the path of the administrator's kubeconfig
  kubectl-path  print the path of a kubectl that uses that kubeconfig unless KUBECONFIG says otherwise
  stop|start|restart apiserver|controller-manager|etcd
      --signal NAME         how stop and restart end it: TERM (the default), KILL, INT, QUIT, ABRT

With every command, which cluster; any number of them run side by side:
  --dir DIR     its folder (default: ${TMPDIR:-/tmp}/mandate-cluster-UID, with --port N mandate-cluster-UID-N). In it:
                kubeconfig, ca.crt, server (the URL), bin/kubectl, audit.log, a log for each program, pki/, and
                cluster.json (pids and ports). Relative paths in API server flags start there.
  --port N      the port of its API server; 0, the default, lets `up` choose a free one

If KUBEBUILDER_ASSETS is set, etcd, kube-apiserver and kubectl come from that folder (hack/controlplane/build --help).

When `hack/cluster up --foreground` itself is killed, even by SIGKILL, its programs end with it; the next `up` or `down`
removes the rest of the folder. Exit codes: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from mandate_dev import processes
from mandate_dev.controlplane import components, supervisor
from mandate_dev.controlplane.folder import (Failure, Misuse, check_folder, empty_folder, is_locked, kill_leftovers, read_state,
                    running_state, take_lock)
from mandate_dev.paths import TOOLS


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Misuse(f"{message} (hack/cluster --help)")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    def port(text: str) -> int:
        if not text.isdecimal() or int(text) > 65535:
            raise argparse.ArgumentTypeError(f"{text!r} is not a port")
        return int(text)

    def component(text: str) -> str | None:
        if not components.full_name(text):
            raise argparse.ArgumentTypeError(f"{text!r} must be one of apiserver, controller-manager, etcd")
        return components.full_name(text)

    def flag(text: str) -> str:
        if not text.startswith("--"):
            raise argparse.ArgumentTypeError(f"{text!r} is not a flag: it must start with --")
        return text

    parser = Parser(prog="hack/cluster", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, add_help=False, allow_abbrev=False)
        sub.add_argument("--dir")
        sub.add_argument("--port", type=port, default=0)
        return sub

    up = command("up")
    up.add_argument("--apiserver-flag", type=flag, action="append", default=[], dest="flags")
    up.add_argument("--foreground", action="store_true")
    up.add_argument("--watch-pid", "--supervise", type=int)
    up.add_argument("--keep", action="store_true")
    command("down").add_argument("--keep", action="store_true")
    for name in ("status", "kubeconfig", "kubectl-path"):
        command(name)
    for name in ("stop", "start", "restart"):
        sub = command(name)
        sub.add_argument("component", type=component)
        if name != "start":
            sub.add_argument("--signal", type=lambda text: text.upper().removeprefix("SIG"), default="TERM",
                             choices=supervisor.STOP_SIGNALS)
    args = parser.parse_args(argv)
    if args.dir == "":
        raise Misuse("--dir is empty")
    name = f"mandate-cluster-{os.getuid()}" + (f"-{args.port}" if args.port else "")
    args.dir = os.path.abspath(args.dir or os.path.join(os.environ.get("TMPDIR") or "/tmp", name))
    if args.command == "up" and args.keep and not args.foreground and args.watch_pid is None:
        raise Misuse("up --keep requires --foreground or --watch-pid; without them nothing is removed")
    return args


# Commands.

def check_port(args: argparse.Namespace, state: components.State) -> None:
    port = state.get("ports", {}).get("apiserver")
    if port and args.port not in (0, port):
        raise Misuse(f"the cluster in {args.dir} is on port {port}, not {args.port}")


def wait_until_up(args: argparse.Namespace) -> int:
    """Completes an `up` that finds another one running or done; returns the exit code."""
    deadline, told = time.monotonic() + 1200, False
    while True:
        state = read_state(args.dir)
        if state.get("phase") == "ready":
            break
        if not is_locked(args.dir) or time.monotonic() > deadline:
            raise Failure(f"the cluster that was being started in {args.dir} did not come up")
        if not told:
            print(f"another `up` runs in {args.dir}: waiting for it", flush=True)
            told = True
        time.sleep(0.1)
    check_port(args, state)
    if args.flags and args.flags != state["apiserver_flags"]:
        raise Misuse(f"the cluster in {args.dir} already runs with other API server flags; `down` it first")
    print(f"already running: {components.server_url(state)}, folder {args.dir}")
    return 0


def build_programs() -> str:
    script = os.path.join(TOOLS, "controlplane", "build")
    done = subprocess.run([script], stdout=subprocess.PIPE, text=True,
                          preexec_fn=processes.die_with_parent(signal.SIGTERM))
    if done.returncode:
        raise Failure("the control plane's programs could not be built")
    return done.stdout.strip()


def up(args: argparse.Namespace) -> int:
    check_folder(args.dir)
    if is_locked(args.dir):
        return wait_until_up(args)
    parent = os.getppid()
    watched = {}  # pidfd -> the meaning of its end
    try:
        if args.watch_pid is not None:
            watched[os.pidfd_open(args.watch_pid)] = f"process {args.watch_pid} ended"
        if args.foreground and parent > 1:
            watched[os.pidfd_open(parent)] = "the process that started it ended"
    except (OSError, OverflowError):
        raise Misuse(f"there is no process {parent if args.watch_pid is None else args.watch_pid} to watch") from None
    if args.port and not components.port_is_free(args.port):
        raise Misuse(f"port {args.port} is taken; choose another, or omit --port to let `up` choose")
    programs = build_programs()
    os.umask(0o077)
    lock = take_lock(args.dir)
    if lock is None:
        return wait_until_up(args)
    os.chmod(args.dir, 0o700)  # it may have existed, empty
    if args.foreground and os.getppid() != parent:
        raise Failure("the process that started it ended")

    state = read_state(args.dir)
    kill_leftovers(state)
    created = state.get("ephemeral", True) or not state.get("initialised")
    if created:  # new, or left by a run that meant to remove it
        empty_folder(args.dir)
        state = {}
    ephemeral = (args.foreground or args.watch_pid is not None) and not args.keep
    state.update(bin=programs, apiserver_flags=args.flags or state.get("apiserver_flags", []),
                 ephemeral=created and ephemeral)
    os.chdir(args.dir)
    if not created:
        print(f"going on with the data in {args.dir}; it stays there at the end", flush=True)

    def supervise(say: Callable[[str, bool], None], on_ready: Callable[[supervisor.Supervisor], None],
                  *extra: tuple[int | socket.socket, str]) -> int:
        runner = supervisor.Supervisor(args.dir, state, say)
        for fd, reason in [*watched.items(), *extra]:
            runner.stop_when_ended(fd, reason)
        return runner.run(args.port, created, ephemeral, lambda: on_ready(runner))

    def tell(line: str, error: bool = False) -> None:
        try:
            print(line, file=sys.stderr if error else sys.stdout, flush=True)
        except OSError:
            pass  # the reader has exited; the cluster is stopped by other means

    ready = (f"        kubeconfig {args.dir}/kubeconfig, kubectl {args.dir}/bin/kubectl,\n"
             f"        audit log {args.dir}/audit.log")
    if args.foreground:
        return supervise(tell, lambda _: tell(f"{ready}\n        Ctrl-C stops it"))
    return detach(supervise, lock, list(watched), f"{ready}\n        `hack/cluster down --dir {args.dir}` stops it")


def detach(supervise: Callable[..., int], lock: int, keep_open: list[int], ready: str) -> int:
    """Runs `supervise` in a process of its own, passes on its messages, and returns once the cluster is up."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        os.setsid()
        for source, target in ((os.open("/dev/null", os.O_RDONLY), 0),
                               (os.open("supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1), (1, 2)):
            os.dup2(source, target)
        # A process that waits for the end of the caller's pipes, or for its lock, must not wait for the cluster.
        for fd in sorted(int(name) for name in os.listdir("/proc/self/fd")):
            if fd > 2 and fd not in (lock, theirs.fileno(), *keep_open):
                try:
                    os.close(fd)
                except OSError:
                    pass  # the listing's own descriptor
        code = 1
        try:
            def say(line: str, error: bool = False) -> None:
                print(line, flush=True)
                try:
                    theirs.sendall(json.dumps([line, error]).encode() + b"\n")
                except OSError:
                    pass  # `up` has returned

            def on_ready(runner: supervisor.Supervisor) -> None:
                runner.forget(theirs)
                theirs.sendall(b"null\n")
                theirs.close()

            code = supervise(say, on_ready, (theirs, "`up` was interrupted"))
        except BaseException:
            say(traceback.format_exc(), error=True)
        finally:
            os._exit(code)
    theirs.close()
    os.close(lock)  # the supervisor's copy holds it
    up_now = False
    try:
        for line in ours.makefile("rb"):
            said = json.loads(line)
            if said is None:
                up_now = True
            else:
                print(said[0], file=sys.stderr if said[1] else sys.stdout, flush=True)
    except KeyboardInterrupt:
        ours.shutdown(socket.SHUT_RDWR)  # tells the supervisor to stop and to clean up
        os.waitpid(child, 0)
        raise
    if up_now:
        print(ready)
        return 0
    os.waitpid(child, 0)
    raise Failure("the cluster did not come up")


def ask(directory: str, request: dict[str, Any]) -> str:
    """One request to the cluster's supervisor; the working directory keeps the socket's name short."""
    os.chdir(directory)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(1200)
        s.connect(components.CONTROL_SOCKET)
        s.sendall(json.dumps(request).encode() + b"\n")
        line = s.makefile("rb").readline()
    if not line:
        raise Failure("the cluster was stopped meanwhile")
    answer = json.loads(line)
    if "error" in answer:
        raise Failure(answer["error"])
    return str(answer["text"])


def down(args: argparse.Namespace) -> int:
    check_folder(args.dir)
    if not os.path.isdir(args.dir):
        print(f"no cluster in {args.dir}")
        return 0
    check_port(args, read_state(args.dir))
    if is_locked(args.dir):
        rec = read_state(args.dir).get("supervisor")
        pidfd = processes.open_pidfd(rec)
        try:
            ask(args.dir, {"do": "down", "keep": args.keep})
        except OSError:  # it does not listen yet, or has stopped
            if pidfd is not None:
                signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        if pidfd is not None and not select.select([pidfd], [], [], 300)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)  # its children end with it
            processes.wait_gone(pidfd, 10)
    if not os.path.isdir(args.dir):
        print(f"stopped; {args.dir} removed")
        return 0
    lock = take_lock(args.dir)
    if lock is None:
        raise Failure(f"the cluster in {args.dir} does not stop; see its supervisor.log")
    state = read_state(args.dir)
    kill_leftovers(state)
    if not args.keep:
        shutil.rmtree(args.dir)
    print(f"stopped; {args.dir} {'kept' if args.keep else 'removed'}")
    return 0


def status(args: argparse.Namespace) -> int:
    state = running_state(args.dir)
    check_port(args, state)
    if "ports" not in state:
        raise Failure(f"the cluster in {args.dir} is being started")
    os.chdir(args.dir)
    rows, healthy = [("COMPONENT", "PID", "STATE", "PORT", "LOG")], state["phase"] == "ready"
    for name in components.NAMES:
        rec = state["components"].get(name, {"state": "not started"})
        alive = processes.is_alive(rec)
        reason = components.unhealthy(name, state) if alive else rec["state"] if "pid" not in rec else "ended"
        healthy = healthy and alive and reason is None
        rows.append((name, str(rec["pid"]) if alive else "-",
                     (f"not healthy: {reason}" if alive else reason) if reason else "healthy",
                     str(components.port_of(name, state)), os.path.join(args.dir, components.log_of(name))))
    print(f"{components.server_url(state)}  {state['phase']}, supervisor pid {state['supervisor']['pid']}")
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return 0 if healthy else 1


def print_path(args: argparse.Namespace) -> int:
    check_port(args, running_state(args.dir))
    print(os.path.join(args.dir, "kubeconfig" if args.command == "kubeconfig" else "bin/kubectl"))
    return 0


def control(args: argparse.Namespace) -> int:
    state = running_state(args.dir)
    check_port(args, state)
    if state.get("phase") != "ready":
        raise Failure(f"the cluster in {args.dir} is being started or stopped")
    print(ask(args.dir, {"do": args.command, "component": args.component, "signal": getattr(args, "signal", None)}))
    return 0


def main(argv: Sequence[str]) -> int:
    if {"-h", "--help"} & set(argv) or argv == ["help"]:
        print(__doc__.strip())
        return 0
    try:
        args = parse(argv)
        return {"up": up, "down": down, "status": status, "kubeconfig": print_path,
                "kubectl-path": print_path}.get(args.command, control)(args)
    except Misuse as misuse:
        print(f"hack/cluster: {misuse}", file=sys.stderr)
        return 2
    except Failure as failure:
        print(f"hack/cluster: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"hack/cluster: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
