#include "manager/testing_manager.h"

#include <utility>

#include "manager/core/testing/must.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using apiserver::ServerCore;

constexpr char kNamespace[] = "default";

void Add(const std::vector<ApiObject>& objects, apiserver::ServerOptions& serve) {
  for (const ApiObject& object : objects) serve.objects.push_back(WriteJson(object.json));
}

}  // namespace

TestManager::TestManager(const std::vector<const rbac::Mandate*>& components) {
  apiserver::ServerOptions serve;
  for (const rbac::Mandate* component : components) {
    Add(SubjectsOf(kNamespace, *component), serve);
    Add(RolesOf(kNamespace, *component, *component), serve);
  }
  Add(ObjectsOfBase(kNamespace, components), serve);
  apiserver::User& base = serve.access.fixed_tokens[kBaseToken];
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBaseAccount);
  server_ = Must(ApiServer::Create(std::move(serve)));
  options = TestManagerOptions(kNamespace, base_.mandate(), log_);
  options.cluster.endpoint.server = server_->url();
  options.cluster.endpoint.ca_pem = server_->ca_pem();
  options.cluster.base = StaticToken{std::make_shared<const Secret>(kBaseToken)};
}

absl::StatusOr<std::unique_ptr<Manager>> TestManager::Create(
    std::vector<ComponentSpec> components) const {
  return Manager::Create(options, std::move(components));
}

void TestManager::Run(std::vector<ComponentSpec> components) {
  runs_.Start(Must(Create(std::move(components))));
}

std::string TestManager::Holder() {
  std::string holder;
  server_->OnLoop([&](ServerCore& core) {
    const auto lease =
        core.store().Get({"coordination.k8s.io", "leases"}, kNamespace, kBaseAccount);
    if (lease != nullptr) holder = lease->Parse()["spec"]["holderIdentity"].asString();
  });
  return holder;
}

size_t TestManager::EventWrites() {
  size_t writes = 0;
  server_->OnLoop([&](ServerCore& core) {
    for (const auto& change : core.store().changes())
      writes += change.resource.resource == "events";
  });
  return writes;
}

}  // namespace mandate
