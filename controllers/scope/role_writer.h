// Carries out the plan of one ScopeTemplate.
#ifndef CONTROLLERS_SCOPE_ROLE_WRITER_H_
#define CONTROLLERS_SCOPE_ROLE_WRITER_H_

#include "controllers/fix_limiter.h"
#include "controllers/portion.h"
#include "controllers/scope/mandates.h"
#include "controllers/scope/template_plan.h"
#include "manager/client/client.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// Writes, one after the other, until the plan or the portion is at its end. One reconcile's; not
// thread-safe.
class RoleWriter {
 public:
  struct Parts {
    Client<kScopeTemplate>& client;
    FixLimits& fixes;
    const Clock& clock;
    Portion& portion;  // all outlive the writer
  };

  RoleWriter(const CallContext& context, Parts parts)
      : context_(context), parts_(parts), portion_(parts.portion) {}

  void CarryOut(const TemplatePlan& plan);

 private:
  // On condition of the role's UID, and of its version too when `unchanged`.
  void Remove(const rbacv1::ClusterRole& role, bool unchanged);
  void Create(const rbacv1::ClusterRole& role);
  void Fix(const RoleFix& fix);
  // Makes `actual` what `desired` is, without the fields of `removal`. Sets `taken` when the API
  // server has taken a write.
  absl::StatusOr<rbacv1::ClusterRole> Write(const rbacv1::ClusterRole& desired,
                                            const rbacv1::ClusterRole& actual,
                                            const Removal& removal, bool& taken);
  // Writes less than the fix, whose write was `denied`: somebody may deny what would be granted, or
  // that a label goes. The rules that are revoked do not wait for that. Without `escalate` the API
  // server takes a role without any rule, and no other. Whether it took one.
  bool WriteFewer(const RoleFix& fix, absl::Status denied, bool& taken);
  void Note(const rbacv1::ClusterRole& desired, const absl::StatusOr<rbacv1::ClusterRole>& written);

  const CallContext& context_;
  const Parts parts_;
  Portion& portion_;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_ROLE_WRITER_H_
