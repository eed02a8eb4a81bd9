"""The main job on one command: two components, each with an identity of its own, on a real Kubernetes API server.

usage: hack/demo/demo [--kill] [--identity-mode MODE] [--dir DIR]

Starts a private control plane on loopback, installs the CRDs and the generated roles as an administrator would,
starts mandate-manager with the base ServiceAccount's token and nothing else, and plays the Oria document with kubectl.
It ends with the audit trace: which component did what, under which token, and who issued that. Exit 0 only if every
step held. To try things yourself: hack/run.

  --kill     play, killing the manager (SIGKILL) in the middle of every step, and the API server in three of them
  --identity-mode MODE  how components act: token (the default), impersonate, single (docs/identity.md)
  --dir DIR  where to keep the cluster and the logs, new or empty (default: a new folder under ${TMPDIR:-/tmp})
"""
import argparse
import os
import signal
import sys
import tempfile

from mandate_dev import world
from mandate_dev.demo import audit
from mandate_dev.demo import story
from mandate_dev.report import Report, StepFailed


def parse(argv):
    parser = argparse.ArgumentParser(prog="hack/demo/demo", add_help=False, allow_abbrev=False)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--identity-mode", choices=["token", "impersonate", "single"], default="token")
    parser.add_argument("--dir")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_args(argv)


def is_free(folder):
    """Whether nothing is there but what an earlier demo has left."""
    if not os.path.lexists(folder):
        return True
    return os.path.isdir(folder) and set(os.listdir(folder)) <= {"audit.log", "manager.log"}


def main(argv):
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    if options.dir and not is_free(options.dir):
        print(f"hack/demo/demo: {options.dir} holds other things; name an empty or a new folder with --dir", file=sys.stderr)
        return 2
    # Ctrl-C and SIGTERM unwind through `finally`.
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    report = Report()
    folder = options.dir or tempfile.mkdtemp(prefix="mandate-demo-")
    env = world.World(folder, report, options.identity_mode)
    try:
        env.start()
        story.play(env, report, kill=options.kill)
        audit.check(env, report)
        story.a_fence_stops(env, report)
        report.say("")
        report.say(f"Audit log:      {env.kept_audit_log}")
        report.say(f"Manager's log:  {env.manager_log}")
        return 0
    except StepFailed as failure:
        report.failed(failure)
        env.show_logs()
        return 1
    except KeyboardInterrupt:
        report.say("")
        report.say("Stopping.")
        return 130
    finally:
        env.stop(keep_logs=True)
