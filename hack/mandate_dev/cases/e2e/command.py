"""End-to-end checks of mandate-manager on a real control plane: what the demo does not play.

usage: hack/e2e/run [NAME…]     all checks, or those named; the last line is `N passed, N failed`
"""
import shutil
import signal
import sys
import tempfile
import traceback

from mandate_dev import world
from mandate_dev.cases.e2e import base_checks
from mandate_dev.cases.e2e import checks
from mandate_dev.cases.e2e import credential_checks
from mandate_dev.cases.e2e import grant_checks
from mandate_dev.cases.e2e import metrics_checks
from mandate_dev.cases.e2e import scope_checks
from mandate_dev.cases.e2e import tenant_checks
from mandate_dev.report import Report, StepFailed


def main(argv):
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    # Those of checks.py last: the very last leaves a thousand namespaces.
    known = (grant_checks.ALL + base_checks.ALL + credential_checks.ALL + metrics_checks.ALL + scope_checks.ALL
             + tenant_checks.ALL + checks.ALL)
    chosen = [c for c in known if not argv or c.__name__ in argv]
    if unknown := [name for name in argv if name not in {c.__name__ for c in known}]:
        print(f"hack/e2e/run: no check is named {unknown[0]!r}; there are: {', '.join(c.__name__ for c in known)}",
              file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    report = Report()
    folder = tempfile.mkdtemp(prefix="mandate-e2e-")
    env = world.World(folder, report)
    failed = []
    try:
        env.start()
        for check in chosen:
            report.section(f"{check.__name__}: {check.__doc__.strip()}")
            try:
                check(env, report)
            except StepFailed as failure:
                report.failed(failure)
                env.show_logs()
                failed.append(check.__name__)
            except (OSError, ValueError, KeyError, IndexError):
                traceback.print_exc()
                failed.append(check.__name__)
    except StepFailed as failure:
        report.failed(failure)
        env.show_logs()
        failed = [c.__name__ for c in chosen]
    finally:
        env.stop(keep_logs=bool(failed))
    if failed:
        report.say(f"\nFailed: {', '.join(failed)}; logs in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    report.say(f"\n{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))
