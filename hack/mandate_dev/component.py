"""Creates a component: its kind, its plan and reconciler with their tests, and its identity in the chart.

usage: hack/component [--webhook] [--conversion] [--demands] NAME KIND [GROUP]
       hack/component --resource=false NAME KIND [GROUP]
       make component NAME=backup KIND=Backup [GROUP=mandate.io] [WEBHOOK=1] [CONVERSION=1] [DEMANDS=1]
       make component NAME=pod-names KIND=Pod RESOURCE=false [GROUP=core]

NAME is the name of the component (backup, disk-check), KIND the kind of the objects that it serves, GROUP their API
group. Folders and files have NAME with "_" for "-": controllers/disk_check. With --webhook, a second component
NAME-webhook validates the objects. With --conversion, the kind has the versions v1, which is stored, and v1beta1, and
NAME-webhook converts between them. With --demands, the component reads the Services of the namespace that the object
names, where and while an administrator lets it. The new component builds, passes its tests and runs under its own ServiceAccount
without changes: it keeps a ConfigMap with the data of the spec for each object. With --resource=false, the component
has no kind of its own: KIND is one of Kubernetes' kinds (Pod of the group core, Deployment of apps), and each object with the
annotation mandate.io/NAME: "true" gets its name as a label. Exit 2, without writing anything, if the component cannot be
created.
"""
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence, Set
from typing import Any

from mandate_dev import existing_kind, processes
from mandate_dev.component_names import KEYWORDS, MACROS, Refused, constant_of, words_of
from mandate_dev.paths import ROOT, read

TEMPLATES = os.path.join(ROOT, "hack", "component_templates")
CHART = "charts/mandate"
PROGRAM = "cmd/mandate-manager"
# The markers of the component that writes caBundle name each configuration.
CERTIFICATES = "controllers/certificates/webhook_certificates.h"

# Options, with the variables that make component has for them.
OPTIONS = {"--webhook": "WEBHOOK", "--conversion": "CONVERSION", "--demands": "DEMANDS"}
# Those that need the component NAME-webhook.
SERVED = {"WEBHOOK", "CONVERSION"}
# --resource=false, kubebuilder's name for it: the kind exists already.
EXISTING = "EXISTING"


def grep(pattern: str, *pathspec: str) -> list[str]:
    """Returns the matches in the tree's sources, including those not yet added to git."""
    done = subprocess.run(["git", "grep", "--untracked", "-hoE", pattern, "--", *pathspec], cwd=ROOT, text=True,
                          capture_output=True)
    return done.stdout.splitlines()


def check(name: str, kind: str, group: str, options: Set[str] = frozenset()) -> dict[str, str]:
    """Rejects names that cannot be a component here; returns the values of the templates' @WORDS@."""
    words = existing_kind.words_of(name, kind, group) if EXISTING in options else words_of(name, kind, group)
    snake, plural = words["SNAKE"], words["PLURAL"]
    taken = {line.partition("name=")[2].split(",")[0] for line in grep(r"^// *\+mandate:component:name=[^ ]+", "*.h", "*.cc")}
    for other in sorted(taken):
        if constant_of(other) == constant_of(name):
            raise Refused(f'NAME "{name}": there is a component {other}; choose another')
    for folder in (f"api/{snake}", f"controllers/{snake}"):
        if os.path.lexists(os.path.join(ROOT, folder)):
            raise Refused(f'NAME "{name}": {folder} exists; choose another, or remove it')
    # The name becomes a C++ namespace inside mandate, which must not hide namespaces that headers use: boost::, absl::.
    if (snake in KEYWORDS | MACROS or grep(rf"namespace (mandate::)?{snake}\b", "*.h", "*.cc")
        or grep(rf"(^|[^:[:alnum:]_]){snake}::", "*.h", "hack/component_templates")):
        raise Refused(f'NAME "{name}" cannot be a C++ namespace: "{snake}" is already a keyword, a macro or a namespace; choose another')
    # Its mandate is a constant there, which the templates' own constants must not hide. A component that needs a
    # constant of the tests' headers names it in its template.
    if grep(rf"\b{constant_of(name)}\b", "*.h", ":!*/testing/*", ":!*fixture*", "hack/component_templates"):
        raise Refused(f'NAME "{name}": its mandate would be the constant {constant_of(name)}, which exists already; choose another')
    if os.path.exists(os.path.join(ROOT, CHART, "crds", f"{group}_{plural}.yaml")):
        raise Refused(f'KIND "{kind}": there is a kind {plural}.{group}; choose another, or another GROUP')
    return words


