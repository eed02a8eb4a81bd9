#include "controllers/memcached/testing_operator.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/identity/identity_registry.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/admin_request.h"
#include "testing/conformance/json_yaml.h"

namespace mandate {
namespace {

constexpr char kNamespace[] = "scoped-memcached-operator-system";
constexpr char kBase[] = "mandate-manager";
constexpr char kBaseToken[] = "base-token";
constexpr char kOwnRole[] = "own-kind";
constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";

std::string AccountOf(const rbac::Mandate& mandate) {
  return StrCat(kBase, "-", mandate.component);
}

std::string Named(std::string_view kind, std::string_view name, std::string_view ns = "") {
  const std::string in = ns.empty() ? "" : StrCat(R"("namespace":")", ns, R"(",)");
  return StrCat(R"({"apiVersion":"v1","kind":")", kind, R"(","metadata":{)", in, R"("name":")",
                name, R"("}})");
}

// A binding, of the role's name, to a ServiceAccount of the manager's namespace. An empty `ns`
// means the cluster.
std::string Binding(const std::string& ns, std::string_view role_kind, const std::string& role,
                    const std::string& account) {
  Json::Value binding;
  binding["apiVersion"] = "rbac.authorization.k8s.io/v1";
  binding["kind"] = ns.empty() ? "ClusterRoleBinding" : "RoleBinding";
  binding["metadata"]["name"] = role;
  if (!ns.empty()) binding["metadata"]["namespace"] = ns;
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = std::string(role_kind);
  binding["roleRef"]["name"] = role;
  binding["subjects"][0]["kind"] = "ServiceAccount";
  binding["subjects"][0]["name"] = account;
  binding["subjects"][0]["namespace"] = kNamespace;
  return WriteJson(binding);
}

std::string BindingsIn(const std::string& ns) {
  return ns.empty() ? StrCat(kRbac, "/clusterrolebindings")
                    : StrCat(kRbac, "/namespaces/", ns, "/rolebindings");
}

// "/api/v1/namespaces/foo/pods?watch=true&fieldSelector=metadata.name%3Dbar" as "pods foo/bar".
std::string ScopeOf(std::string_view target) {
  const size_t query = target.find('?');
  std::string_view path = target.substr(0, query);
  const std::string plural(path.substr(path.rfind('/') + 1));
  constexpr std::string_view kIn = "/namespaces/";
  const size_t in = path.find(kIn);
  if (in == std::string_view::npos) return plural;
  const std::string ns(path.substr(in + kIn.size(), path.rfind('/') - in - kIn.size()));
  constexpr std::string_view kName = "metadata.name%3D";
  const size_t name = target.find(kName);
  if (name == std::string_view::npos) return StrCat(plural, " in ", ns);
  const std::string_view rest = target.substr(name + kName.size());
  return StrCat(plural, " ", ns, "/", rest.substr(0, rest.find('&')));
}

}  // namespace

// Passes the component's requests to the server.
class OperatorCluster::Wire : public Transport {
 public:
  explicit Wire(OperatorCluster& cluster) : cluster_(cluster) {}

  void Call(const CallContext& context, HttpRequest request, Done done) override {
    const bool write = request.method != "GET" &&
                       request.target.find("/serviceaccounts/") == std::string::npos &&
                       request.target.find("accessreviews") == std::string::npos;
    if (write) {
      writes_.push_back(
          StrCat(request.method, " ", request.target.substr(0, request.target.find('?'))));
      auto answer = cluster_.intercept ? cluster_.intercept(request) : std::nullopt;
      if (answer.has_value()) {
        cluster_.loop_.Post([done = std::move(done), sink = std::move(request.body_sink),
                             answer = *std::move(answer)]() mutable {
          sink->OnHeaders(answer);
          std::move(done)(std::move(answer));
        });
        return;
      }
    }
    cluster_.server_->transport().Call(context, std::move(request), std::move(done));
  }
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override {
    return cluster_.server_->transport().Open(std::move(request), std::move(sink));
  }

  std::vector<std::string> writes_;

 private:
  OperatorCluster& cluster_;
};

// One process of the component, from start to stop.
struct OperatorCluster::Process {
  std::unique_ptr<IdentityRegistry> identities;
  std::unique_ptr<ComponentClient> client;
  std::unique_ptr<Cache> cache;
  std::unique_ptr<SimulatedPool> pool;
  std::unique_ptr<Component> component;
  std::unique_ptr<Controller> controller;
};

