"""Creates an operator in a folder of its own, which uses this clone of Mandate as a library.

usage: hack/operator DIR NAME KIND [GROUP]
       make operator DIR=../backup NAME=backup KIND=Backup [GROUP=example.com]

DIR is a new or an empty folder, outside this clone. NAME is the name of the operator's component (backup, disk-check),
KIND the kind of the objects that it serves, GROUP their API group. The operator is examples/operator with these names:
it builds, passes its tests and runs without changes, and keeps a ConfigMap for each object. Its base is
NAME-operator, so that it can run beside other operators of Mandate. Exit 2, without writing anything, if the operator
cannot be created.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from mandate_dev import bazel, processes
from mandate_dev.component import formatted
from mandate_dev.component_names import KEYWORDS, MACROS, Refused, plural_of, words_of
from mandate_dev.paths import ROOT

TEMPLATE = os.path.join(ROOT, "examples", "operator")
# rbacgen writes these.
GENERATED = ("chart/crds", "chart/templates/generated")
# The words of the template, the first that fits.
WORDS = {
    "greeting-operator": "{NAME}-operator",
    "greeting-webhook": "{NAME}-webhook",
    "v1alpha1-greeting": "v1alpha1-{LOWER}",
    "example-com": "{DASHED}",
    '"greeting"': '"{NAME}"',
    "name=greetings": "name={PLURAL}",
    "name=greeting": "name={NAME}",
    "kGreeting": "{CONSTANT}",
    "greetings": "{PLURAL}",
    "Greetings": "{KINDS}",
    "Greeting": "{KIND}",
    "greeting": "{SNAKE}",
    "example.com": "{GROUP}",
    "../..": "{MANDATE}",
}


def template_files() -> list[str]:
    """Returns the files of the template, relative to it, without those that are generated."""
    found = []
    for folder, _, names in os.walk(TEMPLATE):
        paths = (os.path.relpath(os.path.join(folder, name), TEMPLATE) for name in names)
        found += [path for path in paths if not path.startswith(GENERATED)]
    return sorted(found)


def several(kind: str) -> str:
    """BackupPolicy → BackupPolicies."""
    plural = plural_of(kind)
    same = len(os.path.commonprefix([kind.lower(), plural]))
    return kind[:same] + plural[same:]


def renamed(text: str, words: dict[str, str]) -> str:
    pattern = "|".join(re.escape(word) for word in WORDS)
    return re.sub(pattern, lambda found: WORDS[found[0]].format(**words), text)


def read(path: str) -> str:
    with open(os.path.join(TEMPLATE, path), encoding="utf-8") as f:
        return f.read()


def check_identifiers(words: dict[str, str]) -> None:
    """Rejects names that the sources use for something else."""
    sources = [read(path) for path in template_files() if path.endswith((".h", ".cc", ".proto"))]
    known = {word for text in sources for word in re.findall(r"\w+", text)} - {"greeting", "Greeting"}
    for option, name in (("NAME", words["SNAKE"]), ("KIND", words["KIND"])):
        if name in known | KEYWORDS | MACROS:
            raise Refused(f'{option}: the sources use the word "{name}" for something else; choose another')


def new_files(folder: str, words: dict[str, str]) -> dict[str, str]:
    """Returns path → text, relative to the folder."""
    words = {**words, "MANDATE": os.path.relpath(ROOT, folder), "KINDS": several(words["KIND"])}
    files = {}
    for path in template_files():
        target = renamed(path, words)
        files[target] = formatted(target, renamed(read(path), words))
    return files


def check_folder(folder: str) -> None:
    if os.path.commonpath([folder, ROOT]) == ROOT:
        raise Refused(f"DIR {folder} is in the clone of Mandate; choose a folder outside of it (make component adds a component here)")
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Refused(f"DIR {folder} is not an empty folder; choose another, or remove it")


def generate(folder: str) -> str:
    """Runs //:manifests on the operator. Returns its output."""
    bazel.build("//:manifests")
    done = subprocess.run([os.path.join(bazel.info()["bazel-bin"], "manifests"), "generate"], text=True, capture_output=True,
                          env={**os.environ, "BUILD_WORKSPACE_DIRECTORY": folder})
    if done.returncode != 0:
        raise Refused(f"rbacgen fails for the new operator; nothing is left of it: {' '.join(done.stderr.split())}")
    return done.stdout


def make(folder: str, name: str, kind: str, group: str) -> None:
    folder = os.path.realpath(folder)
    words = words_of(name, kind, group)
    check_folder(folder)
    check_identifiers(words)
    files = new_files(folder, words)
    existed = os.path.isdir(folder)
    try:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                f.write(text)
        report = generate(folder)
    except BaseException:
        shutil.rmtree(folder)
        if existed:
            os.mkdir(folder)
        raise
    for path in files:
        print(f"wrote {path}")
    print(report, end="")
    q = shlex.quote
    print(f"""
Operator {name}-operator keeps a ConfigMap for each {kind}, as ServiceAccount {name}-operator-{name}. Next:
  cd {q(folder)}
  bazel test //...                       # its tests; the first time this compiles Mandate's runtime, which takes minutes
  {q(os.path.join(ROOT, "hack", "run"))} --operator .     # a private control plane with the operator on it
Its behaviour is in {words["SNAKE"]}/plan.cc, its permissions are in the markers of {words["SNAKE"]}/reconciler.h, and what users write
is in api/v1alpha1/{words["SNAKE"]}.proto; after a change of those two, bazel run @mandate//:manifests. README.md says more.""")


def main(argv: Sequence[str]) -> int:
    if list(argv) in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(argv) not in (3, 4) or not all(argv):
        missing = [word for word, given in zip(("DIR", "NAME", "KIND"), [*argv, "", "", ""]) if not given]
        why = f"{' and '.join(missing)} missing" if missing else "GROUP is empty" if len(argv) == 4 else "too many arguments"
        print(f"hack/operator: {why}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    processes.interrupt_on_sigterm()
    try:
        folder, name, kind, *group = argv
        make(folder, name, kind, group[0] if group else "example.com")
    except Refused as refused:
        print(f"hack/operator: {refused}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