def check_webhook(words: dict[str, str]) -> None:
    """Rejects names whose webhook cannot be a component."""
    name = f"{words['NAME']}-webhook"
    if len(name) > 63:
        raise Refused(f'NAME "{words["NAME"]}": the component {name} would have more than 63 letters; choose a shorter one')
    if grep(rf"^// *\+mandate:component:name={name}(,|$)", "*.h", "*.cc"):
        raise Refused(f'NAME "{words["NAME"]}": there is a component {name}; choose another')
    if os.path.lexists(os.path.join(ROOT, f"webhooks/{words['SNAKE']}")):
        raise Refused(f'NAME "{words["NAME"]}": webhooks/{words["SNAKE"]} exists; choose another, or remove it')


def formatted(path: str, text: str) -> str:
    if not path.endswith((".h", ".cc")):
        return text
    return subprocess.run(["clang-format", f"--assume-filename={os.path.join(ROOT, path)}"], input=text, text=True,
                          check=True, stdout=subprocess.PIPE).stdout


def new_files(words: dict[str, str], options: Set[str]) -> dict[str, str]:
    """Returns path → text, from the templates."""
    snake = words["SNAKE"]
    files: dict[str, str] = {}

    def add(path: str, template: str, words: dict[str, str], options: Set[str]) -> None:
        files[path] = formatted(path, filled(template, words, options))

    if EXISTING in options:
        for template in sorted(os.listdir(os.path.join(TEMPLATES, "existing"))):
            add(f"controllers/{snake}/{template.removesuffix('.in')}", os.path.join("existing", template), words, options)
        return files
    folders = {"webhook": options & SERVED, "conversion": options & {"CONVERSION"},
               "demands": options & {"DEMANDS"}}
    for folder in (folder for folder, its_options in folders.items() if its_options):
        for template in sorted(os.listdir(os.path.join(TEMPLATES, folder))):
            place = "controllers" if folder == "demands" or template.startswith("sample") else "webhooks"
            add(f"{place}/{snake}/{template.removesuffix('.in')}", os.path.join(folder, template), words, options)
    versions = {words["VERSION"]: options}
    if "CONVERSION" in options:
        versions = {"v1": {*options, "HUB"}, "v1beta1": {*options, "SPOKE"}}
    for version, its_options in versions.items():
        for template, name in (("api.BUILD.bazel.in", "BUILD.bazel"), ("api.proto.in", f"{snake}.proto")):
            add(f"api/{snake}/{version}/{name}", template, {**words, "VERSION": version}, its_options)
    for template in sorted(os.listdir(TEMPLATES)):
        if template.endswith(".in") and not template.startswith("api."):
            add(f"controllers/{snake}/{template.removesuffix('.in')}", template, words, options)
    return files


def filled(template: str, words: dict[str, str], options: Set[str]) -> str:
    text = selected(read(os.path.join(TEMPLATES, template)), options)
    return re.sub("@([A-Z]+)@", lambda m: words[m[1]], text)


def selected(text: str, options: Set[str]) -> str:
    """Returns the lines of a template that the options select: `@if A !B@`, with A and without B, to `@else@` or
    `@end@`."""
    lines: list[str] = []
    stack = [True]
    for line in text.splitlines(keepends=True):
        if line.startswith("@if "):
            wanted = line.strip("@\n").split()[1:]
            stack.append(all((word.lstrip("!") in options) != word.startswith("!") for word in wanted))
        elif line == "@else@\n":
            stack[-1] = not stack[-1]
        elif line == "@end@\n":
            stack.pop()
        elif all(stack):
            lines.append(line)
    return "".join(lines)


def with_label(build: str, target: str, attribute: str, label: str) -> str:
    """Returns a build file's text with a label added to a list of a target."""
    start = build.find(f'    name = "{target}",\n')
    found = re.compile(rf"\n    {attribute} = \[\n((?:        \"[^\"]+\",\n)*)    \],\n").search(build, max(start, 0))
    if start < 0 or not found or found.start() > build.index("\n)", start):
        raise Refused(f"{PROGRAM}/BUILD.bazel: {target} has no list {attribute}, one label a line; put it back, then try again")
    lines = found[1].splitlines(keepends=True) + [f'        "{label}",\n']
    lines.sort(key=lambda line: (line.strip()[1] != ":", line.replace(":", "!")))
    return build[:found.start(1)] + "".join(lines) + build[found.end(1):]


