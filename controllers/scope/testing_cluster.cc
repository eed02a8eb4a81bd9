#include "controllers/scope/testing_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_accounts.h"
#include "controllers/scope/testing_counting_view.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/identity/identity_registry.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/admin_request.h"

namespace mandate::scope {
namespace {

constexpr char kBaseToken[] = "base-token";

// "/apis/g/v/namespaces/foo/rolebindings/x/status?a=b" as "rolebindings/status foo".
std::string TargetText(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::vector<std::string> parts;
  while (!target.empty()) {
    target.remove_prefix(1);
    const size_t end = std::min(target.find('/'), target.size());
    parts.emplace_back(target.substr(0, end));
    target.remove_prefix(end);
  }
  std::string ns;
  size_t i = parts[0] == "api" ? 2 : 3;
  if (parts[i] == "namespaces" && i + 2 < parts.size()) {
    ns = StrCat(" ", parts[i + 1]);
    i += 2;
  }
  const std::string subresource = i + 2 < parts.size() ? StrCat("/", parts[i + 2]) : "";
  return StrCat(parts[i], subresource, ns);
}

}  // namespace

// Passes the components' requests to the server.
class ScopeCluster::Wire : public Transport {
 public:
  explicit Wire(ScopeCluster& cluster) : cluster_(cluster) {}

  std::vector<std::string> TakeWrites() { return std::exchange(writes_, {}); }

  void Call(const CallContext& context, HttpRequest request, Done done) override {
    if (IsWrite(request)) {
      const std::string write = StrCat(request.method, " ", TargetText(request.target));
      writes_.push_back(write);
      std::optional<HttpResponse> answer;
      if (cluster_.intercept) answer = cluster_.intercept(write);
      if (answer.has_value()) {
        cluster_.loop_.Post([done = std::move(done), sink = std::move(request.body_sink),
                             answer = *std::move(answer)]() mutable {
          sink->OnHeaders(answer);
          // The body of an error is part of the response.
          if (answer.code / 100 == 2) {
            const absl::Status taken = sink->OnBody(std::exchange(answer.body, ""));
            if (!taken.ok()) return std::move(done)(taken);
          }
          std::move(done)(std::move(answer));
        });
        return;
      }
    }
    const bool is_discovery = request.target == "/api" || request.target == "/apis";
    if (is_discovery && cluster_.intercept_discovery && cluster_.intercept_discovery()) {
      cluster_.loop_.Post([done = std::move(done)]() mutable {
        HttpResponse response;
        response.code = 406;
        std::move(done)(std::move(response));
      });
      return;
    }
    cluster_.server_->transport().Call(context, std::move(request), std::move(done));
  }
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override {
    return cluster_.server_->transport().Open(std::move(request), std::move(sink));
  }

 private:
  static bool IsWrite(const HttpRequest& request) {
    return request.method != "GET" &&
           request.target.find("/serviceaccounts/") == std::string::npos &&
           request.target.find("accessreviews") == std::string::npos;
  }

  ScopeCluster& cluster_;
  std::vector<std::string> writes_;
};

// One process of the components, from start to stop.
struct ScopeCluster::Process {
  std::unique_ptr<IdentityRegistry> identities;
  std::vector<std::unique_ptr<ComponentClient>> clients;
  std::unique_ptr<Cache> cache;
  std::vector<std::unique_ptr<CacheView>> views;
  std::unique_ptr<SimulatedPool> pool;
  std::vector<std::unique_ptr<Component>> components;
  Controllers controllers;
};

ScopeCluster::ScopeCluster(InstanceOptions instance_options, TemplateOptions template_options)
    : instance_options_(instance_options),
      template_options_(template_options),
      template_rights_(kScopeTemplate),
      instance_rights_(kScopeInstance) {
  apiserver::SimOptions sim;
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBase);
  sim.core.access.fixed_tokens[kBaseToken] = base;
  auto& objects = sim.core.objects;
  objects = {Definition("scopetemplates"), Definition("scopeinstances"), MinterRole(),
             BindingTo("RoleBinding", "Role", kBase)};
  for (const char* name : {kNamespace, "foo", "bar"}) {
    objects.insert(
        objects.begin() + 2,
        StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name, R"("}})"));
  }
  for (const MandateServer* rights : {&template_rights_, &instance_rights_}) {
    const std::string account = AccountOf(rights->mandate());
    objects.push_back(Account(account));
    objects.push_back(RoleJson(rights->mandate(), "", ""));
    objects.push_back(BindingTo("ClusterRoleBinding", "ClusterRole", account));
  }
  server_ = std::make_unique<apiserver::SimServer>(loop_, std::move(sim));
  wire_ = std::make_unique<Wire>(*this);
  loop_.RunReady();
}