OperatorCluster::OperatorCluster(Options options)
    : options_(std::move(options)), rights_(options_.mandate) {
  apiserver::SimOptions sim;
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBase);
  sim.core.access.fixed_tokens[kBaseToken] = base;
  const std::string account = AccountOf(options_.mandate);
  auto& objects = sim.core.objects;
  objects.push_back(WriteJson(conformance::ToJson(YAML::LoadFile(options_.definition))));
  objects.push_back(Named("Namespace", kNamespace));
  for (const std::string& ns : options_.namespaces) objects.push_back(Named("Namespace", ns));
  objects.push_back(Named("ServiceAccount", account, kNamespace));
  objects.push_back(StrCat(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"namespace":")",
      kNamespace, R"(","name":")", kBase,
      R"("},"rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]}]})"));
  objects.push_back(Binding(kNamespace, "Role", kBase, kBase));
  objects.push_back(RoleOf(kOwnRole, true, ""));
  objects.push_back(Binding("", "ClusterRole", kOwnRole, account));
  server_ = std::make_unique<apiserver::SimServer>(loop_, std::move(sim));
  wire_ = std::make_unique<Wire>(*this);
  loop_.RunReady();
}

OperatorCluster::~OperatorCluster() {
  Stop();
  loop_.RunFor(absl::Minutes(2));
  stopped_.clear();
  server_.reset();
  loop_.RunReady();
}

void OperatorCluster::Start() {
  auto process = std::make_unique<Process>();
  IdentityRegistry::Options plane;
  plane.loop = &loop_;
  plane.transport = wire_.get();
  ClusterConfig cluster{
      .name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = kNamespace};
  cluster.endpoint.server = "https://double:6443";
  cluster.endpoint.ca_pem = "CA";
  plane.clusters = {{cluster, {std::string(options_.mandate.component)}}};
  plane.ns = kNamespace;
  plane.version = "1";
  plane.reader = [](const std::string&) { return kBaseToken; };
  process->identities = Must(IdentityRegistry::Create(std::move(plane)));
  process->cache = Must(Cache::Create({.loop = loop_,
                                       .metrics = metrics_,
                                       .max_watch_bytes = options_.max_watch_bytes,
                                       .bytes_per_watch = 0}));
  process->pool = std::make_unique<SimulatedPool>(loop_, 1);
  ComponentClient::Options client;
  client.loop = &loop_;
  client.transport = wire_.get();
  client.identity = Must(process->identities->Component("local", options_.mandate.component));
  client.mandate = &options_.mandate;
  client.metrics = &metrics_;
  process->client = Must(ComponentClient::Create(std::move(client)));
  CacheView& view = process->cache->AddComponent(*process->client, options_.mandate);
  process->component.reset(new Component{
      options_.mandate, *process->client, events_,
      ControllerContext{std::string(options_.mandate.component), loop_, *process->pool, view,
                        metrics_, Logger(log_, loop_.clock()), 1}});
  process->controller = Must(options_.make(*process->component));
  process->identities->Start();
  process->controller->Start();
  process_ = std::move(process);
}

void OperatorCluster::Stop() {
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

std::string OperatorCluster::NeedsRole(const std::string& name,
                                       std::string_view without_verb) const {
  return RoleOf(name, false, without_verb);
}

// The mandate's rules of the component's own group, or of the others.
std::string OperatorCluster::RoleOf(const std::string& name, bool own,
                                    std::string_view without_verb) const {
  Json::Value role;
  role["apiVersion"] = "rbac.authorization.k8s.io/v1";
  role["kind"] = "ClusterRole";
  role["metadata"]["name"] = name;
  role["rules"] = Json::Value(Json::arrayValue);
  for (const rbac::MandateRule& r : rights_.mandate().rules) {
    if ((r.rule.api_groups[0] == options_.group) != own) continue;
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

void OperatorCluster::Bind(const std::string& ns, const std::string& role) {
  EXPECT_EQ(
      Send("POST", BindingsIn(ns), Binding(ns, "ClusterRole", role, AccountOf(options_.mandate))),
      201);
}

void OperatorCluster::Unbind(const std::string& ns, const std::string& role) {
  EXPECT_EQ(Send("DELETE", StrCat(BindingsIn(ns), "/", role), ""), 200);
}

int OperatorCluster::Send(const std::string& method, const std::string& target,
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

Json::Value OperatorCluster::Get(std::string_view group, std::string_view plural,
                                 const std::string& ns, const std::string& name) const {
  const auto stored =
      server_->core().store().Get({std::string(group), std::string(plural)}, ns, name);
  return stored == nullptr ? Json::Value() : stored->Parse();
}

std::vector<std::string> OperatorCluster::Streams() const {
  std::vector<std::string> open;
  FakeTransport& transport = server_->transport();
  for (size_t i = 0; i < transport.stream_count(); ++i) {
    const FakeStream& stream = transport.stream(i);
    if (!stream.ended()) open.push_back(ScopeOf(stream.request().target));
  }
  std::sort(open.begin(), open.end());
  return open;
}

std::vector<std::string> OperatorCluster::TakeWrites() { return std::exchange(wire_->writes_, {}); }

}  // namespace mandate