def registered(words: dict[str, str], options: Set[str]) -> dict[str, str]:
    """Returns path → text of the program's files, with the component."""
    snake = words["SNAKE"]
    includes = [f"controllers/{snake}/reconciler.h"]
    rows = [f"{{&{words['CONSTANT']}, MakeOnlyController<{snake}::MakeController>}}"]
    build = with_label(read(f"{PROGRAM}/BUILD.bazel"), "base_mandate", "srcs", f"//controllers/{snake}:mandates_sources")
    build = with_label(build, "components", "deps", f"//controllers/{snake}:reconciler")
    changed = {}
    if options & SERVED:
        build = with_label(build, "base_mandate", "srcs", f"//webhooks/{snake}:mandates_sources")
        build = with_label(build, "components", "deps", f"//webhooks/{snake}:webhook")
        includes.append(f"webhooks/{snake}/webhook.h")
        rows.append(f"{{&{words['WEBHOOKCONSTANT']}, {{}}, {snake}::MakeWebhooks}}")
    if "WEBHOOK" in options:
        changed[CERTIFICATES] = with_configuration(words["NAME"])
    source = read(f"{PROGRAM}/components.cc")
    # clang-format sorts the includes afterwards.
    source, included = re.subn(r'(?m)^(?=#include "manager/)', "".join(f'#include "{i}"\n' for i in includes), source, count=1)
    source, added = re.subn(r"(?m)(^  return \{\n(?:      \{.*\},\n)*)",
                            lambda m: str(m[1]) + "".join(f"      {row},\n" for row in rows), source, count=1)
    if not included or not added:
        raise Refused(f"{PROGRAM}/components.cc: AllComponents() is not a list, one component a line; make it one, then try again")
    path = f"{PROGRAM}/components.cc"
    return {f"{PROGRAM}/BUILD.bazel": build, path: formatted(path, source), **changed}


def with_configuration(name: str) -> str:
    """Returns the markers of webhook-certificates, with the configuration of the component's webhook."""
    text, found = re.subn(r"(resources=validatingwebhookconfigurations,resourceNames=[^,\n]+)",
                          rf"\1;mandate-manager-{name}-webhook-validating", read(CERTIFICATES), count=1)
    if not found:
        raise Refused(f"{CERTIFICATES}: no marker names validatingwebhookconfigurations; put it back, then try again")
    return text


class Undo:
    """Saves the former files, to restore them. They are read before anything is written."""

    def __init__(self, new: Iterable[str], changed: Iterable[str]) -> None:
        self._new = sorted({"/".join(path.split("/")[:2]) for path in new})
        self._old = {path: read(path) for path in changed}
        self._chart = {path: read(path) for path in self._chart_files()}

    @staticmethod
    def _chart_files() -> list[Any]:
        return [os.path.relpath(os.path.join(folder, name), ROOT)
                for folder, _, names in os.walk(os.path.join(ROOT, CHART)) for name in names]

    def __call__(self) -> None:
        for folder in self._new:
            shutil.rmtree(os.path.join(ROOT, folder), ignore_errors=True)
        for path in set(self._chart_files()) - set(self._chart):
            os.remove(os.path.join(ROOT, path))
        for path, text in {**self._chart, **self._old}.items():
            write(path, text)


