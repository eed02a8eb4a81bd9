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
SOURCES = re.compile(r"^sources:(.*(?:\n[ \t-].*)*)", re.MULTILINE)
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

    def _configuration(self) -> str:
        try:
            with open(os.path.join(self.operator, "rbacgen.yaml"), encoding="utf-8") as f:
                return f.read()
        except OSError as error:
            raise ValueError(f"{self.operator} is not an operator: {error}") from None

    def _base_name(self) -> str:
        found = BASE_NAME.search(self._configuration())
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

    @staticmethod
    def _files(top: str, *suffixes: str) -> list[str]:
        """Returns the files of a folder, or the file itself."""
        found = [top] if os.path.isfile(top) else []
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith((".", "bazel-"))]
            found += [os.path.join(folder, name) for name in names if name.endswith(suffixes)]
        return sorted(found)

    def proto_files(self) -> list[str]:
        return [os.path.relpath(path, self.operator) for path in self._files(self.operator, ".proto")]

    def _sources(self) -> list[str]:
        """Returns the sources in rbacgen.yaml: those of the chart. Some may be in Mandate's tree, such as access-observer."""
        sources = SOURCES.search(self._configuration())
        names = re.findall(r"[-\w./]+", re.sub(r"#.*", "", sources[1])) if sources else []
        found = []
        for name in names:
            paths = [os.path.abspath(os.path.join(top, name)) for top in (self.operator, ROOT)]
            found += [path for path in paths if os.path.exists(path)][:1]
        return found or [self.operator]

    def marker_files(self) -> list[str]:
        found = []
        for path in (path for top in self._sources() for path in self._files(top, ".h", ".cc")):
            with open(path, encoding="utf-8") as f:
                if MARKER.search(f.read()):
                    found.append(path)
        if not found:
            raise StepFailed(self.report.current, "a source with a +mandate:component marker",
                             f"none in the sources of {self.operator}/rbacgen.yaml")
        return found
