"""The checks of hack/e2e/run about who a component is and what it may. Each leaves the cluster as it found it."""
import calendar
import json
import os
import re
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from checks import INSTANCE, TEMPLATE, apply, audit_events, condition, expect, falls_silent, instance, ours, scoped, template
from environment import BASE, LOADED, NAMESPACE, PATIENCE

ROLE = f"{BASE}-{TEMPLATE}"
SUBJECT = {"kind": "ServiceAccount", "name": ROLE, "namespace": NAMESPACE}


def bare(thing):
    """An object as one would create it anew."""
    meta = {k: v for k, v in thing["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    return {**{k: v for k, v in thing.items() if k != "status"}, "metadata": meta}


def restart(env, *flags):
    env.stop_manager()
    env.start_manager(*flags)


def becomes_ready(env, within=20):
    """After how many seconds. Missing permissions are asked for every 15 s."""
    start = time.monotonic()
    env.eventually("the manager is ready", env.is_ready, patience=within + LOADED)
    return time.monotonic() - start


def binding(name, role, ns=None):
    kind = "RoleBinding" if ns else "ClusterRoleBinding"
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": name, **({"namespace": ns} if ns else {})},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [SUBJECT]}


def cluster_role(name, rules, labels=None, aggregate=None):
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels or {}}, "rules": rules}
    if aggregate:
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": aggregate}]}
    return role


