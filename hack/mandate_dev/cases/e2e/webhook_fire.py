"""Webhooks under fire: certificates that rotate and replicas that are replaced, while requests go on."""
import socket
import ssl
import subprocess
import time

from mandate_dev import webhooks
from mandate_dev.balancer import Balancer
from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e import webhook_checks
from mandate_dev.cases.e2e.checks import instance
from mandate_dev.cases.e2e.load import Load
from mandate_dev.controlplane.components import new_port
from mandate_dev.world import World

def load(world: World) -> Load:
    return Load(world, 4, "/apis/operators.coreos.com/v1alpha1/scopeinstances",
                lambda i: instance(["default"], f"fire-{i}", "fire-none"))


def served(port: int, bundle: str) -> bytes:
    """The certificate that the port serves, which `bundle` must verify."""
    tls = ssl.create_default_context(cadata=bundle)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with tls.wrap_socket(connection, server_hostname="127.0.0.1") as secure:
            return secure.getpeercert(binary_form=True) or b""


class WebhooksUnderFire(WorldCase):
    """The webhooks of replicas behind a balancer."""

    def setUp(self) -> None:
        super().setUp()
        self._spare: list[subprocess.Popen[bytes]] = []
        self._balancer = Balancer()
        self._ports = [self.world.health_port, self.world.metrics_port, self._balancer.port]

    def tearDown(self) -> None:
        for process in self._spare:
            process.kill()
            process.wait()
        webhook_checks.end(self.world)
        self._balancer.close()

    def _port(self) -> int:
        self._ports.append(new_port(self._ports))
        return self._ports[-1]

    def _replica(self, *flags: str) -> tuple[subprocess.Popen[bytes], int]:
        """One more manager that is ready, and the port of its webhooks."""
        health, metrics, port = self._port(), self._port(), self._port()
        process = self.world.spawn_manager(health, metrics, f"--webhook-bind-address=127.0.0.1:{port}", "-v=1", *flags)
        self._spare.append(process)
        self.world.eventually("a replica is ready", lambda: self.world.is_ready(health))
        return process, port

    def _start(self, *flags: str) -> None:
        webhooks.install(self.world, self._balancer.port)
        self.world.stop_manager()
        self.world.start_manager(f"--webhook-bind-address=127.0.0.1:{self._port()}", "-v=1", *flags)
        self._balancer.backends = [self._ports[-1]]
        self.world.await_ready()
        self.world.eventually("the API server trusts the webhooks' authority",
                              lambda: (all(webhooks.bundles(self.world)), "no caBundle"))

    def test_certificates_rotate_under_load(self) -> None:
        """Serving certificates and authorities are replaced with overlap: no request fails, and each replica's certificate is trusted."""
        lives = ("--webhook-certificate-duration=9s", "--webhook-ca-duration=40s")
        self._start(*lives)
        ports = [*self._balancer.backends, self._replica(*lives)[1]]
        self._balancer.backends = ports
        certificates, authorities, untrusted = set(), set(), []
        with load(self.world) as requests:
            end = time.monotonic() + 75
            while time.monotonic() < end:
                bundle = webhooks.bundles(self.world)[0]
                authorities.update(bundle.split("-----END CERTIFICATE-----")[:-1])
                for port in ports:
                    try:
                        certificates.add(served(port, bundle))
                    except ssl.SSLError as error:
                        untrusted.append(str(error))
                time.sleep(0.1)
        self.expect(f"{len(certificates)} serving certificates were served", len(certificates) >= 6, len(certificates))
        self.expect(f"{len(authorities)} authorities were trusted", len(authorities) >= 3, len(authorities))
        self.expect("each was trusted by the configuration", not untrusted, untrusted[:3])
        self.expect(f"none of {requests.count} requests failed", not requests.failures and requests.count > 100, requests.failures[:3])

    def test_replicas_are_replaced_under_load(self) -> None:
        """All replicas are replaced one after the other; no request fails."""
        self._start()
        _, second = self._replica()
        self._balancer.backends = [*self._balancer.backends, second]
        with load(self.world) as requests:
            for turn in range(3):
                process, port = self._replica()
                old = self._balancer.backends[0]
                self._balancer.backends = [*self._balancer.backends[1:], port]
                if turn == 0:
                    self.expect("the first replica ends cleanly", self.world.stop_manager() == 0, old)
                else:
                    ending = self._spare[turn - 1]
                    ending.terminate()
                    self.expect("a replica ends cleanly", ending.wait(timeout=120) == 0, ending.returncode)
        self.world.start_manager()
        self.expect(f"none of {requests.count} requests failed", not requests.failures and requests.count > 100, requests.failures[:3])
