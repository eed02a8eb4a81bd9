"""The process that owns a cluster's three programs: starts them, restarts them on request, and never leaves one behind.

It is their parent and single-threaded: the kernel kills them when it dies (processes.die_with_parent), and a child that
it has not reaped yet keeps its pid, so it can only ever signal the right one. It holds the lock on the cluster's folder
for its lifetime; a process that gets the lock knows that nothing runs.
"""
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from mandate_dev import processes
from mandate_dev.controlplane import certificates, components

START_SECONDS = {components.ETCD: 180, components.APISERVER: 600, components.MANAGER: 300}  # for a machine under load
STOP_SECONDS = 20
STOP_SIGNALS = ("TERM", "KILL", "INT", "QUIT", "ABRT")  # those that end a process


class Stopped(Exception):
    """The cluster must end: a signal came, a watched process ended, or `down` was called."""


class Failed(Exception):
    """A component did not start; the message is for the user."""


def log_tail(path: str, lines: int = 15) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return "".join("    " + line for line in f.readlines()[-lines:]).rstrip() or "    (its log is empty)"
    except OSError:
        return "    (it has no log)"


class Supervisor:
    """Single-threaded. The working directory is the cluster's folder, whose lock the caller holds.

    directory: the folder's absolute path. state: the content of cluster.json; the caller sets `bin`, `apiserver_flags`
    and `ephemeral`, and this class sets the rest. say(line, error): prints the progress.
    """

    def __init__(self, directory: str, state: components.State, say: Callable[[str, bool], None]) -> None:
        self.directory, self.state, self.say = directory, state, say
        self.began = time.monotonic()
        self.children: dict[str, subprocess.Popen[bytes]] = {}  # component -> Popen, for the running ones
        self.stopping: set[str] = set()  # components that are being stopped
        self.stop_reason: str | None = None
        self.selector = selectors.DefaultSelector()
        self.listener: socket.socket | None = None
        self._catch_signals()

    # Interruptions: each source only records the reason; _pump raises it where it is safe.

    def _catch_signals(self) -> None:
        reader, writer = socket.socketpair()
        for end in (reader, writer):
            end.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._wakeup = (reader, writer)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup is respected
                signal.signal(number, self._on_signal)
        self.selector.register(reader, selectors.EVENT_READ, lambda: reader.recv(64))

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.stop_reason = self.stop_reason or signal.Signals(number).name

    def stop_when_ended(self, pidfd: int | socket.socket, reason: str) -> None:
        """Stops once the process behind the pidfd has ended (or a socket is at its end)."""

        def ended() -> None:
            self.selector.unregister(pidfd)  # it stays readable
            self.stop_reason = self.stop_reason or reason

        self.selector.register(pidfd, selectors.EVENT_READ, ended)

    def forget(self, fileobj: int | socket.socket) -> None:
        self.selector.unregister(fileobj)

    def _pump(self, seconds: float | None) -> None:
        for key, _ in self.selector.select(seconds):
            key.data()
        if self.stop_reason:
            raise Stopped(self.stop_reason)

    def _step(self, text: str, error: bool = False) -> None:
        self.say(f"{time.monotonic() - self.began:6.1f}s  {text}", error)

    def _save(self) -> None:
        temporary = components.STATE_FILE + ".new"
        with open(temporary, "w", encoding="utf-8") as f:
            json.dump(self.state, f, indent=1)
        os.rename(temporary, components.STATE_FILE)

    # One component.

    def _spawn(self, name: str) -> None:
        child = processes.spawn(components.command(name, self.state), components.log_of(name))
        self.children[name] = child
        self.state["components"][name] = {**processes.record(child.pid), "state": "running"}
        self._save()
        pidfd = os.pidfd_open(child.pid)

        def ended() -> None:
            self.selector.unregister(pidfd)
            os.close(pidfd)
            code = child.wait()
            del self.children[name]
            how = f"ended by SIG{signal.Signals(-code).name[3:]}" if code < 0 else f"ended with exit code {code}"
            wanted = name in self.stopping
            self.state["components"][name] = {"state": "stopped" if wanted else how}
            self._save()
            if not wanted and self.state["phase"] == "ready":
                self._step(f"{name} {how}; `hack/cluster start {name.removeprefix('kube-')}` starts it again")

        self.selector.register(pidfd, selectors.EVENT_READ, ended)

    def _wait_for(self, name: str, what: str, met: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not met():
            self._pump(0.05)
            if name not in self.children:
                how = self.state["components"][name]["state"]
                raise Failed(f"{name} {how} before it was {what}; the end of its log:\n"
                             + log_tail(components.log_of(name)))
            if time.monotonic() > deadline:
                raise Failed(f"{name} was not {what} within {seconds} s: "
                             f"{components.unhealthy(name, self.state) or 'healthy'}; the end of its log:\n"
                             + log_tail(components.log_of(name)))

    def _start(self, name: str) -> None:
        self.stopping.discard(name)
        self._spawn(name)
        self._wait_for(name, "ready", lambda: not components.unhealthy(name, self.state), START_SECONDS[name])

    def _stop(self, name: str, sig: signal.Signals, seconds: float = STOP_SECONDS) -> str:
        """Returns how it ended. It is never interrupted: a stop that has begun is completed."""
        child = self.children.get(name)
        if not child:
            return "was not running"
        self.stopping.add(name)
        child.send_signal(sig)
        how, deadline = f"stopped by {sig.name}", time.monotonic() + seconds
        while name in self.children:
            if time.monotonic() > deadline:
                how, deadline = f"killed, because it did not end within {seconds} s of {sig.name}", time.monotonic() + 60
                child.kill()
            for key, _ in self.selector.select(0.1):
                key.data()
        return how

    # The cluster.

    def start(self, explicit_port: int) -> None:
        """Starts all programs. Raises Failed or Stopped; programs that have started keep running."""
        self.state.update(phase="starting", components={}, supervisor=processes.record(os.getpid()))
        self.state["ports"] = components.choose_ports(self.state.get("ports", {}), explicit_port)
        self._save()
        if not self.state.get("initialised"):
            certificates.make()
            self.state["initialised"] = True
            self._step("certificates and keys made")
        components.write_files(self.state, self.directory)
        for name in components.NAMES:
            self._start_on_free_port(name, explicit_port)
            self._step(f"{name} is ready on 127.0.0.1:{components.port_of(name, self.state)}")
        self._wait_for(components.MANAGER, "ready with the ServiceAccount `default` made",
                       lambda: components.default_account_exists(self.state), 60)
        self.state["phase"] = "ready"
        self._listen()
        self._save()
        self._step(f"the cluster is up: {components.server_url(self.state)}")

    def _start_on_free_port(self, name: str, explicit_port: int) -> None:
        for _ in range(3):
            try:
                return self._start(name)
            except Failed as failure:
                # The port was free when chosen; between choosing and listening another program can have taken it.
                if "address already in use" not in str(failure) or (name == components.APISERVER and explicit_port):
                    raise
                ports = self.state["ports"]
                for use in (u for u in components.PORT_USES if u.startswith(name.removeprefix("kube-"))):
                    ports[use] = components.new_port(ports.values())
                components.write_files(self.state, self.directory)
        return self._start(name)

    def stop_all(self, remove: bool) -> None:
        """Ends every program; `remove` removes the folder, too."""
        if self.listener:  # no request is served any more
            self.forget(self.listener)
            self.listener.close()
            os.unlink(components.CONTROL_SOCKET)
            self.listener = None
        for name in reversed(components.NAMES):
            # Data that is about to be deleted needs no orderly shutdown.
            self._stop(name, signal.SIGKILL if remove else signal.SIGTERM)
        if remove:
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            self.state["phase"] = "down"
            self._save()

    # Requests of other `hack/cluster` calls: one JSON line each way on a socket in the folder, which is private.

    def _listen(self) -> None:
        if os.path.lexists(components.CONTROL_SOCKET):
            os.unlink(components.CONTROL_SOCKET)  # of a supervisor that was killed: the lock is ours
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(components.CONTROL_SOCKET)
        self.listener.listen()
        self.selector.register(self.listener, selectors.EVENT_READ, self._serve_one)

    def _serve_one(self) -> None:
        # Unregistered during the work, because waiting handles events: requests are served one after the other.
        assert self.listener is not None
        self.forget(self.listener)
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(5)
            try:
                request = json.loads(connection.makefile("rb").readline())
                answer = self._perform(request)
            except (OSError, ValueError, KeyError) as error:
                answer = {"error": f"bad request: {error}"}
            except Failed as failure:
                answer = {"error": str(failure)}
            finally:
                if self.listener:
                    self.selector.register(self.listener, selectors.EVENT_READ, self._serve_one)
            try:
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                pass  # the caller has exited

    def _perform(self, request: dict[str, Any]) -> dict[str, str]:
        if request["do"] == "down":
            self.remove = not request["keep"]
            self.stop_reason = self.stop_reason or "down"
            return {"text": "stopping"}
        name, did = request["component"], []
        if request["do"] in ("stop", "restart"):
            did.append(self._stop(name, signal.Signals["SIG" + request["signal"]]))
        if request["do"] in ("start", "restart"):
            if name in self.children:
                return {"text": f"{name} is running already"}
            began = time.monotonic()
            self._start(name)
            did.append(f"ready again after {time.monotonic() - began:.1f} s")
        text = f"{name} {', '.join(did)}"
        self._step(text)
        return {"text": text}

    def run(self, explicit_port: int, created: bool, ephemeral: bool, on_ready: Callable[[], Any]) -> int:
        """Runs the cluster from start to end; returns the exit code.

        created: this run made the folder's content. ephemeral: that content is removed at the end.
        """
        self.remove = created  # until all programs are up: a failed start leaves nothing
        ready = False
        try:
            self.start(explicit_port)
            on_ready()
            self.remove = created and ephemeral
            ready = True
            while True:
                self._pump(None)
        except Stopped as stopped:
            self._step(f"stopping: {stopped}")
            return 0 if ready else 1
        except (Failed, certificates.Failure, OSError) as failure:
            self._step(f"failed: {failure}", error=True)
            return 1
        finally:
            self.stop_all(self.remove)
            self._step("stopped" + (f"; {self.directory} removed" if self.remove else f"; {self.directory} kept"))
            sys.stdout.flush()
