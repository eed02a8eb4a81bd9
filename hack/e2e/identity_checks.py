"""The checks of hack/e2e/run about who a component is and what it may. Each leaves the cluster as it found it."""
import calendar
import itertools
import os
import ssl
import subprocess
import textwrap
import time
import urllib.error
import urllib.request

from checks import INSTANCE, TEMPLATE, apply, audit_events, condition, expect, instance, ours, scoped, template
from environment import BASE, NAMESPACE

ROLE = f"{BASE}-{TEMPLATE}"
SUBJECT = {"kind": "ServiceAccount", "name": ROLE, "namespace": NAMESPACE}


def bare(thing):
    """An object as one would create it anew."""
    meta = {k: v for k, v in thing["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    return {**{k: v for k, v in thing.items() if k != "status"}, "metadata": meta}


def restart(env, *flags):
    env.stop_manager()
    env.start_manager(*flags)


def becomes_ready(env, within):
    start = time.monotonic()
    env.eventually("the manager is ready", env.is_ready, patience=within)
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
            _, text = env.readyz()
            # Indented, as all that a check says.
            printed = itertools.takewhile(lambda line: line.startswith("    "),
                                          text[text.index("    apiVersion: rbac"):].splitlines())
            env.kubectl("apply", "-f", "-", stdin=textwrap.dedent("\n".join(printed)))
            report.step("exactly what it printed is applied")
            took = becomes_ready(env, 30)
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
    becomes_ready(env, 30)
    mark = {"e2e.mandate/aggregate": "true"}
    without(f"clusterrole/{ROLE}")
    apply(env, cluster_role("e2e-part-1", role["rules"][:1], mark), cluster_role("e2e-part-2", role["rules"][1:], mark),
          cluster_role(ROLE, [], aggregate=mark))
    env.eventually("kube-controller-manager has aggregated them", lambda: (
        len(env.get("clusterrole", ROLE).get("rules") or []) == len(role["rules"]), "not yet"))
    restart(env)
    becomes_ready(env, 30)
    without(f"clusterrole/{ROLE}", "clusterrole/e2e-part-1", "clusterrole/e2e-part-2")
    apply(env, role)
    restart(env)
    becomes_ready(env, 30)


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
    expect(report, f"after {took:.1f} s, within 10 s of the server's cache and 10 s between checks", took < 25, took)

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
        "no RoleBinding"), patience=120)
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e", "scopetemplate/other")
    restart(env)
    env.await_ready()


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
            with urllib.request.urlopen(request, timeout=15, context=context) as answer:
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
        with urllib.request.urlopen(f"http://127.0.0.1:{env.metrics_port}/metrics", timeout=5) as answer:
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


def issue(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=e2e", "-keyout", os.path.join(folder, "tls.key"),
                    "-out", os.path.join(folder, "tls.crt")], check=True, capture_output=True)


ALL = [preflight_judges_what_is_granted, a_kill_switch, metrics_are_protected]