ScopeCluster::~ScopeCluster() {
  Stop();
  loop_.RunFor(absl::Minutes(2));
  stopped_.clear();
  server_.reset();
  loop_.RunReady();
}

void ScopeCluster::Start() {
  auto process = std::make_unique<Process>();
  IdentityRegistry::Options plane;
  plane.loop = &loop_;
  plane.transport = wire_.get();
  ClusterConfig cluster{
      .name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = kNamespace};
  cluster.endpoint.server = "https://double:6443";
  cluster.endpoint.ca_pem = "CA";
  plane.clusters = {
      {cluster, {std::string(kScopeTemplate.component), std::string(kScopeInstance.component)}}};
  plane.ns = kNamespace;
  plane.version = "1";
  plane.reader = [](const std::string&) { return kBaseToken; };
  process->identities = Must(IdentityRegistry::Create(std::move(plane)));
  process->cache = Must(Cache::Create({.loop = loop_, .metrics = metrics_}));
  process->pool = std::make_unique<SimulatedPool>(loop_, 1);
  for (const rbac::Mandate* mandate : {&kScopeTemplate, &kScopeInstance}) {
    ComponentClient::Options client;
    client.loop = &loop_;
    client.transport = wire_.get();
    client.identity = Must(process->identities->Component("local", mandate->component));
    client.mandate = mandate;
    client.metrics = &metrics_;
    process->clients.push_back(Must(ComponentClient::Create(std::move(client))));
    process->views.push_back(std::make_unique<CountingView>(
        process->cache->AddComponent(*process->clients.back(), *mandate), lists_));
    CacheView& view = *process->views.back();
    process->components.push_back(std::unique_ptr<Component>(new Component{
        *mandate, *process->clients.back(), events_,
        ControllerContext{
            std::string(mandate->component), loop_, *process->pool, view, metrics_, {}, 1}}));
    const Component& component = *process->components.back();
    process->controllers.push_back(Must(
        mandate == &kScopeTemplate ? MakeTemplateControllerWith(component, template_options_)
                                   : MakeInstanceControllerWith(component, instance_options_)));
  }
  process->identities->Start();
  for (auto& controller : process->controllers) controller->Start();
  process_ = std::move(process);
}

void ScopeCluster::Stop() {
  if (process_ == nullptr) return;
  for (auto& controller : process_->controllers) controller->RequestStop();
  for (auto& controller : process_->controllers) {
    EXPECT_TRUE(controller->Stop(loop_.clock().TimeNow() + absl::Minutes(5)).ok());
  }
  process_->controllers.clear();
  process_->cache.reset();
  process_->clients.clear();
  process_->identities.reset();
  loop_.RunReady();
  stopped_.push_back(std::move(process_));
}

int ScopeCluster::Request(const std::string& method, const std::string& target,
                          const std::string& body, const std::string& content_type) {
  int code = 0;
  server_->transport().Call({loop_.clock().TimeNow() + absl::Minutes(1), {}},
                            apiserver::AdminRequest(method, target, body, content_type),
                            [&code](absl::StatusOr<HttpResponse> response) {
                              code = response.ok() ? response->code : -1;
                            });
  loop_.RunUntil([&code] { return code != 0; }, absl::Minutes(2));
  return code;
}

namespace {

std::string PathOf(const Resource& resource, const std::string& ns, const std::string& name) {
  return StrCat(resource.group_path, ns.empty() ? "" : StrCat("/namespaces/", ns), "/",
                resource.plural, name.empty() ? "" : StrCat("/", name));
}

apiserver::GroupResource KindOfResource(const Resource& resource) {
  if (resource.group_path == kNamespaces.group_path) return {"", std::string(resource.plural)};
  std::string_view group = resource.group_path.substr(std::string_view("/apis/").size());
  return {std::string(group.substr(0, group.find('/'))), std::string(resource.plural)};
}

}  // namespace

