"""The ReplicaSets of B14: workloads as a company's cluster has them, each with a template of its own.

A pure function of the number of the workload: the same numbers make the same manifests.
"""
import hashlib
import random
from typing import Any

Manifest = dict[str, Any]

WORKLOADS_OF_A_NAMESPACE = 20

PRODUCTS = ("checkout", "cart", "search", "billing", "ledger", "mail", "auth", "web", "feed", "rank", "catalog", "pricing",
            "inventory", "shipping", "fraud", "profile", "media", "chat", "notify", "report")
PARTS = ("api", "worker", "consumer", "gateway", "cache", "scheduler", "frontend", "indexer", "exporter", "proxy")
REGISTRIES = ("registry.example.com", "europe-docker.pkg.example.net/platform/images", "quay.example.org")
ENVIRONMENT = {
    "LOG_LEVEL": ("info", "debug", "warn"), "LOG_FORMAT": ("json", "text"), "HTTP_TIMEOUT": ("5s", "30s", "60s"),
    "DATABASE_URL": ("postgres://{app}@{app}-db.{ns}.svc.cluster.local:5432/{app}?sslmode=verify-full",),
    "DATABASE_POOL_SIZE": ("10", "25", "50"), "REDIS_ADDR": ("{app}-redis.{ns}.svc.cluster.local:6379",),
    "KAFKA_BROKERS": ("kafka-0.kafka.streaming:9092,kafka-1.kafka.streaming:9092,kafka-2.kafka.streaming:9092",),
    "KAFKA_GROUP": ("{ns}.{app}",), "OTEL_EXPORTER_OTLP_ENDPOINT": ("http://otel-collector.observability:4317",),
    "OTEL_SERVICE_NAME": ("{app}",), "OTEL_RESOURCE_ATTRIBUTES": ("service.namespace={ns},deployment.environment=production",),
    "FEATURE_FLAGS_URL": ("http://flags.platform.svc.cluster.local:8000",), "GOMAXPROCS": ("1", "2", "4"),
    "GOMEMLIMIT": ("400MiB", "900MiB"), "JAVA_TOOL_OPTIONS": ("-XX:MaxRAMPercentage=75 -XX:+UseG1GC -XX:+ExitOnOutOfMemoryError",),
    "S3_BUCKET": ("example-{ns}-{app}",), "AWS_REGION": ("eu-central-1", "eu-west-1"), "TZ": ("UTC",),
    "MAX_IN_FLIGHT": ("16", "64", "256"), "CACHE_TTL": ("30s", "5m", "1h"), "SENTRY_ENVIRONMENT": ("production",),
    "GRPC_GO_RETRY": ("on",), "SHUTDOWN_GRACE": ("10s", "25s"), "RATE_LIMIT": ("100", "1000"),
}
SECRET_KEYS = ("DATABASE_PASSWORD", "API_TOKEN", "SENTRY_DSN", "SIGNING_KEY", "SMTP_PASSWORD")
FIELDS = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace", "POD_IP": "status.podIP",
          "NODE_NAME": "spec.nodeName"}
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True,
              "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def namespace_of(index: int) -> str:
    """The namespace, whose name sorts as its number, as an API server lists it."""
    number = index // WORKLOADS_OF_A_NAMESPACE
    return f"team-{number:03}-{PRODUCTS[number % len(PRODUCTS)]}"


def name_of(index: int) -> str:
    """The name of a Deployment's ReplicaSet, with the hash of its template."""
    rnd = random.Random(index)
    digest = "".join(rnd.choices("bcdfghjklmnpqrstvwxz2456789", k=10))
    return f"{app_of(index)}-{digest}"


def app_of(index: int) -> str:
    return f"{PRODUCTS[index % len(PRODUCTS)]}-{PARTS[index // len(PRODUCTS) % len(PARTS)]}-{index}"


