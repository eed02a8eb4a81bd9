"""Tests that the commands of pages are found, run and compared."""
import os
import tempfile
import unittest

from mandate_dev import docs

PAGE = """# A page

```cpp
$ not a command
```

```console
$ echo one
one
$ for i in 1 2; do
>   echo $i
> done
1
…
```

<!-- not run: it takes
     an hour -->
```sh
make world
```

<!-- run first: name=x -->
<!-- another comment -->

```console
$ echo "$name"
```
"""


def only(text: str) -> docs.Block:
    block, = docs.blocks(text)
    return block


class Docs(unittest.TestCase):
    def wrong(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            shell = docs.Shell(folder, dict(os.environ), patience=10)
            try:
                return "\n".join(docs.mistakes(only(text), shell))
            finally:
                shell.close()

    def test_blocks(self) -> None:
        self.assertEqual(list(docs.blocks(PAGE)), [
            docs.Block(7, [docs.Command("echo one", "one", False), docs.Command("for i in 1 2; do\n   echo $i\n done", "1\n…", False)]),
            docs.Block(19, [docs.Command("make world\n")], not_run="it takes an hour"),
            docs.Block(26, [docs.Command('echo "$name"')], first=["name=x"])])

    def test_a_comment_belongs_to_the_next_block_alone(self) -> None:
        page = "<!-- not run: slow -->\nSome text.\n```console\n$ true\n```\n"
        self.assertEqual(only(page).not_run, "")

    def test_a_block_without_a_command_is_a_mistake(self) -> None:
        self.assertIn("write ```text", only("```console\nFOUND it\n```\n").mistake)
        self.assertIn("begins with output", only("```console\nFOUND it\n$ true\n```\n").mistake)
        self.assertEqual(only("```console\n$ true\n```\n").mistake, "")

    def test_a_block_that_is_right(self) -> None:
        self.assertEqual(self.wrong("<!-- run first: x=y -->\n```console\n$ echo $x; false\ny\n$ true\n```\n"), "")

    def test_a_wrong_output_is_a_mistake(self) -> None:
        self.assertEqual(self.wrong("```console\n$ echo two\nthree\n```\n"), "echo two\n--- shown\nthree\n--- printed\ntwo")

    def test_a_failure_of_a_command_without_output_is_a_mistake(self) -> None:
        self.assertEqual(self.wrong("```console\n$ (exit 3)\n```\n"), "(exit 3)\n--- exit 3\n")
        self.assertIn("exit 4", self.wrong("<!-- run first: (exit 4) -->\n```console\n$ true\n```\n"))

    def test_a_command_that_does_not_end(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shell = docs.Shell(folder, dict(os.environ), patience=0.2)
            self.addCleanup(shell.close)
            with self.assertRaisesRegex(TimeoutError, "no end"):
                shell.run("sleep 100")

    def test_what_differs_from_run_to_run(self) -> None:
        for output, shown in [
                ("pod 3m old", "pod 12s old"), ("127.0.0.1:4000", "127.0.0.1:25816"), ("v1.36.1", "v1.36.2"),
                ("JTI=56642ae8-6499-419d-97bd-4cab2629922c 2528927a", "JTI=66642ae8-6499-419d-97bd-4cab2629922c 0528927b"),
                ("at 2026-11-21T14:12:27.57Z", "at 2026-11-22T14:12:48Z"), ("a    b", "a  b  ")]:
            self.assertTrue(docs.is_shown(output, shown), output)
        for output, shown in [("yes", "no"), ("3 errors", "2 errors"), ("one\ntwo", "one"), ("deadbeef", "feedbeef"), ("", "one")]:
            self.assertFalse(docs.is_shown(output, shown), output)
        self.assertTrue(docs.is_shown("a\nb\nc", "a\n…\nc"))
