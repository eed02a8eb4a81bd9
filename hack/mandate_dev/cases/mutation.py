"""The decisions of hack/nightly mutants: the lines that it skips, the bugs that it samples, the results that it keeps.

usage: hack/mutation_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import os
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import xml.etree.ElementTree
from collections.abc import Iterator, Sequence
from typing import Any

from mandate_dev import runner
from mandate_dev.mutation import candidates as c, record, workshop
from mandate_dev.paths import ROOT


def names(source: str, made: Any) -> list[Any]:
    return [(x.line, x.was, x.became) for x in c.candidates("a.cc", source, made)]


class Skipping(unittest.TestCase):
    def test_changes_within_comments_and_texts(self) -> None:
        line = '  if (a == b) return Error("a == b", \'=\');  // a == b'
        changes = [line[:i] + "!=" + line[i + 2:] for i in range(len(line)) if line.startswith("==", i)]
        self.assertEqual(len(changes), 3)
        self.assertEqual(names(line, [(1, t) for t in changes]), [(1, line.strip(), changes[0].strip())])

    def test_quotes_that_open_nothing(self) -> None:
        line = "  x = 1'000 + 2; y = 1'000 + 3;"
        self.assertFalse(c.in_string(line, 12, 13))
        self.assertTrue(c.in_string('f("\\"+", 1 + 2)', 5, 6))
        self.assertFalse(c.in_string('f("\\"+", 1 + 2)', 11, 12))
        self.assertTrue(c.in_string("// a + b", 5, 6))

    def test_raw_strings_over_lines(self) -> None:
        source = 'auto s = R"(\na == b\n)" + t == u;\nv == w;'
        made = [(2, "a != b"), (3, ')" + t != u;'), (4, "v != w;")]
        self.assertEqual([n[0] for n in names(source, made)], [3, 4])

    def test_logs_assertions_comments_and_directives(self) -> None:
        source = ('log_.Info("x", {{"a", 1}});\noptions_.log.Error("x",\n    {{"b", c == d}});\nlog.With("a", 1);\n'
                  "assert(a == b);\nstatic_assert(a ==\n              b);\n#define X a == b \\\n  c == d\n"
                  "/* a == b\n   a == b */\n// a == b\nsize_t hash = a + b;\nDialog(a == b);\nanalog.Info(a == b);")
        made = [(i + 1, l.replace("==", "!=").replace("1", "0").replace("+", "-")) for i, l in enumerate(source.split("\n"))]
        self.assertEqual([n[0] for n in names(source, made)], [14, 15])

    def test_only_whole_statements_are_deleted(self) -> None:
        source = ("void F() {\n  a = b;\n  f(x,\n    y);\n  int n = 0;\n  std::vector<int> v(3);\n  const auto& w = v;\n  Loop& loop_;\n"
                  "  g();\n  auto h = [&] {\n    i();\n  };\n  if (a)\n    j();\n  k\n      .l();\n  *m = 1;  // why\n  ++o;")
        made = [(i + 1, "  ;") for i in range(len(source.split("\n")))]
        self.assertEqual([n[1] for n in names(source, made)],
                         ["a = b;", "g();", "i();", "j();", "*m = 1;  // why", "++o;"])

    def test_a_guard_is_turned_round_once(self) -> None:
        source = "  if (a == b) {\n  if (!a) {\n  if (a || !b) {\n  if (a.empty()) {\n  } else if (f(a, b)) {"
        made = [(i + 1, l.replace("if (", "if (!(").replace(") {", ")) {")) for i, l in enumerate(source.split("\n"))]
        self.assertEqual([n[0] for n in names(source, made)], [3, 4, 5])

    def test_numbers_that_members_begin_with(self) -> None:
        source = "  uint64_t seed = 0;  // 0\n  bool on = true;\n  return n == 0;"
        made = [(1, source.split("\n")[0].replace("0", "1", 1)), (2, "  bool on = false;"), (3, "  return n == 1;")]
        self.assertEqual([x.line for x in c.candidates("a.h", source, made)], [2, 3])
        self.assertEqual([x.line for x in c.candidates("a.cc", source, made)], [1, 2, 3])

    def test_texts_that_look_like_comments_end_nothing(self) -> None:
        lines = ['  f("/api/*", a == b);\n', '  g("{{- if", a == b);\n', "  h(a == b);\n"]

        def tool(source: str, rules: Any, ignorePatterns: Any) -> Iterator[Any]:
            for line in source:
                if "/*" in line or "{-" in line:
                    return
                yield source.index(line) + 1, line.replace("==", "!="), None

        fake = types.ModuleType("universalmutator")
        setattr(fake, "mutator", types.SimpleNamespace(mutants_regexp=tool))
        with unittest.mock.patch.dict(sys.modules, {"universalmutator": fake}):
            self.assertEqual(c.mutants(lines, "r"), [(i + 1, l.rstrip("\n").replace("==", "!=")) for i, l in enumerate(lines)])

    def test_the_same_change_counts_once(self) -> None:
        self.assertEqual(len(names("  f();", [(1, "  ;"), (1, ";"), (1, "  f();")])), 1)


class Choosing(unittest.TestCase):
    def test_only_what_tests_are_about(self) -> None:
        product = ["manager/cache/store.cc", "manager/cache/store.h", "manager/core/test.cc"]
        others = ["manager/cache/store_test.cc", "manager/cache/turns_benchmark.cc", "manager/cache/BUILD.bazel",
                  "manager/cache/testing/widget_server.cc", "rbacgen/testdata/a.cc", "manager/testing.h"]
        self.assertEqual([p for p in product + others if c.is_product(p)], product)


class Sampling(unittest.TestCase):
    SOURCE = "".join(f"  if (a == {i}) return;\n" for i in range(50))

    def found(self, source: str) -> Any:
        made = [(i + 1, l.replace("==", "!=")) for i, l in enumerate(source.split("\n")) if l]
        return c.candidates("a.cc", source, made)

    def test_goes_by_the_seed_alone(self) -> None:
        first, limit = c.sample(self.found(self.SOURCE), "1", per_file=5)
        self.assertEqual(limit, 5)
        self.assertEqual([x.name for x in first], [x.name for x in c.sample(self.found(self.SOURCE), "1")[0]])
        self.assertNotEqual([x.name for x in first], [x.name for x in c.sample(self.found(self.SOURCE), "2")[0]])

    def test_lines_above_change_nothing(self) -> None:
        first, _ = c.sample(self.found(self.SOURCE), "1")
        moved, _ = c.sample(self.found("\n// new\n" + self.SOURCE), "1")
        self.assertEqual([x.name for x in first], [x.name for x in moved])

    def test_lines_of_the_same_text_are_told_apart(self) -> None:
        twice = self.found("  f(a == b);\n  f(a == b);")
        self.assertEqual([x.nth for x in twice], [0, 1])
        self.assertNotEqual(twice[0].order("1"), twice[1].order("1"))

    def test_shares(self) -> None:
        self.assertEqual(c.sample(self.found(self.SOURCE), "1", share=10)[1], 5)
        self.assertEqual(c.sample(self.found(self.SOURCE), "1", share=0.1)[1], 1)
        self.assertEqual(c.sample(self.found(self.SOURCE), "1", per_file=3, share=10)[1], 3)
        self.assertEqual(c.sample(self.found(self.SOURCE), "1")[1], 50)
        self.assertEqual(c.sample([], "1", per_file=3), ([], 0))


class Remembering(unittest.TestCase):
    def test_a_key_is_of_file_and_bug(self) -> None:
        one, two = Sampling().found("  f(a == b);\n  f(a == c);")
        self.assertEqual(len({c.key("s", one), c.key("s", two), c.key("S", one)}), 3)
        self.assertEqual(c.key("s", one), c.key("s", one))

    def test_what_other_tests_could_change_is_tried_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            r = record.Record(os.path.join(folder, "r"))
            before = {"//a": "1", "//b": "1"}
            r.add("f", "found", "//a", "n", before)
            r.add("s", "survived", "", "n", before)
            r.add("b", "does not compile", "", "n", before)
            r.add("o", "found", "time", "n", before)
            for tests, known in ((before, "fsbo"), ({**before, "//b": "2"}, "fb"), ({**before, "//a": "2"}, "b"),
                                 ({"//b": "1"}, "b"), ({**before, "//c": "1"}, "fb")):
                self.assertEqual("".join(key for key in "fsbo" if r.get(key, tests)), known, tests)

    def test_a_record_outlives_its_run_and_a_line_that_is_cut_off(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "deep/record.jsonl")
            record.Record(path).add("k1", "found", "//t", "n", {"//t": "1"})
            with open(path, "a") as f:
                f.write('{"key": "k2", "res')
            beside = record.Record(path)
            beside.add("k3", "survived", "", "n", {})
            again = record.Record(path)
            self.assertEqual(again.get("k1", {"//t": "1"})["result"], "found")
            self.assertIsNone(again.get("k2", {}))
            self.assertEqual(again.get("k3", {})["result"], "survived")

    def test_a_survivor_is_one_until_a_test_finds_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.jsonl")
            record.Record(path).add("old tests", "survived", "", "bug", {})
            again = record.Record(path)
            self.assertTrue(again.survived("bug"))
            self.assertFalse(again.survived("another bug"))
            again.add("new tests", "found", "//t", "bug", {})
            self.assertFalse(again.survived("bug"))

    def test_the_table_sums_up_what_is_judged(self) -> None:
        lines, shares = record.table([("manager/core", 10, 9), ("manager/leader", 10, 10), ("rbacgen", 4, 1), ("x/y", 0, 0)])
        self.assertEqual(shares, {"manager": 0.95, "rbacgen": 0.25})
        self.assertRegex("\n".join(lines), r"manager/core +10 +9 +90 %")


class Equivalents(unittest.TestCase):
    def test_a_line_has_its_reason(self) -> None:
        self.assertEqual(c.read_equivalents("# x\n\na.cc: f(); ==> ;  # why\n"), {"a.cc: f(); ==> ;": "why"})
        for wrong in ("a.cc: f(); ==> ;", "a.cc: f();  # why", "f(); ==> ;  # why", "a.cc: f(); ==> ;  # "):
            with self.assertRaises(ValueError):
                c.read_equivalents(wrong)

    def test_each_is_of_a_line_that_is_there(self) -> None:
        with open(os.path.join(ROOT, "hack/mutation/equivalents.txt")) as f:
            for name in c.read_equivalents(f.read()):
                place, change = name.split(": ", 1)
                path, _, nth = place.partition("#")
                with open(os.path.join(ROOT, path)) as source:
                    lines = [line.strip() for line in source]
                self.assertGreaterEqual(lines.count(change.split(" ==> ")[0]), int(nth or 1), name)

    def test_one_line_of_several_is_named_by_its_number(self) -> None:
        _, two = c.candidates("a.cc", "  f(a == b);\n  f(a == b);", [(1, "  f(a != b);"), (2, "  f(a != b);")])
        self.assertEqual(two.names, ("a.cc: f(a == b); ==> f(a != b);", "a.cc#2: f(a == b); ==> f(a != b);"))


class Compiling(unittest.TestCase):
    def test_flags_keep_what_the_code_means(self) -> None:
        words = ["gcc", "-Wall", "-std=c++20", "-MD", "-MF", "x.d", "-frandom-seed=x", "-fPIC", "-iquote", ".", "-O1",
                 "-Werror", "-DA=1", "-c", "a.cc", "-o", "a.o"]
        self.assertEqual(workshop.Workshop.flags(words), ["gcc", "-std=c++20", "-fPIC", "-iquote", ".", "-DA=1", "-w", "-O0"])


class Bazel(unittest.TestCase):
    def judged(self, code: Any, said: Any) -> Any:
        return workshop.judge(subprocess.CompletedProcess([], code, said, ""))

    def test_only_a_test_that_fails_has_found_a_bug(self) -> None:
        self.assertEqual(self.judged(0, "//a:a_test  PASSED in 1s\n"), ("survived", ""))
        self.assertEqual(self.judged(3, "//a:b_test  PASSED in 1s\n//a:a_test  FAILED in 1s\n"), ("found", "//a:a_test"))
        self.assertEqual(self.judged(1, "ERROR: /t/BUILD:1:2: C++ compilation of rule '//a' failed (Exit 1): gcc failed\n"),
                         ("does not compile", ""))
        self.assertEqual(self.judged(1, "ERROR: /t/BUILD:1:2: Linking of rule '//a' failed (Exit 1): gcc failed\n"),
                         ("does not compile", ""))
        self.assertEqual(self.judged(1, "ERROR: no such target\n"), ("does not compile", ""))
        self.assertEqual(self.judged(1, "ERROR: x: C++ compilation of rule '//a' failed (Exit 1)\nstatic assertion failed"),
                         ("found", "a static_assert"))
        self.assertEqual(self.judged(1, "ERROR: /t/BUILD:1:2: Executing genrule //a:b failed (Exit 1): bash failed\n"),
                         ("found", "a program that the build runs"))
        for code in (2, 4, 8, 36, 37):
            with self.assertRaises(RuntimeError):
                self.judged(code, "")


class Scripts(unittest.TestCase):
    RULE = ("<rule class='sh_test' name='//a/b:c_test'><list name='data'><label value='//a:a'/></list>"
            "<list name='args'><string value='{}'/></list></rule>")

    def test_locations_are_as_seen_from_the_runfiles(self) -> None:
        for arg, wanted in (("$(location //a)", "a/a"), ("$(location //a:x)", "a/x"), ("$(location :x)", "a/b/x"),
                            ("$(location x/y.go)", "a/b/x/y.go"), ("$(location @r//:p/q.go)", "external/r/p/q.go"),
                            ("$(location @r//p:q)", "external/r/p/q"), ("-x=$(location :y)", "-x=a/b/y"), ("z", "z")):
            test = workshop.Test(xml.etree.ElementTree.fromstring(self.RULE.format(arg)))
            self.assertEqual(test.args, [wanted])

    def test_only_the_program_loads_the_library(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shop = workshop.Workshop.__new__(workshop.Workshop)
            shop.bin, shop.tmp = os.path.join(folder, "bin"), folder
            os.makedirs(os.path.join(shop.bin, "a/b/c_test.runfiles/mandate/a/b"))
            beside = os.path.join(shop.bin, "a/a" + workshop.SHARED)
            script = os.path.join(shop.bin, "a/b/c_test.runfiles/mandate/a/b/c_test")
            os.symlink("nowhere", os.path.join(shop.bin, "a/b/c_test.runfiles/mandate/a/a"))
            for path, text in ((beside, '[ "$1" = two\\ words ] && echo "$LD_PRELOAD" >>out'),
                               (script, '[ -z "$LD_PRELOAD" ] && a/a "two words" && grep -q good out')):
                with open(path, "w") as f:
                    f.write("#!/bin/sh\n" + text + "\n")
                os.chmod(path, 0o755)
            test = workshop.Test(xml.etree.ElementTree.fromstring(self.RULE.format("$(location //a)")))
            test.programs = ["//a:a"]
            for library, passes in (("/none/good.so", True), ("/none/bad.so", False), ("/none/good.so", True)):
                self.assertEqual(shop.run(test, library, 10), passes)


CASES = [Skipping, Choosing, Sampling, Remembering, Equivalents, Compiling, Bazel, Scripts]


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/mutation_test", __doc__, CASES, argv)
