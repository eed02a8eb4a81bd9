"""The checks of hack/e2e/run about components' credentials. Each restores the cluster's state."""
import calendar
import json
import os
import re
import subprocess
import time
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import INSTANCE, TEMPLATE, apply, audit_events, condition, instance, ours, scoped, template
from mandate_dev.cases.e2e.grants import becomes_ready, restart
from mandate_dev.world import BASE, LOADED, NAMESPACE, PATIENCE, World


def last_states(world: World) -> dict[tuple[str, str], str]:
    """Returns the last state in the log for each (component, watch) of the running manager."""
    states: dict[tuple[str, str], str] = {}
    with open(world.manager_log, encoding="utf-8", errors="replace") as f:
        for line in f:
            if " Connected " in line:
                states = {}
            if " Demand changed its state " not in line:
                continue
            fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))
            states[fields["component"], fields["watch"].strip('"')] = fields["state"]
    return states


def time_of(event: Any) -> Any:
    return calendar.timegm(time.strptime(event["requestReceivedTimestamp"][:19], "%Y-%m-%dT%H:%M:%S"))


PLUGIN = """#!/bin/sh
# Works as a cloud's command: prints the token of the file next to it.
echo run >> "$0.runs"
printf '%s' "$KUBERNETES_EXEC_INFO" > "$0.info"
[ -e "$0.hangs" ] && sleep 1000
[ -e "$0.fails" ] && { echo "nobody is logged in: $(cat "$0.token")" >&2; exit 7; }
echo "refreshed for $PLUGIN_PROFILE" >&2
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s","expirationTimestamp":"%s"}}' \
    "$(cat "$0.token")" "$(date -u -d '+60 seconds' +%Y-%m-%dT%H:%M:%SZ)"
"""


