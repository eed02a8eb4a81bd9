"""Shows the project with one command: two components, each with its own identity, on a real Kubernetes API server.

usage: hack/demo/demo [--kill] [--stay] [--identity-mode MODE] [--dir DIR]

Starts a private control plane on loopback, installs the CRDs and the generated roles as an administrator would,
starts mandate-manager with the base ServiceAccount's token and nothing else, and plays the example of docs/scope.md with kubectl.
Then comes the audit trace: the actions of each component, its token, and the identity that issued the token; and at the
end a user who tries to get more rights through the manager. Exit 0 only if every step held. To try things yourself: hack/run.

  --kill     play, killing the manager (SIGKILL) in the middle of every step, and the API server in three of them
  --stay     after the play, leave everything running until Ctrl-C or SIGTERM (exit 0). For programs that automate:
             DIR/world.json has its kubeconfigs, URLs, ports, pids and paths (CONTRIBUTING.md)
  --identity-mode MODE  how components act: token (the default), impersonate, single (docs/identity.md)
  --dir DIR  where to keep the cluster and the logs, new or empty (default: a new folder under ${TMPDIR:-/tmp})
"""
import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from mandate_dev import paths, processes, world_file
from mandate_dev.demo import audit, story
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import World

W = TypeVar("W", bound=World)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hack/demo/demo", add_help=False, allow_abbrev=False)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--identity-mode", choices=["token", "impersonate", "single"], default="token")
    parser.add_argument("--dir")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_args(argv)


def is_free(folder: str) -> bool:
    """Whether the folder has only files of an earlier demo."""
    if not os.path.lexists(folder):
        return True
    return os.path.isdir(folder) and set(os.listdir(folder)) <= {"audit.log", "manager.log"}


def play(world: World, report: Report, kill: bool) -> None:
    world.start()
    story.play(world, report, kill=kill)
    audit.check(world, report)
    story.a_fence_stops(world, report)
    story.nobody_grants_more(world, report)
    report.say("")
    report.say(f"Audit log:      {world.audit_log}; at the end it becomes {world.kept_audit_log}")
    report.say(f"Manager's log:  {world.manager_log}")


def stay(world: World, report: Report) -> int:
    """Waits until Ctrl-C or until the manager ends by itself. Returns the exit code."""
    report.say(f"World:          {os.path.join(world.folder, world_file.NAME)}")
    report.say("Everything runs until Ctrl-C or SIGTERM.")
    try:
        code = world.manager.wait()
    except KeyboardInterrupt:
        report.say("\nStopping.")
        return 0
    world.show_logs()
    report.say(f"The manager ended by itself: exit {code}.")
    return 1


def perform(program: str, folder: str | None, make: Callable[[Report], W], play: Callable[[W, Report], None],
            stays: bool) -> int:
    """Makes a world, plays in it, and stops it; with `stays`, waits before that. Returns the exit code."""
    if folder and not is_free(folder):
        print(f"{program}: {folder} has other files; choose an empty or a new folder with --dir", file=sys.stderr)
        return 2
    # Both signals unwind through `finally`; SIGINT, too, if a script started this with &, which otherwise ignores it.
    processes.interrupt_on_sigterm(signal.SIGINT)
    report = Report()
    world = make(report)
    try:
        play(world, report)
        return stay(world, report) if stays else 0
    except StepFailed as failure:
        report.failed(failure)
        world.show_logs()
        return 1
    except KeyboardInterrupt:
        report.say("\nStopping.")
        return 130
    finally:
        world.stop(keep_logs=True)


def main(argv: Sequence[str]) -> int:
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    return perform("hack/demo/demo", options.dir,
                   lambda report: World(options.dir or paths.new_folder("demo"), report, options.identity_mode),
                   lambda world, report: play(world, report, options.kill), options.stay)
