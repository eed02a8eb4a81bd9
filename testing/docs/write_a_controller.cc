// The blocks of docs/write-a-controller.md, with what their reader has at that place.
#include <memory>
#include <vector>

#include "controllers/memcached/kind.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/finalizer.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/batch_v1.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::docs {

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kBackup = {.component = "backup", .rules = kRules};

namespace v1alpha1 {
using Backup = memcached::v1alpha1::Memcached;  // any kind
}  // namespace v1alpha1

struct BackupReconciler : Reconciler {
  BackupReconciler(const Component& component, Client<kBackup> client)
      : component_(component), client_(client) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override {
#include "testing/docs/write_a_controller_2.inc"
    v1alpha1::Backup& backup = *object;
#include "testing/docs/write_a_controller_3.inc"
    return Result{};
  }
  static absl::Status DeleteCopies(const CallContext& context, const v1alpha1::Backup& backup);

  const Component& component_;
  Client<kBackup> client_;
};

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
#include "testing/docs/write_a_controller_1.inc"
}

}  // namespace mandate::docs
