#include "controllers/access_observer/watch_check.h"

#include "controllers/access_observer/held_roles.h"
#include "manager/core/log_reason.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::access {
namespace {

// No object has this name: RBAC accepts neither "/" nor "%" in it.
constexpr std::string_view kNoName = "/";

}  // namespace

WatchCheck::WatchCheck(const Component& component)
    : cache_(component.cache()),
      hints_(*component.access_hints),
      clock_(component.clock()),
      log_(component.controller_context.log),
      last_(clock_.TimeNow()) {}

absl::Duration WatchCheck::Run() {
  const absl::Time now = clock_.TimeNow();
  if (now < last_ + kPeriod) return last_ + kPeriod - now;
  last_ = now;
  const absl::Status why = FindBroken();
  if (!why.ok()) hints_.RecheckAll(now);
  if (why.ok() && broken_) log_.Info("Changes of RBAC objects give hints again");
  if (!why.ok() && !broken_) {
    log_.Error(
        "A watch of RBAC objects is not live: all components prove their access again every 30 s, "
        "because changes may give no hints",
        {{"reason", LogReason(why)}});
  }
  broken_ = !why.ok();
  return kPeriod;
}

absl::Status WatchCheck::FindBroken() const {
  for (const KindInfo& kind : {KindOf<BoundRole>::value, KindOf<rbacv1::ClusterRoleBinding>::value,
                               KindOf<RolePlace>::value, KindOf<ClusterRolePlace>::value}) {
    // A program that reads some namespaces has a watch in each of them.
    for (const DemandSpec& watch : cache_.Split(DemandSpec{kind, "", ""})) {
      const bool is_wide = watch.ns.empty() && kind.scope == Scope::kNamespaced;
      const ObjectKey none = {is_wide ? "default" : watch.ns, std::string(kNoName)};
      const absl::Status status = cache_.GetRaw(NonBlockingContext(), kind, none).status();
      const bool is_live = absl::IsNotFound(status) || absl::IsPermissionDenied(status);
      if (!is_live) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace mandate::access
