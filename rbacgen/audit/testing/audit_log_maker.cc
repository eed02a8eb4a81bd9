#include "rbacgen/audit/testing/audit_log_maker.h"

#include <iterator>

#include "absl/strings/str_format.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen::testing {
namespace {

struct Kind {
  const char* group;
  const char* resource;
  const char* kind;
};
constexpr Kind kKinds[] = {
    {"", "pods", "Pod"},
    {"", "configmaps", "ConfigMap"},
    {"apps", "deployments", "Deployment"},
    {"", "services", "Service"},
    {"rbac.authorization.k8s.io", "rolebindings", "RoleBinding"},
    {"operators.coreos.com", "scopeinstances", "ScopeInstance"},
};
constexpr const char* kVerbs[] = {"get", "list", "watch", "create", "update", "patch", "delete"};

std::string Username(std::string_view account) {
  return StrCat("system:serviceaccount:mandate-system:", account);
}

// The managedFields that served objects have, in Kubernetes' FieldsV1: many short strings.
constexpr char kManagedFields[] =
    R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",)"
    R"("time":"2026-11-21T03:16:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":)"
    R"({".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"6f1d)"
    R"(3f0e-2a77-4b1c-8f53-6a5c1f0a9b11\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":)"
    R"({".":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":)"
    R"({},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{}}},)"
    R"("f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{}}}},)"
    R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-11-21T03:16:06Z",)"
    R"("fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":)"
    R"({".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:phase":{},"f:podIP":{}}},)"
    R"("subresource":"status"}])";

constexpr char kSpec[] =
    R"("spec":{"volumes":[{"name":"kube-api-access-x","projected":{"sources":[{"serviceAccountToken":)"
    R"({"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":)"
    R"([{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":[{"name":"web",)"
    R"("image":"example.com/web:1.27.3","command":["/bin/sh","-c","exec web --port \"8080\"\n"],)"
    R"("env":[{"name":"A","value":"a rather ordinary value"},{"name":"B","valueFrom":{"fieldRef":)"
    R"({"apiVersion":"v1","fieldPath":"metadata.name"}}}],"resources":{"limits":{"cpu":"500m",)"
    R"("memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access-x","readOnly":true,"mountPath":)"
    R"("/var/run/secrets/kubernetes.io/serviceaccount"}],"imagePullPolicy":"IfNotPresent"}],)"
    R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
    R"("serviceAccountName":"default","securityContext":{},"schedulerName":"default-scheduler",)"
    R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":)"
    R"("NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true})";

}  // namespace

AuditLogMaker::AuditLogMaker(uint64_t seed, int components)
    : random_(seed), components_(components) {}

std::string AuditLogMaker::Uuid() {
  const uint64_t a = random_(), b = random_();
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", a >> 32, (a >> 16) & 0xFFFF, a & 0xFFFF,
                         b >> 48, b & 0xFFFFFFFFFFFF);
}

AuditLogMaker::Request AuditLogMaker::Ours() {
  const int component = Dice(components_);
  const std::string name = StrCat("c", component);
  if (Dice(50) == 0) {  // a TokenRequest for the token that the component uses below
    return {Username("mandate-manager"),
            "mandate-manager/0.1.0 (linux/amd64)",
            "base",
            "create",
            "",
            "serviceaccounts",
            "token",
            "mandate-system",
            "mandate-manager-" + name,
            201};
  }
  const Kind& kind = kKinds[Dice(std::size(kKinds))];
  const std::string verb = kVerbs[Dice(std::size(kVerbs))];
  return {Username("mandate-manager-" + name),
          StrCat("mandate-manager/0.1.0 (linux/amd64) ", name),
          name,
          verb,
          kind.group,
          kind.resource,
          "",
          StrCat("ns-", Dice(200)),
          verb == "list" || verb == "watch" ? "" : StrCat("object-", Dice(10000)),
          Dice(100) == 0     ? 403
          : verb == "create" ? 201
                             : 200};
}

AuditLogMaker::Request AuditLogMaker::Others() {
  if (Dice(3) == 0) {
    const std::string node = StrCat("node-", Dice(50));
    return {"system:node:" + node,
            "kubelet/v1.36.3 (linux/amd64) kubernetes/3b4a1f2",
            "x509",
            "update",
            "coordination.k8s.io",
            "leases",
            "",
            "kube-node-lease",
            node,
            200};
  }
  const Kind& kind = kKinds[Dice(std::size(kKinds))];
  return {"system:serviceaccount:kube-system:replicaset-controller",
          "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/3b4a1f2/system:serviceaccount",
          "kcm",
          kVerbs[Dice(std::size(kVerbs))],
          kind.group,
          kind.resource,
          Dice(4) == 0 ? "status" : "",
          StrCat("ns-", Dice(200)),
          StrCat("object-", Dice(10000)),
          200};
}

