"""Builds rbacgen as one static file, and tries it where nothing else is."""
import glob
import os
import shutil
import subprocess
import tempfile

from mandate_dev.paths import cache
from mandate_release import programs, tree

GO = """package pod

// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch
// +kubebuilder:webhook:path=/validate,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,\
verbs=create,versions=v1,name=pod.example.com,admissionReviewVersions=v1
"""


def _jsoncpp(folder: str) -> None:
    """Debian has every library that rbacgen needs as an .a file but jsoncpp; this builds it from Debian's own source."""
    library = os.path.join(folder, "libjsoncpp.a")
    if os.path.exists(library):
        return
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for name in ("lists/partial", "sources", "src"):
            os.makedirs(os.path.join(work, name))
        for path in ("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    lines = f.read().splitlines()
                with open(os.path.join(work, "sources", os.path.basename(path)), "w", encoding="utf-8") as f:
                    for line in lines:
                        line = "Types: deb-src" if line == "Types: deb" else line
                        f.write(("deb-src " + line[4:] if line.startswith("deb ") else line) + "\n")
        apt = ["apt-get", "-qq", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={work}/sources",
               "-o", f"Dir::State::Lists={work}/lists", "-o", "APT::Sandbox::User=root"]
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "source", "--download-only", "libjsoncpp"], check=True, cwd=work, stdout=subprocess.DEVNULL)
        archive, = glob.glob(os.path.join(work, "libjsoncpp_*.orig.tar.gz"))
        subprocess.run(["tar", "-xzf", archive, "-C", f"{work}/src", "--strip-components=1"], check=True)
        for source in sorted(glob.glob(f"{work}/src/src/lib_json/*.cpp")):
            subprocess.run(["g++", "-O2", f"-ffile-prefix-map={work}=", f"-I{work}/src/include", "-c", source, "-o",
                            f"{work}/{os.path.basename(source)}.o"], check=True)
        subprocess.run(["ar", "rcsD", f"{work}/libjsoncpp.a", *sorted(glob.glob(f"{work}/*.o"))], check=True)
        shutil.copy(f"{work}/libjsoncpp.a", library + ".new")
        os.replace(library + ".new", library)


def build(path: str) -> None:
    """Writes the program."""
    libraries = cache("release", "lib")
    _jsoncpp(libraries)
    flags = ["--config=release", "--linkopt=-static", f"--linkopt=-L{libraries}", "--strip=always", "--stripopt=--strip-all"]
    programs.bazel("build", *flags, "--noshow_progress", "//rbacgen:rbacgen.stripped")
    built = os.path.join(programs.bazel("info", *flags, "bazel-bin").strip(), "rbacgen", "rbacgen.stripped")
    with open(built, "rb") as f:
        programs.install(f.read(), path)


def failures(path: str) -> list[str]:
    """Runs the program with no environment, in an otherwise empty folder, on a small project. What does not work."""
    found = []
    empty: dict[str, str] = {}
    headers = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True, text=True).stdout
    if "INTERP" in headers or "DYNAMIC" in headers:
        found.append(f"{path} is not static: it has an interpreter or a dynamic section")
    tries = {f"rbacgen {tree.version()}": ["--version"], "Exit codes": ["--help"],
             "name: pod": ["rbac", "--component-from=dir", "./..."],
             "name: pod.example.com": ["webhook", "./..."],
             "name: mandate-manager-pod": ["chart", "--format=yaml", "--component-from=dir", "./..."]}
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "internal", "controller", "pod", "reconciler.go")
        os.makedirs(os.path.dirname(source))
        with open(source, "w", encoding="ascii") as f:
            f.write(GO)
        for wanted, arguments in tries.items():
            done = subprocess.run([path, *arguments], cwd=folder, env=empty, check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode != 0 or wanted not in done.stdout:
                found.append(f"rbacgen {' '.join(arguments)}: exit {done.returncode}, without {wanted!r}:\n{done.stdout}")
    return found
