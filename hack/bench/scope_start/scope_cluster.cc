#include "hack/bench/scope_start/scope_cluster.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/simulation/scope/installed.h"

namespace mandate::bench {
namespace {

using apiserver::GroupResource;
using apiserver::ServerCore;

std::string NamespaceJson(int i) {
  return StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n)", i,
                R"(","labels":{"team":"t)", i % 500, R"("}}})");
}

std::string TemplateJson(int i) {
  std::string roles;
  for (const char* name : {"view-", "edit-"}) {
    StrAppend(&roles, roles.empty() ? "" : ",", R"({"generateName":")", name,
              R"(","rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}],)",
              R"("subjects":[{"kind":"User","name":"u"}]})");
  }
  return StrCat(
      R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeTemplate","metadata":{"name":"t)",
      i, R"("},"spec":{"clusterRoles":[)", roles, "]}}");
}

std::string InstanceJson(const ScopeSize& size, int i) {
  std::string names;
  for (int n = 0; n < size.per_instance; ++n) {
    StrAppend(&names, n == 0 ? "" : ",", "\"n", (i * size.per_instance + n) % size.namespaces,
              "\"");
  }
  // Every tenth also selects namespaces by their labels.
  const std::string selector =
      i % 10 == 0 ? StrCat(R"(,"namespaceSelector":{"team":"t)", i % 500, "\"}") : "";
  return StrCat(
      R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance","metadata":{"name":"i)",
      i, R"("},"spec":{"scopeTemplateName":"t)", i % (size.roles / 2), R"(","namespaces":[)", names,
      "]", selector, "}}");
}

absl::Status Fill(ServerCore& core, const ScopeSize& size) {
  absl::Status first;
  for (int i = 0; i < size.namespaces; ++i) first.Update(core.Load(NamespaceJson(i)));
  for (int i = 0; i < size.roles / 2; ++i) first.Update(core.Load(TemplateJson(i)));
  for (int i = 0; i < size.instances; ++i) first.Update(core.Load(InstanceJson(size, i)));
  return first;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScopeCluster>> ScopeCluster::Create(const ScopeSize& size) {
  apiserver::ServerOptions options;
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) =
      rbac::ServiceAccountInfo(simulation::kManagerNamespace, simulation::kBaseAccount);
  options.access.authentication.fixed_tokens[simulation::kBaseToken] = base;
  for (const Json::Value& object : simulation::InstalledObjects()) {
    options.objects.push_back(WriteJson(object));
  }
  std::unique_ptr<ScopeCluster> cluster(new ScopeCluster);
  auto server = apiserver::ApiServer::Create(std::move(options));
  if (!server.ok()) return server.status();
  cluster->server_ = *std::move(server);
  absl::Status filled;
  cluster->server_->OnLoop([&](ServerCore& core) { filled = Fill(core, size); });
  if (!filled.ok()) return filled;
  return cluster;
}

int ScopeCluster::scoped() {
  int count = 0;
  server_->OnLoop([&](ServerCore& core) {
    for (const auto& one : core.store().List({"operators.coreos.com", "scopeinstances"})) {
      count += one->json.find("\"ScopingSuccessful\"") != std::string::npos ? 1 : 0;
    }
  });
  return count;
}

size_t ScopeCluster::writes() {
  size_t count = 0;
  server_->OnLoop([&](ServerCore& core) {
    const auto stats = core.stats();
    for (const char* verb : {"patch", "update", "delete"}) {
      const auto found = stats.by_verb.find(verb);
      count += found == stats.by_verb.end() ? 0 : found->second;
    }
  });
  return count;
}

}  // namespace mandate::bench
