import subprocess
import sys
import unittest

from mandate_dev import process_memory

# Joins the parts, so that the whole is not in its program text.
CHILD = "import sys; kept = 'needle-' + 'in-memory'; print(len(kept), flush=True); sys.stdin.read()"


class ProcessMemory(unittest.TestCase):
    def test_finds_what_the_process_holds_and_nothing_else(self) -> None:
        with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout
            child.stdout.readline()
            held, absent = b"needle-" + b"in-memory", b"needle-" + b"nowhere"
            self.assertEqual(process_memory.found(child.pid, {held, absent}), {held})
            child.communicate()


if __name__ == "__main__":
    unittest.main()
