#include "controllers/memcached/testing_cluster.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <utility>

#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/identity/identity_plane.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/admin_request.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::memcached {
namespace {

constexpr char kNamespace[] = "scoped-memcached-operator-system";
constexpr char kBase[] = "mandate-manager";
constexpr char kAccount[] = "mandate-manager-memcached";
constexpr char kBaseToken[] = "base-token";
constexpr char kGroup[] = "cache.example.com";
constexpr char kOwnRole[] = "scoped-memcached-operator-manager-role";
constexpr char kNeedsRole[] = "scoped-operator-needs";
constexpr char kBinding[] = "op-rolebinding-default";
constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";

std::string Named(std::string_view kind, std::string_view name, std::string_view ns = "") {
  const std::string in = ns.empty() ? "" : StrCat(R"("namespace":")", ns, R"(",)");
  return StrCat(R"({"apiVersion":"v1","kind":")", kind, R"(","metadata":{)", in, R"("name":")",
                name, R"("}})");
}

// A binding of a role to a ServiceAccount of the manager's namespace.
std::string Binding(std::string_view kind, std::string_view name, std::string_view ns,
                    std::string_view role_kind, std::string_view role, std::string_view account) {
  Json::Value binding;
  binding["apiVersion"] = "rbac.authorization.k8s.io/v1";
  binding["kind"] = std::string(kind);
  binding["metadata"]["name"] = std::string(name);
  if (!ns.empty()) binding["metadata"]["namespace"] = std::string(ns);
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = std::string(role_kind);
  binding["roleRef"]["name"] = std::string(role);
  binding["subjects"][0]["kind"] = "ServiceAccount";
  binding["subjects"][0]["name"] = std::string(account);
  binding["subjects"][0]["namespace"] = kNamespace;
  return WriteJson(binding);
}

// A ClusterRole with the mandate's rules that are about the component's own kind, or about others.
std::string Role(const rbac::Mandate& mandate, std::string_view name, bool own,
                 std::string_view without_verb = "") {
  Json::Value role;
  role["apiVersion"] = "rbac.authorization.k8s.io/v1";
  role["kind"] = "ClusterRole";
  role["metadata"]["name"] = std::string(name);
  role["rules"] = Json::Value(Json::arrayValue);
  for (const rbac::MandateRule& r : mandate.rules) {
    if ((r.rule.api_groups[0] == kGroup) != own) continue;
    Json::Value rule;
    for (const auto group : r.rule.api_groups) rule["apiGroups"].append(std::string(group));
    for (const auto resource : r.rule.resources) rule["resources"].append(std::string(resource));
    for (const auto verb : r.rule.verbs) {
      if (verb != without_verb) rule["verbs"].append(std::string(verb));
    }
    if (!rule["verbs"].empty()) role["rules"].append(rule);
  }
  return WriteJson(role);
}

std::string Definition() {
  return WriteJson(conformance::ToJson(YAML::LoadFile("controllers/memcached/v1alpha1/crd.yaml")));
}

bool IsAboutNeeds(std::string_view target) {
  return target.find("/deployments") != std::string_view::npos ||
         target.find("/pods") != std::string_view::npos;
}

}  // namespace

// Passes the component's requests to the server.
class MemcachedCluster::Wire : public Transport {
 public:
  explicit Wire(MemcachedCluster& cluster) : cluster_(cluster) {}

  void Call(const CallContext& context, HttpRequest request, Done done) override {
    const std::string_view target = request.target;
    if (IsAboutNeeds(target)) ++calls_;
    for (const char* plural : {"deployments", "memcacheds"}) {
      if (request.method == "GET" || target.find(plural) == std::string::npos) continue;
      const bool status = target.find("/status") != std::string::npos;
      writes_.push_back(StrCat(request.method, " ", plural, status ? "/status" : ""));
    }
    // The admission plugin OwnerReferencesPermissionEnforcement, which the double lacks: a
    // reference that blocks the owner's deletion needs the permission to update the owner's
    // finalizers.
    if (request.body.find("blockOwnerDeletion") != std::string::npos) {
      if (auto no = cluster_.rights_.RefuseWithout("update", kGroup, "memcacheds", "finalizers")) {
        cluster_.loop_.Post([done = std::move(done), sink = std::move(request.body_sink),
                             no = *std::move(no)]() mutable {
          sink->OnHead(no);
          std::move(done)(std::move(no));
        });
        return;
      }
    }
    cluster_.server_->transport().Call(context, std::move(request), std::move(done));
  }
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override {
    return cluster_.server_->transport().Open(std::move(request), std::move(sink));
  }