class Credentials(WorldCase):
    """Tests components' credentials."""

    def test_a_kill_switch(self) -> None:
        """Deleting a component's Secret ends only that component's tokens and watches; with a new Secret it comes back."""
        world = self.world
        self.step("tokens bound to Secrets")
        world.kubectl("apply", "-f", "-", stdin=world.chart("--kill-switch"))
        restart(world, "--bind-tokens-to-secrets", "-v=1")
        world.await_ready()
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        secret = f"{BASE}-{INSTANCE}"
        # The server must have checked the token recently, because its cache causes the delay.
        self.step("an idle component's Secret is deleted")
        _, offset = audit_events(world)
        start = time.monotonic()
        world.kubectl("delete", "secret", secret, "-n", NAMESPACE)

        def off() -> tuple[Any, Any]:
            _, text = world.readyz()
            said = f"[-]{INSTANCE} failed: Secret {NAMESPACE}/{secret} does not exist" in text
            return said and "kind: Secret" in text and f"[+]{TEMPLATE} ok" in text, text
        world.eventually(f"{INSTANCE} is switched off and prints the Secret; {TEMPLATE} is ready", off)
        took = time.monotonic() - start
        self.expect(f"after {took:.1f} s: 10 s of the server's cache, 10 s between checks, and the machine's load",
                    took < 20 + LOADED, took)

        def stale() -> tuple[Any, Any]:
            mine = {watch: state for (component, watch), state in last_states(world).items() if component == INSTANCE}
            return mine and set(mine.values()) == {"Stale"}, mine
        world.eventually("its demands are Stale", stale)
        states = last_states(world)
        others = {watch: state for (component, watch), state in states.items() if component == TEMPLATE}
        self.expect(f"{TEMPLATE} reads on", others and set(others.values()) == {"Synced"}, others)

        self.step("its requests are denied; the other component works on")
        world.kubectl("patch", "scopeinstance", "e2e", "--type=merge", "-p", '{"spec": {"namespaces": ["default", "kube-public"]}}')
        apply(world, template("other"))
        world.eventually(f"{TEMPLATE} reconciles", lambda: (
            condition(world, "scopetemplate", "other", "Templated").get("status") == "True", "not Templated"))
        events, _ = audit_events(world, offset)
        mine = [e for e in ours(events) if e.get("userAgent", "").endswith(INSTANCE)
                and e["responseStatus"].get("code", 0) < 400 and time_of(e) > time.time() - time.monotonic() + start + took]
        ages = [time.time() - time_of(e) for e in events]
        self.expect("the log's clock is ours", ages and -5 < min(ages) < 60, ages[-3:])
        self.expect(f"no request of {INSTANCE} was answered since", not mine, mine[:2])
        again = [e for e in ours(events) if e.get("userAgent", "").endswith(TEMPLATE) and e["verb"] == "watch"
                 and e["stage"] == "ResponseStarted" and e["objectRef"]["resource"] == "clusterroles"]
        self.expect(f"{TEMPLATE} opened no new watch except to prove its access",
                    all("timeoutSeconds" in e["requestURI"] for e in again), [e["requestURI"] for e in again])
        refused = [e for e in ours(events) if e.get("userAgent", "").endswith(TEMPLATE)
                   and e["responseStatus"].get("code", 0) >= 400]
        self.expect(f"nothing of {TEMPLATE} failed", not refused, refused[:2])

        self.step("a new Secret")
        start = time.monotonic()
        world.kubectl("create", "secret", "generic", secret, "-n", NAMESPACE)
        took = becomes_ready(world, 180)
        self.held(f"it is back after {took:.0f} s")
        world.eventually("the component does the work that it missed", lambda: (
            any(b["metadata"]["name"].startswith("e2e-") for b in world.get("rolebindings", "-n", "kube-public")["items"]),
            "no RoleBinding"))
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e", "scopetemplate/other")

        self.step("without the flag, the chart's policy denies base's token requests")
        restart(world)

        def denied() -> tuple[Any, Any]:
            _, text = world.readyz()
            return "base may only request tokens that are bound to the Secret" in text, text
        world.eventually("readiness reports it", denied)
        world.kubectl("apply", "-f", "-", stdin=world.chart())
        becomes_ready(world, 180)

    def test_a_credential_plugin(self) -> None:
        """Base's credential from a kubeconfig's exec plugin: it is renewed in time and requested again after a 401, and
        a plugin that hangs is killed."""
        world = self.world
        plugin = os.path.join(world.folder, "plugin")
        world.write_private(plugin, PLUGIN)
        os.chmod(plugin, 0o700)

        def new_token(bound: Any) -> None:
            world.kubectl("create", "secret", "generic", bound, "-n", NAMESPACE)
            world.write_private(plugin + ".token", world.kubectl(
                "create", "token", BASE, "-n", NAMESPACE, "--bound-object-kind=Secret", f"--bound-object-name={bound}").strip())

        def runs() -> int:
            with open(plugin + ".runs", encoding="utf-8") as f:
                return len(f.readlines())

        new_token("e2e-plugin")
        usual = world.manager_kubeconfig
        with open(usual, encoding="utf-8") as f:
            config = json.load(f)
        exec_entry = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "IfAvailable",
                      "provideClusterInfo": True, "installHint": "It comes with the tests.",
                      "env": [{"name": "PLUGIN_PROFILE", "value": "production"}]}
        config["users"][0]["user"] = {"exec": exec_entry}

        def write_config(**change: Any) -> None:
            config["users"][0]["user"]["exec"] = {**exec_entry, **change}
            world.write_private(world.manager_kubeconfig, json.dumps(config))
        world.stop_manager()
        world.manager_kubeconfig = os.path.join(world.folder, "plugin.kubeconfig")

        with open(plugin + ".token", encoding="utf-8") as f:
            first = f.read()
        self.step("a plugin that cannot work ends the manager at once, in one line")
        mistakes: list[tuple[str, dict[str, str], str | None, str]] = [
                ("no such command", {"command": "no-such-plugin"}, None, "install it, in a folder of $PATH. It comes with the tests."),
                ("a person is needed", {"interactiveMode": "Always"}, None, "exec.interactiveMode is Always"),
                ("it fails", {}, "fails", "ended with exit code 7; run it by hand to see why; it wrote: nobody is logged in"),
                ("it hangs", {}, "hangs", "did not end in time and was killed")]
        for what, change, file, says in mistakes:
            write_config(**change)
            if file:
                open(f"{plugin}.{file}", "w", encoding="utf-8").close()
            start = time.monotonic()
            done = subprocess.run([world.manager_program, f"--kubeconfig={world.manager_kubeconfig}", f"--namespace={NAMESPACE}",
                                   "--health-probe-bind-address=0",
                                   "--metrics-bind-address=0",
                                   f"--credential-plugin-timeout={2 if file == 'hangs' else PATIENCE}s"],
                                  text=True, capture_output=True, timeout=2 * PATIENCE)
            said = done.stderr.strip().splitlines()[-1]
            self.expect(f"{what}: exit 2 after {time.monotonic() - start:.1f} s",
                        done.returncode == 2 and says in said and "plugin" in said and first not in done.stderr,
                        (done.returncode, done.stderr))
            if file:
                os.remove(f"{plugin}.{file}")

        self.step("the manager with nothing but the plugin")
        write_config()
        before = runs()
        world.start_manager("-v=5")
        world.await_ready()
        self.expect("one run so far", runs() == before + 1, runs() - before)
        with open(plugin + ".info", encoding="utf-8") as f:
            info = json.load(f)
        cluster = info["spec"]["cluster"]
        self.expect("the plugin gets the cluster's server", cluster["server"].startswith("https://")
                    and cluster["certificate-authority-data"] and info["spec"]["interactive"] is False, info)
        world.eventually("it runs again before the credential's minute is over", lambda: (
            runs() == before + 2, f"{runs() - before} runs"), patience=60)
        self.expect("ready", world.is_ready()[0], world.readyz())

        self.step("the server rejects the token")
        # The new token is written first: otherwise the plugin might run in between and print the old one again.
        new_token("e2e-plugin-next")
        at = runs()
        world.kubectl("delete", "secret", "e2e-plugin", "-n", NAMESPACE)
        world.eventually("it is run again at once", lambda: (runs() > at, f"{runs() - at} runs"), patience=45)
        time.sleep(12)  # longer than the Lease outlives a credential that is rejected
        self.expect("the manager runs on, and is ready", world.manager_is_running() and world.is_ready()[0], world.readyz())
        with open(world.manager_log, encoding="utf-8", errors="replace") as f:
            log = f.read()
        with open(plugin + ".token", encoding="utf-8") as f:
            second = f.read()
        self.expect("its message is in the log, without the value of a variable and without a token",
                    "refreshed for <removed>" in log and first not in log and second not in log, log[-2000:])
        world.stop_manager()
        world.manager_kubeconfig = usual
        world.kubectl("delete", "secret", "e2e-plugin-next", "-n", NAMESPACE)
        world.start_manager()
        world.await_ready()
