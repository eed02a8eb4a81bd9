"""The proof: what the audit log says about who did what."""
import subprocess

from report import StepFailed


def check(env, report):
    report.section("The audit trace")
    report.step("rbacgen trace --check")
    done = subprocess.run([env.rbacgen, "trace", "--check", env.audit_log], text=True, capture_output=True)
    report.say(done.stdout.rstrip())
    if done.returncode != 0:
        raise StepFailed(report.current, "every request under its component's own token, issued by base",
                         done.stderr.strip() or f"exit {done.returncode}")
    report.held("every component's tokens were issued by base; base wrote nothing but tokens and its lease")
