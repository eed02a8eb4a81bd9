// A controller of Leases with a DemandSet of Roles.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "manager/controller/demand_set.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {

// Leases are reconciled, and demand Roles of namespaces.
class DemandSetFixture : public ControllerTest {
 protected:
  void StartWithDemands() {
    demands_ = std::make_shared<DemandSet>(Runtime());
    Controller::Options options = OptionsOf({Reconciled(kLease)});
    options.demands = demands_;
    Start(Controller::Create(std::move(options)));
    (void)SettleAndTake();
  }
  static DemandOwner Owner(const std::string& name, const std::string& uid = "1") {
    return {{"", name}, uid};
  }
  static DemandSpec RolesOf(const std::string& ns) { return {kRole, ns, ""}; }
  void PutRole(const std::string& ns, const std::string& name,
               const std::map<std::string, std::string>& labels = {}) {
    Role role;
    role.mutable_metadata()->set_namespace_(ns);
    role.mutable_metadata()->set_name(name);
    role.mutable_metadata()->mutable_labels()->insert(labels.begin(), labels.end());
    cache_.Put(role);
  }
  // Runs `get` on a thread of the pool.
  void GetInBackground(const CallContext& context, const std::string& ns, const std::string& name) {
    got_.reset();
    const ObjectDemand<Role> demand({DemandOf<Role>(OneObject{ns, name})});
    pool_.Post([=, this] { got_ = demands_->Get(context, Owner("a"), demand).status(); });
  }
  CallContext Within(absl::Duration time) {
    return {.deadline = loop_.clock().TimeNow() + time, .stop = {}};
  }

  std::shared_ptr<DemandSet> demands_;
  std::optional<absl::Status> got_;
};

}  // namespace mandate
