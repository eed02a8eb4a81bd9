#include "testing/simulation/world.h"

#include <jsoncpp/json/json.h>

#include <array>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

constexpr char kNamespace[] = "mandate";
constexpr char kBase[] = "mandate-manager";
constexpr char kBaseToken[] = "base-token";

constexpr std::array<std::string_view, 2> kVerbs = {"list", "watch"};
constexpr std::array<std::string_view, 1> kGroups = {kConfigMaps.group};
constexpr std::array<std::string_view, 1> kPlurals = {kConfigMaps.plural};
constexpr std::array<rbac::MandateRule, 1> kReadsConfigMaps = {
    {{{kVerbs, kGroups, kPlurals, {}, {}}, "", false}}};

const apiserver::GroupResource kConfigMapResource = {"", "configmaps"};

apiserver::GroupResource Rbac(std::string resource) {
  return {"rbac.authorization.k8s.io", std::move(resource)};
}

Json::Value Named(std::string_view api_version, std::string_view kind, std::string_view ns,
                  std::string_view name, uint64_t serial) {
  Json::Value object;
  object["apiVersion"] = std::string(api_version);
  object["kind"] = std::string(kind);
  Json::Value& metadata = object["metadata"];
  if (!ns.empty()) metadata["namespace"] = std::string(ns);
  metadata["name"] = std::string(name);
  metadata["uid"] = StrCat("uid-", serial);
  metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
  return object;
}

}  // namespace

World::World(Options options) {
  apiserver::SimOptions sim;
  sim.core.seed = options.seed;
  sim.core.access.seed = options.seed;
  // Components ask for an hour; the server may give less.
  sim.core.access.max_token_life = options.token_life;
  sim.core.access.token_leeway = absl::ZeroDuration();
  sim.core.access.audit_sink = [this](std::string line) { audit_.push_back(std::move(line)); };
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBase);
  sim.core.access.fixed_tokens[kBaseToken] = base;
  server_ = std::make_unique<apiserver::SimServer>(loop_, std::move(sim));

  store().SubscribeAll([this](const apiserver::Change& change) {
    if (change.resource == kConfigMapResource) history_.push_back(change);
  });

  for (const char* ns : {kNamespace, "a", "b"}) {
    store().Put({"", "namespaces"}, Named("v1", "Namespace", "", ns, ++serial_));
  }
  Json::Value base_role =
      Named("rbac.authorization.k8s.io/v1", "Role", kNamespace, kBase, ++serial_);
  Json::Value rule;
  rule["apiGroups"].append("");
  rule["resources"].append("serviceaccounts/token");
  rule["verbs"].append("create");
  Json::Value reader =
      Named("rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader", ++serial_);
  Json::Value reads;
  reads["apiGroups"].append("");
  reads["resources"].append("configmaps");
  for (const std::string_view verb : kVerbs) reads["verbs"].append(std::string(verb));
  reader["rules"].append(reads);
  store().Put(Rbac("clusterroles"), reader);

  IdentityRegistry::Options plane;
  plane.loop = &loop_;
  plane.transport = &server_->transport();
  ClusterConfig cluster{
      .name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = kNamespace};
  cluster.endpoint.server = "https://double:6443";
  cluster.endpoint.ca_pem = "CA";
  plane.clusters = {{cluster, {}}};
  plane.ns = kNamespace;
  plane.version = "1";
  plane.seed = options.seed;
  plane.reader = [](const std::string&) { return kBaseToken; };
  for (int i = 0; i < options.components; ++i) {
    names_.push_back(StrCat("c", i));
    mandates_.push_back({.component = names_.back(), .rules = kReadsConfigMaps});
    plane.clusters[0].components.push_back(names_.back());
    PutAccount(account(i));
    rule["resourceNames"].append(account(i));
  }
  base_role["rules"].append(rule);
  store().Put(Rbac("roles"), base_role);
  Json::Value binding =
      Named("rbac.authorization.k8s.io/v1", "RoleBinding", kNamespace, kBase, ++serial_);
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = "Role";
  binding["roleRef"]["name"] = kBase;
  Json::Value subject;
  subject["kind"] = "ServiceAccount";
  subject["name"] = kBase;
  subject["namespace"] = kNamespace;
  binding["subjects"].append(subject);
  store().Put(Rbac("rolebindings"), binding);
  identities_ = Must(IdentityRegistry::Create(std::move(plane)));

  Cache::Options cache{.loop = loop_, .metrics = metrics_};
  cache.seed = options.seed;
  cache.proof_lifetime = options.proof_lifetime;
  cache_ = Must(Cache::Create(std::move(cache)));
  for (int i = 0; i < options.components; ++i) {
    ComponentClient::Options client;
    client.loop = &loop_;
    client.transport = &server_->transport();
    client.identity = Must(identities_->Component("local", name(i)));
    client.mandate = &mandates_[static_cast<size_t>(i)];
    client.seed = options.seed + static_cast<uint64_t>(i);
    client.metrics = &metrics_;
    clients_.push_back(Must(ComponentClient::Create(std::move(client))));
    views_.push_back(&cache_->AddComponent(*clients_.back(), mandates_[static_cast<size_t>(i)]));
  }
}

World::~World() {
  cache_.reset();
  clients_.clear();
  identities_.reset();
  server_.reset();
  loop_.RunReady();
}

std::string World::account(int component) const { return StrCat(kBase, "-", name(component)); }

void World::PutAccount(const std::string& name) {
  store().Put({"", "serviceaccounts"}, Named("v1", "ServiceAccount", kNamespace, name, ++serial_));
}

void World::PutBinding(int component, const std::string& ns, bool there) {
  const auto resource = Rbac(ns.empty() ? "clusterrolebindings" : "rolebindings");
  if (!there) {
    store().Delete(resource, ns, account(component));
    return;
  }
  Json::Value binding =
      Named("rbac.authorization.k8s.io/v1", ns.empty() ? "ClusterRoleBinding" : "RoleBinding", ns,
            account(component), ++serial_);
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = "ClusterRole";
  binding["roleRef"]["name"] = "reader";
  Json::Value subject;
  subject["kind"] = "ServiceAccount";
  subject["name"] = account(component);
  subject["namespace"] = kNamespace;
  binding["subjects"].append(subject);
  store().Put(resource, binding);
}

void World::Grant(int component, const std::string& ns) { PutBinding(component, ns, true); }
void World::Revoke(int component, const std::string& ns) { PutBinding(component, ns, false); }

void World::Put(const ObjectKey& key) {
  const auto before = store().Get(kConfigMapResource, key.ns, key.name);
  Json::Value object = Named("v1", "ConfigMap", key.ns, key.name, ++serial_);
  if (before != nullptr) object["metadata"]["uid"] = before->uid;
  object["data"]["serial"] = std::to_string(serial_);
  store().Put(kConfigMapResource, std::move(object));
}

void World::Delete(const ObjectKey& key) {
  if (store().Get(kConfigMapResource, key.ns, key.name) == nullptr) return;
  store().Delete(kConfigMapResource, key.ns, key.name);
}

}  // namespace mandate
