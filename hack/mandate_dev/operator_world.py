"""A world with an operator of a repository of its own."""
import os
import re
import subprocess
from typing import Any

from mandate_dev import bazel
from mandate_dev.paths import ROOT
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, World

MARKER = re.compile(r"^// *\+mandate:component:", re.MULTILINE)
# Of rbacgen.yaml, which need not have it.
BASE_NAME = re.compile(r"^base-name: *[\"']?([-a-z0-9]+)", re.MULTILINE)


class OperatorWorld(World):
    """The manager is the program of another workspace, whose components, kinds and base name count.

    program: a target of that workspace, a program that is built already, or "" for the only cc_binary.
    """

    enabled = ""

    def __init__(self, folder: str, report: Report, operator: str, program: str = "", **options: Any) -> None:
        self.operator = os.path.abspath(operator)
        self.program = program or self._only_program()
        self.base = self._base_name()
        super().__init__(folder, report, **options)
        self.proto_root = self.operator
        self.further_protos = (ROOT,)

    def _bazel(self, *command: str, **options: Any) -> str:
        done = subprocess.run(["bazel", *command], cwd=self.operator, check=True, text=True, timeout=bazel.BUILD_SECONDS, **options)
        return done.stdout or ""

    def _only_program(self) -> str:
        try:
            found = self._bazel("query", "--noshow_progress", "kind(cc_binary, //...)", stdout=subprocess.PIPE).split()
        except (OSError, subprocess.SubprocessError) as error:
            raise ValueError(f"{self.operator} is not a Bazel workspace ({error}): name a program that is built with --program") from None
        if len(found) != 1:
            raise ValueError(f"{self.operator} has {len(found)} programs; choose one with --program: {', '.join(found)}")
        return found[0]

    def _base_name(self) -> str:
        try:
            with open(os.path.join(self.operator, "rbacgen.yaml"), encoding="utf-8") as f:
                found = BASE_NAME.search(f.read())
        except OSError as error:
            raise ValueError(f"{self.operator} is not an operator: {error}") from None
        return found[1] if found else BASE

    def build_programs(self) -> tuple[str, dict[str, str]]:
        bazel.build("//rbacgen", "@kubernetes//:protos")
        if not self.program.startswith("//"):
            built = os.path.join(self.operator, self.program)
            if not os.path.isfile(built):
                raise StepFailed(self.report.current, f"the program {built}, which --program names", "no such file")
            return built, bazel.info()
        self._bazel("build", self.program)
        folder, _, name = self.program.removeprefix("//").partition(":")
        built = self._bazel("info", "bazel-bin", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).strip()
        return os.path.join(built, folder, name or os.path.basename(folder)), bazel.info()

    def _files(self, *suffixes: str) -> list[str]:
        """Returns the operator's files, relative to its folder."""
        found = []
        for folder, folders, names in os.walk(self.operator):
            folders[:] = [name for name in folders if not name.startswith((".", "bazel-"))]
            found += [os.path.relpath(os.path.join(folder, name), self.operator) for name in names if name.endswith(suffixes)]
        return sorted(found)

    def proto_files(self) -> list[str]:
        return self._files(".proto")

    def marker_files(self) -> list[str]:
        found = []
        for path in (os.path.join(self.operator, file) for file in self._files(".h", ".cc")):
            with open(path, encoding="utf-8") as f:
                if MARKER.search(f.read()):
                    found.append(path)
        if not found:
            raise StepFailed(self.report.current, "a source with a +mandate:component marker", f"none in {self.operator}")
        return found