def write(path: str, text: str) -> None:
    path = os.path.join(ROOT, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and read(path) == text:
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if text.startswith("#!"):
        os.chmod(path, 0o755)


def manifests(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["hack/manifests", *arguments], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def make(name: str, kind: str, group: str, options: Set[str]) -> None:
    words = check(name, kind, group, options)
    words["VERSION"] = "v1" if "CONVERSION" in options else "v1alpha1"
    if options & SERVED:
        check_webhook(words)
    new, changed = new_files(words, options), registered(words, options)
    # Otherwise the chart's changes would not belong only to this component.
    if (before := manifests("--check")).returncode != 0:
        raise Refused("hack/manifests --check fails before anything is written; run it, fix what it reports, then try again: "
                      + (before.stderr.strip().splitlines() or ["it says nothing"])[-1])
    undo = Undo(new, changed)
    try:
        for path, text in {**new, **changed}.items():
            write(path, text)
        after = manifests()
        if after.returncode != 0:
            raise Refused("hack/manifests fails with the new component; nothing is left of it: "
                          + " ".join(after.stderr.split()))
    except BaseException:
        undo()
        raise
    for path in new:
        print(f"wrote {path}")
    for path in changed:
        print(f"wrote {path} (registered)")
    print(after.stdout, end="")
    print(next_steps(words, options))


def next_steps(words: dict[str, str], options: Set[str]) -> str:
    name, kind, group, snake, plural = (words[word] for word in ("NAME", "KIND", "GROUP", "SNAKE", "PLURAL"))
    tests = f"""Next:
  hack/bazel test //controllers/{snake}/...      # its own tests; make test: all
  make run                                       # then, in another terminal, with the KUBECONFIG and PATH that it prints:"""
    code = (f"Its behaviour is in controllers/{snake}/plan.cc, its permissions are in the markers of "
            f"controllers/{snake}/reconciler.h")
    if EXISTING in options:
        return f"""
Component {name} labels each {kind} that has the annotation mandate.io/{name}: "true" with its name, as ServiceAccount
mandate-manager-{name}. {tests}
  kubectl annotate {plural} --all mandate.io/{name}=true
  kubectl get {plural} --show-labels
{code};
after a change of the markers, make manifests."""
    text = f"""
Component {name} keeps a ConfigMap for each {kind}, as ServiceAccount mandate-manager-{name}. {tests}
  kubectl apply -f controllers/{snake}/sample.yaml
  kubectl get {plural}.{group},configmaps
{code}, and
what users write in api/{snake}/{words["VERSION"]}/{snake}.proto; after a change of those two, make manifests."""
    if "DEMANDS" in options:
        text += f"""

A {kind} with servicesOf lists the Services of that namespace, and reports what it is denied (docs/scoped-reads.md):
  kubectl apply -f controllers/{snake}/sample_services.yaml
  kubectl create rolebinding {name} -n default --clusterrole=mandate-manager-{name}-external \\
    --serviceaccount=mandate-system:mandate-manager-{name}"""
    if options & SERVED:
        tasks = [("WEBHOOK", f"validates each {kind} before it is stored (webhooks/{snake}/webhook.cc)"),
                 ("CONVERSION", f"converts it between v1 and v1beta1 (webhooks/{snake}/converter.cc)")]
        text += f"""

Component {name}-webhook {", and ".join(task for option, task in tasks if option in options)}.
It runs with make run WEBHOOKS=1, and in a cluster with the chart's webhooks.enabled (docs/webhooks.md). Its tests:
  hack/bazel test //webhooks/{snake}/..."""
    if "CONVERSION" in options:
        text += f"""

A write or a read in v1beta1 needs that webhook; one in v1 does not. In a cluster, set the caBundle of its CRD:
docs/webhooks.md#conversion. With make run WEBHOOKS=1 it is set:
  kubectl apply -f controllers/{snake}/sample_v1beta1.yaml
  kubectl get {plural}.v1.{group} sample-v1beta1 -o yaml"""
    return text


def options_of(argv: Sequence[str]) -> tuple[set[str], list[str]]:
    """Returns the options as the templates name them, and the other arguments."""
    options: set[str] = set()
    others = []
    for argument in argv:
        option, _, value = argument.partition("=")
        if not option.startswith("--"):
            others.append(argument)
        elif option == "--resource":
            if value not in ("", "true", "false"):
                raise Refused(f'RESOURCE must be true or false; got "{value}"')
            options |= {EXISTING} if value == "false" else set()
        elif option not in OPTIONS:
            raise Refused(f'unknown option "{option}"; there are {", ".join(OPTIONS)}, --resource=false')
        elif value not in ("", "1"):
            raise Refused(f'{OPTIONS[option]} must be 1, or not set; got "{value}"')
        else:
            options.add(OPTIONS[option])
    if EXISTING in options and len(options) > 1:
        raise Refused(f'RESOURCE=false cannot be combined with {", ".join(sorted(options - {EXISTING}))}: these need a kind of '
                      'the component\'s own')
    return options, others


def main(argv: Sequence[str]) -> int:
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    try:
        options, argv = options_of(argv)
    except Refused as refused:
        print(f"hack/component: {refused}", file=sys.stderr)
        return 2
    if len(argv) not in (2, 3) or not all(argv):
        given = dict(zip(("NAME", "KIND"), argv))
        missing = [word for word in ("NAME", "KIND") if not given.get(word)]
        why = f"{' and '.join(missing)} missing" if missing else "GROUP is empty" if len(argv) == 3 else "too many arguments"
        print(f"hack/component: {why}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    processes.interrupt_on_sigterm()
    try:
        group = argv[2] if len(argv) == 3 else "core" if EXISTING in options else "mandate.io"
        make(argv[0], argv[1], group, options)
    except Refused as refused:
        print(f"hack/component: {refused}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