def apply_printed(env, component):
    """What /readyz/COMPONENT says to apply: all but its first line."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{env.health_port}/readyz/{component}", timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    env.kubectl("apply", "-f", "-", stdin=text.partition("\n")[2])


def without_verb(role, verb, resource):
    """The role, of which one verb of one resource has been taken away by hand."""
    rules = []
    for rule in role["rules"]:
        if verb not in rule.get("verbs", []) or resource not in rule.get("resources", []):
            rules.append(rule)
            continue
        others = [r for r in rule["resources"] if r != resource]
        rules += [{**rule, "resources": others}] if others else []
        rules.append({**rule, "resources": [resource], "verbs": [v for v in rule["verbs"] if v != verb]})
    return {**role, "rules": rules}


def a_grant_goes_at_run_time(env, report):
    """What is taken away while it works is told as at the start, and asked for no more once it is back."""
    name = f"{BASE}-{INSTANCE}"
    role = bare(env.get("clusterrole", name))
    restart(env, "-v=1")
    env.await_ready()
    apply(env, template(), instance(["default"]))
    scoped(env, "True")

    def told(verb, resource):
        def look():
            _, text = env.readyz()
            mine = f"[-]{INSTANCE} failed" in text and f"may not {verb} {resource}" in text and "kind: ClusterRole" in text
            return mine and f"[+]{TEMPLATE} ok" in text, text
        return look

    report.step("create of rolebindings is taken out of the role, and a namespace is added to an instance")
    apply(env, without_verb(role, "create", "rolebindings"))
    env.kubectl("patch", "scopeinstance", "e2e", "--type=merge", "-p", '{"spec": {"namespaces": ["default", "kube-public"]}}')
    env.eventually(f"{INSTANCE} says so, with a manifest; {TEMPLATE} is ready",
                   told("create", "rolebindings.rbac.authorization.k8s.io"))
    report.step("exactly what it printed is applied")
    apply_printed(env, INSTANCE)
    report.held(f"ready by itself after {becomes_ready(env):.0f} s")
    scoped(env, "True")

    report.step("watch of namespaces goes, and the server ends its watches")
    apply(env, without_verb(role, "watch", "namespaces"))
    env.kill_apiserver()
    env.eventually(f"{INSTANCE} says so, with a manifest; {TEMPLATE} is ready", told("watch", "namespaces"))
    report.step("exactly what it printed is applied")
    apply_printed(env, INSTANCE)
    report.held(f"ready by itself after {becomes_ready(env):.0f} s")

    report.step("nothing to do")
    falls_silent(env, report, 20)
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    apply(env, role)


def preflight_judges_what_is_granted(env, report):
    """Whatever way a grant falls short, its component alone is NotReady and prints what to apply; then it is ready."""
    role = bare(env.get("clusterrole", ROLE))
    bound = bare(env.get("clusterrolebinding", ROLE))
    crs = next(r for r in role["rules"] if "scopetemplates" in r["resources"])
    others = [r for r in role["rules"] if r != crs]

    def without(*objects):
        env.kubectl("delete", "--ignore-not-found", *objects)

    def restricted(**change):
        return lambda: apply(env, {**role, "rules": [*others, {**crs, **change}]})

    short = [
        ("a verb is missing", restricted(verbs=["list"]), "may not watch scopeinstances.operators.coreos.com"),
        ("a rule is limited to one name", restricted(resourceNames=["one"]),
         "may not list scopeinstances.operators.coreos.com"),
        ("the role is bound in one namespace only",
         lambda: (without(f"clusterrolebinding/{ROLE}"), apply(env, binding(ROLE, ROLE, "default"))),
         "may not"),
        ("the role is gone and its binding stays", lambda: without(f"clusterrole/{ROLE}"),
         "(the server says: RBAC: clusterrole.rbac.authorization.k8s.io"),
    ]
    for what, spoil, says in short:
        report.step(what)
        spoil()
        restart(env)

        def named():
            _, text = env.readyz()
            mine = f"[-]{TEMPLATE} failed" in text and says in text and "kind: ClusterRoleBinding" in text
            return mine and f"[+]{INSTANCE} ok" in text, text
        env.eventually(f"{TEMPLATE} says so, with a manifest; {INSTANCE} is ready", named)
        if what == short[0][0]:
            report.step("exactly what it printed is applied")
            apply_printed(env, TEMPLATE)
            took = becomes_ready(env)
            report.held(f"ready by itself after {took:.0f} s (it asks every 15)")
            with open(env.manager_log, encoding="utf-8", errors="replace") as f:
                lines = [l for l in f if "Permissions are missing" in l]
            expect(report, "the log had it once", len(lines) == 1, lines)
        without(f"rolebinding/{ROLE}", "-n", "default")
        apply(env, role, bound)

    report.step("grants of other shapes: everything by wildcard; in two roles that are aggregated")
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    apply(env, {**role, "rules": everything})
    restart(env)
    becomes_ready(env)
    mark = {"e2e.mandate/aggregate": "true"}
    without(f"clusterrole/{ROLE}")
    apply(env, cluster_role("e2e-part-1", role["rules"][:1], mark), cluster_role("e2e-part-2", role["rules"][1:], mark),
          cluster_role(ROLE, [], aggregate=mark))
    env.eventually("kube-controller-manager has aggregated them", lambda: (
        len(env.get("clusterrole", ROLE).get("rules") or []) == len(role["rules"]), "not yet"))
    restart(env)
    becomes_ready(env)
    without(f"clusterrole/{ROLE}", "clusterrole/e2e-part-1", "clusterrole/e2e-part-2")
    apply(env, role)
    restart(env)
    becomes_ready(env)


def a_kill_switch(env, report):
    """Deleting a component's Secret ends its tokens and watches, and nobody else's; with a new one it comes back."""
    report.step("tokens bound to Secrets")
    env.kubectl("apply", "-f", "-", stdin=env.chart("--kill-switch"))
    restart(env, "--bind-tokens-to-secrets", "-v=1")
    env.await_ready()
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    secret = f"{BASE}-{INSTANCE}"
    # The server must have looked at the token lately: its cache is what takes time.
    report.step("an idle component's Secret is deleted")
    _, offset = audit_events(env)
    start = time.monotonic()
    env.kubectl("delete", "secret", secret, "-n", NAMESPACE)

    def off():
        _, text = env.readyz()
        said = f"[-]{INSTANCE} failed: Secret {NAMESPACE}/{secret} does not exist" in text
        return said and "kind: Secret" in text and f"[+]{TEMPLATE} ok" in text, text
    env.eventually(f"{INSTANCE} is switched off and prints the Secret; {TEMPLATE} is ready", off)
    took = time.monotonic() - start
    expect(report, f"after {took:.1f} s: 10 s of the server's cache, 10 s between checks, and the machine's load",
           took < 20 + LOADED, took)

    def stale():
        mine = {watch: state for (component, watch), state in last_states(env).items() if component == INSTANCE}
        return mine and set(mine.values()) == {"Stale"}, mine
    env.eventually("its demands are Stale", stale)
    states = last_states(env)
    others = {watch: state for (component, watch), state in states.items() if component == TEMPLATE}
    expect(report, f"{TEMPLATE} reads on", others and set(others.values()) == {"Synced"}, others)

    report.step("what it could do, it cannot; the other works on")
    env.kubectl("patch", "scopeinstance", "e2e", "--type=merge", "-p", '{"spec": {"namespaces": ["default", "kube-public"]}}')
    apply(env, template("other"))
    env.eventually(f"{TEMPLATE} reconciles", lambda: (
        condition(env, "scopetemplate", "other", "Templated").get("status") == "True", "not Templated"))
    events, _ = audit_events(env, offset)
    mine = [e for e in ours(events) if e.get("userAgent", "").endswith(INSTANCE)
            and e["responseStatus"].get("code", 0) < 400 and time_of(e) > time.time() - time.monotonic() + start + took]
    ages = [time.time() - time_of(e) for e in events]
    expect(report, "the log's clock is ours", ages and -5 < min(ages) < 60, ages[-3:])
    expect(report, f"no request of {INSTANCE} was answered since", not mine, mine[:2])
    again = [e for e in ours(events) if e.get("userAgent", "").endswith(TEMPLATE) and e["verb"] == "watch"
             and e["stage"] == "ResponseStarted" and e["objectRef"]["resource"] == "clusterroles"]
    expect(report, f"{TEMPLATE} opened no watch anew but to prove its access",
           all("timeoutSeconds" in e["requestURI"] for e in again), [e["requestURI"] for e in again])
    refused = [e for e in ours(events) if e.get("userAgent", "").endswith(TEMPLATE)
               and e["responseStatus"].get("code", 0) >= 400]
    expect(report, f"nothing of {TEMPLATE} failed", not refused, refused[:2])

    report.step("a new Secret")
    start = time.monotonic()
    env.kubectl("create", "secret", "generic", secret, "-n", NAMESPACE)
    took = becomes_ready(env, 180)
    report.held(f"it is back after {took:.0f} s")
    env.eventually("what was missed is made up for", lambda: (
        any(b["metadata"]["name"].startswith("e2e-") for b in env.get("rolebindings", "-n", "kube-public")["items"]),
        "no RoleBinding"))
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e", "scopetemplate/other")
    restart(env)
    env.await_ready()


def last_states(env):
    """What the log says last of each (component, watch) of the manager that runs."""
    states = {}
    with open(env.manager_log, encoding="utf-8", errors="replace") as f:
        for line in f:
            if " Connected " in line:
                states = {}
            if " Demand changed its state " not in line:
                continue
            fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))
            states[fields["component"], fields["watch"].strip('"')] = fields["state"]
    return states


def time_of(event):
    return calendar.timegm(time.strptime(event["requestReceivedTimestamp"][:19], "%Y-%m-%dT%H:%M:%S"))


def metrics_are_protected(env, report):
    """--metrics-secure: HTTPS, and only for whom Kubernetes allows `get` on /metrics."""
    report.step("the manager with --metrics-secure; a ServiceAccount that may scrape, and one that may not")
    env.kubectl("apply", "-f", "-", stdin=env.chart("--with=metrics.enabled"))
    restart(env, "--metrics-secure", "-v=1")
    env.await_ready()
    name = "e2e-scraper"
    rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    grant = binding(name, name)
    grant["subjects"] = [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]
    apply(env, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}},
          cluster_role(name, rules), grant)
    may = env.kubectl("create", "token", name, "-n", "default").strip()
    may_not = env.kubectl("create", "token", "default", "-n", "default").strip()

    def scrape(token, method="GET"):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(f"https://127.0.0.1:{env.metrics_port}/metrics", method=method,
                                         headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    code, text = scrape(may)
    expect(report, "who may is served", code == 200 and "process_resident_memory_bytes" in text, (code, text[:200]))
    for what, token, wanted in [("no token: 401", None, 401), ("nonsense: 401", "nonsense", 401),
                                ("who may not: 403", may_not, 403)]:
        code, text = scrape(token)
        expect(report, what, code == wanted and "process_" not in text, (code, text[:200]))
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{env.metrics_port}/metrics", timeout=30) as answer:
            plain = answer.status
    except OSError as error:
        plain = error
    expect(report, "nothing over plain HTTP", plain != 200, plain)
    expect(report, "probes are answered to everybody", env.is_ready()[0], env.readyz())

    report.step("ten scrapes are one review")
    _, offset = audit_events(env)
    for _ in range(10):
        scrape(may)
    events, _ = audit_events(env, offset)
    reviews = [e["objectRef"]["resource"] for e in ours(events) if "reviews" in e["objectRef"].get("resource", "")]
    expect(report, "no further one", not reviews, reviews)

    report.step("the component metrics-auth loses its role")
    role = bare(env.get("clusterrole", f"{BASE}-metrics-auth"))
    env.kubectl("delete", "clusterrole", f"{BASE}-metrics-auth")
    fresh = env.kubectl("create", "token", name, "-n", "default").strip()
    env.eventually("a token that is not known yet: 500", lambda: (lambda seen: (seen[0] == 500, seen))(scrape(fresh)))
    apply(env, role)
    env.eventually("with the role: 200", lambda: (lambda seen: (seen[0] == 200, seen[0]))(scrape(fresh)))

    report.step("a certificate of one's own, and a new one")
    folder = os.path.join(env.folder, "metrics-certificate")
    os.makedirs(folder, exist_ok=True)
    serials = []
    issue(folder)
    restart(env, "--metrics-secure", f"--metrics-cert-path={folder}")
    env.await_ready()
    for _ in range(2):
        serials.append(ssl.get_server_certificate(("127.0.0.1", env.metrics_port)))
        issue(folder)
    with open(os.path.join(folder, "tls.crt"), encoding="utf-8") as f:
        now = f.read()
    expect(report, "the new one is served without a restart",
           serials[0] != serials[1] and now not in serials, serials)
    env.kubectl("delete", f"clusterrole/{name}", f"clusterrolebinding/{name}")
    env.kubectl("delete", "serviceaccount", name, "-n", "default")
    restart(env)
    env.await_ready()


PLUGIN = """#!/bin/sh
# What a cloud's command does: prints the token that is in the file beside it.
echo run >> "$0.runs"
printf '%s' "$KUBERNETES_EXEC_INFO" > "$0.info"
[ -e "$0.hangs" ] && sleep 1000
[ -e "$0.fails" ] && { echo "nobody is logged in: $(cat "$0.token")" >&2; exit 7; }
echo "refreshed for $PLUGIN_PROFILE" >&2
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s","expirationTimestamp":"%s"}}' \
    "$(cat "$0.token")" "$(date -u -d '+60 seconds' +%Y-%m-%dT%H:%M:%SZ)"