void ScopeCluster::Load(const std::string& json) {
  const absl::Status status = server_->core().Load(json);
  EXPECT_TRUE(status.ok()) << status;
}

int ScopeCluster::Create(const Resource& resource, const Json::Value& object) {
  return Request("POST", PathOf(resource, object["metadata"]["namespace"].asString(), ""),
                 WriteJson(object), "application/json");
}

int ScopeCluster::Delete(const Resource& resource, const std::string& name, const std::string& ns,
                         const std::string& options) {
  return Request("DELETE", PathOf(resource, ns, name), options, "application/json");
}

int ScopeCluster::Merge(const Resource& resource, const std::string& name, const std::string& patch,
                        const std::string& ns, const std::string& field_manager) {
  return Request("PATCH", StrCat(PathOf(resource, ns, name), "?fieldManager=", field_manager),
                 patch, "application/merge-patch+json");
}

Json::Value ScopeCluster::Get(const Resource& resource, const std::string& name,
                              const std::string& ns) const {
  const auto stored = server_->core().store().Get(KindOfResource(resource), ns, name);
  return stored == nullptr ? Json::Value() : stored->Parse();
}

std::vector<Json::Value> ScopeCluster::Ours(const Resource& resource, std::string_view ns) const {
  std::vector<Json::Value> ours;
  for (const auto& stored : server_->core().store().List(KindOfResource(resource), ns)) {
    if (stored->labels.contains(std::string(kInstanceUidLabel)) ||
        stored->labels.contains(std::string(kTemplateUidLabel))) {
      ours.push_back(stored->Parse());
    }
  }
  return ours;
}

Json::Value ScopeCluster::Our(const Resource& resource, std::string_view ns) const {
  const std::vector<Json::Value> ours = Ours(resource, ns);
  EXPECT_EQ(ours.size(), 1u) << resource.plural << " " << ns;
  return ours.empty() ? Json::Value() : ours[0];
}

std::string ScopeCluster::ConditionOf(const Resource& resource, const std::string& name,
                                      std::string_view type) const {
  const Json::Value object = Get(resource, name);
  for (const Json::Value& c : object["status"]["conditions"]) {
    if (c["type"].asString() != type) continue;
    return StrCat(c["status"].asString(), " ", c["reason"].asString(), ": ",
                  c["message"].asString());
  }
  return "";
}

std::string ScopeCluster::Scoped(const std::string& instance) const {
  return ConditionOf(kInstances, instance, kScoped);
}
std::string ScopeCluster::Effective(const std::string& instance) const {
  return ConditionOf(kInstances, instance, kEffective);
}
std::string ScopeCluster::Templated(const std::string& name) const {
  return ConditionOf(kTemplates, name, kTemplated);
}

std::vector<std::string> ScopeCluster::events() const {
  std::vector<std::string> events;
  for (const auto& event : events_.events()) {
    EXPECT_FALSE(event.action.empty() || event.note.empty());
    events.push_back(StrCat(event.type == EventType::kWarning ? "Warning " : "Normal ",
                            event.regarding.kind, " ", event.reason));
  }
  return events;
}

std::vector<std::string> ScopeCluster::TakeWrites() { return wire_->TakeWrites(); }

void ScopeCluster::SetRules(const std::string& component, std::string_view without_verb,
                            std::string_view unread) {
  const rbac::Mandate& mandate =
      (component == kScopeTemplate.component ? template_rights_ : instance_rights_).mandate();
  const std::string name = AccountOf(mandate);
  EXPECT_EQ(Merge(kRoles, name, RoleJson(mandate, without_verb, unread)), 200);
}

void ScopeCluster::TakeRule(const std::string& component, const std::string& verb) {
  SetRules(component, verb, "");
}

void ScopeCluster::ForbidReading(const std::string& component, const std::string& resource) {
  SetRules(component, "", resource);
}

void ScopeCluster::ReturnRules(const std::string& component) { SetRules(component, "", ""); }

}  // namespace mandate::scope
