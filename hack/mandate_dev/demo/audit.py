"""The proof from the audit log: the actions of each component, as far as each identity mode can show them."""
import json
import subprocess

from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, NAMESPACE, World


def check(world: World, report: Report) -> None:
    report.section("The audit trace")
    {"token": by_token, "impersonate": by_impersonation, "single": by_nothing}[world.identity_mode](world, report)


def trace(world: World, report: Report) -> subprocess.CompletedProcess[str]:
    report.step("rbacgen trace --check")
    done = subprocess.run([world.rbacgen, "trace", "--check", f"--namespace={world.namespace}", world.audit_log], text=True, capture_output=True)
    report.say(done.stdout.rstrip())
    return done


def by_token(world: World, report: Report) -> None:
    done = trace(world, report)
    if done.returncode != 0:
        raise StepFailed(report.current, "every request under its component's own token, issued by base",
                         done.stderr.strip() or f"exit {done.returncode}")
    report.held("every component's tokens were issued by base; base wrote nothing but tokens and its lease")


def by_impersonation(world: World, report: Report) -> None:
    done = trace(world, report)
    if done.returncode != 0:
        raise StepFailed(report.current, "every request of a component as that component",
                         done.stderr.strip() or f"exit {done.returncode}")
    report.held("base wrote nothing in its own name but its Lease")
    report.step("the audit log's impersonatedUser, and its constraint")
    with open(world.audit_log, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    events = [e for e in events if e["stage"] == "ResponseComplete" and e["user"].get("username") ==
              f"system:serviceaccount:{NAMESPACE}:{BASE}" and e.get("impersonatedUser")]
    components = {e["impersonatedUser"]["username"] for e in events}
    free = [e for e in events if e.get("authenticationMetadata", {}).get("impersonationConstraint")
            != "impersonate:serviceaccount"]
    if free or len(components) < 2:
        raise StepFailed(report.current, "constrained impersonation of each component", free[:1] or components)
    report.held(f"{len(events)} requests as {len(components)} components, each by constrained impersonation")


def by_nothing(world: World, report: Report) -> None:
    """A single user sends all requests: this shows that the log cannot distinguish components."""
    done = trace(world, report)
    listed = subprocess.run([world.rbacgen, "trace", "--json", world.audit_log], text=True, capture_output=True)
    kinds = {finding["kind"] for finding in json.loads(listed.stdout)["findings"]}
    if done.returncode != 1 or kinds != {"base-write", "agent-mismatch"}:
        raise StepFailed(report.current, "exit 1, as base wrote what components write under their user agents, and nothing else",
                         f"exit {done.returncode}: {done.stderr.strip()}")
    report.held("rejected: in this mode base sends every write, and a client can choose any user agent")
