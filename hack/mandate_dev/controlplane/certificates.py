"""The keys and certificates of one local control plane, made with the openssl command in its `pki` folder."""
import base64
import os
import subprocess

DAYS = 365
SERVER_NAMES = ("IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,"
                "DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local")


class Failure(Exception):
    """openssl is missing or failed."""


def _openssl(*args: str) -> None:
    try:
        done = subprocess.run(["openssl", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError:
        raise Failure("the openssl command is missing (Debian: apt-get install openssl)") from None
    if done.returncode:
        raise Failure(f"openssl {args[0]}: {done.stderr.strip()}")


def _certificate(name: str, subject: str, *extensions: str, ca: str | None = None) -> None:
    args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256",
            "-days", str(DAYS), "-subj", subject, "-keyout", f"pki/{name}.key", "-out", f"pki/{name}.crt"]
    if ca:
        args += ["-CA", f"pki/{ca}.crt", "-CAkey", f"pki/{ca}.key"]
        extensions += ("basicConstraints=critical,CA:FALSE",)
    else:
        extensions += ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
    for extension in extensions:
        args += ["-addext", extension]
    _openssl(*args)


def make() -> None:
    """Writes everything below the working directory's `pki`. The umask must keep new files private."""
    os.makedirs("pki", exist_ok=True)
    _certificate("ca", "/CN=mandate-local-ca")
    _certificate("server", "/CN=kube-apiserver", "subjectAltName=" + SERVER_NAMES, "extendedKeyUsage=serverAuth",
                 ca="ca")
    _certificate("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth", ca="ca")
    _certificate("controller-manager", "/CN=system:kube-controller-manager", "extendedKeyUsage=clientAuth", ca="ca")
    # etcd has no RBAC: every client with a certificate of its CA can change all data. So it has its own CA, not the
    # cluster's.
    _certificate("etcd-ca", "/CN=mandate-local-etcd-ca")
    _certificate("etcd", "/CN=etcd", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                 "extendedKeyUsage=serverAuth,clientAuth", ca="etcd-ca")
    _openssl("genrsa", "-out", "pki/sa.key", "2048")
    _openssl("rsa", "-in", "pki/sa.key", "-pubout", "-out", "pki/sa.pub")
    with open("pki/ca.crt", "rb") as source, open("ca.crt", "wb") as target:
        target.write(source.read())


def write_kubeconfig(path: str, server: str, user: str) -> None:
    """Writes a kubeconfig that contains its certificates, so that it works from any folder and can be copied."""

    def data(name: str) -> str:
        with open(f"pki/{name}", "rb") as f:
            return base64.b64encode(f.read()).decode()

    with open(path, "w", encoding="ascii") as f:
        f.write(f"""apiVersion: v1
kind: Config
clusters:
- name: mandate-local
  cluster:
    server: {server}
    certificate-authority-data: {data("ca.crt")}
users:
- name: {user}
  user:
    client-certificate-data: {data(user + ".crt")}
    client-key-data: {data(user + ".key")}
contexts:
- name: mandate-local
  context:
    cluster: mandate-local
    user: {user}
current-context: mandate-local
""")
