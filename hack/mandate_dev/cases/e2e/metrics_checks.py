"""The checks of hack/e2e/run about the permission to read the metrics. Each restores the cluster's state."""
import os
import ssl
import subprocess
import urllib.error
import urllib.request

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, audit_events, ours
from mandate_dev.cases.e2e.grants import bare, binding, cluster_role, restart
from mandate_dev.world import BASE, World


def issue(folder: str) -> None:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=e2e", "-keyout", os.path.join(folder, "tls.key"),
                    "-out", os.path.join(folder, "tls.crt")], check=True, capture_output=True)


def scrape(world: World, token: str | None) -> tuple[int, str]:
    """Returns (code, text) of the metrics over HTTPS, with this token."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(f"https://127.0.0.1:{world.metrics_port}/metrics",
                                     headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Metrics(WorldCase):
    """Tests the metrics endpoint."""

    def test_metrics_are_protected(self) -> None:
        """--metrics-secure: HTTPS, and only for users with `get` on /metrics."""
        world = self.world
        self.step("the manager with --metrics-secure; a ServiceAccount that may scrape, and one that may not")
        world.kubectl("apply", "-f", "-", stdin=world.chart("--with=metrics.enabled"))
        restart(world, "--metrics-secure", "-v=1")
        world.await_ready()
        name = "e2e-scraper"
        rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
        grant = binding(name, name)
        grant["subjects"] = [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]
        apply(world, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}},
              cluster_role(name, rules), grant)
        may = world.kubectl("create", "token", name, "-n", "default").strip()
        may_not = world.kubectl("create", "token", "default", "-n", "default").strip()

        code, text = scrape(world, may)
        self.expect("a user with the permission is served", code == 200 and "process_resident_memory_bytes" in text, (code, text[:200]))
        for what, token, wanted in [("no token: 401", None, 401), ("nonsense: 401", "nonsense", 401),
                                    ("a user without it: 403", may_not, 403)]:
            code, text = scrape(world, token)
            self.expect(what, code == wanted and "process_" not in text, (code, text[:200]))
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{world.metrics_port}/metrics", timeout=30) as answer:
                plain = answer.status
        except OSError as error:
            plain = error
        self.expect("no metrics over plain HTTP", plain != 200, plain)
        self.expect("every client may ask for probes", world.is_ready()[0], world.readyz())

        self.step("ten scrapes are one review")
        _, offset = audit_events(world)
        for _ in range(10):
            scrape(world, may)
        events, _ = audit_events(world, offset)
        reviews = [e["objectRef"]["resource"] for e in ours(events) if "reviews" in e["objectRef"].get("resource", "")]
        self.expect("no further review", not reviews, reviews)

        self.step("the component metrics-auth loses its role")
        role = bare(world.get("clusterrole", f"{BASE}-metrics-auth"))
        world.kubectl("delete", "clusterrole", f"{BASE}-metrics-auth")
        fresh = world.kubectl("create", "token", name, "-n", "default").strip()
        world.eventually("a token that is not known yet: 500", lambda: (lambda seen: (seen[0] == 500, seen))(scrape(world, fresh)))
        apply(world, role)
        world.eventually("with the role: 200", lambda: (lambda seen: (seen[0] == 200, seen[0]))(scrape(world, fresh)))

        self.step("our own certificate, and a new one")
        folder = os.path.join(world.folder, "metrics-certificate")
        os.makedirs(folder, exist_ok=True)
        serials = []
        issue(folder)
        restart(world, "--metrics-secure", f"--metrics-cert-path={folder}")
        world.await_ready()
        for _ in range(2):
            serials.append(ssl.get_server_certificate(("127.0.0.1", world.metrics_port)))
            issue(folder)
        with open(os.path.join(folder, "tls.crt"), encoding="utf-8") as f:
            now = f.read()
        self.expect("the new one is served without a restart",
                    serials[0] != serials[1] and now not in serials, serials)
        world.kubectl("delete", f"clusterrole/{name}", f"clusterrolebinding/{name}")
        world.kubectl("delete", "serviceaccount", name, "-n", "default")
        restart(world)
        world.await_ready()