std::string AuditLogMaker::Body(const Request& r, int level) {
  const bool reads = r.verb == "get" || r.verb == "list" || r.verb == "watch";
  if (level == 0 || r.verb == "watch" || r.code == 403 || (level == 1 && reads)) return "";
  const std::string object =
      StrCat(R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":")", r.name,
             R"(","namespace":")", r.ns, R"(","uid":")", Uuid(), R"(","resourceVersion":")",
             events_, R"(","creationTimestamp":"2026-11-21T03:16:05Z","labels":{"app":"web"},)",
             kManagedFields, "},", kSpec,
             R"(,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  std::string body;
  if (!reads) body = StrCat(R"("requestObject":)", object, ",");
  if (level == 1) return body;
  if (r.verb != "list") return StrCat(body, R"("responseObject":)", object, ",");
  StrAppend(&body, R"("responseObject":{"kind":"List","apiVersion":"v1","metadata":{},"items":[)");
  for (int i = 0, n = 1 + Dice(4); i < n; ++i) StrAppend(&body, i == 0 ? "" : ",", object);
  return StrCat(body, "]},");
}

std::string AuditLogMaker::Next() {
  const Request r = Dice(2) == 0 ? Ours() : Others();
  const int level = Dice(3);
  constexpr const char* kLevels[] = {"Metadata", "Request", "RequestResponse"};
  const std::string path =
      StrCat(r.group.empty() ? "/api/v1" : StrCat("/apis/", r.group, "/v1"), "/namespaces/", r.ns,
             "/", r.resource, r.name.empty() ? "" : "/", r.name);
  const std::string time =
      absl::StrFormat("2026-11-21T%02d:%02d:%02d.%06dZ", (events_ / 360000) % 24,
                      (events_ / 6000) % 60, (events_ / 100) % 60, events_ * 10000 % 1000000);
  // A component gets a new token after every thousand events.
  const auto jti = [&](std::string_view who) {
    return StrCat("JTI=", who, "-", events_ / 1000, "-4b1c-8f53-6a5c1f0a9b11");
  };
  std::string issued;
  if (r.subresource == "token") {
    issued = StrCat(R"(,"authentication.kubernetes.io/issued-credential-id":")",
                    jti(r.name.substr(r.name.rfind('-') + 1)), R"(")");
  }
  const bool denied = r.code == 403;
  std::string line = StrCat(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":")",
                            kLevels[level], R"(","auditID":")", Uuid(), R"(","stage":")",
                            r.verb == "watch" ? "ResponseStarted" : "ResponseComplete",
                            R"(","requestURI":")", path, R"(","verb":")", r.verb,
                            R"(","user":{"username":")", r.user, R"(","uid":")", Uuid());
  StrAppend(
      &line,
      R"(","groups":["system:serviceaccounts","system:serviceaccounts:mandate-system","system:authenticated"],)",
      R"("extra":{"authentication.kubernetes.io/credential-id":[")", jti(r.credential),
      R"("]}},"sourceIPs":["127.0.0.1"],"userAgent":")", r.agent, R"(","objectRef":{"resource":")",
      r.resource, R"(","namespace":")", r.ns, R"(","name":")", r.name);
  if (!r.group.empty()) StrAppend(&line, R"(","apiGroup":")", r.group);
  StrAppend(&line, R"(","apiVersion":"v1)");
  if (!r.subresource.empty()) StrAppend(&line, R"(","subresource":")", r.subresource);
  StrAppend(&line, R"("},"responseStatus":{"metadata":{},"code":)", r.code, "},", Body(r, level),
            R"("requestReceivedTimestamp":")", time, R"(","stageTimestamp":")", time,
            R"(","annotations":{"authorization.k8s.io/decision":")", denied ? "forbid" : "allow",
            R"(","authorization.k8s.io/reason":")");
  if (!denied) {
    StrAppend(&line, R"(RBAC: allowed by ClusterRoleBinding \"mandate-manager\" of ClusterRole )",
              R"(\"mandate-manager\" to ServiceAccount \"mandate-manager/mandate-system\")");
  }
  StrAppend(&line, R"(")", issued, "}}\n");
  ++events_;
  return line;
}

}  // namespace mandate::rbacgen::testing