  int calls_ = 0;
  std::vector<std::string> writes_;

 private:
  MemcachedCluster& cluster_;
};

// One process of the component, from start to stop.
struct MemcachedCluster::Process {
  std::unique_ptr<IdentityPlane> identities;
  std::unique_ptr<ComponentClient> client;
  std::unique_ptr<Cache> cache;
  std::unique_ptr<SimulatedPool> pool;
  std::unique_ptr<Component> component;
  std::unique_ptr<Controller> controller;
};

MemcachedCluster::MemcachedCluster() {
  apiserver::SimOptions sim;
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBase);
  sim.core.access.fixed_tokens[kBaseToken] = base;
  auto& objects = sim.core.objects;
  objects.push_back(Definition());
  for (const char* ns : {kNamespace, "allowed-one", "allowed-two", "denied"}) {
    objects.push_back(Named("Namespace", ns));
  }
  objects.push_back(Named("ServiceAccount", kAccount, kNamespace));
  objects.push_back(StrCat(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"namespace":")",
      kNamespace, R"(","name":")", kBase,
      R"("},"rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]}]})"));
  objects.push_back(Binding("RoleBinding", kBase, kNamespace, "Role", kBase, kBase));
  objects.push_back(Role(rights_.mandate(), kOwnRole, true));
  objects.push_back(NeedsRole(""));
  objects.push_back(Binding("ClusterRoleBinding", "op-rolebinding-cluster", "", "ClusterRole",
                            kOwnRole, kAccount));
  server_ = std::make_unique<apiserver::SimServer>(loop_, std::move(sim));
  wire_ = std::make_unique<Wire>(*this);
  loop_.RunReady();
  for (const char* ns : {"allowed-one", "allowed-two"}) Grant(ns);
}

MemcachedCluster::~MemcachedCluster() {
  Stop();
  loop_.RunFor(absl::Minutes(2));
  stopped_.clear();
  server_.reset();
  loop_.RunReady();
}

void MemcachedCluster::Start() {
  auto process = std::make_unique<Process>();
  IdentityPlane::Options plane;
  plane.loop = &loop_;
  plane.transport = wire_.get();
  ClusterConfig cluster{
      .name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = kNamespace};
  cluster.endpoint.server = "https://double:6443";
  cluster.endpoint.ca_pem = "CA";
  plane.clusters = {cluster};
  plane.ns = kNamespace;
  plane.version = "1";
  plane.reader = [](const std::string&) { return kBaseToken; };
  plane.components = {std::string(kMemcached.component)};
  process->identities = Must(IdentityPlane::Create(std::move(plane)));
  process->cache = Must(Cache::Create({.loop = loop_, .metrics = metrics_}));
  process->pool = std::make_unique<SimulatedPool>(loop_, 1);
  ComponentClient::Options client;
  client.loop = &loop_;
  client.transport = wire_.get();
  client.identity = Must(process->identities->Component("local", kMemcached.component));
  client.mandate = &kMemcached;
  client.metrics = &metrics_;
  process->client = Must(ComponentClient::Create(std::move(client)));
  CacheView& view = process->cache->AddComponent(*process->client, kMemcached);
  process->component.reset(
      new Component{kMemcached, *process->client, events_,
                    ControllerRuntime{std::string(kMemcached.component), loop_, *process->pool,
                                      view, metrics_, Logger(log_, loop_.clock()), 1}});
  process->controller = Must(MakeController(*process->component));
  process->identities->Start();
  process->controller->Start();
  process_ = std::move(process);
}

void MemcachedCluster::Stop() {
  if (process_ == nullptr) return;
  process_->controller->RequestStop();
  EXPECT_TRUE(process_->controller->Stop(loop_.clock().TimeNow() + absl::Minutes(5)).ok());
  process_->controller.reset();
  process_->cache.reset();
  process_->client.reset();
  process_->identities.reset();
  loop_.RunReady();
  stopped_.push_back(std::move(process_));
}

std::string MemcachedCluster::NeedsRole(std::string_view without) const {
  return Role(rights_.mandate(), kNeedsRole, false, without);
}

void MemcachedCluster::TakeVerb(std::string_view verb) {
  EXPECT_EQ(Send("PATCH", StrCat(kRbac, "/clusterroles/", kNeedsRole), NeedsRole(verb)), 200);
}

