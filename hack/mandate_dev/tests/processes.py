"""Processes: signals reach the recorded one, and no process outlives its parent."""
import os
import signal
import subprocess
import sys
import unittest

from mandate_dev import processes


class Processes(unittest.TestCase):
    def sleeper(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(["sleep", "600"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_a_recorded_process_is_ended(self) -> None:
        child = self.sleeper()
        record = processes.record(child.pid)
        self.assertTrue(processes.is_alive(record))
        self.assertTrue(processes.kill(record))
        self.assertFalse(processes.is_alive(record))

    def test_another_process_of_that_pid_is_left_alone(self) -> None:
        record = processes.record(self.sleeper().pid)
        others: list[processes.Record | None] = [{**record, "start": 1}, {**record, "boot": "another"}, {}, None]
        for other in others:
            self.assertTrue(processes.kill(other))
        self.assertTrue(processes.is_alive(record))

    def test_a_child_ends_with_its_parent(self) -> None:
        script = ("import subprocess; from mandate_dev import processes; "
                  "print(subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL, "
                  "preexec_fn=processes.die_with_parent()).pid)")
        done = subprocess.run([sys.executable, "-B", "-c", script], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                              capture_output=True, text=True, check=True)
        pid = int(done.stdout)
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        self.addCleanup(os.close, fd)
        self.assertTrue(processes.wait_gone(fd, 60) or processes.start_time(pid) is None)

    def test_sigterm_is_an_interrupt(self) -> None:
        before = signal.getsignal(signal.SIGTERM)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        processes.interrupt_on_sigterm()
        with self.assertRaises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)

    def test_output_is_shown_and_returned(self) -> None:
        self.assertEqual(processes.show("printf ''; exit 3", "/"), (3, ""))