def _environment(rnd: random.Random, app: str, ns: str) -> list[Manifest]:
    names = rnd.sample(sorted(ENVIRONMENT), rnd.randint(4, 14))
    env: list[Manifest] = [{"name": n, "value": rnd.choice(ENVIRONMENT[n]).format(app=app, ns=ns)} for n in names]
    env += [{"name": n, "valueFrom": {"secretKeyRef": {"name": app, "key": n.lower().replace("_", "-")}}}
            for n in rnd.sample(SECRET_KEYS, rnd.randint(0, 3))]
    return env + [{"name": n, "valueFrom": {"fieldRef": {"fieldPath": FIELDS[n]}}}
                  for n in rnd.sample(sorted(FIELDS), rnd.randint(0, 3))]


def _probe(path: str, port: str, rnd: random.Random) -> Manifest:
    return {"httpGet": {"path": path, "port": port}, "periodSeconds": rnd.choice((5, 10, 15)),
            "timeoutSeconds": rnd.choice((1, 2, 5)), "failureThreshold": rnd.choice((3, 5))}


def _resources(rnd: random.Random) -> Manifest:
    memory = rnd.choice((128, 256, 512, 1024))
    limits = {"memory": f"{memory * rnd.choice((1, 2))}Mi"}
    if rnd.random() < 0.3:
        limits["cpu"] = rnd.choice(("1", "2"))
    return {"requests": {"cpu": rnd.choice(("50m", "100m", "250m", "500m")), "memory": f"{memory}Mi"}, "limits": limits}


def _main_container(rnd: random.Random, app: str, ns: str) -> Manifest:
    image = f"{rnd.choice(REGISTRIES)}/{ns}/{app}:v{rnd.randint(1, 4)}.{rnd.randint(0, 60)}.{rnd.randint(0, 20)}"
    container: Manifest = {
        "name": app.rsplit("-", 1)[0], "image": image, "imagePullPolicy": "IfNotPresent", "args": ["--config=/etc/app/config.yaml"],
        "env": _environment(rnd, app, ns), "resources": _resources(rnd),
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}, {"name": "metrics", "containerPort": 9090, "protocol": "TCP"}],
        "livenessProbe": _probe("/healthz", "http", rnd), "readinessProbe": _probe("/readyz", "http", rnd),
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": True}, {"name": "tmp", "mountPath": "/tmp"}],
        "securityContext": RESTRICTED,
    }
    if rnd.random() < 0.3:
        container["startupProbe"] = {**_probe("/healthz", "http", rnd), "failureThreshold": 30}
    if rnd.random() < 0.3:
        container["lifecycle"] = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 10"]}}}
    if rnd.random() < 0.4:
        container["envFrom"] = [{"configMapRef": {"name": f"{app}-env"}}]
    return container


def _sidecar(rnd: random.Random, app: str, ns: str) -> Manifest:
    if rnd.random() < 0.5:
        return {"name": "proxy", "image": "registry.example.com/mesh/proxy:1.27.3", "resources": _resources(rnd),
                "args": ["proxy", "sidecar", "--domain", f"{ns}.svc.cluster.local", "--proxyLogLevel=warning", "--concurrency=2"],
                "env": [{"name": "PROXY_CONFIG", "value": '{"tracing":{"sampling":1},"holdApplicationUntilProxyStarts":true}'},
                        {"name": "MESH_ID", "value": "cluster.local"}, {"name": "WORKLOAD_NAME", "value": app},
                        {"name": "OWNER", "value": f"kubernetes://apis/apps/v1/namespaces/{ns}/deployments/{app}"},
                        *({"name": n, "valueFrom": {"fieldRef": {"fieldPath": p}}} for n, p in sorted(FIELDS.items()))],
                "ports": [{"name": "http-envoy-prom", "containerPort": 15090, "protocol": "TCP"}],
                "readinessProbe": {"httpGet": {"path": "/healthz/ready", "port": 15021}, "periodSeconds": 15},
                "volumeMounts": [{"name": "tmp", "mountPath": "/etc/proxy"}], "securityContext": RESTRICTED}
    return {"name": "log-shipper", "image": "registry.example.com/observability/fluent-bit:3.2.4", "resources": _resources(rnd),
            "env": [{"name": "OUTPUT_HOST", "value": "logs.observability.svc.cluster.local"}, {"name": "TENANT", "value": ns}],
            "volumeMounts": [{"name": "tmp", "mountPath": "/var/log/app", "readOnly": True}], "securityContext": RESTRICTED}


