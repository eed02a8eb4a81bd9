// Writes the plan of one ScopeTemplate.
#pragma once

#include "controllers/fix_limiter.h"
#include "controllers/portion.h"
#include "controllers/scope/mandates.h"
#include "controllers/scope/template_plan.h"
#include "manager/client/client.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// Sends the writes in sequence until the plan or the portion ends. It belongs to one reconcile. Not
// thread-safe.
class RoleWriter {
 public:
  struct Parts {
    Client<kScopeTemplate>& client;
    FixLimiters& fixes;
    const Clock& clock;
    Portion& portion;  // all outlive the writer
  };

  RoleWriter(const CallContext& context, Parts parts)
      : context_(context), parts_(parts), portion_(parts.portion) {}

  void CarryOut(const TemplatePlan& plan);

 private:
  // Deletes with the role's UID as precondition, and with its version too if `unchanged`.
  void Remove(const rbacv1::ClusterRole& role, bool unchanged);
  void Create(const rbacv1::ClusterRole& role);
  void Fix(const RoleFix& fix);
  // Writes `desired` over `actual`, and removes the fields of `removal`. Sets `taken` if the API
  // server accepted a write.
  absl::StatusOr<rbacv1::ClusterRole> Write(const rbacv1::ClusterRole& desired,
                                            const rbacv1::ClusterRole& actual,
                                            const FieldsToRemove& removal, bool& taken);
  // Writes only the revocations of a fix that was `denied`, because admission may deny its grants
  // or the removal of a label. Without `escalate` the API server accepts only a role without rules.
  // Whether it accepted a write.
  bool WriteFewer(const RoleFix& fix, absl::Status denied, bool& taken);
  void Note(const rbacv1::ClusterRole& desired, const absl::StatusOr<rbacv1::ClusterRole>& written);

  const CallContext& context_;
  const Parts parts_;
  Portion& portion_;
};

}  // namespace mandate::scope