"""


def a_credential_plugin(env, report):
    """Base's credential by a kubeconfig's exec plugin: renewed in time, asked for again after a 401, killed when it hangs."""
    plugin = os.path.join(env.folder, "plugin")
    env.write_private(plugin, PLUGIN)
    os.chmod(plugin, 0o700)

    def new_token(bound):
        env.kubectl("create", "secret", "generic", bound, "-n", NAMESPACE)
        env.write_private(plugin + ".token", env.kubectl(
            "create", "token", BASE, "-n", NAMESPACE, "--bound-object-kind=Secret", f"--bound-object-name={bound}").strip())

    def runs():
        with open(plugin + ".runs", encoding="utf-8") as f:
            return len(f.readlines())

    new_token("e2e-plugin")
    usual = env.manager_kubeconfig
    with open(usual, encoding="utf-8") as f:
        config = json.load(f)
    exec_entry = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "IfAvailable",
                  "provideClusterInfo": True, "installHint": "It comes with the tests.",
                  "env": [{"name": "PLUGIN_PROFILE", "value": "production"}]}
    config["users"][0]["user"] = {"exec": exec_entry}

    def write_config(**change):
        config["users"][0]["user"]["exec"] = {**exec_entry, **change}
        env.write_private(env.manager_kubeconfig, json.dumps(config))
    env.stop_manager()
    env.manager_kubeconfig = os.path.join(env.folder, "plugin.kubeconfig")

    with open(plugin + ".token", encoding="utf-8") as f:
        first = f.read()
    report.step("what cannot work ends at once, in one line")
    for what, change, file, says in [
            ("no such command", {"command": "no-such-plugin"}, None, "install it, in a folder of $PATH. It comes with the tests."),
            ("a person is needed", {"interactiveMode": "Always"}, None, "exec.interactiveMode is Always"),
            ("it fails", {}, "fails", "ended with exit code 7: run it by hand to see what it wants; it wrote: nobody is logged in"),
            ("it hangs", {}, "hangs", "did not end in time and was killed")]:
        write_config(**change)
        if file:
            open(f"{plugin}.{file}", "w", encoding="utf-8").close()
        start = time.monotonic()
        done = subprocess.run([env.manager_program, f"--kubeconfig={env.manager_kubeconfig}", f"--namespace={NAMESPACE}",
                                "--health-probe-bind-address=0",
                               "--metrics-bind-address=0",
                                f"--credential-plugin-timeout={2 if file == 'hangs' else PATIENCE}s"],
                              text=True, capture_output=True, timeout=2 * PATIENCE)
        said = done.stderr.strip().splitlines()[-1]
        expect(report, f"{what}: exit 2 after {time.monotonic() - start:.1f} s",
               done.returncode == 2 and says in said and "plugin" in said and first not in done.stderr,
               (done.returncode, done.stderr))
        if file:
            os.remove(f"{plugin}.{file}")

    report.step("the manager with nothing but the plugin")
    write_config()
    before = runs()
    env.start_manager("-v=5")
    env.await_ready()
    expect(report, "one run so far", runs() == before + 1, runs() - before)
    with open(plugin + ".info", encoding="utf-8") as f:
        info = json.load(f)
    cluster = info["spec"]["cluster"]
    expect(report, "it was told of the cluster", cluster["server"].startswith("https://")
           and cluster["certificate-authority-data"] and info["spec"]["interactive"] is False, info)
    env.eventually("before the credential's minute is over it is run again", lambda: (
        runs() == before + 2, f"{runs() - before} runs"), patience=60)
    expect(report, "ready", env.is_ready()[0], env.readyz())

    report.step("the server rejects the token")
    # The new one is there first: run in between, the plugin would print the old one again.
    new_token("e2e-plugin-next")
    at = runs()
    env.kubectl("delete", "secret", "e2e-plugin", "-n", NAMESPACE)
    env.eventually("it is run again at once", lambda: (runs() > at, f"{runs() - at} runs"), patience=45)
    time.sleep(12)  # longer than the Lease outlives a credential that is rejected
    expect(report, "the manager runs on, and is ready", env.manager_is_running() and env.is_ready()[0], env.readyz())
    with open(env.manager_log, encoding="utf-8", errors="replace") as f:
        log = f.read()
    with open(plugin + ".token", encoding="utf-8") as f:
        second = f.read()
    expect(report, "its words are in the log, without the value of a variable; no token is",
           "refreshed for <removed>" in log and first not in log and second not in log, log[-2000:])
    env.stop_manager()
    env.manager_kubeconfig = usual
    env.kubectl("delete", "secret", "e2e-plugin-next", "-n", NAMESPACE)
    env.start_manager()
    env.await_ready()


def issue(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=e2e", "-keyout", os.path.join(folder, "tls.key"),
                    "-out", os.path.join(folder, "tls.crt")], check=True, capture_output=True)


ALL = [preflight_judges_what_is_granted, a_grant_goes_at_run_time, a_kill_switch, a_credential_plugin, metrics_are_protected]