void MemcachedCluster::Grant(const std::string& ns) {
  EXPECT_EQ(Send("POST", StrCat(kRbac, "/namespaces/", ns, "/rolebindings"),
                 Binding("RoleBinding", kBinding, ns, "ClusterRole", kNeedsRole, kAccount)),
            201);
}

void MemcachedCluster::Revoke(const std::string& ns) {
  EXPECT_EQ(Send("DELETE", StrCat(kRbac, "/namespaces/", ns, "/rolebindings/", kBinding), ""), 200);
}

namespace {

std::string MemcachedsIn(const std::string& ns) {
  return StrCat("/apis/cache.example.com/v1alpha1/namespaces/", ns, "/memcacheds");
}

}  // namespace

void MemcachedCluster::Create(const std::string& ns, int size) {
  EXPECT_EQ(
      Send("POST", MemcachedsIn(ns),
           StrCat(R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached",)",
                  R"("metadata":{"name":")", NameIn(ns), R"("},"spec":{"size":)", size, "}}")),
      201);
}

void MemcachedCluster::Resize(const std::string& ns, int size) {
  EXPECT_EQ(Send("PATCH", StrCat(MemcachedsIn(ns), "/", NameIn(ns)),
                 StrCat(R"({"spec":{"size":)", size, "}}")),
            200);
}

void MemcachedCluster::Delete(const std::string& ns) {
  EXPECT_EQ(Send("DELETE", StrCat(MemcachedsIn(ns), "/", NameIn(ns)), ""), 200);
}

void MemcachedCluster::CreatePod(const std::string& ns, const std::string& name) {
  EXPECT_EQ(Send("POST", StrCat("/api/v1/namespaces/", ns, "/pods"),
                 StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                        R"(","labels":{"memcachedLabel":"memcached-)", NameIn(ns),
                        R"("}},"spec":{"containers":[{"name":"a","image":"b"}]}})")),
            201);
}

int MemcachedCluster::Send(const std::string& method, const std::string& target,
                           const std::string& body) {
  int code = 0;
  const char* type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  server_->transport().Call({loop_.clock().TimeNow() + absl::Minutes(1), {}},
                            apiserver::AdminRequest(method, target, body, type),
                            [&code](absl::StatusOr<HttpResponse> response) {
                              code = response.ok() ? response->code : -1;
                            });
  loop_.RunUntil([&code] { return code != 0; }, absl::Minutes(2));
  return code;
}

Json::Value MemcachedCluster::Get(std::string_view group, std::string_view plural,
                                  const std::string& ns, const std::string& name) const {
  const auto stored =
      server_->core().store().Get({std::string(group), std::string(plural)}, ns, name);
  return stored == nullptr ? Json::Value() : stored->Parse();
}

Json::Value MemcachedCluster::Memcached(const std::string& ns) const {
  return Get(kGroup, "memcacheds", ns, NameIn(ns));
}

Json::Value MemcachedCluster::Deployment(const std::string& ns) const {
  return Get("apps", "deployments", ns, NameIn(ns));
}

std::string MemcachedCluster::State(const std::string& ns) const {
  const Json::Value state = Memcached(ns)["status"]["state"];
  if (state.isNull()) return "";
  return StrCat(state["status"].asString(), ": ", state["message"].asString());
}

std::vector<std::string> MemcachedCluster::Nodes(const std::string& ns) const {
  const Json::Value memcached = Memcached(ns);
  std::vector<std::string> nodes;
  for (const Json::Value& node : memcached["status"]["nodes"]) nodes.push_back(node.asString());
  return nodes;
}

int MemcachedCluster::Streams(const std::string& ns) const {
  int open = 0;
  FakeTransport& transport = server_->transport();
  for (size_t i = 0; i < transport.stream_count(); ++i) {
    const FakeStream& stream = transport.stream(i);
    const std::string& target = stream.request().target;
    if (stream.ended() || !IsAboutNeeds(target)) continue;
    open += target.find(StrCat("/namespaces/", ns, "/")) != std::string::npos ? 1 : 0;
  }
  return open;
}

int MemcachedCluster::Streams() const {
  return static_cast<int>(server_->transport().open_stream_count());
}

int MemcachedCluster::TakeCalls() { return std::exchange(wire_->calls_, 0); }

std::vector<std::string> MemcachedCluster::TakeWrites() {
  return std::exchange(wire_->writes_, {});
}

}  // namespace mandate::memcached