def _labels(rnd: random.Random, app: str, ns: str) -> dict[str, str]:
    labels = {"app.kubernetes.io/name": app.rsplit("-", 1)[0], "app.kubernetes.io/instance": app,
              "app.kubernetes.io/version": f"{rnd.randint(1, 4)}.{rnd.randint(0, 60)}", "app.kubernetes.io/part-of": ns,
              "app.kubernetes.io/managed-by": rnd.choice(("Helm", "argocd")), "team": ns, "tier": rnd.choice(("backend", "frontend", "data"))}
    return labels if rnd.random() < 0.7 else {**labels, "cost-center": str(rnd.randint(1000, 9999)), "env": "production"}


def _annotations(rnd: random.Random, app: str) -> dict[str, str]:
    annotations = {"checksum/config": hashlib.sha256(app.encode()).hexdigest(), "prometheus.io/scrape": "true",
                   "prometheus.io/port": "9090", "prometheus.io/path": "/metrics"}
    if rnd.random() < 0.4:
        annotations["kubectl.kubernetes.io/restartedAt"] = f"2026-{rnd.randint(1, 12):02}-{rnd.randint(1, 28):02}T09:14:{rnd.randint(0, 59):02}Z"
    if rnd.random() < 0.3:
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = rnd.choice(("true", "false"))
    return annotations


def service_account_of(index: int) -> str:
    """Every second workload has a ServiceAccount of its own."""
    return app_of(index) if index % 2 else "default"


def replica_set(index: int, replicas: int, node: str) -> Manifest:
    rnd, app, ns = random.Random(index), app_of(index), namespace_of(index)
    selected = {"app.kubernetes.io/instance": app, "pod-template-hash": name_of(index).rsplit("-", 1)[1]}
    volumes: list[Manifest] = [{"name": "config", "configMap": {"name": app}}, {"name": "tmp", "emptyDir": {}}]
    main = _main_container(rnd, app, ns)
    if rnd.random() < 0.4:
        volumes.append({"name": "tls", "secret": {"secretName": f"{app}-tls"}})
        main["volumeMounts"].append({"name": "tls", "mountPath": "/etc/tls", "readOnly": True})
    spec: Manifest = {
        "nodeName": node, "serviceAccountName": service_account_of(index), "terminationGracePeriodSeconds": rnd.choice((30, 60)),
        "containers": [main], "volumes": volumes, "securityContext": {"runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532},
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": {"labelSelector": {"matchLabels": {"app.kubernetes.io/instance": app}},
                                                "topologyKey": "kubernetes.io/hostname"}}]}},
    }
    if index % 3 == 0:
        spec["containers"].append(_sidecar(rnd, app, ns))
    if rnd.random() < 0.5:
        spec["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
                                              "labelSelector": {"matchLabels": {"app.kubernetes.io/instance": app}}}]
    if rnd.random() < 0.3:
        spec["imagePullSecrets"] = [{"name": "registry-credentials"}]
    if rnd.random() < 0.2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": ns, "effect": "NoSchedule"}]
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name_of(index), "namespace": ns, "labels": selected},
            "spec": {"replicas": replicas, "selector": {"matchLabels": selected},
                     "template": {"metadata": {"labels": {**_labels(rnd, app, ns), **selected}, "annotations": _annotations(rnd, app)},
                                  "spec": spec}}}
