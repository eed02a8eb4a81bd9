"""Plays the demonstration of "Informers Based on RBAC" with one command: an operator whose permissions come and go.

usage: hack/demo/scoped [--stay] [--dir DIR]

Starts a private control plane on loopback with kube-scheduler and kwok, so that Pods seem to run, and the Memcached
operator (controllers/memcached) with the base ServiceAccount's token and nothing else. Then plays the ten steps of the
document with kubectl, checks each expected status and log line, and shows the operator's open watches after each step,
counted from the API server's audit log. It takes six to eight minutes, most of them in step 9: a revocation that
nothing announces is noticed within five minutes. Exit 0 only if every step held. Afterwards the control plane is
stopped; the audit log and the operator's log stay in DIR.

  --stay     after the play, leave everything running until Ctrl-C or SIGTERM (exit 0). DIR/world.json has its
             kubeconfigs, URLs, ports, pids and paths (CONTRIBUTING.md)
  --dir DIR  where to keep the cluster and the logs, new or empty (default: a new folder under ${TMPDIR:-/tmp})
"""
import argparse
from collections.abc import Sequence

from mandate_dev import paths
from mandate_dev.demo import scoped_story
from mandate_dev.demo.command import perform
from mandate_dev.demo.scoped_world import ScopedWorld
from mandate_dev.report import Report


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hack/demo/scoped", add_help=False, allow_abbrev=False)
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--dir")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_args(argv)


def play(world: ScopedWorld, report: Report) -> None:
    scoped_story.play(world, report)
    report.say("")
    report.say(f"Audit log:      {world.audit_log}; at the end it becomes {world.kept_audit_log}")
    report.say(f"Operator's log: {world.manager_log}")


def main(argv: Sequence[str]) -> int:
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    return perform("hack/demo/scoped", options.dir,
                   lambda report: ScopedWorld(options.dir or paths.new_folder("scoped-demo"), report), play, options.stay)
