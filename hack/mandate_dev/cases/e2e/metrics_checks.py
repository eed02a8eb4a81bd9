"""The checks of hack/e2e/run about who may read the metrics. Each leaves the cluster as it found it."""
import os
import ssl
import subprocess
import urllib.error
import urllib.request

from mandate_dev.cases.e2e.checks import apply, audit_events, expect, ours
from mandate_dev.cases.e2e.grants import bare, binding, cluster_role, restart
from mandate_dev.world import BASE


def issue(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=e2e", "-keyout", os.path.join(folder, "tls.key"),
                    "-out", os.path.join(folder, "tls.crt")], check=True, capture_output=True)


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


ALL = [metrics_are_protected]
